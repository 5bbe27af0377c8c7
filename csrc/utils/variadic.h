// How many tensors a call has among its arguments.
#pragma once

#include <aten/core/Tensor.h>
#include <aten/core/Variadic.h>

#include <optional>

namespace torch {

using at::IterArgs;

struct CountTensors : IterArgs<CountTensors> {
  size_t out = 0;
  void operator()(const at::Tensor&) { out += 1; }
  void operator()(const std::optional<at::Tensor>& x) { out += x.has_value() ? 1 : 0; }
  void operator()(at::ArrayRef<at::Tensor> xs) { out += xs.size(); }
};

template <typename... Args>
size_t count_tensors(Args&&... args) {
  return CountTensors().apply(std::forward<Args>(args)...).out;
}

struct CountVariables : IterArgs<CountVariables> {
  size_t out = 0;
  void operator()(const at::Tensor&) { out += 1; }
  void operator()(at::ArrayRef<at::Tensor> xs) { out += xs.size(); }
};

template <typename... Args>
size_t count_variables(Args&&... args) {
  return CountVariables().apply(std::forward<Args>(args)...).out;
}

} // namespace torch
