// nonzero on CUDA devices: the indices of the true flags, which sort.cu lists, as coordinates.
#include <aten/Functions.h>
#include <aten/core/Tensor.h>
#include <aten/iterator/MemoryOverlap.h>
#include <aten/native/cuda/sort.h>
#include <aten/native/support/OutArgument.h>
#include <c10/cuda/CUDAStream.h>

#include <algorithm>

namespace at::native {

Tensor nonzero_cuda(const Tensor& self) {
  const Tensor flags = (self.scalar_type() == kBool ? self : self.ne(0)).contiguous();
  const int64_t n = flags.numel(), ndim = self.dim();
  const auto options = self.options().dtype(kLong);
  // Waits for the device: the result's size depends on it.
  const int64_t count = n == 0 ? 0 : at::count_nonzero(flags).item<int64_t>();
  // Column by column, as PyTorch lays it out.
  const Tensor result = at::empty_strided({count, ndim}, {1, count}, options);
  if (count == 0) {
    return result;
  }
  const c10::cuda::CUDAStream stream = c10::cuda::getCurrentCUDAStream();
  const Tensor places = ndim == 1 ? result.select(1, 0) : at::empty({count}, options), found = at::empty({}, options);
  cuda::launch_find_true(
      static_cast<const std::uint8_t*>(flags.const_data_ptr()), n, places.mutable_data_ptr<int64_t>(),
      found.mutable_data_ptr<int64_t>(), stream);
  if (ndim > 1) {
    TORCH_CHECK(
        ndim <= cuda::Coordinates::kMostDims, "nonzero: on CUDA up to ", cuda::Coordinates::kMostDims,
        " dimensions are supported, got ", ndim);
    cuda::Coordinates p{
        count, static_cast<int>(ndim), {}, places.const_data_ptr<int64_t>(), result.mutable_data_ptr<int64_t>(),
        stream};
    std::copy(self.sizes().begin(), self.sizes().end(), p.sizes);
    cuda::launch_coordinates(p);
  }
  return result;
}

Tensor& nonzero_out_cuda(const Tensor& self, Tensor& out) {
  TORCH_CHECK(
      out.scalar_type() == kLong, "nonzero: Expected out tensor to have scalar type Long but got scalar type",
      out.scalar_type());
  TORCH_CHECK(
      out.device() == self.device(), "Expected out tensor to be on ", self.device(), " like self, but got ",
      out.device(), " (in nonzero)");
  at::assert_no_internal_overlap(out);
  at::assert_no_overlap(out, self);
  const Tensor found = at::nonzero(self);
  if (resize_output(out, found.sizes())) {
    out.as_strided_(found.sizes(), {1, found.size(0)}); // column by column, as a new result lies
  }
  return out.copy_(found);
}

} // namespace at::native
