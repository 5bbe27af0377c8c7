#include <csrc/data/transforms/stack.h>

#include <utility>

namespace torch::data::transforms {

Example<> Stack<Example<>>::apply_batch(std::vector<Example<>> examples) {
  std::vector<at::Tensor> data, targets;
  data.reserve(examples.size());
  targets.reserve(examples.size());
  for (Example<>& example : examples) {
    data.push_back(std::move(example.data));
    targets.push_back(std::move(example.target));
  }
  return {at::stack(data), at::stack(targets)};
}

TensorExample Stack<TensorExample>::apply_batch(std::vector<TensorExample> examples) {
  std::vector<at::Tensor> data;
  data.reserve(examples.size());
  for (TensorExample& example : examples) {
    data.push_back(std::move(example.data));
  }
  return at::stack(data);
}

} // namespace torch::data::transforms
