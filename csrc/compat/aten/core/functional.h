#pragma once

#include <c10/util/ArrayRef.h>

#include <type_traits>
#include <vector>

namespace c10 {

/// The results of f for each input.
template <class F, class Inputs>
auto fmap(const Inputs& inputs, const F& f) -> std::vector<std::decay_t<decltype(f(*inputs.begin()))>> {
  std::vector<std::decay_t<decltype(f(*inputs.begin()))>> out;
  out.reserve(inputs.size());
  for (const auto& input : inputs) {
    out.push_back(f(input));
  }
  return out;
}
template <class F, class T>
auto fmap(T& inputs, const F& f) -> std::vector<std::decay_t<decltype(f(*inputs.begin()))>> {
  std::vector<std::decay_t<decltype(f(*inputs.begin()))>> out;
  out.reserve(inputs.size());
  for (auto& input : inputs) {
    out.push_back(f(input));
  }
  return out;
}
/// Each input converted to R.
template <class R, class Inputs>
std::vector<R> fmap(const Inputs& inputs) {
  std::vector<R> out;
  out.reserve(inputs.size());
  for (const auto& input : inputs) {
    out.push_back(R(input));
  }
  return out;
}

/// The inputs for which f holds.
template <class F, class T>
std::vector<T> filter(ArrayRef<T> inputs, const F& f) {
  std::vector<T> out;
  for (const auto& input : inputs) {
    if (f(input)) {
      out.push_back(input);
    }
  }
  return out;
}
template <class F, class T>
std::vector<T> filter(const std::vector<T>& inputs, const F& f) {
  return filter<F, T>(ArrayRef<T>(inputs), f);
}

} // namespace c10
