#include <aten/native/cuda/image.h>

#include <aten/core/TensorBase.h>

namespace at::native::cuda {

Image image_of(const char* op, const TensorBase& t, int dims) {
  TORCH_CHECK(
      t.numel() <= INT32_MAX, op, ": on CUDA up to 2^31 - 1 elements are supported, got sizes ", t.sizes());
  Image image;
  const auto rank = static_cast<int>(t.dim());
  for (int d = 0; d < dims; ++d) {
    image.size[3 - dims + d] = static_cast<std::int32_t>(t.size(rank - dims + d));
    image.of[3 - dims + d] = t.stride(rank - dims + d);
  }
  image.channels = static_cast<std::int32_t>(t.size(rank - dims - 1));
  image.of_channel = t.stride(rank - dims - 1);
  if (rank == dims + 2) {
    image.batch = static_cast<std::int32_t>(t.size(0));
    image.of_batch = t.stride(0);
  }
  return image;
}

Pixels pixels_of(const Image& image) {
  Pixels pixels;
  pixels.count = static_cast<std::uint32_t>(
      std::int64_t{image.batch} * image.channels * image.size[0] * image.size[1] * image.size[2]);
  pixels.channels_last = image.of_channel == 1 && image.channels > 1 && image.of[2] != 1;
  pixels.channels = FastDivider(image.channels);
  pixels.depth = FastDivider(image.size[0]);
  pixels.height = FastDivider(image.size[1]);
  pixels.width = FastDivider(image.size[2]);
  return pixels;
}

} // namespace at::native::cuda
