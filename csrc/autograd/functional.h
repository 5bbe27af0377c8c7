// Products with the Jacobian and Hessian of a C++ function, and these whole, by reverse mode.
#pragma once

#include <aten/core/Tensor.h>
#include <c10/macros/Export.h>

#include <functional>
#include <utility>
#include <vector>

/// Each function calls `func` once on tensors that share memory with `inputs` but are not part of their graph, so that
/// `inputs` and their `.grad()` stay as they are. `func` must compute its results by recorded operators.
///
/// `create_graph` makes the results differentiable with respect to those `inputs` that require grad. `strict` throws
/// where a result does not depend on an input; otherwise that derivative is zeros. All throw when `v` does not fit. For
/// complex tensors derivatives are conjugated as those of `torch::autograd::grad` are.
namespace torch::autograd::functional {

using at::Tensor;
using TensorList = std::vector<Tensor>;

/// Several tensors to several tensors.
using Function = std::function<TensorList(const TensorList&)>;
/// One tensor to one tensor.
using TensorFunction = std::function<Tensor(const Tensor&)>;
/// Several tensors to one element.
using ScalarFunction = std::function<Tensor(const TensorList&)>;

/// `func(inputs)` and the product of `v`, shaped as these outputs, with the Jacobian; that has the shapes of `inputs`.
/// `v` may be left out where the one output has one element.
TORCH_API std::pair<TensorList, TensorList> vjp(
    const Function& func,
    const TensorList& inputs,
    const TensorList& v = {},
    bool create_graph = false,
    bool strict = false);
TORCH_API std::pair<Tensor, Tensor> vjp(
    const TensorFunction& func,
    const Tensor& input,
    const Tensor& v = {},
    bool create_graph = false,
    bool strict = false);

/// `func(inputs)` and the product of the Jacobian with `v`, shaped as `inputs`; that has the shapes of the outputs. It
/// is the derivative of `vjp` by its `v`, so every operator in `func` needs a second derivative.
/// `v` may be left out where the one input has one element.
TORCH_API std::pair<TensorList, TensorList> jvp(
    const Function& func,
    const TensorList& inputs,
    const TensorList& v = {},
    bool create_graph = false,
    bool strict = false);
TORCH_API std::pair<Tensor, Tensor> jvp(
    const TensorFunction& func,
    const Tensor& input,
    const Tensor& v = {},
    bool create_graph = false,
    bool strict = false);

/// The derivatives of all elements of all outputs by all elements of all inputs: `[i][j]` is that of output i by input
/// j and has the output's sizes, then the input's. One backward pass for each element of the outputs.
TORCH_API std::vector<TensorList> jacobian(
    const Function& func, const TensorList& inputs, bool create_graph = false, bool strict = false);
TORCH_API Tensor
jacobian(const TensorFunction& func, const Tensor& input, bool create_graph = false, bool strict = false);

/// The second derivatives of a function with one element: `[i][j]` is that by inputs i and j and has the sizes of input
/// i, then those of input j.
TORCH_API std::vector<TensorList> hessian(
    const ScalarFunction& func, const TensorList& inputs, bool create_graph = false, bool strict = false);
TORCH_API Tensor
hessian(const TensorFunction& func, const Tensor& input, bool create_graph = false, bool strict = false);

/// `func(inputs)` and the product of `v`, shaped as `inputs`, with the Hessian. Cheaper than `hvp`, and the same thing
/// where the Hessian is symmetric.
TORCH_API std::pair<Tensor, TensorList> vhp(
    const ScalarFunction& func,
    const TensorList& inputs,
    const TensorList& v = {},
    bool create_graph = false,
    bool strict = false);
TORCH_API std::pair<Tensor, Tensor> vhp(
    const TensorFunction& func,
    const Tensor& input,
    const Tensor& v = {},
    bool create_graph = false,
    bool strict = false);

/// `func(inputs)` and the product of the Hessian with `v`, shaped as `inputs`. Needs third derivatives.
TORCH_API std::pair<Tensor, TensorList> hvp(
    const ScalarFunction& func,
    const TensorList& inputs,
    const TensorList& v = {},
    bool create_graph = false,
    bool strict = false);
TORCH_API std::pair<Tensor, Tensor> hvp(
    const TensorFunction& func,
    const Tensor& input,
    const Tensor& v = {},
    bool create_graph = false,
    bool strict = false);

} // namespace torch::autograd::functional
