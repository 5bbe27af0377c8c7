#include "test/support/gradcheck.h"

#include <torch/autograd.h>

#include <complex>

#include "test/support/compare.h"
#include "test/support/host_view.h"
#include "test/support/random.h"

namespace test {

namespace {

using at::Tensor;
using Tensors = std::vector<Tensor>;

bool is_differentiable(const Tensor& tensor) {
  return tensor.defined() && (at::isFloatingType(tensor.scalar_type()) || at::isComplexType(tensor.scalar_type()));
}

/// Outputs that gradients flow from, in order. With `constants` those too that say they do not depend on the inputs.
Tensors differentiable_outputs(const Tensors& outputs, bool constants) {
  Tensors kept;
  for (const Tensor& output : outputs) {
    if (is_differentiable(output) && (constants || output.requires_grad())) {
      kept.push_back(output);
    }
  }
  return kept;
}

/// Gradients of the outputs that have a history; undefined where there are none.
Tensors gradients_of(const Tensors& outputs, const Tensors& leaves, const Tensors& cotangents) {
  Tensors roots;
  Tensors root_cotangents;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!outputs[i].requires_grad()) {
      continue;
    }
    roots.push_back(outputs[i]);
    root_cotangents.push_back(cotangents[i]);
  }
  if (roots.empty()) {
    return Tensors(leaves.size());
  }
  return torch::autograd::grad(
      roots, leaves, root_cotangents, /*retain_graph=*/true, /*create_graph=*/false, /*allow_unused=*/true);
}

Tensor random_like(Random& random, const Tensor& tensor) {
  return random.tensor(tensor.scalar_type(), tensor.sizes().vec(), -1, 1).to(tensor.device());
}

/// Re(sum(conj(cotangent) * output)) over all outputs.
double objective(const Tensors& outputs, const Tensors& cotangents) {
  double sum = 0;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const HostView output(outputs[i].detach());
    const HostView cotangent(cotangents[i].detach());
    for (int64_t k = 0; k < outputs[i].numel(); ++k) {
      sum += (std::conj(cotangent.number(k)) * output.number(k)).real();
    }
  }
  return sum;
}

/// A leaf with the elements of `tensor`, one of them moved by `shift`, and the same strides.
Tensor moved(const Tensor& tensor, int64_t position, std::complex<double> shift) {
  const HostView view(tensor.detach());
  const Tensor elements = tensor_of(tensor.scalar_type(), tensor.sizes().vec(), [&](int64_t i) {
    return view.number(i) + (i == position ? shift : std::complex<double>(0));
  });
  return elements.to(tensor.device()).requires_grad_(true);
}

struct Numeric {
  const Function& function;
  const Tensors& inputs;
  const Tensors& cotangents;
  const GradcheckOptions& options;

  double slope(size_t input, int64_t position, std::complex<double> direction) const {
    const double step = options.step;
    return (value_at(input, position, direction * step) - value_at(input, position, -direction * step)) / (2 * step);
  }

 private:
  double value_at(size_t input, int64_t position, std::complex<double> shift) const {
    Tensors arguments = inputs;
    arguments[input] = moved(inputs[input], position, shift);
    return objective(differentiable_outputs(function(arguments), options.constant_outputs), cotangents);
  }
};

std::string check_input(const Numeric& numeric, size_t input, const Tensor& gradient, const GradcheckOptions& options) {
  const Tensor& tensor = numeric.inputs[input];
  const bool is_complex = at::isComplexType(tensor.scalar_type());
  const Tensor want = tensor_of(tensor.scalar_type(), tensor.sizes().vec(), [&](int64_t i) {
    const double real = numeric.slope(input, i, 1.0);
    return std::complex<double>(real, is_complex ? numeric.slope(input, i, {0.0, 1.0}) : 0.0);
  });
  const Tensor zero = tensor_of(tensor.scalar_type(), tensor.sizes().vec(), [](int64_t) { return 0.0; });
  // An undefined gradient stands for zero.
  const std::string difference =
      first_difference(gradient.defined() ? gradient.detach() : zero, want, {options.rtol, options.atol});
  if (difference.empty()) {
    return {};
  }
  return "gradient of input " + std::to_string(input) + " (want: by central differences) " + difference;
}

} // namespace

std::string gradcheck(const Function& function, const Tensors& inputs, GradcheckOptions options) {
  const Tensors outputs = differentiable_outputs(function(inputs), options.constant_outputs);
  if (outputs.empty()) {
    return options.constant_outputs ? "" : "no output requires grad";
  }
  Random random(options.stream);
  Tensors cotangents;
  for (const Tensor& output : outputs) {
    cotangents.push_back(random_like(random, output));
  }

  Tensors leaves;
  std::vector<size_t> positions;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!is_differentiable(inputs[i]) || !inputs[i].requires_grad()) {
      continue;
    }
    leaves.push_back(inputs[i]);
    positions.push_back(i);
  }
  const Tensors gradients = gradients_of(outputs, leaves, cotangents);
  const Numeric numeric{function, inputs, cotangents, options};
  for (size_t i = 0; i < leaves.size(); ++i) {
    if (std::string difference = check_input(numeric, positions[i], gradients[i], options); !difference.empty()) {
      return difference;
    }
  }
  return {};
}

std::string gradgradcheck(const Function& function, const Tensors& inputs, GradcheckOptions options) {
  const size_t input_count = inputs.size();
  Random random(options.stream + 1);
  Tensors all = inputs;
  for (const Tensor& output : differentiable_outputs(function(inputs), /*constants=*/false)) {
    all.push_back(random_like(random, output).requires_grad_(true));
  }
  if (all.size() == input_count) {
    return "no output requires grad";
  }

  const Function gradients = [&function, input_count](const Tensors& arguments) {
    const Tensors own(arguments.begin(), arguments.begin() + static_cast<std::ptrdiff_t>(input_count));
    const Tensors cotangents(arguments.begin() + static_cast<std::ptrdiff_t>(input_count), arguments.end());
    Tensors leaves;
    for (const Tensor& input : own) {
      if (is_differentiable(input) && input.requires_grad()) {
        leaves.push_back(input);
      }
    }
    Tensors results = torch::autograd::grad(
        differentiable_outputs(function(own), /*constants=*/false), leaves, cotangents, /*retain_graph=*/true,
        /*create_graph=*/true, /*allow_unused=*/true);
    return results;
  };
  // The gradient of a piecewise linear function is a constant, with no history: its differences must be zero.
  options.constant_outputs = true;
  const std::string difference = gradcheck(gradients, all, options);
  return difference.empty() ? "" : "second order: " + difference;
}

} // namespace test
