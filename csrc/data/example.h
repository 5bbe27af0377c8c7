// What a dataset gives for one index.
#pragma once

#include <csrc/types.h>

#include <utility>

namespace torch::data {

/// An input with what a model is to say about it.
template <typename Data = at::Tensor, typename Target = at::Tensor>
struct Example {
  using DataType = Data;
  using TargetType = Target;

  Example() = default;
  Example(Data data, Target target) : data(std::move(data)), target(std::move(target)) {}

  Data data;
  Target target;
};

namespace example {
/// For examples that are an input alone.
using NoTarget = void;
} // namespace example

/// An input alone; converts from and to it.
template <typename Data>
struct Example<Data, example::NoTarget> {
  using DataType = Data;
  using TargetType = example::NoTarget;

  Example() = default;
  Example(Data data) : data(std::move(data)) {}

  operator Data&() {
    return data;
  }
  operator const Data&() const {
    return data;
  }

  Data data;
};

using TensorExample = Example<at::Tensor, example::NoTarget>;

} // namespace torch::data
