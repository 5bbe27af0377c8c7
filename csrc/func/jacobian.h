// torch::func::jacrev, jacfwd and hessian: all derivatives of a function.
#pragma once

#include <csrc/func/grad.h>
#include <csrc/func/jvp.h>
#include <csrc/func/tree.h>
#include <csrc/func/vmap.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace torch::func {

namespace detail {

/// A structure like Outer with an Inner in the place of each tensor.
template <class Outer, class Inner>
struct Nested;
template <class Inner>
struct Nested<at::Tensor, Inner> {
  using type = Inner;
  template <class Next>
  static type make(const at::Tensor&, const Next& next) {
    return next();
  }
};
template <class T, class Inner>
struct Nested<std::vector<T>, Inner> {
  using type = std::vector<typename Nested<T, Inner>::type>;
  template <class Next>
  static type make(const std::vector<T>& like, const Next& next) {
    type made;
    for (const T& value : like) {
      made.push_back(Nested<T, Inner>::make(value, next));
    }
    return made;
  }
};
template <class... T, class Inner>
struct Nested<std::tuple<T...>, Inner> {
  using type = std::tuple<typename Nested<T, Inner>::type...>;
  template <class Next>
  static type make(const std::tuple<T...>& like, const Next& next) {
    return std::apply([&](const T&... value) { return type{Nested<T, Inner>::make(value, next)...}; }, like);
  }
};
template <class A, class B, class Inner>
struct Nested<std::pair<A, B>, Inner> {
  using type = std::pair<typename Nested<A, Inner>::type, typename Nested<B, Inner>::type>;
  template <class Next>
  static type make(const std::pair<A, B>& like, const Next& next) {
    return type{Nested<A, Inner>::make(like.first, next), Nested<B, Inner>::make(like.second, next)};
  }
};
template <class T, class Inner>
struct Nested<std::map<std::string, T>, Inner> {
  using type = std::map<std::string, typename Nested<T, Inner>::type>;
  template <class Next>
  static type make(const std::map<std::string, T>& like, const Next& next) {
    type made;
    for (const auto& [key, value] : like) {
      made.emplace(key, Nested<T, Inner>::make(value, next));
    }
    return made;
  }
};
template <class T, class Inner>
struct Nested<torch::OrderedDict<std::string, T>, Inner> {
  using type = torch::OrderedDict<std::string, typename Nested<T, Inner>::type>;
  template <class Next>
  static type make(const torch::OrderedDict<std::string, T>& like, const Next& next) {
    type made;
    for (const auto& entry : like) {
      made.insert(entry.key(), Nested<T, Inner>::make(entry.value(), next));
    }
    return made;
  }
};

/// For each output of a function of tensors its derivatives in the directions of all unit vectors, along the last
/// dimension. The function runs once (for each chunk): the tangents are a batch behind tensors that are the same for
/// all of them.
TORCH_API std::vector<at::Tensor> columns_of_jacobian(
    const std::vector<at::Tensor>& inputs,
    const std::function<std::vector<at::Tensor>(const std::vector<at::Tensor>&)>& function,
    std::optional<int64_t> chunk_size);

/// The unit vectors of the space that tensors like these span together: of each tensor the part that belongs to it,
/// with all vectors along the first dimension.
TORCH_API std::vector<at::Tensor> unit_vectors(const std::vector<at::Tensor>& like);
/// Blocks of a jacobian by output, then by input, whose rows all outputs are along the first dimension of
/// `by_input[i]`...
TORCH_API std::vector<std::vector<at::Tensor>> blocks_of_rows(
    const std::vector<at::Tensor>& by_input, const std::vector<at::Tensor>& outputs);
/// ... or whose columns all inputs are along the last dimension of `by_output[j]`.
TORCH_API std::vector<std::vector<at::Tensor>> blocks_of_columns(
    const std::vector<at::Tensor>& by_output, const std::vector<at::Tensor>& inputs);

/// The blocks as an Output of what the differentiated arguments are.
template <class Output, class Chosen>
auto structured(const Output& output, const Chosen& chosen, const std::vector<std::vector<at::Tensor>>& blocks) {
  using Inner = std::decay_t<decltype(only_or_all(std::declval<Chosen>()))>;
  size_t next = 0;
  return Nested<Output, Inner>::make(
      output, [&]() -> Inner { return only_or_all(with_tensors(chosen, blocks.at(next++))); });
}

/// A function of the differentiated tensors alone, which returns the tensors of its result.
template <class F, class Arguments, size_t... Argnums>
auto function_of_tensors(const F& function, const Arguments& arguments) {
  return [&function, &arguments](const std::vector<at::Tensor>& tensors) {
    Arguments changed = Differentiated<Arguments, Argnums...>::with(arguments, tensors);
    F call = function;
    return std::apply(call, changed);
  };
}

template <class F, bool Reverse, size_t... Argnums>
class JacobianFunction {
 public:
  JacobianFunction(F function, std::optional<int64_t> chunk_size)
      : function_(std::move(function)), chunk_size_(chunk_size) {}

  template <class... Args>
  auto operator()(const Args&... args) const {
    using Arguments = std::tuple<std::decay_t<Args>...>;
    const Arguments arguments(args...);
    const auto chosen = Differentiated<Arguments, Argnums...>::chosen(arguments);
    const std::vector<at::Tensor> inputs = tensors_of(chosen);
    const auto function = function_of_tensors<F, Arguments, Argnums...>(function_, arguments);
    if constexpr (Reverse) {
      auto [output, vjp_fn] = vjp(function, inputs);
      const std::vector<at::Tensor> outputs = tensors_of(output);
      const auto pull = [&recording = vjp_fn.recording()](const std::vector<at::Tensor>& cotangents) {
        return recording.pullback(cotangents, /*keeps_graph=*/true);
      };
      const std::vector<at::Tensor> rows = vmap(pull, 0, 0, "same", chunk_size_)(unit_vectors(outputs));
      return structured(output, chosen, blocks_of_rows(rows, outputs));
    } else {
      using Output = std::decay_t<decltype(function(inputs))>;
      std::optional<Output> output;
      const std::vector<at::Tensor> columns = columns_of_jacobian(
          inputs,
          [&](const std::vector<at::Tensor>& duals) {
            output.emplace(function(duals));
            return tensors_of(*output);
          },
          chunk_size_);
      return structured(*output, chosen, blocks_of_columns(columns, inputs));
    }
  }

 private:
  F function_;
  std::optional<int64_t> chunk_size_;
};

template <class F, bool Reverse>
struct JacobianFunctionOf {
  template <size_t... Argnums>
  using with = JacobianFunction<F, Reverse, Argnums...>;
};
template <class F, bool Reverse, size_t... Argnums>
using JacobianFunctionFor = typename OrFirst<JacobianFunctionOf<F, Reverse>::template with, Argnums...>::type;

} // namespace detail

/// The jacobian of a function as a function of the same arguments, by reverse mode: one gradient for each element of
/// the result, all at once by vmap (at most `chunk_size` of them). Of a tensor by a tensor it has the sizes of the
/// result and then those of the argument; results and arguments with several tensors give the result's structure with
/// the argument's in the place of each tensor. `Argnums` as in grad().
///
///     torch::Tensor j = torch::func::jacrev(f)(x);
template <size_t... Argnums, class F>
detail::JacobianFunctionFor<std::decay_t<F>, true, Argnums...> jacrev(
    F&& function, std::optional<int64_t> chunk_size = std::nullopt) {
  return {std::forward<F>(function), chunk_size};
}

/// The same by forward mode: one derivative for each element of the arguments. Better for few inputs and many outputs.
template <size_t... Argnums, class F>
detail::JacobianFunctionFor<std::decay_t<F>, false, Argnums...> jacfwd(
    F&& function, std::optional<int64_t> chunk_size = std::nullopt) {
  return {std::forward<F>(function), chunk_size};
}

/// The matrix of second derivatives of a function: forward mode over reverse mode. Of a number by a tensor it has the
/// sizes of the tensor twice.
///
///     auto h = torch::func::hessian(f)(x);
template <size_t... Argnums, class F>
auto hessian(F&& function) {
  return jacfwd<Argnums...>(jacrev<Argnums...>(std::forward<F>(function)));
}

} // namespace torch::func
