#include <csrc/autograd/functional.h>

#include <aten/Functions.h>
#include <autograd/autograd.h>
#include <autograd/grad_mode.h>
#include <c10/util/Exception.h>
#include <c10/util/StringUtil.h>

#include <algorithm>
#include <utility>

// Note [Jacobian times vector by reverse mode]
// A backward pass computes u -> u^T J, which is linear in u. Its derivative by u, weighted by v, is J v. So the first
// pass records itself, with some u that requires grad, and a second one differentiates it by u. The value of u does not
// matter, for it does not show in the derivative of a linear function; zeros bring in no inf or NaN.
namespace torch::autograd::functional {

namespace {

// What depends on what, for the messages of strict mode.
enum class Stage { kBack, kBackTrick, kDoubleBack, kDoubleBackTrick };

template <class F>
const F& checked(const F& func) {
  TORCH_CHECK(func, "functional: got no function to differentiate");
  return func;
}

// The tensors that stand for the caller's in the function: over the same memory, in a graph of their own unless the
// results are to be differentiable.
TensorList detached_inputs(const TensorList& tensors, bool create_graph, bool requires_grad) {
  TORCH_CHECK(!tensors.empty(), "functional: got no inputs");
  TensorList result;
  result.reserve(tensors.size());
  for (const Tensor& tensor : tensors) {
    TORCH_CHECK(tensor.defined(), "functional: input or vector number ", result.size(), " is undefined");
    if (create_graph && tensor.requires_grad()) {
      result.push_back(tensor.is_sparse() ? tensor.clone() : tensor.view_as(tensor));
    } else {
      result.push_back(tensor.detach().requires_grad_(requires_grad));
    }
  }
  return result;
}

Tensor result_of(const Tensor& tensor, bool create_graph) {
  return create_graph ? tensor : tensor.detach();
}

TensorList results_of(TensorList tensors, bool create_graph) {
  for (Tensor& tensor : tensors) {
    tensor = result_of(tensor, create_graph);
  }
  return tensors;
}

// As torch::autograd::grad, but outputs that require no grad contribute nothing.
TensorList grads_of(
    const TensorList& outputs,
    const TensorList& inputs,
    const TensorList& weights,
    bool create_graph,
    std::optional<bool> retain_graph = std::nullopt) {
  TensorList used_outputs;
  TensorList used_weights;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i].defined() && outputs[i].requires_grad()) {
      used_outputs.push_back(outputs[i]);
      used_weights.push_back(weights.empty() ? Tensor() : weights[i]);
    }
  }
  if (used_outputs.empty()) {
    return TensorList(inputs.size());
  }
  return grad(used_outputs, inputs, used_weights, retain_graph, create_graph, /*allow_unused=*/true);
}

/// The vector of a product, a stand-in for each of its tensors; empty where it may be left out and is. `like` are the
/// tensors that it multiplies, `of` says what they are.
TensorList vector_of(const char* name, const TensorList& v, const TensorList& like, const char* of, bool create_graph) {
  if (v.empty()) {
    TORCH_CHECK(
        like.size() == 1 && like[0].numel() == 1, name, ": the vector v can only be left out where there is a single ",
        of, " with a single element");
    return {};
  }
  TORCH_CHECK(
      v.size() == like.size(), name, ": v is a tuple of invalid length: should be ", like.size(), " but got ", v.size(),
      ". Give one tensor for each ", of);
  for (size_t i = 0; i < v.size(); ++i) {
    TORCH_CHECK(
        v[i].sizes() == like[i].sizes(), name, ": Entry ", i, " in v has invalid size: should be ", like[i].sizes(),
        " but got ", v[i].sizes());
  }
  return detached_inputs(v, create_graph, /*requires_grad=*/false);
}

void check_outputs(const char* name, const TensorList& outputs, bool strict) {
  for (size_t i = 0; i < outputs.size(); ++i) {
    TORCH_CHECK(outputs[i].defined(), name, ": output ", i, " of the user-provided function is undefined");
    TORCH_CHECK(
        !strict || outputs[i].requires_grad(), "Output ", i,
        " of the user-provided function does not require gradients. The outputs must be computed in a differentiable "
        "manner from the input when running in strict mode (",
        name, ").");
  }
}

void check_depends(const TensorList& tensors, bool strict, const std::string& what) {
  for (size_t i = 0; strict && i < tensors.size(); ++i) {
    TORCH_CHECK(
        tensors[i].defined(), "The output of the user-provided function is independent of input ", i,
        ". This is not allowed in strict mode.");
    TORCH_CHECK(
        tensors[i].requires_grad(), what, " with respect to input ", i,
        " is independent of the inputs. This is not allowed in strict mode.");
  }
}

std::string missing_message(Stage stage, size_t i) {
  switch (stage) {
    case Stage::kBack:
      return c10::str("The output of the user-provided function is independent of input ", i);
    case Stage::kBackTrick:
      return c10::str("The gradient with respect to the input is independent of entry ", i, " in the grad_outputs");
    case Stage::kDoubleBack:
      return c10::str("The jacobian of the user-provided function is independent of input ", i);
    case Stage::kDoubleBackTrick:
      return c10::str("The hessian of the user-provided function is independent of entry ", i, " in the grad_jacobian");
  }
  return {};
}

// Zeros where there is no derivative, or in strict mode an error.
TensorList filled(TensorList grads, const TensorList& like, bool strict, bool create_graph, Stage stage) {
  const bool second = stage == Stage::kDoubleBack || stage == Stage::kDoubleBackTrick;
  for (size_t i = 0; i < grads.size(); ++i) {
    if (!grads[i].defined()) {
      TORCH_CHECK(!strict, missing_message(stage, i), ". This is not allowed in strict mode.");
      grads[i] = at::zeros_like(like[i]);
    } else {
      TORCH_CHECK(
          !strict || !create_graph || grads[i].requires_grad(), "The ", second ? "hessian" : "jacobian",
          " of the user-provided function is independent of input ", i,
          ". This is not allowed in strict mode when create_graph=True.");
    }
  }
  return grads;
}

// Vectors that a recorded pass can be differentiated by.
TensorList differentiable_zeros(const TensorList& like) {
  TensorList zeros;
  zeros.reserve(like.size());
  for (const Tensor& tensor : like) {
    zeros.push_back(at::zeros_like(tensor).requires_grad_());
  }
  return zeros;
}

Tensor call_scalar(const char* name, const ScalarFunction& func, const TensorList& inputs, bool strict) {
  const Tensor output = checked(func)(inputs);
  check_outputs(name, {output}, strict);
  TORCH_CHECK(
      output.numel() == 1, "The Tensor returned by the function given to ", name,
      " should contain a single element, got one of shape ", output.sizes());
  return output;
}

// The derivative of one output by all inputs.
TensorList jacobian_of_output(
    const Tensor& output, size_t index, const TensorList& inputs, bool create_graph, bool strict) {
  std::vector<TensorList> rows(inputs.size());
  const Tensor elements = output.reshape({-1});
  for (int64_t j = 0; j < elements.numel(); ++j) {
    const TensorList grads = grads_of({elements.select(0, j)}, inputs, {}, create_graph, /*retain_graph=*/true);
    for (size_t k = 0; k < inputs.size(); ++k) {
      if (grads[k].defined()) {
        TORCH_CHECK(
            !strict || !create_graph || grads[k].requires_grad(),
            "The jacobian of the user-provided function is independent of input ", k,
            ". This is not allowed in strict mode when create_graph=True.");
        rows[k].push_back(grads[k]);
      } else {
        TORCH_CHECK(
            !strict, "Output ", index, " of the user-provided function is independent of input ", k,
            ". This is not allowed in strict mode.");
        rows[k].push_back(at::zeros_like(inputs[k]));
      }
    }
  }
  TensorList result;
  result.reserve(inputs.size());
  for (size_t k = 0; k < inputs.size(); ++k) {
    std::vector<int64_t> sizes = output.sizes().vec();
    sizes.insert(sizes.end(), inputs[k].sizes().begin(), inputs[k].sizes().end());
    result.push_back(rows[k].empty() ? at::zeros(sizes, inputs[k].options()) : at::stack(rows[k]).view(sizes));
  }
  return result;
}

// The forms for one tensor go through those for several.
Function several(const TensorFunction& func) {
  return [&func](const TensorList& inputs) { return TensorList{checked(func)(inputs[0])}; };
}
ScalarFunction scalar(const TensorFunction& func) {
  return [&func](const TensorList& inputs) { return checked(func)(inputs[0]); };
}
TensorList list_or_empty(const Tensor& v) {
  return v.defined() ? TensorList{v} : TensorList();
}

} // namespace

std::pair<TensorList, TensorList> vjp(
    const Function& func, const TensorList& inputs, const TensorList& v, bool create_graph, bool strict) {
  TensorList own;
  TensorList outputs;
  TensorList weights;
  {
    const AutoGradMode record(true);
    own = detached_inputs(inputs, create_graph, /*requires_grad=*/true);
    outputs = checked(func)(own);
    check_outputs("vjp", outputs, strict);
    weights = vector_of("vjp", v, outputs, "output", create_graph);
  }
  TensorList product = filled(grads_of(outputs, own, weights, create_graph), own, strict, create_graph, Stage::kBack);
  return {results_of(std::move(outputs), create_graph), results_of(std::move(product), create_graph)};
}

std::pair<TensorList, TensorList> jvp(
    const Function& func, const TensorList& inputs, const TensorList& v, bool create_graph, bool strict) {
  TensorList weights;
  TensorList outputs;
  TensorList trick;
  TensorList grads;
  {
    const AutoGradMode record(true);
    const TensorList own = detached_inputs(inputs, create_graph, /*requires_grad=*/true);
    weights = vector_of("jvp", v, inputs, "input", create_graph);
    outputs = checked(func)(own);
    check_outputs("jvp", outputs, strict);
    trick = differentiable_zeros(outputs);
    grads = grads_of(outputs, own, trick, /*create_graph=*/true);
    check_depends(grads, strict, "The gradient");
  }
  TensorList product =
      filled(grads_of(grads, trick, weights, create_graph), outputs, strict, create_graph, Stage::kBackTrick);
  return {results_of(std::move(outputs), create_graph), results_of(std::move(product), create_graph)};
}

std::vector<TensorList> jacobian(const Function& func, const TensorList& inputs, bool create_graph, bool strict) {
  const AutoGradMode record(true);
  const TensorList own = detached_inputs(inputs, create_graph, /*requires_grad=*/true);
  const TensorList outputs = checked(func)(own);
  check_outputs("jacobian", outputs, strict);
  std::vector<TensorList> result;
  result.reserve(outputs.size());
  for (size_t i = 0; i < outputs.size(); ++i) {
    result.push_back(results_of(jacobian_of_output(outputs[i], i, own, create_graph, strict), create_graph));
  }
  return result;
}

std::vector<TensorList> hessian(const ScalarFunction& func, const TensorList& inputs, bool create_graph, bool strict) {
  const auto gradient = [&](const TensorList& xs) {
    const Function element = [&](const TensorList& ys) {
      return TensorList{call_scalar("hessian", func, ys, strict).squeeze()};
    };
    TensorList first = jacobian(element, xs, /*create_graph=*/true)[0];
    check_depends(first, strict, "While computing the hessian, found that the jacobian of the user-provided function");
    return first;
  };
  return jacobian(Function(gradient), inputs, create_graph, strict);
}

std::pair<Tensor, TensorList> vhp(
    const ScalarFunction& func, const TensorList& inputs, const TensorList& v, bool create_graph, bool strict) {
  TensorList own;
  TensorList weights;
  TensorList first;
  Tensor output;
  {
    const AutoGradMode record(true);
    own = detached_inputs(inputs, create_graph, /*requires_grad=*/true);
    weights = vector_of("vhp", v, inputs, "input", create_graph);
    output = call_scalar("vhp", func, own, strict);
    first = grads_of({output}, own, {}, /*create_graph=*/true);
    check_depends(first, strict, "While computing the hessian, found that the jacobian of the user-provided function");
  }
  TensorList product =
      filled(grads_of(first, own, weights, create_graph), own, strict, create_graph, Stage::kDoubleBack);
  return {result_of(output, create_graph), results_of(std::move(product), create_graph)};
}

std::pair<Tensor, TensorList> hvp(
    const ScalarFunction& func, const TensorList& inputs, const TensorList& v, bool create_graph, bool strict) {
  TensorList weights;
  TensorList trick;
  TensorList second;
  Tensor output;
  {
    const AutoGradMode record(true);
    const TensorList own = detached_inputs(inputs, create_graph, /*requires_grad=*/true);
    weights = vector_of("hvp", v, inputs, "input", create_graph);
    output = call_scalar("hvp", func, own, strict);
    const TensorList first = grads_of({output}, own, {}, /*create_graph=*/true);
    check_depends(first, strict, "While computing the hessian, found that the jacobian of the user-provided function");
    trick = differentiable_zeros(own);
    second = grads_of(first, own, trick, /*create_graph=*/true);
    check_depends(second, strict, "The hessian of the user-provided function");
  }
  TensorList product =
      filled(grads_of(second, trick, weights, create_graph), trick, strict, create_graph, Stage::kDoubleBackTrick);
  return {result_of(output, create_graph), results_of(std::move(product), create_graph)};
}

std::pair<Tensor, Tensor> vjp(
    const TensorFunction& func, const Tensor& input, const Tensor& v, bool create_graph, bool strict) {
  auto [outputs, product] = vjp(several(func), {input}, list_or_empty(v), create_graph, strict);
  return {outputs[0], product[0]};
}

std::pair<Tensor, Tensor> jvp(
    const TensorFunction& func, const Tensor& input, const Tensor& v, bool create_graph, bool strict) {
  auto [outputs, product] = jvp(several(func), {input}, list_or_empty(v), create_graph, strict);
  return {outputs[0], product[0]};
}

Tensor jacobian(const TensorFunction& func, const Tensor& input, bool create_graph, bool strict) {
  return jacobian(several(func), TensorList{input}, create_graph, strict)[0][0];
}

Tensor hessian(const TensorFunction& func, const Tensor& input, bool create_graph, bool strict) {
  return hessian(scalar(func), TensorList{input}, create_graph, strict)[0][0];
}

std::pair<Tensor, Tensor> vhp(
    const TensorFunction& func, const Tensor& input, const Tensor& v, bool create_graph, bool strict) {
  auto [output, product] = vhp(scalar(func), TensorList{input}, list_or_empty(v), create_graph, strict);
  return {output, product[0]};
}

std::pair<Tensor, Tensor> hvp(
    const TensorFunction& func, const Tensor& input, const Tensor& v, bool create_graph, bool strict) {
  auto [output, product] = hvp(scalar(func), TensorList{input}, list_or_empty(v), create_graph, strict);
  return {output, product[0]};
}

} // namespace torch::autograd::functional
