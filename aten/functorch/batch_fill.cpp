// Filling with a number that may be another one for each sample.
#include <aten/functorch/batch_rules.h>

#include <aten/core/Tensor.h>
#include <aten/library/library.h>
#include <aten/ops/where.h>
#include <c10/util/Exception.h>

namespace at::functorch {

namespace {

void check_is_number(const Tensor& value, const char* op) {
  TORCH_CHECK(
      value.dim() == 0, op, " only supports 0-dimension value tensor but got tensor with ", value.dim(),
      " dimensions.");
}

Tensor& fill_(Tensor& self, const Tensor& value) {
  check_is_number(value, "fill_");
  return self.copy_(value);
}

Tensor fill(const Tensor& self, const Tensor& value) {
  check_is_number(value, "fill");
  return value.to(self.scalar_type()).expand_as(self).clone();
}

Tensor masked_fill(const Tensor& self, const Tensor& mask, const Tensor& value) {
  check_is_number(value, "masked_fill_");
  return at::where(mask, value.to(self.scalar_type()), self);
}

Tensor& masked_fill_(Tensor& self, const Tensor& mask, const Tensor& value) {
  return self.copy_(functorch::masked_fill(self, mask, value));
}

constexpr c10::impl::BuiltinKernelRow kFillRules[] = {
    rule_for<&fill_>("aten::fill_", "Tensor"),
    rule_for<&fill>("aten::fill", "Tensor"),
    rule_for<&masked_fill>("aten::masked_fill", "Tensor"),
    rule_for<&masked_fill_>("aten::masked_fill_", "Tensor"),
};
const c10::impl::BuiltinKernels kFillRulesRegistered(kFillRules);

} // namespace

} // namespace at::functorch
