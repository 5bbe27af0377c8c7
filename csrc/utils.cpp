#include <csrc/utils.h>

#include <aten/core/Tensor.h>
#include <aten/ops/equal.h>

namespace torch {

bool equal_if_defined(const at::Tensor& a, const at::Tensor& b) {
  return a.defined() == b.defined() && (!a.defined() || at::equal(a, b));
}

} // namespace torch
