#include <csrc/nn/modules/container/any.h>

#include <c10/util/Exception.h>
#include <c10/util/Type.h>

#include <typeinfo>

namespace torch::nn {

namespace detail {

void throw_bad_any_value(const std::type_info& wanted, const std::type_info& actual) {
  TORCH_CHECK(
      false, "Attempted to cast AnyValue to ", c10::demangle(wanted.name()), ", but its actual type is ",
      c10::demangle(actual.name()));
}

void throw_bad_argument(size_t index, const std::type_info& wanted, const std::type_info& actual) {
  TORCH_CHECK(
      false, "Expected argument #", index, " to be of type ", c10::demangle(wanted.name()),
      ", but received value of type ", c10::demangle(actual.name()));
}

void complete_arguments(Module& module, const AnyModuleEntry& entry, std::vector<AnyValue>& arguments) {
  const size_t wanted = entry.num_arguments;
  if (arguments.size() == wanted) {
    return;
  }
  const std::vector<std::pair<unsigned int, AnyValue>> defaults = module._forward_default_args();
  const std::string type = c10::demangle(entry.type.name());
  if (defaults.empty()) {
    TORCH_CHECK(
        false, type, "'s forward() method expects ", wanted, " argument(s), but received ", arguments.size(), ".",
        arguments.size() > wanted ? ""
                                  : " If " + type +
                "'s forward() method has default arguments, please make sure the forward() method is "
                "declared with a corresponding `FORWARD_HAS_DEFAULT_ARGS` macro.");
  }
  const size_t required = defaults.front().first;
  TORCH_CHECK(
      arguments.size() >= required && arguments.size() <= wanted, type, "'s forward() method expects at least ",
      required, " argument(s) and at most ", wanted, " argument(s), but received ", arguments.size(), ".");
  for (const auto& [position, value] : defaults) {
    if (position == arguments.size()) {
      arguments.push_back(value);
    }
  }
  TORCH_CHECK(
      arguments.size() == wanted, type, ": FORWARD_HAS_DEFAULT_ARGS leaves out argument #", arguments.size(),
      " of forward()");
}

} // namespace detail

AnyModule AnyModule::clone(std::optional<Device> device) const {
  if (is_empty()) {
    return AnyModule();
  }
  std::shared_ptr<Module> copy = module_->clone(device);
  const Module& original = *module_;
  const Module& cloned = *copy;
  TORCH_CHECK(
      typeid(original) == typeid(cloned), "AnyModule::clone: the copy of a ", c10::demangle(typeid(original).name()),
      " is a ", c10::demangle(typeid(cloned).name()), "; clone() must return the same type of module");
  return AnyModule(std::move(copy), *entry_);
}

std::shared_ptr<Module> AnyModule::ptr() const {
  check_not_empty("ptr()");
  return module_;
}

const std::type_info& AnyModule::type_info() const {
  check_not_empty("type_info()");
  return entry_->type;
}

AnyValue AnyModule::call(std::vector<AnyValue>&& arguments) {
  check_not_empty("forward()");
  detail::complete_arguments(*module_, *entry_, arguments);
  return entry_->forward(*module_, arguments);
}

void AnyModule::check_not_empty(const char* function) const {
  TORCH_CHECK(!is_empty(), "Cannot call ", function, " on an empty AnyModule");
}

void AnyModule::check_type(const char* function, const std::type_info& wanted) const {
  check_not_empty(function);
  TORCH_CHECK(
      wanted == entry_->type, "Attempted to cast module of type ", c10::demangle(entry_->type.name()), " to type ",
      c10::demangle(wanted.name()));
}

} // namespace torch::nn
