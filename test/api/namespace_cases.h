// Calls of the functions of torch::special, torch::fft and torch::linalg, whose values and gradients are stored. The
// names and inputs are those of peer/namespaces.py.
#pragma once

#include <torch/torch.h>

#include <functional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace namespaces {

using torch::Tensor;
using Tensors = std::vector<Tensor>;

struct Case {
  std::string name;
  std::function<Tensors(const Tensors& in)> call;
  Tensors inputs;
  /// The inputs that gradients are stored for.
  std::vector<size_t> wrt;
  /// Writes the outputs to `out`; null where the namespace has no such form.
  std::function<void(Tensors& out, const Tensors& in)> call_out;
};

inline Tensors list(Tensor value) {
  return {std::move(value)};
}
template <typename... T>
Tensors list(const std::tuple<T...>& values) {
  return std::apply([](const auto&... value) { return Tensors{value...}; }, values);
}

/// A list of cases in the making.
class Cases {
 public:
  /// `call` gives a tensor or a tuple of them. Gradients are taken for all inputs.
  template <typename F>
  Case& add(std::string name, F call, Tensors inputs) {
    std::vector<size_t> all;
    for (size_t i = 0; i < inputs.size(); ++i) {
      all.push_back(i);
    }
    cases_.push_back(
        {std::move(name), [call](const Tensors& in) { return list(call(in)); }, std::move(inputs), std::move(all),
         nullptr});
    return cases_.back();
  }
  template <typename F, typename G>
  Case& add(std::string name, F call, G call_out, Tensors inputs) {
    Case& added = add(std::move(name), std::move(call), std::move(inputs));
    added.call_out = std::move(call_out);
    return added;
  }
  std::vector<Case> take() {
    return std::move(cases_);
  }

 private:
  std::vector<Case> cases_;
};

/// Numbers in (-1, 1) without a pattern: matrices of them have full rank.
inline Tensor wave(torch::IntArrayRef sizes, double phase = 0) {
  int64_t count = 1;
  for (const int64_t size : sizes) {
    count *= size;
  }
  const Tensor i = torch::arange(count, torch::kDouble);
  return (0.37 * i * i + i + phase).sin().view(sizes);
}
inline Tensor complex_wave(torch::IntArrayRef sizes, double phase = 0) {
  std::vector<int64_t> with_parts = sizes.vec();
  with_parts.push_back(2);
  return torch::view_as_complex(wave(with_parts, phase));
}
inline Tensor between(double low, double high, torch::IntArrayRef sizes = {6}, double phase = 0) {
  return low + (high - low) * (wave(sizes, phase) + 1) / 2;
}

std::vector<Case> special_cases();
std::vector<Case> fft_cases();
std::vector<Case> linalg_cases();

} // namespace namespaces
