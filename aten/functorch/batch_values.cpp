// Values that are read: there is no number that is right for all samples.
#include <aten/functorch/batch_rules.h>

#include <aten/core/Tensor.h>
#include <aten/library/library.h>
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

} // namespace

} // namespace at::functorch

TORCH_LIBRARY_IMPL(aten, FuncTorchBatched, m) {
  m.impl("_local_scalar_dense", &at::functorch::item);
  m.impl("item", &at::functorch::item);
  m.impl("_linalg_check_errors", &at::functorch::check_errors);
  m.impl("is_nonzero", &at::functorch::is_nonzero);
}
