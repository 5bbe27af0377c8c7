#pragma once

#include <csrc/data/example.h>
#include <csrc/data/transforms/collate.h>

#include <vector>

namespace torch::data::transforms {

/// Stacks the tensors of a batch along a new first dimension. They must have one shape.
template <typename T = Example<>>
struct Stack;

template <>
struct TORCH_API Stack<Example<>> : public Collation<Example<>> {
  Example<> apply_batch(std::vector<Example<>> examples) override;
};

template <>
struct TORCH_API Stack<TensorExample> : public Collation<TensorExample> {
  TensorExample apply_batch(std::vector<TensorExample> examples) override;
};

} // namespace torch::data::transforms
