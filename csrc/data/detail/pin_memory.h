// Copies the tensors of a batch to page-locked memory.
#pragma once

#include <aten/core/Tensor.h>
#include <csrc/data/example.h>

#include <utility>
#include <vector>

namespace torch::data::detail {

/// Are there devices that copy faster from page-locked memory?
TORCH_API bool can_pin_memory();
TORCH_API void pin_memory(at::Tensor& tensor);

template <typename Data, typename Target>
void pin_memory(Example<Data, Target>& example);
template <typename Data>
void pin_memory(Example<Data, void>& example);
template <typename A, typename B>
void pin_memory(std::pair<A, B>& pair);
template <typename T>
void pin_memory(std::vector<T>& values);
/// What is no tensor stays as it is.
template <typename T>
void pin_memory(T&) {}

template <typename Data, typename Target>
void pin_memory(Example<Data, Target>& example) {
  pin_memory(example.data);
  pin_memory(example.target);
}
template <typename Data>
void pin_memory(Example<Data, void>& example) {
  pin_memory(example.data);
}
template <typename A, typename B>
void pin_memory(std::pair<A, B>& pair) {
  pin_memory(pair.first);
  pin_memory(pair.second);
}
template <typename T>
void pin_memory(std::vector<T>& values) {
  if constexpr (!std::is_same_v<T, bool>) {
    for (T& value : values) {
      pin_memory(value);
    }
  }
}

} // namespace torch::data::detail
