// repeat_interleave on CUDA devices: each index of the result is searched in the running sums of the counts.
#include <aten/Functions.h>
#include <aten/core/Tensor.h>

#include <optional>

namespace at::native {

Tensor repeat_interleave_cuda(const Tensor& repeats, std::optional<int64_t> output_size) {
  TORCH_CHECK(
      repeats.dim() == 1, "repeat_interleave only accept 1D vector as repeat, got ", repeats.dim(), " dimensions");
  TORCH_CHECK(
      c10::isIntegralType(repeats.scalar_type(), /*includeBool=*/false), "repeats has to be a tensor of integers, got ",
      repeats.scalar_type(), " (in repeat_interleave)");
  if (repeats.numel() == 0) {
    return at::empty({0}, repeats.options());
  }
  TORCH_CHECK(
      !output_size || *output_size >= 0, "Trying to create tensor with negative dimension ", output_size.value_or(0),
      ": [", output_size.value_or(0), "] (in repeat_interleave)");
  const Tensor ends = repeats.cumsum(0);
  // With the size given the host need not wait for the device; it is trusted then.
  if (!output_size) {
    TORCH_CHECK(repeats.min().item<int64_t>() >= 0, "repeats can not be negative, got ", repeats.min().item<int64_t>());
  }
  const int64_t total = output_size ? *output_size : ends.select(0, -1).item<int64_t>();
  const Tensor places = at::arange(total, ends.options());
  return at::searchsorted(ends, places, /*out_int32=*/repeats.scalar_type() == kInt, /*right=*/true)
      .to(repeats.scalar_type());
}

} // namespace at::native
