// In-place operators that change no element, but the sizes and strides of the tensor itself: `t_`, `unsqueeze_`,
// `resize_`.
#pragma once

#include <autograd/variable.h>
#include <c10/macros/Export.h>
#include <c10/util/DimVector.h>

#include <memory>

namespace torch::autograd {

/// Gives a tensor its new history. Not that of a base: where `self` is a view, base and other views stay as they are.
TORCH_API void set_history_in_place(const at::Tensor& self, std::shared_ptr<Node> grad_fn);

/// Throws when `self` requires grad: its node or accumulator expects gradients of the old size.
TORCH_API void check_may_resize(const at::Tensor& self, const char* name);

} // namespace torch::autograd
