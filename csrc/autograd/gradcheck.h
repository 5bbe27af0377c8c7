// Are the derivatives right? Compares those of backward with differences of the function's values.
#pragma once

#include <aten/core/Tensor.h>
#include <c10/macros/Export.h>
#include <c10/util/Exception.h>

#include <functional>
#include <vector>

namespace torch::autograd {

/// What gradcheck found wrong.
class TORCH_API GradcheckError : public c10::Error {
  using Error::Error;
};

struct GradcheckOptions {
  /// How far an element of an input is moved, up and down. The default fits double; with floats expect errors of 1e-2.
  double eps = 1e-6;
  /// Two derivatives agree if they differ by `atol + rtol * |derivative by differences|` at most.
  double atol = 1e-5;
  double rtol = 1e-3;
  /// Whether a fault throws GradcheckError; otherwise the result says so.
  bool raise_exception = true;
  /// How far two backward passes over the same values may differ.
  double nondet_tol = 0.0;
  /// Whether backward must take undefined gradients of outputs and give zeros or undefined ones for them.
  bool check_undefined_grad = true;
  /// Whether the derivatives of backward are compared.
  bool check_backward_ad = true;
  /// Whether those of forward mode are: then the function must compute with the inputs that it is given.
  bool check_forward_ad = false;
  /// Whether a backward pass with a batch of gradients gives what one pass for each gives; needs check_backward_ad.
  bool check_batched_grad = false;
  /// Whether a call with a batch of tangents gives what one call for each gives; needs check_forward_ad.
  bool check_batched_forward_grad = false;
};

/// A function under test, with one result or several.
using GradcheckFunction = std::function<std::vector<at::Tensor>(const std::vector<at::Tensor>&)>;
using GradcheckFunctionOfOneResult = std::function<at::Tensor(const std::vector<at::Tensor>&)>;

/// Whether backward gives the derivatives of `func` at `inputs`, by those inputs that require grad. True if so; else
/// throws GradcheckError with the outputs, inputs and elements that differ most, or gives false without
/// `raise_exception`. Also checked: two passes give the same (nothing random), no gradient comes of none, and
/// derivatives that backward does not know of are zero. `check_forward_ad` compares the derivatives of forward mode, by
/// one call for each element of the inputs. `check_batched_grad` and `check_batched_forward_grad` try whether jacrev()
/// and jacfwd() (<torch/func.h>) can differentiate the function.
///
/// The derivative is (f(x + eps) - f(x - eps)) / (2 eps), for complex numbers by real and imaginary part. Inputs are
/// moved in place and moved back, so func may also refer to them in other ways; it must not change them. They should be
/// of dtype double or complex double. Cost: two calls for each element of the inputs, and one pass for each of the
/// outputs. Throws c10::ValueError when no input requires grad, one is sparse or has stride 0.
TORCH_API bool gradcheck(
    const GradcheckFunction& func, const std::vector<at::Tensor>& inputs, const GradcheckOptions& options = {});
TORCH_API bool gradcheck(
    const GradcheckFunctionOfOneResult& func,
    const std::vector<at::Tensor>& inputs,
    const GradcheckOptions& options = {});

/// The same for the derivatives of the derivatives: gradcheck of `backward` as a function of `inputs` and of the
/// gradients of the outputs. Those are `grad_outputs`, or some between -1 and 1.
TORCH_API bool gradgradcheck(
    const GradcheckFunction& func,
    const std::vector<at::Tensor>& inputs,
    const std::vector<at::Tensor>& grad_outputs = {},
    const GradcheckOptions& options = {});
TORCH_API bool gradgradcheck(
    const GradcheckFunctionOfOneResult& func,
    const std::vector<at::Tensor>& inputs,
    const std::vector<at::Tensor>& grad_outputs = {},
    const GradcheckOptions& options = {});

} // namespace torch::autograd
