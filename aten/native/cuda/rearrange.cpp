// repeat_interleave, trace and the like: operators that others make up on the device.
#include <aten/Functions.h>
#include <aten/core/Tensor.h>
#include <aten/core/TensorOperators.h>
#include <aten/core/dtype_dispatch.h>
#include <aten/iterator/MemoryOverlap.h>
#include <aten/native/cuda/copy.h>
#include <aten/native/support/OutArgument.h>
#include <c10/core/WrapDimMinimal.h>

#include <array>
#include <tuple>

namespace at::native {

namespace cuda {

void trace_kernel(const TensorBase& self, const TensorBase& out) {
  if (!kAll.contains(self.scalar_type())) {
    at::detail::dtype_not_supported("trace", self.scalar_type(), kAll.bits);
  }
  copy_on_device(out, Tensor(self).diagonal().sum());
}

} // namespace cuda

Tensor repeat_interleave_cuda(const Tensor& repeats, std::optional<int64_t> output_size) {
  TORCH_CHECK(
      repeats.dim() == 1, "repeat_interleave only accept 1D vector as repeat, got ", repeats.dim(), " dimensions");
  TORCH_CHECK(
      c10::isIntegralType(repeats.scalar_type(), /*includeBool=*/false), "repeats has to be a tensor of integers, got ", repeats.scalar_type(),
      " (in repeat_interleave)");
  if (repeats.numel() == 0) {
    return at::empty({0}, repeats.options());
  }
  TORCH_CHECK(
      !output_size || *output_size >= 0, "Trying to create tensor with negative dimension ", output_size.value_or(0), ": [",
      output_size.value_or(0), "] (in repeat_interleave)");
  const Tensor ends = repeats.cumsum(0);
  // With the size given the host need not wait for the device; it is trusted then.
  if (!output_size) {
    TORCH_CHECK(repeats.min().item<int64_t>() >= 0, "repeats can not be negative, got ", repeats.min().item<int64_t>());
  }
  const int64_t total = output_size ? *output_size : ends.select(0, -1).item<int64_t>();
  const Tensor places = at::arange(total, ends.options());
  return at::searchsorted(ends, places, /*out_int32=*/repeats.scalar_type() == kInt, /*right=*/true).to(repeats.scalar_type());
}

Tensor& nonzero_out_cuda(const Tensor& self, Tensor& out) {
  TORCH_CHECK(
      out.scalar_type() == kLong, "nonzero: Expected out tensor to have scalar type Long but got scalar type", out.scalar_type());
  TORCH_CHECK(
      out.device() == self.device(), "Expected out tensor to be on ", self.device(), " like self, but got ", out.device(), " (in nonzero)");
  at::assert_no_internal_overlap(out);
  at::assert_no_overlap(out, self);
  const Tensor found = at::nonzero(self);
  if (resize_output(out, found.sizes())) {
    out.as_strided_(found.sizes(), {1, found.size(0)}); // column by column, as a new result lies
  }
  return out.copy_(found);
}

Tensor rrelu_slopes_cuda(const Tensor& self, double lower, double upper, std::optional<Generator> generator) {
  const Tensor slopes = at::empty_like(self).uniform_(lower, upper, std::move(generator));
  return at::where(self <= 0, slopes, at::ones({}, self.options()));
}

} // namespace at::native
