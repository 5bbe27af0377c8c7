#include <csrc/data/datasets/tensor.h>

#include <utility>

namespace torch::data::datasets {

TensorDataset::TensorDataset(const std::vector<Tensor>& tensors) : TensorDataset(at::stack(tensors)) {}

TensorDataset::TensorDataset(torch::Tensor values) : tensor(std::move(values)) {
  TORCH_CHECK(
      tensor.defined() && tensor.dim() > 0,
      "TensorDataset: expected a tensor with at least one dimension, along which its examples lie, got ",
      tensor.defined() ? "one without dimensions" : "an undefined one");
}

TensorExample TensorDataset::get(size_t index) {
  return tensor.select(0, static_cast<int64_t>(index));
}

std::optional<size_t> TensorDataset::size() const {
  return tensor.size(0);
}

} // namespace torch::data::datasets
