#pragma once
// Out forms of operators that return lists.

#include <aten/iterator/MemoryOverlap.h>
#include <aten/native/composite/exact_out.h>

namespace at::native {

/// `write_exact_out` for each tensor of a list, once all of them are known to take their result.
inline void write_list_out(const char* op, TensorList out, const std::vector<Tensor>& result) {
  TORCH_CHECK(
      out.size() == result.size(), op, "_out() expected an out= argument of size ", result.size(), ", got size ",
      out.size());
  for (size_t i = 0; i < out.size(); ++i) {
    TORCH_CHECK(out[i].defined(), op, "_out(): an output tensor is undefined");
    check_out_without_grad(op, out[i]);
    TORCH_CHECK(
        out[i].scalar_type() == result[i].scalar_type(), "Expected out tensor to have dtype ", result[i].dtype().name(),
        ", but got ", out[i].dtype().name(), " instead (in ", op, ", tensor ", i, " of the list)");
    TORCH_CHECK(
        out[i].device() == result[i].device(), "Expected out tensor to have device ", result[i].device(), ", but got ",
        out[i].device(), " instead (in ", op, ", tensor ", i, " of the list)");
    TORCH_CHECK(
        out[i].layout() == result[i].layout(), "Expected out tensor to have layout ", result[i].layout(), ", but got ",
        out[i].layout(), " instead (in ", op, ", tensor ", i, " of the list)");
    if (out[i].sizes() == result[i].sizes()) {
      at::assert_no_internal_overlap(out[i]);
    }
  }
  for (size_t i = 0; i < out.size(); ++i) {
    Tensor target = out[i];
    copy_into_out(op, target, result[i]);
  }
}

} // namespace at::native
