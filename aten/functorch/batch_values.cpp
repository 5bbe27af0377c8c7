// Values that are read: there is no number that is right for all samples.
#include <aten/functorch/batch_rules.h>

#include <aten/core/Tensor.h>
#include <aten/ops/_linalg_check_errors.h>
#include <c10/util/Exception.h>

#include <string_view>

namespace at::functorch {

namespace {

Scalar item(const Tensor& self) {
  level_of({self}, "item");
  TORCH_CHECK(
      false,
      "vmap: It looks like you're calling .item() on a Tensor. We don't support vmap over calling .item() on a Tensor, "
      "please try to rewrite what you're doing with other operations.");
}

// The codes of all samples are looked at, and the first one that tells of an error throws.
void check_errors(const Tensor& info, std::string_view api_name, bool /*is_matrix*/) {
  const VmapLevelPtr level = level_of({info}, "_linalg_check_errors");
  at::_linalg_check_errors(value_at(info, *level).batch_first(), api_name, /*is_matrix=*/false);
}

bool is_nonzero(const Tensor& self) {
  level_of({self}, "is_nonzero");
  TORCH_CHECK(
      false,
      "vmap: It looks like you're attempting to use a Tensor in some data-dependent control flow. We don't support "
      "that: the samples may take different branches. Use where() to choose between values");
}

constexpr c10::impl::BuiltinKernelRow kValuesRules[] = {
    rule_for<&item>("aten::_local_scalar_dense"),
    rule_for<&item>("aten::item"),
    rule_for<&check_errors>("aten::_linalg_check_errors"),
    rule_for<&is_nonzero>("aten::is_nonzero"),
};
const c10::impl::BuiltinKernels kValuesRulesRegistered(kValuesRules);

} // namespace

} // namespace at::functorch
