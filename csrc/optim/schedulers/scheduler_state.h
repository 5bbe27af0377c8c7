// Reading the saved state of schedulers. For their sources.
#pragma once

#include <csrc/optim/fields.h>

namespace torch::optim::detail {

/// Values by name; those that are not there leave what they would be read into.
class SchedulerState {
 public:
  explicit SchedulerState(const c10::IValue& state_dict) : dict_(state_dict.toGenericDict()) {}

  const c10::IValue* find(const char* name) const {
    const auto found = dict_.find(std::string(name));
    if (found == dict_.end()) {
      return nullptr;
    }
    value_ = found->value();
    return &value_;
  }

  template <class T>
  void read(const char* name, T& to) const {
    if (const c10::IValue* value = find(name)) {
      unpack(*value, to);
    }
  }

  void read(const char* name, std::vector<double>& to) const {
    const c10::IValue* value = find(name);
    if (!value) {
      return;
    }
    const auto list = value->toList();
    TORCH_CHECK_VALUE(
        list.size() == to.size(), "load_state_dict: ", name, " has ", list.size(), " values, the optimizer has ",
        to.size(), " parameter groups");
    for (size_t i = 0; i < to.size(); ++i) {
      to[i] = number_of(list.get(i));
    }
  }

 private:
  GenericDict dict_;
  mutable c10::IValue value_;
};

} // namespace torch::optim::detail
