#include <csrc/autograd/gradcheck.h>

#include <aten/Functions.h>
#include <aten/core/Formatting.h>
#include <aten/core/random.h>
#include <aten/functorch/BatchedTensorImpl.h>
#include <autograd/autograd.h>
#include <autograd/forward/forward_ad.h>
#include <autograd/functions/basic_ops.h>
#include <autograd/grad_mode.h>
#include <c10/util/StringUtil.h>

#include <cmath>
#include <limits>
#include <string>

// Note [Jacobians over the reals]
// Everything is compared as a map between real numbers: a complex element counts as two, its parts. A backward pass
// with the weight 1 at an output element gives the derivative of its real part, with the weight i that of its imaginary
// part; the gradient's real and imaginary part are the derivatives by those of the input. So there is one rule for real
// and complex functions, and none about conjugation.
namespace torch::autograd {

namespace {

using at::Tensor;
using TensorList = std::vector<Tensor>;

constexpr int64_t kPrintedElements = 400;

// A strided tensor of real numbers over the same memory.
Tensor as_real(const Tensor& t) {
  return t.is_complex() ? at::view_as_real(t) : t;
}

// The elements as one row of doubles on the CPU, complex ones as pairs. A copy.
Tensor flat_values(const Tensor& t) {
  const AutoGradMode no_grad(false);
  const Tensor real = as_real(t.detach().resolve_conj().resolve_neg());
  return real.to(at::TensorOptions().dtype(at::kDouble).device(at::kCPU), false, /*copy=*/true).reshape({-1});
}

int64_t real_numel(const Tensor& t) {
  return t.numel() * (t.is_complex() ? 2 : 1);
}

Tensor new_jacobian(const Tensor& output, const Tensor& input) {
  return at::zeros({real_numel(output), real_numel(input)}, at::TensorOptions().dtype(at::kDouble));
}

// Calls f(column, element) for each real number in `input`, where element is a 0-dim tensor over its memory.
template <class F>
void for_each_element(const Tensor& input, F f) {
  // Without history and with a version of its own: moving a value is no change that saved variables should notice.
  const Tensor real = as_real(input.data());
  const at::IntArrayRef sizes = real.sizes();
  std::vector<int64_t> index(sizes.size(), 0);
  for (int64_t column = 0; column < real.numel(); ++column) {
    int64_t offset = real.storage_offset();
    for (size_t d = 0; d < index.size(); ++d) {
      offset += index[d] * real.stride(static_cast<int64_t>(d));
    }
    f(column, real.as_strided({}, {}, offset));
    for (size_t d = index.size(); d-- > 0;) {
      if (++index[d] < sizes[d]) {
        break;
      }
      index[d] = 0;
    }
  }
}

// "element [1, 2]", or of a complex tensor "the imaginary part of element [1, 2]".
std::string describe_element(const Tensor& t, int64_t position) {
  std::string part;
  if (t.is_complex()) {
    part = position % 2 == 0 ? "the real part of " : "the imaginary part of ";
    position /= 2;
  }
  std::vector<int64_t> index(static_cast<size_t>(t.dim()));
  for (int64_t d = t.dim(); d-- > 0;) {
    index[static_cast<size_t>(d)] = position % t.size(d);
    position /= t.size(d);
  }
  return c10::str(part, "element ", at::IntArrayRef(index));
}

// Weights between -1 and 1, the same ones each time.
TensorList random_weights(const TensorList& outputs) {
  const at::Generator generator = at::detail::createCPUGenerator(1);
  TensorList weights;
  for (const Tensor& output : outputs) {
    const Tensor weight = at::empty(output.sizes(), output.options().device(at::kCPU).requires_grad(false));
    as_real(weight).uniform_(-1, 1, generator);
    weights.push_back(weight.to(output.device()).requires_grad_());
  }
  return weights;
}

class Gradcheck {
 public:
  Gradcheck(const GradcheckFunction& func, const TensorList& inputs, const GradcheckOptions& options)
      : func_(func), inputs_(inputs), options_(options) {
    check_inputs();
  }

  // Throws GradcheckError for the first fault.
  void run() const {
    const TensorList outputs = call();
    for (size_t i = 0; i < outputs.size(); ++i) {
      TORCH_CHECK_VALUE(
          outputs[i].defined() && outputs[i].layout() == at::kStrided, "gradcheck: output ", i,
          " must be a defined, strided tensor; call to_dense() on sparse outputs of the function");
    }
    const std::vector<TensorList> numerical = numerical_jacobians(outputs);
    if (options_.check_forward_ad) {
      compare_forward(outputs, numerical);
      if (options_.check_batched_forward_grad) {
        check_batched_tangents();
      }
    }
    if (options_.check_backward_ad) {
      check_backward(outputs, numerical);
    }
  }

 private:
  void check_backward(const TensorList& outputs, const std::vector<TensorList>& numerical) const {
    bool any_differentiable = false;
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (outputs[i].requires_grad()) {
        any_differentiable = true;
        compare_backward(outputs[i], i, numerical[i]);
      } else {
        check_constant(outputs[i], i, numerical[i]);
      }
    }
    if (any_differentiable) {
      check_multiplied_by_gradient(outputs);
      if (options_.check_undefined_grad) {
        check_undefined_gradients();
      }
      if (options_.check_batched_grad) {
        check_batched_gradients(outputs);
      }
    }
  }

  template <class... Args>
  [[noreturn]] static void fail(const Args&... args) {
    throw GradcheckError({__func__, __FILE__, static_cast<uint32_t>(__LINE__)}, c10::str(args...));
  }

  void check_inputs() {
    for (size_t i = 0; i < inputs_.size(); ++i) {
      const Tensor& input = inputs_[i];
      if (!input.defined() || !input.requires_grad()) {
        continue;
      }
      TORCH_CHECK_VALUE(
          input.layout() == at::kStrided, "gradcheck: input ", i, " has layout ", input.layout(),
          ", but differences are taken of strided tensors; let the function convert one");
      for (int64_t d = 0; d < input.dim(); ++d) {
        TORCH_CHECK_VALUE(
            input.stride(d) > 0 || input.size(d) <= 1, "The ", i,
            "th input has a dimension with stride 0. gradcheck only supports inputs that are non-overlapping to be "
            "able "
            "to compute the numerical gradients correctly. You should call .contiguous on the input before passing it "
            "to gradcheck.");
      }
      if (c10::toRealValueType(input.scalar_type()) != at::kDouble) {
        TORCH_WARN(
            "Input #", i,
            " requires gradient and is not a double precision floating point or complex. This check will "
            "likely fail if all the inputs are not of double precision floating point or complex.");
      }
      checked_.push_back(i);
    }
    TORCH_CHECK_VALUE(
        options_.check_backward_ad || !options_.check_batched_grad,
        "gradcheck: Setting check_batched_grad=True requires check_backward_ad to be True");
    TORCH_CHECK_VALUE(
        options_.check_forward_ad || !options_.check_batched_forward_grad,
        "gradcheck: Setting check_batched_forward_grad=True requires check_forward_ad to be True");
    TORCH_CHECK_VALUE(
        !checked_.empty(), "gradcheck expects at least one input tensor to require gradient, but none of the ",
        inputs_.size(), " have requires_grad=True.");
  }

  TensorList call() const {
    const AutoGradMode record(true);
    return func_(inputs_);
  }

  TensorList differentiated() const {
    TensorList list;
    for (const size_t i : checked_) {
      list.push_back(inputs_[i]);
    }
    return list;
  }

  TensorList values_of_call(const TensorList& outputs) const {
    TensorList values;
    const TensorList again = call();
    TORCH_CHECK_VALUE(
        again.size() == outputs.size(), "gradcheck: the function returned ", outputs.size(), " tensors, then ",
        again.size(), "; it must return the same number each time");
    for (size_t i = 0; i < again.size(); ++i) {
      TORCH_CHECK_VALUE(
          again[i].sizes() == outputs[i].sizes() && again[i].scalar_type() == outputs[i].scalar_type(),
          "gradcheck: output ", i, " was ", outputs[i].toString(), " ", outputs[i].sizes(), ", then ",
          again[i].toString(), " ", again[i].sizes(), "; it must have the same shape and dtype each time");
      values.push_back(flat_values(again[i]));
    }
    return values;
  }

  // [i][k]: of output i by the k-th checked input.
  std::vector<TensorList> numerical_jacobians(const TensorList& outputs) const {
    std::vector<TensorList> jacobians(outputs.size());
    for (const size_t i : checked_) {
      for (size_t j = 0; j < outputs.size(); ++j) {
        jacobians[j].push_back(new_jacobian(outputs[j], inputs_[i]));
      }
      for_each_element(inputs_[i], [&](int64_t column, const Tensor& element) {
        const Tensor old = element.clone();
        element.copy_(old + options_.eps);
        const TensorList above = values_of_call(outputs);
        element.copy_(old - options_.eps);
        const TensorList below = values_of_call(outputs);
        element.copy_(old);
        for (size_t j = 0; j < outputs.size(); ++j) {
          jacobians[j].back().select(1, column).copy_((above[j] - below[j]) / (2 * options_.eps));
        }
      });
    }
    return jacobians;
  }

  // [k]: of this output by the k-th checked input.
  TensorList analytical_jacobians(const Tensor& output) const {
    const TensorList wanted = differentiated();
    TensorList jacobians;
    for (const Tensor& input : wanted) {
      jacobians.push_back(new_jacobian(output, input));
    }
    for (int64_t row = 0; row < real_numel(output); ++row) {
      const Tensor weight = at::zeros(output.sizes(), output.options());
      as_real(weight).view({-1}).select(0, row).fill_(1);
      const TensorList grads = grad({output}, wanted, {weight}, /*retain_graph=*/true, false, /*allow_unused=*/true);
      for (size_t k = 0; k < wanted.size(); ++k) {
        if (grads[k].defined()) {
          jacobians[k].select(0, row).copy_(flat_values(grads[k].to_dense()));
        }
      }
    }
    return jacobians;
  }

  // [i][k]: of output i by the k-th checked input, a column for each call with a tangent.
  std::vector<TensorList> forward_jacobians(const TensorList& outputs) const {
    std::vector<TensorList> jacobians(outputs.size());
    for (const size_t i : checked_) {
      for (size_t j = 0; j < outputs.size(); ++j) {
        jacobians[j].push_back(new_jacobian(outputs[j], inputs_[i]));
      }
      const Tensor direction = at::zeros_like(inputs_[i].detach(), at::MemoryFormat::Contiguous);
      for (int64_t column = 0; column < real_numel(inputs_[i]); ++column) {
        direction.zero_();
        as_real(direction).view({-1}).select(0, column).fill_(1);
        const TensorList tangents = tangents_of_call(i, direction);
        for (size_t j = 0; j < outputs.size(); ++j) {
          if (tangents.at(j).defined()) {
            jacobians[j].back().select(1, column).copy_(flat_values(tangents[j]));
          }
        }
      }
    }
    return jacobians;
  }

  TensorList tangents_of_call(size_t input, const Tensor& direction) const {
    const forward_ad::DualLevel level;
    TensorList inputs = inputs_;
    inputs[input] = forward_ad::make_dual(inputs[input], direction);
    TensorList tangents = func_(inputs);
    for (Tensor& tangent : tangents) {
      tangent = forward_ad::unpack_dual(tangent).tangent;
    }
    return tangents;
  }

  void compare_forward(const TensorList& outputs, const std::vector<TensorList>& numerical) const {
    const std::vector<TensorList> analytical = forward_jacobians(outputs);
    for (size_t i = 0; i < outputs.size(); ++i) {
      compare(outputs[i], i, numerical[i], analytical[i], "forward mode");
    }
  }

  // `mode` is what gives the analytical derivatives.
  void compare(
      const Tensor& output,
      size_t index,
      const TensorList& numerical,
      const TensorList& analytical,
      const char* mode) const {
    for (size_t k = 0; k < analytical.size(); ++k) {
      const Tensor allowed = numerical[k].abs() * options_.rtol + options_.atol;
      const Tensor excess = (analytical[k] - numerical[k]).abs() - allowed;
      // NaN fits nothing, so "not within" rather than "beyond".
      if (!excess.le(0).all().item<bool>()) {
        fail(mismatch(output, index, k, numerical[k], analytical[k], excess, mode));
      }
    }
  }

  void compare_backward(const Tensor& output, size_t index, const TensorList& numerical) const {
    const TensorList analytical = analytical_jacobians(output);
    compare(output, index, numerical, analytical, "backward");
    const TensorList again = analytical_jacobians(output);
    for (size_t k = 0; k < analytical.size(); ++k) {
      if (analytical[k].numel() == 0) {
        continue;
      }
      const double difference = (analytical[k] - again[k]).abs().max().item<double>();
      if (difference > options_.nondet_tol) {
        fail(
            "Backward is not reentrant, i.e., running backward with same input and grad_output multiple times gives "
            "different values, although analytical gradient matches numerical gradient. Output ",
            index, node_of(output), " with respect to input ", checked_[k], " differs by ", difference,
            "; the tolerance for nondeterminism was ", options_.nondet_tol, ".");
      }
    }
  }

  static std::string node_of(const Tensor& output) {
    return output.grad_fn() ? c10::str(" (of ", output.grad_fn()->name(), ")") : std::string();
  }

  std::string mismatch(
      const Tensor& output,
      size_t index,
      size_t k,
      const Tensor& numerical,
      const Tensor& analytical,
      const Tensor& excess,
      const char* mode) const {
    const Tensor& input = inputs_[checked_[k]];
    const auto bad = excess.le(0).logical_not();
    const int64_t worst = excess.nan_to_num(std::numeric_limits<double>::infinity()).argmax().item<int64_t>();
    const double expected = numerical.view({-1}).select(0, worst).item<double>();
    const double got = analytical.view({-1}).select(0, worst).item<double>();
    std::string text = c10::str(
        "Jacobian mismatch for output ", index, node_of(output), " with respect to input ", checked_[k], ",\n",
        bad.sum().item<int64_t>(), " of ", numerical.numel(),
        " derivatives differ. The worst: ", describe_element(output, worst / numerical.size(1)), " of the output by ",
        describe_element(input, worst % numerical.size(1)), " of the input is ", expected, " by differences and ", got,
        " by ", mode, "; they differ by ", std::abs(got - expected), ", where ",
        options_.atol + options_.rtol * std::abs(expected), " is allowed (atol ", options_.atol, ", rtol ",
        options_.rtol, ", eps ", options_.eps, ").");
    if (numerical.numel() <= kPrintedElements) {
      text += c10::str(
          "\nRows are elements of the output, columns those of the input.\nnumerical:\n", numerical, "\nanalytical:\n",
          analytical);
    }
    return text;
  }

  void check_constant(const Tensor& output, size_t index, const TensorList& numerical) const {
    for (size_t k = 0; k < numerical.size(); ++k) {
      if (numerical[k].ne(0).any().item<bool>()) {
        fail(
            "Numerical gradient for function expected to be zero: output ", index, " of ", output.toString(),
            " does not require grad, but changes with input ", checked_[k]);
      }
    }
  }

  // The derivative is linear: zeros give zeros.
  void check_multiplied_by_gradient(const TensorList& outputs) const {
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (!outputs[i].requires_grad()) {
        continue;
      }
      const TensorList grads = grad(
          {outputs[i]}, differentiated(), {at::zeros(outputs[i].sizes(), outputs[i].options())}, /*retain_graph=*/true,
          false, /*allow_unused=*/true);
      for (size_t k = 0; k < grads.size(); ++k) {
        if (!is_zero(grads[k])) {
          fail(
              "backward not multiplied by grad_output: the gradient of input ", checked_[k],
              " is not zero when that of output ", i, node_of(outputs[i]), " is");
        }
      }
    }
  }

  static bool is_zero(const Tensor& grad) {
    return !grad.defined() || flat_values(grad.to_dense()).eq(0).all().item<bool>();
  }

  // All outputs without a gradient, and where there are several, each alone.
  void check_undefined_gradients() const {
    const size_t count = call().size();
    check_undefined_gradient_of(0, count);
    for (size_t i = 0; count > 1 && i < count; ++i) {
      check_undefined_gradient_of(i, i + 1);
    }
  }

  void check_undefined_gradient_of(size_t begin, size_t end) const {
    const AutoGradMode record(true);
    TensorList outputs = call();
    TensorList used;
    TensorList zeros;
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (!outputs[i].requires_grad()) {
        continue;
      }
      Tensor output = outputs[i];
      if (i >= begin && i < end) {
        output = (*make_node<UndefinedGrad>())({output})[0];
      }
      used.push_back(output);
      zeros.push_back(at::zeros(output.sizes(), output.options()));
    }
    TensorList grads;
    try {
      grads = grad(used, differentiated(), zeros, std::nullopt, false, /*allow_unused=*/true);
    } catch (const std::exception& e) {
      fail("Expected backward function to handle undefined output grads. It threw: ", e.what());
    }
    for (size_t k = 0; k < grads.size(); ++k) {
      if (!is_zero(grads[k])) {
        fail(
            "Expected all input grads to be undefined or zero when all output grads are undefined or zero. That of "
            "input ",
            checked_[k], " is not");
      }
    }
  }

  // Gradients of a batch of weights, against those of each.
  void check_batched_gradients(const TensorList& outputs) const {
    const auto pass = [&](const Tensor& output, const Tensor& weight) {
      return grad({output}, differentiated(), {weight}, /*retain_graph=*/true, false, /*allow_unused=*/true);
    };
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (!outputs[i].requires_grad()) {
        continue;
      }
      const auto pass_of_output = [&](const Tensor& weight) { return pass(outputs[i], weight); };
      check_batched(outputs[i], pass_of_output, c10::str("the gradients of output ", i, node_of(outputs[i])));
    }
  }

  void check_batched_tangents() const {
    for (const size_t i : checked_) {
      const auto call_with = [&](const Tensor& direction) { return tangents_of_call(i, direction); };
      check_batched(inputs_[i], call_with, c10::str("the derivatives in directions of input ", i));
    }
  }

  // Whether f gives for a batch of tensors like this one what it gives for each.
  template <class F>
  void check_batched(const Tensor& like, const F& f, const std::string& what) const {
    constexpr int64_t kBatchSize = 3;
    const Tensor weights = at::stack(random_weights(TensorList(kBatchSize, like.detach()))).detach();
    const at::functorch::HiddenVmapLevel level(kBatchSize);
    TensorList batched;
    try {
      batched = f(at::functorch::makeBatched(weights, 0, level.level()));
    } catch (const std::exception& e) {
      fail("While ", what, " were computed for a batch at once, as jacrev and jacfwd do, it threw: ", e.what());
    }
    for (int64_t b = 0; b < kBatchSize; ++b) {
      const TensorList wanted = f(weights.select(0, b));
      for (size_t k = 0; k < wanted.size(); ++k) {
        const auto [value, bdim] = at::functorch::unwrapTensorAtLevel(batched[k], level.level()->number);
        const Tensor got = bdim ? value.select(*bdim, b) : value;
        if (!agree(got, wanted[k])) {
          fail(
              what, " differ in number ", k,
              " when they are computed for a batch at once, as jacrev and jacfwd do: got ", got, ", expected ",
              wanted[k]);
        }
      }
    }
  }

  // No gradient counts as zeros.
  bool agree(const Tensor& got, const Tensor& wanted) const {
    if (!got.defined() || !wanted.defined()) {
      return is_zero(got) && is_zero(wanted);
    }
    const Tensor a = flat_values(got.to_dense()), b = flat_values(wanted.to_dense());
    return a.sizes() == b.sizes() && at::allclose(a, b, options_.rtol, options_.atol, /*equal_nan=*/true);
  }

  const GradcheckFunction& func_;
  const TensorList& inputs_;
  const GradcheckOptions& options_;
  std::vector<size_t> checked_;
};

GradcheckFunction with_list(const GradcheckFunctionOfOneResult& func) {
  TORCH_CHECK_VALUE(func, "gradcheck: got no function to check");
  return [&func](const TensorList& inputs) { return TensorList{func(inputs)}; };
}

TensorList only_differentiable(const TensorList& tensors) {
  TensorList list;
  for (const Tensor& tensor : tensors) {
    if (tensor.defined() && tensor.requires_grad()) {
      list.push_back(tensor);
    }
  }
  return list;
}

} // namespace

bool gradcheck(const GradcheckFunction& func, const TensorList& inputs, const GradcheckOptions& options) {
  TORCH_CHECK_VALUE(func, "gradcheck: got no function to check");
  const Gradcheck check(func, inputs, options);
  if (options.raise_exception) {
    check.run();
    return true;
  }
  try {
    check.run();
    return true;
  } catch (const GradcheckError&) {
    return false;
  }
}

bool gradcheck(const GradcheckFunctionOfOneResult& func, const TensorList& inputs, const GradcheckOptions& options) {
  return gradcheck(with_list(func), inputs, options);
}

bool gradgradcheck(
    const GradcheckFunction& func,
    const TensorList& inputs,
    const TensorList& grad_outputs,
    const GradcheckOptions& options) {
  TORCH_CHECK_VALUE(func, "gradgradcheck: got no function to check");
  TensorList weights = grad_outputs;
  if (weights.empty()) {
    const AutoGradMode record(true);
    weights = random_weights(only_differentiable(func(inputs)));
  }
  TensorList all = inputs;
  all.insert(all.end(), weights.begin(), weights.end());
  const size_t count = inputs.size();
  const GradcheckFunction backward = [&func, count](const TensorList& args) {
    const auto split = args.begin() + static_cast<std::ptrdiff_t>(count);
    const TensorList xs(args.begin(), split);
    const TensorList outputs = only_differentiable(func(xs));
    TORCH_CHECK_VALUE(
        outputs.size() == args.size() - count, "gradgradcheck: the function has ", outputs.size(),
        " outputs that require grad and got ", args.size() - count, " gradients; give one for each");
    for (size_t i = 0; i < outputs.size(); ++i) {
      const Tensor& weight = args[count + i];
      TORCH_CHECK_VALUE(
          weight.defined() && weight.sizes() == outputs[i].sizes(), "Mismatch in shape: grad_output[", i,
          "] has a shape of ", weight.sizes(), " and output[", i, "] has a shape of ", outputs[i].sizes(),
          ": gradgradcheck takes gradients of the outputs' shapes");
    }
    return only_differentiable(grad(
        outputs, only_differentiable(xs), TensorList(split, args.end()), std::nullopt, /*create_graph=*/true,
        /*allow_unused=*/true));
  };
  return gradcheck(backward, all, options);
}

bool gradgradcheck(
    const GradcheckFunctionOfOneResult& func,
    const TensorList& inputs,
    const TensorList& grad_outputs,
    const GradcheckOptions& options) {
  return gradgradcheck(with_list(func), inputs, grad_outputs, options);
}

} // namespace torch::autograd
