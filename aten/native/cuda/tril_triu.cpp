// tril and triu on CUDA devices, of matrices of any number and size, cut into launches whose offsets fit 32 bits; lists
// of their indices.
#include <aten/native/cuda/tril_triu.h>

#include <aten/Functions.h>
#include <aten/core/dtype_dispatch.h>
#include <c10/core/DeviceGuard.h>
#include <c10/cuda/CUDAStream.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace at::native {

namespace cuda {

namespace {

struct Matrices {
  struct Dim {
    int64_t size;
    std::array<int64_t, 2> strides; // in bytes, of out and self
  };
  std::vector<Dim> dims; // columns, rows, then those of the batch
  char* out;
  const char* self;
  int64_t diagonal; // of the first row and column

  int64_t elements() const {
    int64_t n = 1;
    for (const Dim& dim : dims) {
      n *= dim.size;
    }
    return n;
  }
  int64_t reach(int operand) const {
    int64_t bytes = 0;
    for (const Dim& dim : dims) {
      bytes += (dim.size - 1) * dim.strides[operand];
    }
    return bytes;
  }
  /// From `begin` to `end` of a dimension. The diagonal stays where it was.
  Matrices part(std::size_t d, int64_t begin, int64_t end) const {
    Matrices result = *this;
    result.dims[d].size = end - begin;
    result.out += begin * dims[d].strides[0];
    result.self += begin * dims[d].strides[1];
    result.diagonal += d == 1 ? begin : d == 0 ? -begin : 0;
    if (d > 1 && result.dims[d].size == 1) {
      result.dims.erase(result.dims.begin() + static_cast<std::ptrdiff_t>(d));
    }
    return result;
  }
};

std::size_t farthest(const Matrices& m) {
  const auto extent = [](const Matrices::Dim& dim) {
    return dim.size == 1 ? 0 : std::max({dim.size, (dim.size - 1) * dim.strides[0], (dim.size - 1) * dim.strides[1]});
  };
  const auto less = [&](const Matrices::Dim& a, const Matrices::Dim& b) { return extent(a) < extent(b); };
  return static_cast<std::size_t>(std::max_element(m.dims.begin(), m.dims.end(), less) - m.dims.begin());
}

/// May 16 bytes of a row be moved at once?
bool in_groups(const Matrices& m, int64_t element_size) {
  constexpr int64_t kBytes = 16;
  bool fits = element_size < kBytes && m.dims[0].size * element_size % kBytes == 0 &&
      reinterpret_cast<std::uintptr_t>(m.out) % kBytes == 0 && reinterpret_cast<std::uintptr_t>(m.self) % kBytes == 0;
  for (int operand = 0; operand < 2; ++operand) {
    fits = fits && m.dims[0].strides[operand] == element_size;
    for (std::size_t d = 1; d < m.dims.size(); ++d) {
      fits = fits && m.dims[d].strides[operand] % kBytes == 0;
    }
  }
  return fits;
}

void launch_parts(const Matrices& m, int64_t element_size, bool lower, int64_t limit, cudaStream_t stream) {
  const bool too_many_dims = m.dims.size() > static_cast<std::size_t>(kMaxDims);
  if (too_many_dims || m.elements() > limit || std::max(m.reach(0), m.reach(1)) > limit) {
    const std::size_t d = too_many_dims ? m.dims.size() - 1 : farthest(m);
    const int64_t size = m.dims[d].size;
    launch_parts(m.part(d, 0, size / 2), element_size, lower, limit, stream);
    launch_parts(m.part(d, size / 2, size), element_size, lower, limit, stream);
    return;
  }
  const int group = in_groups(m, element_size) ? static_cast<int>(16 / element_size) : 1;
  std::vector<int64_t> sizes;
  for (const Matrices::Dim& dim : m.dims) {
    sizes.push_back(dim.size);
  }
  sizes[0] /= group;
  const OffsetCalculator<2> places(static_cast<int>(sizes.size()), sizes, [&](int d, int operand) {
    return m.dims[d].strides[operand] * (d == 0 ? group : 1);
  });
  launch_triangle(
      {places, static_cast<std::uint32_t>(m.elements() / group), static_cast<std::uint32_t>(sizes[1]), group, m.out,
       m.self, static_cast<std::size_t>(element_size), m.diagonal, lower},
      stream);
}

} // namespace

void triangle_on_device(const TensorBase& self, int64_t diagonal, const TensorBase& out, bool lower, int64_t limit) {
  if (out.numel() == 0) {
    return;
  }
  const auto element_size = static_cast<int64_t>(self.itemsize());
  const int64_t rows = self.size(-2), cols = self.size(-1);
  Matrices m{
      {},
      static_cast<char*>(out.mutable_data_ptr()),
      static_cast<const char*>(self.const_data_ptr()),
      std::clamp(diagonal, -rows - 1, cols + 1)};
  for (int64_t d = self.dim() - 1; d >= 0; --d) {
    if (self.size(d) > 1 || d >= self.dim() - 2) {
      m.dims.push_back({self.size(d), {out.stride(d) * element_size, self.stride(d) * element_size}});
    }
  }
  launch_parts(m, element_size, lower, limit, c10::cuda::getCurrentCUDAStream());
}

void tril_kernel(const TensorBase& self, int64_t diagonal, const TensorBase& out) {
  triangle_on_device(self, diagonal, out, /*lower=*/true, INT32_MAX);
}

void triu_kernel(const TensorBase& self, int64_t diagonal, const TensorBase& out) {
  triangle_on_device(self, diagonal, out, /*lower=*/false, INT32_MAX);
}

} // namespace cuda

namespace {

Tensor triangle_indices(
    const char* op,
    int64_t rows,
    int64_t cols,
    int64_t offset,
    bool lower,
    std::optional<ScalarType> dtype,
    std::optional<Layout> layout,
    std::optional<Device> device,
    std::optional<bool> pin_memory) {
  const TriangleIndices triangle = TriangleIndices::checked(op, rows, cols, offset, lower);
  const ScalarType type = dtype.value_or(kLong);
  constexpr auto kDtypes = at::kIntegral | at::kFloating;
  if (!kDtypes.contains(type)) {
    at::detail::dtype_not_supported(op, type, kDtypes.bits);
  }
  const TensorOptions options =
      TensorOptions().dtype(type).layout(layout).device(device.value_or(kCUDA)).pinned_memory(pin_memory);
  Tensor result = at::empty({2, triangle.count}, options);
  if (triangle.count != 0) {
    const c10::DeviceGuard guard(result.device());
    cuda::launch_triangle_indices(triangle, type, result.mutable_data_ptr(), c10::cuda::getCurrentCUDAStream());
  }
  return result;
}

} // namespace

Tensor tril_indices_cuda(
    int64_t row,
    int64_t col,
    int64_t offset,
    std::optional<ScalarType> dtype,
    std::optional<Layout> layout,
    std::optional<Device> device,
    std::optional<bool> pin_memory) {
  return triangle_indices("tril_indices", row, col, offset, /*lower=*/true, dtype, layout, device, pin_memory);
}

Tensor triu_indices_cuda(
    int64_t row,
    int64_t col,
    int64_t offset,
    std::optional<ScalarType> dtype,
    std::optional<Layout> layout,
    std::optional<Device> device,
    std::optional<bool> pin_memory) {
  return triangle_indices("triu_indices", row, col, offset, /*lower=*/false, dtype, layout, device, pin_memory);
}

Tensor& tril_cuda_(Tensor& self, int64_t diagonal) {
  cuda::tril_kernel(self, diagonal, self);
  return self;
}

Tensor& triu_cuda_(Tensor& self, int64_t diagonal) {
  cuda::triu_kernel(self, diagonal, self);
  return self;
}

} // namespace at::native
