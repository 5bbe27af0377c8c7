// Gradients against central differences.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <string>
#include <vector>

namespace test {

using Function = std::function<std::vector<at::Tensor>(const std::vector<at::Tensor>&)>;

struct GradcheckOptions {
  double step = 1e-6; // of the central differences
  double rtol = 1e-5;
  double atol = 1e-6;
  uint64_t stream = 7; // of the random cotangents
  bool constant_outputs = false; // floating outputs that do not require grad are checked to be constant
};

/// Compares the gradient of Re(sum(conj(cotangent) * function(inputs))) for random cotangents, as autograd gives it,
/// with central differences. Inputs are float64 or complex128 and require grad where they take part; others are
/// passed on as they are. Returns an empty string or the first difference; exceptions of `function` pass through.
std::string gradcheck(const Function& function, const std::vector<at::Tensor>& inputs, GradcheckOptions options = {});

/// The same for the gradients of the gradients, with respect to inputs and cotangents.
std::string gradgradcheck(
    const Function& function, const std::vector<at::Tensor>& inputs, GradcheckOptions options = {});

} // namespace test
