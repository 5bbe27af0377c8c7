// Parametrizations: a parameter or buffer of a module that is computed by other modules.
#pragma once

#include <csrc/nn/Module.h>

#include <cstddef>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace torch::nn::utils::parametrize {

/// Does the module have a parametrization, of this tensor?
TORCH_API bool is_parametrized(const Module& module);
TORCH_API bool is_parametrized(const Module& module, const std::string& tensor_name);

/// Takes all parametrizations of a tensor away. It becomes a parameter (or buffer) again, with its present value, or
/// with `leave_parametrized` = false with the value that it is computed from; that throws where it is computed from
/// several.
TORCH_API void remove_parametrizations(Module& module, const std::string& tensor_name, bool leave_parametrized = true);

namespace detail {

/// A module of any class as a parametrization: how to call it.
struct Parametrization {
  std::shared_ptr<Module> module;
  /// From how many tensors the module computes: as many as right_inverse gives.
  size_t num_originals = 1;
  Tensor (*forward)(Module& module, const std::vector<Tensor>& originals) = nullptr;
  /// Null where the module has none: the identity.
  std::vector<Tensor> (*right_inverse)(Module& module, const Tensor& value) = nullptr;
  /// Whether equal inputs give equal outputs now; null means no.
  bool (*repeatable)(const Module& module) = nullptr;
};

TORCH_API void add(Module& module, const std::string& tensor_name, Parametrization parametrization, bool unsafe);

constexpr size_t count_of(Tensor*) {
  return 1;
}
template <typename... T>
constexpr size_t count_of(std::tuple<T...>*) {
  return sizeof...(T);
}

/// The right_inverse of a class of parametrizations, if it has one.
template <typename P, typename = void>
struct Inverse {
  static constexpr size_t kOriginals = 1;
  static constexpr std::vector<Tensor> (*kFunction)(Module&, const Tensor&) = nullptr;
};
template <typename P>
struct Inverse<P, std::void_t<decltype(std::declval<P&>().right_inverse(std::declval<const Tensor&>()))>> {
  using Result = std::decay_t<decltype(std::declval<P&>().right_inverse(std::declval<const Tensor&>()))>;
  template <typename... T>
  static std::vector<Tensor> list(std::tuple<T...> tensors) {
    return std::apply([](auto&... t) { return std::vector<Tensor>{t...}; }, tensors);
  }
  static std::vector<Tensor> list(Tensor tensor) {
    return {std::move(tensor)};
  }
  static std::vector<Tensor> call(Module& module, const Tensor& value) {
    return list(static_cast<P&>(module).right_inverse(value));
  }
  static constexpr size_t kOriginals = count_of(static_cast<Result*>(nullptr));
  static constexpr std::vector<Tensor> (*kFunction)(Module&, const Tensor&) = &call;
};

template <typename P, size_t... I>
Tensor call_forward(P& parametrization, const std::vector<Tensor>& originals, std::index_sequence<I...>) {
  return nn::detail::call_forward(parametrization, originals[I]...);
}

template <typename P>
Parametrization parametrization_of(std::shared_ptr<P> module) {
  static_assert(std::is_base_of_v<Module, P>, "a parametrization is a module");
  Parametrization result;
  result.module = std::move(module);
  result.num_originals = Inverse<P>::kOriginals;
  result.forward = [](Module& m, const std::vector<Tensor>& originals) {
    return call_forward(static_cast<P&>(m), originals, std::make_index_sequence<Inverse<P>::kOriginals>());
  };
  result.right_inverse = Inverse<P>::kFunction;
  return result;
}
template <typename P>
Parametrization parametrization_of(const ModuleHolder<P>& holder) {
  return parametrization_of(holder.ptr());
}

} // namespace detail

/// Lets `parametrization` compute the parameter or buffer `tensor_name` of the module (a module, holder or pointer):
///
///     struct SymmetricImpl : torch::nn::Cloneable<SymmetricImpl> {
///       void reset() override {}
///       Tensor forward(const Tensor& x) { return x.triu() + x.triu(1).transpose(-1, -2); }
///     };
///     TORCH_MODULE(Symmetric);
///     register_parametrization(linear, "weight", Symmetric());
///
/// What it computes from is the parameter "parametrizations.weight.original". A parametrization may have a
/// `right_inverse`, which gives that from the tensor's value; where it returns a std::tuple of tensors, forward takes
/// so many, and they are "original0", "original1", ... The second parametrization of a tensor computes from what the
/// first gives. Make the optimizer afterwards. Shape and dtype must stay as they are, and this is tried out at once,
/// unless `unsafe`.
///
/// The tensor is computed when the module is called through its holder or by a container, as hooks run: `linear(x)`,
/// not `linear->forward(x)`. clone() clones parametrizations.
template <typename M, typename P>
void register_parametrization(
    M&& module, const std::string& tensor_name, const P& parametrization, bool unsafe = false) {
  detail::add(nn::detail::module_of(module), tensor_name, detail::parametrization_of(parametrization), unsafe);
}

template <typename M, typename = std::enable_if_t<!std::is_base_of_v<Module, M>>>
bool is_parametrized(const M& module) {
  return is_parametrized(nn::detail::module_of(module));
}
template <typename M, typename = std::enable_if_t<!std::is_base_of_v<Module, M>>>
bool is_parametrized(const M& module, const std::string& tensor_name) {
  return is_parametrized(nn::detail::module_of(module), tensor_name);
}
template <typename M, typename = std::enable_if_t<!std::is_base_of_v<Module, M>>>
void remove_parametrizations(M module, const std::string& tensor_name, bool leave_parametrized = true) {
  remove_parametrizations(nn::detail::module_of(module), tensor_name, leave_parametrized);
}

} // namespace torch::nn::utils::parametrize
