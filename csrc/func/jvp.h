// torch::func::jvp and linearize: derivatives of functions in a direction.
#pragma once

#include <csrc/func/differentiate.h>
#include <csrc/func/grad.h>
#include <csrc/func/tree.h>

#include <array>
#include <cstddef>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace torch::func {

namespace detail {

/// The linear map from tangents of the inputs of a recorded function to those of its outputs.
class TORCH_API Linearization {
 public:
  explicit Linearization(std::shared_ptr<Recording> recording);
  /// The tangents of the outputs. May be called any number of times.
  std::vector<at::Tensor> operator()(const std::vector<at::Tensor>& tangents, bool keeps_graph) const;
  std::vector<at::Tensor> outputs() const {
    return recorded_->results();
  }

 private:
  std::shared_ptr<Recording> recorded_; // the function
  std::shared_ptr<Recording> pullback_; // what it makes of cotangents, which is linear in these
};

/// A function with the arguments in a tuple or an array.
template <class F, class Primals>
auto linearize_at(F& function, const Primals& primals, const char* transform) {
  const std::vector<at::Tensor> tensors = tensors_of(primals);
  auto recording = std::make_shared<Recording>(tensors, transform);
  Primals arguments = with_tensors(primals, recording->aliases());
  auto result = call_recorded(function, arguments);
  return std::make_pair(std::move(result), std::move(recording));
}

template <size_t N, size_t... I>
auto tuple_of(const at::Tensor (&tensors)[N], std::index_sequence<I...>) {
  return std::make_tuple(tensors[I]...);
}

} // namespace detail

/// The result of a function, and its derivative in the direction of `tangents`, which are like the arguments.
///
///     auto [y, dy] = torch::func::jvp(f, {x}, {v});
template <class F, class... Primals>
auto jvp(F&& function, const std::tuple<Primals...>& primals, const std::tuple<Primals...>& tangents) {
  const std::vector<at::Tensor> directions = detail::tensors_of(tangents);
  detail::check_like(directions, detail::tensors_of(primals), "jvp", "tangents");
  auto [result, recording] = detail::linearize_at(function, primals, "jvp");
  recording->set_outputs(detail::tensors_of(result));
  const detail::Linearization linear(recording);
  auto output = detail::with_tensors(result, linear.outputs());
  auto tangent = detail::with_tensors(result, linear(directions, /*keeps_graph=*/false));
  return std::make_tuple(std::move(output), std::move(tangent));
}
template <class F, size_t N>
auto jvp(F&& function, const at::Tensor (&primals)[N], const at::Tensor (&tangents)[N]) {
  constexpr auto positions = std::make_index_sequence<N>();
  return jvp(std::forward<F>(function), detail::tuple_of(primals, positions), detail::tuple_of(tangents, positions));
}
/// The same for a function that returns a pair: result, derivative, and the second part.
template <class F, class... Primals>
auto jvp(F&& function, const std::tuple<Primals...>& primals, const std::tuple<Primals...>& tangents, HasAux) {
  const std::vector<at::Tensor> directions = detail::tensors_of(tangents);
  detail::check_like(directions, detail::tensors_of(primals), "jvp", "tangents");
  auto [result, recording] = detail::linearize_at(function, primals, "jvp");
  const auto& value = std::get<0>(result);
  recording->set_outputs(detail::tensors_of(value));
  auto aux = detail::with_tensors(std::get<1>(result), recording->outside(detail::tensors_of(std::get<1>(result))));
  const detail::Linearization linear(recording);
  auto output = detail::with_tensors(value, linear.outputs());
  auto tangent = detail::with_tensors(value, linear(directions, /*keeps_graph=*/false));
  return std::make_tuple(std::move(output), std::move(tangent), std::move(aux));
}
template <class F, size_t N>
auto jvp(F&& function, const at::Tensor (&primals)[N], const at::Tensor (&tangents)[N], HasAux) {
  constexpr auto positions = std::make_index_sequence<N>();
  return jvp(
      std::forward<F>(function), detail::tuple_of(primals, positions), detail::tuple_of(tangents, positions), has_aux);
}

/// What linearize() returns: derivatives of the result for tangents of the arguments.
template <class Output, class... Primals>
class LinearizedFunction {
 public:
  LinearizedFunction(detail::Linearization linear, Output like, std::tuple<Primals...> primals)
      : linear_(std::move(linear)), like_(std::move(like)), primals_(std::move(primals)) {}

  Output operator()(const Primals&... tangents) const {
    const std::vector<at::Tensor> directions = detail::tensors_of(std::tuple<Primals...>(tangents...));
    detail::check_like(directions, detail::tensors_of(primals_), "linearize", "tangents");
    return detail::with_tensors(like_, linear_(directions, /*keeps_graph=*/true));
  }
  const detail::Linearization& linear() const {
    return linear_;
  }

 private:
  detail::Linearization linear_;
  Output like_;
  std::tuple<Primals...> primals_;
};

/// The result of a function, and its derivative there as a function of tangents, which does not call it again.
///
///     auto [y, jvp_fn] = torch::func::linearize(f, x);
///     torch::Tensor dy = jvp_fn(v);
template <class F, class... Primals>
auto linearize(F&& function, const Primals&... primals) {
  const std::tuple<std::decay_t<Primals>...> given(primals...);
  auto [result, recording] = detail::linearize_at(function, given, "linearize");
  recording->set_outputs(detail::tensors_of(result));
  detail::Linearization linear(recording);
  auto output = detail::with_tensors(result, linear.outputs());
  using Output = std::decay_t<decltype(output)>;
  LinearizedFunction<Output, std::decay_t<Primals>...> derivative(std::move(linear), output, given);
  return std::make_tuple(std::move(output), std::move(derivative));
}

} // namespace torch::func
