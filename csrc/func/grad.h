// torch::func::grad, grad_and_value and vjp: reverse-mode gradients of functions.
#pragma once

#include <csrc/func/differentiate.h>
#include <csrc/func/tree.h>

#include <cstddef>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace torch::func {

/// Says that a function returns a pair or tuple of its result and something else, which is passed on.
struct HasAux {};
inline constexpr HasAux has_aux{};

namespace detail {

/// The only element of a tuple, or the tuple.
template <class T>
T only_or_all(std::tuple<T>&& values) {
  return std::get<0>(std::move(values));
}
template <class A, class B, class... Rest>
std::tuple<A, B, Rest...> only_or_all(std::tuple<A, B, Rest...>&& values) {
  return std::move(values);
}

template <class F, class Arguments>
using ResultOf = std::decay_t<decltype(std::apply(std::declval<F&>(), std::declval<Arguments&>()))>;

/// The arguments of a call, and those among them that are differentiated.
template <class Arguments, size_t... Argnums>
struct Differentiated {
  static_assert(((Argnums < std::tuple_size_v<Arguments>)&&...), "argnums counts arguments from 0");
  using Chosen = std::tuple<std::tuple_element_t<Argnums, Arguments>...>;

  static Chosen chosen(const Arguments& arguments) {
    return Chosen{std::get<Argnums>(arguments)...};
  }
  /// The arguments with other tensors in the differentiated ones.
  static Arguments with(Arguments arguments, const std::vector<at::Tensor>& tensors) {
    Chosen changed = with_tensors(chosen(arguments), tensors);
    size_t next = 0;
    (void)next;
    put(arguments, changed, std::index_sequence_for<std::tuple_element_t<Argnums, Arguments>...>());
    return arguments;
  }

 private:
  template <size_t... I>
  static void put(Arguments& arguments, Chosen& changed, std::index_sequence<I...>) {
    ((std::get<Argnums>(arguments) = std::move(std::get<I>(changed))), ...);
  }
};

template <class F, bool WithValue, bool WithAux, size_t... Argnums>
class GradFunction {
 public:
  explicit GradFunction(F function) : function_(std::move(function)) {}

  template <class... Args>
  auto operator()(const Args&... args) const {
    using Arguments = std::tuple<std::decay_t<Args>...>;
    using Picked = Differentiated<Arguments, Argnums...>;
    const char* const name = WithValue ? "grad_and_value" : "grad";
    const auto chosen = Picked::chosen(Arguments(args...));
    Recording recording(tensors_of(chosen), name);
    Arguments arguments = Picked::with(Arguments(args...), recording.aliases());
    F function = function_;
    const auto result = call_recorded(function, arguments);
    if constexpr (WithAux) {
      const at::Tensor output = std::get<0>(result);
      return finish(recording, output, chosen, name, [&](auto&& gradients, const at::Tensor& value) {
        const auto& given = std::get<1>(result);
        auto aux = with_tensors(given, recording.outside(tensors_of(given)));
        if constexpr (WithValue) {
          return std::make_tuple(std::move(gradients), std::make_tuple(value, std::move(aux)));
        } else {
          return std::make_tuple(std::move(gradients), std::move(aux));
        }
      });
    } else {
      static_assert(
          std::is_same_v<std::decay_t<decltype(result)>, at::Tensor>,
          "grad takes functions that return a Tensor; with has_aux those that return a pair of one and something else");
      return finish(recording, result, chosen, name, [&](auto&& gradients, const at::Tensor& value) {
        if constexpr (WithValue) {
          return std::make_tuple(std::move(gradients), value);
        } else {
          return std::move(gradients);
        }
      });
    }
  }

 private:
  template <class Chosen, class Make>
  static auto finish(
      Recording& recording, const at::Tensor& output, const Chosen& chosen, const char* name, const Make& make) {
    check_is_number(output, name);
    recording.set_outputs({output});
    auto gradients = only_or_all(with_tensors(chosen, recording.gradients()));
    return make(std::move(gradients), recording.results()[0]);
  }

  F function_;
};

template <template <size_t...> class Of, size_t... Argnums>
struct OrFirst {
  using type = Of<Argnums...>;
};
template <template <size_t...> class Of>
struct OrFirst<Of> {
  using type = Of<0>;
};

template <class F, bool WithValue, bool WithAux>
struct GradFunctionOf {
  template <size_t... Argnums>
  using with = GradFunction<F, WithValue, WithAux, Argnums...>;
};
/// Without argnums the first argument is differentiated.
template <class F, bool WithValue, bool WithAux, size_t... Argnums>
using GradFunctionFor = typename OrFirst<GradFunctionOf<F, WithValue, WithAux>::template with, Argnums...>::type;

} // namespace detail

/// The gradient of a function whose result is a number, as a function of the same arguments. `Argnums` says with
/// respect to which arguments, the first one if it is left out: the result is like that argument, or of several a
/// tuple.
///
///     auto slope = torch::func::grad([](const torch::Tensor& x) { return x.sin().sum(); });
///     slope(x);                                     // x.cos()
///     torch::func::grad<0, 1>(loss)(weight, bias);  // a tuple of two
///
/// Arguments may be tensors, and vectors, tuples, pairs and maps by name of them; those that are not differentiated
/// anything. With has_aux the function returns a pair, whose second part is returned beside the gradient. Nests with
/// itself, with vmap and with plain autograd: see Note [Gradients inside of transforms]. Throws if the result is no
/// number, or an argument has no gradients.
template <size_t... Argnums, class F>
detail::GradFunctionFor<std::decay_t<F>, false, false, Argnums...> grad(F&& function) {
  return detail::GradFunctionFor<std::decay_t<F>, false, false, Argnums...>(std::forward<F>(function));
}
template <size_t... Argnums, class F>
detail::GradFunctionFor<std::decay_t<F>, false, true, Argnums...> grad(F&& function, HasAux) {
  return detail::GradFunctionFor<std::decay_t<F>, false, true, Argnums...>(std::forward<F>(function));
}

/// The same, and the value: a tuple of gradient and value, with has_aux of gradient and a tuple of value and aux.
template <size_t... Argnums, class F>
detail::GradFunctionFor<std::decay_t<F>, true, false, Argnums...> grad_and_value(F&& function) {
  return detail::GradFunctionFor<std::decay_t<F>, true, false, Argnums...>(std::forward<F>(function));
}
template <size_t... Argnums, class F>
detail::GradFunctionFor<std::decay_t<F>, true, true, Argnums...> grad_and_value(F&& function, HasAux) {
  return detail::GradFunctionFor<std::decay_t<F>, true, true, Argnums...>(std::forward<F>(function));
}

/// What vjp() returns: gradients of the arguments for those of the result. Copies share what was recorded.
template <class Output, class... Primals>
class VjpFunction {
 public:
  VjpFunction(
      std::shared_ptr<const detail::Recording> recording,
      std::vector<at::Tensor> outputs,
      std::tuple<Primals...> primals)
      : recording_(std::move(recording)), outputs_(std::move(outputs)), primals_(std::move(primals)) {}

  /// `cotangents` is like the function's result. May be called any number of times.
  auto operator()(const Output& cotangents) const {
    const std::vector<at::Tensor> given = detail::tensors_of(cotangents);
    detail::check_like(given, outputs_, "vjp", "cotangents");
    return detail::only_or_all(detail::with_tensors(primals_, recording_->pullback(given, /*keeps_graph=*/true)));
  }
  const detail::Recording& recording() const {
    return *recording_;
  }

 private:
  std::shared_ptr<const detail::Recording> recording_;
  std::vector<at::Tensor> outputs_;
  std::tuple<Primals...> primals_;
};

namespace detail {

template <class F, class... Primals>
auto vjp_of(F& function, const Primals&... primals) {
  using Arguments = std::tuple<Primals...>;
  const Arguments given(primals...);
  const auto recording = std::make_shared<Recording>(tensors_of(given), "vjp");
  Arguments arguments = with_tensors(given, recording->aliases());
  auto result = call_recorded(function, arguments);
  return std::make_tuple(std::move(result), recording, given);
}

} // namespace detail

/// Calls the function, and gives its result and a function from gradients of that to gradients of all arguments:
///
///     auto [y, vjp_fn] = torch::func::vjp(f, x);
///     torch::Tensor dx = vjp_fn(torch::ones_like(y));
template <class F, class... Primals, std::enable_if_t<!(std::is_same_v<std::decay_t<Primals>, HasAux> || ...), int> = 0>
auto vjp(F&& function, const Primals&... primals) {
  auto [result, recording, given] = detail::vjp_of(function, primals...);
  recording->set_outputs(detail::tensors_of(result));
  const std::vector<at::Tensor> outputs = recording->results();
  auto output = detail::with_tensors(result, outputs);
  using Output = std::decay_t<decltype(output)>;
  return std::make_tuple(std::move(output), VjpFunction<Output, std::decay_t<Primals>...>(recording, outputs, given));
}
/// The same for a function that returns a pair: result, function, and the second part.
template <class F, class... Primals>
auto vjp(F&& function, HasAux, const Primals&... primals) {
  auto [result, recording, given] = detail::vjp_of(function, primals...);
  recording->set_outputs(detail::tensors_of(std::get<0>(result)));
  const std::vector<at::Tensor> outputs = recording->results();
  auto output = detail::with_tensors(std::get<0>(result), outputs);
  auto aux = detail::with_tensors(std::get<1>(result), recording->outside(detail::tensors_of(std::get<1>(result))));
  using Output = std::decay_t<decltype(output)>;
  return std::make_tuple(
      std::move(output), VjpFunction<Output, std::decay_t<Primals>...>(recording, outputs, given), std::move(aux));
}

} // namespace torch::func
