// Optimizers as dictionaries in Python's form.
#include <aten/core/ivalue.h>
#include <csrc/optim/fields.h>
#include <csrc/optim/optimizer.h>

namespace torch::optim {

using detail::GenericDict;

c10::IValue Optimizer::state_dict() const {
  GenericDict state(c10::IntType::get(), c10::AnyType::get());
  c10::impl::GenericList groups(c10::AnyType::get());
  int64_t index = 0;
  for (const OptimizerParamGroup& group : param_groups_) {
    c10::List<int64_t> indices;
    for (const Tensor& param : group.params()) {
      const auto found = state_.find(param.unsafeGetTensorImpl());
      if (found != state_.end() && found->second) {
        state.insert(index, found->second->state_dict());
      }
      indices.push_back(index++);
    }
    const c10::IValue options = group.options().state_dict();
    if (group.initial_lr()) {
      options.toGenericDict().insert(std::string("initial_lr"), *group.initial_lr());
    }
    options.toGenericDict().insert(std::string("params"), indices);
    groups.push_back(options);
  }
  GenericDict whole = detail::string_dict();
  whole.insert(std::string("state"), state);
  whole.insert(std::string("param_groups"), groups);
  return whole;
}

void Optimizer::load_state_dict(const c10::IValue& state_dict) {
  const GenericDict whole = state_dict.toGenericDict();
  const auto part = [&](const char* name) {
    const auto found = whole.find(std::string(name));
    TORCH_CHECK(
        found != whole.end(), "Optimizer::load_state_dict: expected the keys state and param_groups, but ", name,
        " is missing");
    return found->value();
  };
  const auto groups = part("param_groups").toListRef();
  TORCH_CHECK_VALUE(
      groups.size() == param_groups_.size(),
      "loaded state dict has a different number of parameter groups: ", groups.size(), ", the optimizer has ",
      param_groups_.size());
  // Python counts parameters by the numbers in `params`, which need not be 0, 1, 2, ...
  std::vector<std::vector<int64_t>> indices;
  for (size_t g = 0; g < groups.size(); ++g) {
    const GenericDict fields = groups[g].toGenericDict();
    const auto params = fields.find(std::string("params"));
    TORCH_CHECK(params != fields.end(), "Optimizer::load_state_dict: parameter group ", g, " has no params");
    std::vector<int64_t> numbers;
    for (const c10::IValue& number : params->value().toList()) {
      numbers.push_back(number.toInt());
    }
    TORCH_CHECK_VALUE(
        numbers.size() == param_groups_[g].params().size(),
        "loaded state dict contains a parameter group that doesn't match the size of optimizer's group: group ", g,
        " has ", numbers.size(), " parameters, the optimizer's ", param_groups_[g].params().size());
    indices.push_back(std::move(numbers));
  }
  // Everything is read before anything is changed.
  const GenericDict saved = part("state").toGenericDict();
  State state;
  std::vector<std::unique_ptr<OptimizerOptions>> options;
  for (size_t g = 0; g < groups.size(); ++g) {
    options.push_back(param_groups_[g].options().clone());
    options.back()->load_state_dict(groups[g]);
    for (size_t i = 0; i < indices[g].size(); ++i) {
      const auto found = saved.find(indices[g][i]);
      if (found == saved.end()) {
        continue;
      }
      const Tensor& param = param_groups_[g].params()[i];
      auto loaded = make_state();
      loaded->load_state_dict(found->value(), param);
      state[param.unsafeGetTensorImpl()] = std::move(loaded);
    }
  }
  state_ = std::move(state);
  for (size_t g = 0; g < options.size(); ++g) {
    param_groups_[g].set_options(std::move(options[g]));
    const GenericDict fields = groups[g].toGenericDict();
    const auto initial_lr = fields.find(std::string("initial_lr"));
    if (initial_lr != fields.end()) {
      param_groups_[g].set_initial_lr(detail::number_of(initial_lr->value()));
    }
  }
}

} // namespace torch::optim
