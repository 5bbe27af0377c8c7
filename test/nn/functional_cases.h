// Calls of torch::nn::functional whose results are compared with stored values of libtorch. The cases use nothing but
// libtorch's API, so that peer/print_functional_values.cpp, built against libtorch, prints the stored values.
#pragma once

#include <torch/torch.h>
#include <torch/nn/functional.h>

#include <functional>
#include <string>
#include <vector>

namespace cases {

namespace F = torch::nn::functional;
using torch::Tensor;

struct Case {
  std::string name;
  Tensor value;
};

using Cases = std::vector<Case>;
using Function = std::function<Tensor(const Tensor&)>;

/// Values in (-2, 2) that do not repeat, of double.
Tensor wave(torch::IntArrayRef sizes, double phase = 0);
/// Values in (0, 1).
Tensor fractions(torch::IntArrayRef sizes, double phase = 0);
/// Indices in [0, classes).
Tensor indices(torch::IntArrayRef sizes, int64_t classes);

/// Adds the value of f(x) under `name`, and the gradient of its weighted sum under `name` + "'".
void differentiable(Cases& out, const std::string& name, const Function& f, Tensor x);

/// Weights for sums over elements that tell them apart.
Tensor weights_like(const Tensor& value);

Cases activation_cases();
Cases attention_cases();
Cases layer_cases();
Cases loss_cases();
Cases pooling_cases();
Cases image_cases();
Cases random_cases();

Cases all_cases();

} // namespace cases
