#include <aten/quantized/image_columns.h>

#include <aten/Functions.h>
#include <aten/parallel/Parallel.h>

#include <cstring>

namespace at::quantized {

Tensor image_columns(
    const Tensor& images, const ImageAxis* axes, bool transposed, int64_t first, int64_t count, uint8_t zero_point) {
  const ImageAxis &depth = axes[0], &height = axes[1], &width = axes[2];
  const int64_t batch = images.size(0), channels = images.size(-1);
  const int64_t plane = height.out * width.out, positions = depth.out * plane;
  const int64_t columns = depth.kernel * height.kernel * width.kernel * count;
  const Tensor result = at::empty({batch * positions, columns}, kByte);
  const uint8_t* from = images.const_data_ptr<uint8_t>() + first;
  uint8_t* const to = result.mutable_data_ptr<uint8_t>();
  const auto gather = [&](int64_t row) {
    const int64_t image = row / positions, z = row % positions / plane, y = row % plane / width.out,
                  x = row % width.out;
    uint8_t* out = to + row * columns;
    for (int64_t kz = 0; kz < depth.kernel; ++kz) {
      const int64_t iz = depth.source(z, kz, transposed);
      for (int64_t ky = 0; ky < height.kernel; ++ky) {
        const int64_t iy = height.source(y, ky, transposed);
        const bool inside = iz >= 0 && iy >= 0;
        const uint8_t* line = inside ? from + ((image * depth.in + iz) * height.in + iy) * width.in * channels : from;
        for (int64_t kx = 0; kx < width.kernel; ++kx, out += count) {
          const int64_t ix = width.source(x, kx, transposed);
          if (inside && ix >= 0) {
            std::memcpy(out, line + ix * channels, static_cast<size_t>(count));
          } else {
            std::memset(out, zero_point, static_cast<size_t>(count));
          }
        }
      }
    }
  };
  at::parallel_for(0, batch * positions, 1 + at::internal::GRAIN_SIZE / (columns + 1), [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      gather(row);
    }
  });
  return result;
}

} // namespace at::quantized
