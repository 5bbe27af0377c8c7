// softmax over the elements whose mask is false.
#include <aten/Functions.h>
#include <c10/core/WrapDimMinimal.h>

#include <limits>

namespace at::native {
namespace {

/// What the mask's shape means: [rows, row], [batch, row], or that of the input.
enum MaskType : int64_t { Source, Padding, Full };

/// The mask expanded to the input.
Tensor fitting_mask(const Tensor& self, const Tensor& mask, std::optional<int64_t> mask_type) {
  TORCH_CHECK(mask.scalar_type() == kBool, "Mask should be a boolean tensor, got ", mask.scalar_type());
  const int64_t type = mask_type.value_or(Full);
  const bool is_attention = self.dim() == 4 && mask.dim() == 2;
  if (is_attention && type == Source) {
    TORCH_CHECK(
        mask.size(0) == self.size(2) && mask.size(1) == self.size(3),
        "For mask_type == 0 mask shape should be (L, L); got ", mask.sizes(), " for ", self.sizes());
    return mask.expand(self.sizes());
  }
  if (is_attention && type == Padding) {
    TORCH_CHECK(
        mask.size(0) == self.size(0) && mask.size(1) == self.size(3),
        "For mask_type == 1 mask shape should be (B, L); got ", mask.sizes(), " for ", self.sizes());
    return mask.unsqueeze(1).unsqueeze(1).expand(self.sizes());
  }
  TORCH_CHECK(
      mask.sizes() == self.sizes(), "For mask_type == ", type, " mask shape should match input shape; got ",
      mask.sizes(), " for ", self.sizes());
  return mask;
}

} // namespace

Tensor _masked_softmax(
    const Tensor& self, const Tensor& mask, std::optional<int64_t> dim, std::optional<int64_t> mask_type) {
  TORCH_CHECK_NOT_IMPLEMENTED(
      self.is_floating_point(), "\"masked_softmax\" not implemented for '", self.scalar_type(), "'");
  const Tensor hidden = fitting_mask(self, mask, mask_type);
  return at::softmax(self.masked_fill(hidden, -std::numeric_limits<double>::infinity()), dim.value_or(self.dim() - 1));
}

Tensor _masked_softmax_backward(
    const Tensor& grad_output, const Tensor& output, const Tensor& mask, std::optional<int64_t> dim) {
  TORCH_CHECK(
      grad_output.sizes() == output.sizes() && grad_output.scalar_type() == output.scalar_type(),
      "_masked_softmax_backward: grad_output must have the sizes and dtype of output, got ", grad_output.toString(),
      " of sizes ", grad_output.sizes(), " and ", output.toString(), " of sizes ", output.sizes());
  TORCH_CHECK(mask.scalar_type() == kBool, "Mask should be a boolean tensor, got ", mask.scalar_type());
  const int64_t along = c10::maybe_wrap_dim(dim.value_or(output.dim() - 1), output.dim());
  Tensor hidden = mask;
  if (mask.sizes() != output.sizes() && output.dim() == 4 && mask.dim() == 2) {
    hidden = mask.size(0) == output.size(2) ? mask : mask.unsqueeze(1).unsqueeze(1);
  }
  const Tensor shown = output.masked_fill(hidden, 0);
  return at::_softmax_backward_data(grad_output, shown, along, output.scalar_type()).masked_fill(hidden, 0);
}

} // namespace at::native
