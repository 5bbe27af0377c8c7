#pragma once
// Out forms of operators that return lists.

#include <aten/native/composite/exact_out.h>

namespace at::native {

/// `write_exact_out` for each tensor of a list.
inline void write_list_out(const char* op, TensorList out, const std::vector<Tensor>& result) {
  TORCH_CHECK(
      out.size() == result.size(), op, "_out() expected an out= argument of size ", result.size(), ", got size ", out.size());
  for (size_t i = 0; i < out.size(); ++i) {
    Tensor target = out[i];
    write_exact_out(op, target, result[i]);
  }
}

} // namespace at::native
