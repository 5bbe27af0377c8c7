// torch::func::functional_call and stack_module_state: modules as functions of their parameters.
#pragma once

#include <aten/functorch/substitutes.h>
#include <c10/macros/Export.h>
#include <csrc/func/tree.h>
#include <csrc/nn/Module.h>
#include <csrc/nn/pimpl.h>
#include <csrc/ordered_dict.h>

#include <map>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace torch::func {

using NamedTensors = torch::OrderedDict<std::string, at::Tensor>;

namespace detail {

using Pairs = std::vector<std::pair<at::Tensor, at::Tensor>>;

/// A parameter or buffer of the module and what stands for it. Throws for a name that the module does not have.
TORCH_API void add_pair(const nn::Module& module, const std::string& name, const at::Tensor& tensor, Pairs& pairs);

inline void add_pairs(const nn::Module& module, const NamedTensors& tensors, Pairs& pairs) {
  for (const auto& entry : tensors) {
    add_pair(module, entry.key(), entry.value(), pairs);
  }
}
inline void add_pairs(const nn::Module& module, const std::map<std::string, at::Tensor>& tensors, Pairs& pairs) {
  for (const auto& [name, tensor] : tensors) {
    add_pair(module, name, tensor, pairs);
  }
}
template <class First, class Second>
void add_pairs(const nn::Module& module, const std::pair<First, Second>& tensors, Pairs& pairs) {
  add_pairs(module, tensors.first, pairs);
  add_pairs(module, tensors.second, pairs);
}

template <class M>
nn::Module& module_of(const nn::ModuleHolder<M>& holder) {
  return *holder.ptr();
}
template <class M>
nn::Module& module_of(const std::shared_ptr<M>& module) {
  return *module;
}
template <class M, std::enable_if_t<std::is_base_of_v<nn::Module, M>, int> = 0>
nn::Module& module_of(M& module) {
  return module;
}

template <class M, class... Args>
decltype(auto) forward_of(const nn::ModuleHolder<M>& holder, const Args&... args) {
  nn::ModuleHolder<M> called = holder;
  return called(args...);
}
template <class M, class... Args>
decltype(auto) forward_of(const std::shared_ptr<M>& module, const Args&... args) {
  return module->forward(args...);
}
template <class M, class... Args, std::enable_if_t<std::is_base_of_v<nn::Module, M>, int> = 0>
decltype(auto) forward_of(M& module, const Args&... args) {
  return module.forward(args...);
}

} // namespace detail

/// Calls a module with other parameters and buffers than its own, by name ("fc.weight"). `tensors` is an
/// OrderedDict or std::map of them, or a pair of such (parameters, buffers); what is not named stays. The module is a
/// holder, or a shared pointer or reference whose forward is called. What it writes into a buffer goes to the tensor
/// that stands for it.
///
///     auto loss = [&](const NamedTensors& params, const Tensor& x, const Tensor& y) {
///       return torch::mse_loss(torch::func::functional_call(net, params, x), y);
///     };
///     auto gradients = torch::func::vmap(torch::func::grad(loss), {std::nullopt, 0, 0})(net->named_parameters(), x,
///     y);
///
/// Throws for a name that the module does not have, and for other sizes than its tensor has. The module must not be
/// used by other threads meanwhile.
template <class M, class NamedTensorsOrPair, class... Args>
decltype(auto) functional_call(M&& module, const NamedTensorsOrPair& tensors, const Args&... args) {
  detail::Pairs pairs;
  detail::add_pairs(detail::module_of(module), tensors, pairs);
  const at::functorch::SubstituteGuard guard(pairs);
  return detail::forward_of(module, args...);
}

/// Parameters and buffers of several modules of one kind, each stacked along a new first dimension: what vmap takes to
/// call all of them at once. The parameters are new leaves. Throws if the modules differ in class, names, or mode.
TORCH_API std::pair<NamedTensors, NamedTensors> stack_module_state(
    const std::vector<std::shared_ptr<nn::Module>>& modules);
template <class Holder, class = std::enable_if_t<torch::detail::is_module_holder<Holder>::value>>
std::pair<NamedTensors, NamedTensors> stack_module_state(const std::vector<Holder>& modules) {
  std::vector<std::shared_ptr<nn::Module>> pointers;
  for (const Holder& module : modules) {
    pointers.push_back(module.ptr());
  }
  return stack_module_state(pointers);
}

} // namespace torch::func
