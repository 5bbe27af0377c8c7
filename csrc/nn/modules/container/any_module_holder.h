// How AnyModule calls a module whose type it does not know: a constant record for each type of module.
#pragma once

#include <csrc/nn/hooks.h>
#include <csrc/nn/modules/container/any_value.h>

#include <cstddef>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

namespace torch::nn {

class Module;

namespace detail {

/// What AnyModule knows of a type of module.
struct AnyModuleEntry {
  const std::type_info& type;
  size_t num_arguments;
  AnyValue (*forward)(Module& module, std::vector<AnyValue>& arguments);
};

/// Adds the defaults of what is missing from `arguments`. Throws when there are too many or too few.
TORCH_API void complete_arguments(Module& module, const AnyModuleEntry& entry, std::vector<AnyValue>& arguments);

[[noreturn]] TORCH_API void throw_bad_argument(
    size_t index, const std::type_info& wanted, const std::type_info& actual);

/// Argument number `index`. Throws when it has another type.
template <typename T>
std::decay_t<T>& get_argument(std::vector<AnyValue>& arguments, size_t index) {
  if (auto* value = arguments[index].template try_get<std::decay_t<T>>()) {
    return *value;
  }
  throw_bad_argument(index, typeid(T), arguments[index].type_info());
}

} // namespace detail

/// Calls ModuleType::forward(ArgumentTypes...) with arguments in AnyValues. A module whose forward is not public makes
/// this a friend.
template <typename ModuleType, typename... ArgumentTypes>
struct AnyModuleHolder {
  static AnyValue forward(Module& module, std::vector<AnyValue>& arguments) {
    return forward(static_cast<ModuleType&>(module), arguments, std::index_sequence_for<ArgumentTypes...>());
  }

 private:
  template <size_t... I>
  static AnyValue forward(
      ModuleType& module, [[maybe_unused]] std::vector<AnyValue>& arguments, std::index_sequence<I...>) {
    return AnyValue(detail::call_forward(module, std::move(detail::get_argument<ArgumentTypes>(arguments, I))...));
  }
};

namespace detail {

template <typename ModuleType, typename... ArgumentTypes>
const AnyModuleEntry& any_module_entry() {
  static const AnyModuleEntry entry{
      typeid(ModuleType), sizeof...(ArgumentTypes), &AnyModuleHolder<ModuleType, ArgumentTypes...>::forward};
  return entry;
}

} // namespace detail
} // namespace torch::nn
