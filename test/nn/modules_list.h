#pragma once

#include <torch/torch.h>

#include <string>
#include <vector>

namespace modules_list {

/// A parameter or buffer of a module made with seed 7, its values as doubles.
struct NamedTensor {
  std::string name;
  std::vector<int64_t> sizes;
  torch::Tensor values;
};

struct Description {
  std::string text;
  std::vector<NamedTensor> tensors;
};

std::vector<Description> describe_modules();

/// A result with a name: outputs of modules, losses of a short training, gradients.
struct Value {
  std::string name;
  torch::Tensor value;
};

std::vector<Value> compute_values();

} // namespace modules_list
