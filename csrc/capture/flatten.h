// Arguments and results of C++ functions as lists of tensors.
#pragma once

#include <aten/core/Tensor.h>
#include <aten/core/ivalue.h>

#include <array>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace torch::capture {

/// What a call takes: tensors, and constants that the recording holds for. Lengths of vectors are constants.
struct Inputs {
  std::vector<at::Tensor> tensors;
  std::vector<c10::IValue> constants;
};

/// What a call gives: tensors, and the lengths of vectors of them. `is_single` says that it is one tensor, in nothing.
struct Outputs {
  std::vector<at::Tensor> tensors;
  std::vector<size_t> lengths;
  size_t next_tensor = 0;
  size_t next_length = 0;
  bool is_single = false;
};

template <class T, class = void>
struct Flatten {
  static_assert(
      std::is_constructible_v<c10::IValue, T>,
      "compile() takes tensors, numbers, strings, and vectors, tuples and optionals of them");
  static void add(const T& value, Inputs& inputs) {
    inputs.constants.emplace_back(value);
  }
};

template <>
struct Flatten<at::Tensor> {
  static void add(const at::Tensor& value, Inputs& inputs) {
    inputs.tensors.push_back(value);
  }
  static void add(const at::Tensor& value, Outputs& outputs) {
    outputs.tensors.push_back(value);
  }
  static at::Tensor take(Outputs& outputs) {
    return outputs.tensors.at(outputs.next_tensor++);
  }
};

template <>
struct Flatten<c10::Scalar> {
  static void add(const c10::Scalar& value, Inputs& inputs) {
    inputs.constants.emplace_back(value);
  }
};

template <class T>
struct Flatten<std::vector<T>> {
  static void add(const std::vector<T>& values, Inputs& inputs) {
    inputs.constants.emplace_back(static_cast<int64_t>(values.size()));
    for (const T& value : values) {
      Flatten<T>::add(value, inputs);
    }
  }
  static void add(const std::vector<T>& values, Outputs& outputs) {
    outputs.lengths.push_back(values.size());
    for (const T& value : values) {
      Flatten<T>::add(value, outputs);
    }
  }
  static std::vector<T> take(Outputs& outputs) {
    std::vector<T> values;
    for (size_t i = outputs.lengths.at(outputs.next_length++); i > 0; --i) {
      values.push_back(Flatten<T>::take(outputs));
    }
    return values;
  }
};

template <class T>
struct Flatten<std::optional<T>> {
  static void add(const std::optional<T>& value, Inputs& inputs) {
    inputs.constants.emplace_back(value.has_value());
    if (value) {
      Flatten<T>::add(*value, inputs);
    }
  }
  static void add(const std::optional<T>& value, Outputs& outputs) {
    outputs.lengths.push_back(value.has_value() ? 1 : 0);
    if (value) {
      Flatten<T>::add(*value, outputs);
    }
  }
  static std::optional<T> take(Outputs& outputs) {
    return outputs.lengths.at(outputs.next_length++) ? std::optional<T>(Flatten<T>::take(outputs)) : std::nullopt;
  }
};

template <class... T>
struct Flatten<std::tuple<T...>> {
  template <class Sink>
  static void add(const std::tuple<T...>& values, Sink& sink) {
    std::apply([&](const T&... value) { (Flatten<T>::add(value, sink), ...); }, values);
  }
  static std::tuple<T...> take(Outputs& outputs) {
    return std::tuple<T...>{Flatten<T>::take(outputs)...};
  }
};

template <class A, class B>
struct Flatten<std::pair<A, B>> {
  template <class Sink>
  static void add(const std::pair<A, B>& value, Sink& sink) {
    Flatten<A>::add(value.first, sink);
    Flatten<B>::add(value.second, sink);
  }
  static std::pair<A, B> take(Outputs& outputs) {
    return std::pair<A, B>{Flatten<A>::take(outputs), Flatten<B>::take(outputs)};
  }
};

} // namespace torch::capture
