// torch::func::jvp and linearize: derivatives of functions in a direction.
#pragma once

#include <autograd/forward/forward_ad.h>
#include <c10/macros/Export.h>
#include <csrc/func/differentiate.h>
#include <csrc/func/grad.h>
#include <csrc/func/tree.h>

#include <cstddef>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace torch::func {

namespace detail {

/// A call of a function in a level of forward mode of its own. Inside of vmap the duals are made of the values below
/// all active levels, as in Note [Gradients inside of transforms].
class TORCH_API ForwardPass {
 public:
  /// Throws for inputs that have no derivatives: integers.
  ForwardPass(const std::vector<at::Tensor>& primals, const std::vector<at::Tensor>& tangents, const char* transform);

  /// What the function is called with, in the place of the inputs.
  const std::vector<at::Tensor>& duals() const {
    return duals_;
  }
  std::vector<at::Tensor> primals(const std::vector<at::Tensor>& outputs) const;
  /// Zeros for an output that does not depend on the inputs.
  std::vector<at::Tensor> tangents(const std::vector<at::Tensor>& outputs) const;

 private:
  autograd::forward_ad::DualLevel level_;
  Levels levels_;
  std::vector<at::Tensor> duals_;
};

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
  const detail::ForwardPass pass(detail::tensors_of(primals), detail::tensors_of(tangents), "jvp");
  std::tuple<Primals...> arguments = detail::with_tensors(primals, pass.duals());
  const auto result = std::apply(function, arguments);
  const std::vector<at::Tensor> outputs = detail::tensors_of(result);
  return std::make_tuple(
      detail::with_tensors(result, pass.primals(outputs)), detail::with_tensors(result, pass.tangents(outputs)));
}
template <class F, size_t N>
auto jvp(F&& function, const at::Tensor (&primals)[N], const at::Tensor (&tangents)[N]) {
  constexpr auto positions = std::make_index_sequence<N>();
  return jvp(std::forward<F>(function), detail::tuple_of(primals, positions), detail::tuple_of(tangents, positions));
}
/// The same for a function that returns a pair: result, derivative, and the second part.
template <class F, class... Primals>
auto jvp(F&& function, const std::tuple<Primals...>& primals, const std::tuple<Primals...>& tangents, HasAux) {
  const detail::ForwardPass pass(detail::tensors_of(primals), detail::tensors_of(tangents), "jvp");
  std::tuple<Primals...> arguments = detail::with_tensors(primals, pass.duals());
  const auto result = std::apply(function, arguments);
  const auto& value = std::get<0>(result);
  const auto& aux = std::get<1>(result);
  const std::vector<at::Tensor> outputs = detail::tensors_of(value);
  return std::make_tuple(
      detail::with_tensors(value, pass.primals(outputs)), detail::with_tensors(value, pass.tangents(outputs)),
      detail::with_tensors(aux, pass.primals(detail::tensors_of(aux))));
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
  auto recording = std::make_shared<detail::Recording>(detail::tensors_of(given), "linearize");
  auto arguments = detail::with_tensors(given, recording->aliases());
  auto result = detail::call_recorded(function, arguments);
  recording->set_outputs(detail::tensors_of(result));
  detail::Linearization linear(recording);
  auto output = detail::with_tensors(result, linear.outputs());
  using Output = std::decay_t<decltype(output)>;
  LinearizedFunction<Output, std::decay_t<Primals>...> derivative(std::move(linear), output, given);
  return std::make_tuple(std::move(output), std::move(derivative));
}

} // namespace torch::func
