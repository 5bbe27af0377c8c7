// Functions over the arguments of a call: how many tensors are among them, one call for each, one call of them all.
#pragma once

#include <aten/core/Tensor.h>
#include <aten/core/Variadic.h>

#include <cstddef>
#include <optional>
#include <utility>

namespace torch {

using at::IterArgs;

struct CountTensors : IterArgs<CountTensors> {
  size_t out = 0;
  void operator()(const at::Tensor&) {
    out += 1;
  }
  void operator()(const std::optional<at::Tensor>& x) {
    out += x.has_value() ? 1 : 0;
  }
  void operator()(at::ArrayRef<at::Tensor> xs) {
    out += xs.size();
  }
};

template <typename... Args>
size_t count_tensors(Args&&... args) {
  return CountTensors().apply(std::forward<Args>(args)...).out;
}

struct CountVariables : IterArgs<CountVariables> {
  size_t out = 0;
  void operator()(const at::Tensor&) {
    out += 1;
  }
  void operator()(at::ArrayRef<at::Tensor> xs) {
    out += xs.size();
  }
};

template <typename... Args>
size_t count_variables(Args&&... args) {
  return CountVariables().apply(std::forward<Args>(args)...).out;
}

/// Calls the function with each argument, from the first to the last.
template <typename Function, typename... Args>
void apply(Function function, Args&&... args) {
  (static_cast<void>(function(std::forward<Args>(args))), ...);
}

namespace detail {

template <typename Result, typename... Types, typename Function, typename Accessor, size_t... Indices>
Result unpack_indices(Function& function, Accessor& accessor, std::index_sequence<Indices...> /*indices*/) {
  return Result(function(accessor.template operator()<Types>(Indices)...));
}

} // namespace detail

/// Calls the function with what the accessor gives for each place and its type: `accessor.operator()<T>(place)`.
template <typename Result, typename... Types, typename Function, typename Accessor>
Result unpack(Function function, Accessor accessor) {
  return detail::unpack_indices<Result, Types...>(function, accessor, std::index_sequence_for<Types...>());
}

} // namespace torch
