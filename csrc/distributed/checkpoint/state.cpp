// What is saved into a checkpoint, and loaded from it into the same places.
#include <csrc/distributed/checkpoint/state.h>

#include <c10/util/Exception.h>

#include <algorithm>

namespace torch::distributed::checkpoint {

void State::add_entry(Entry entry) {
  TORCH_CHECK_VALUE(!entry.name.empty(), "checkpoint::State: a name is empty");
  TORCH_CHECK_VALUE(
      std::none_of(entries_.begin(), entries_.end(), [&](const Entry& known) { return known.name == entry.name; }),
      "checkpoint::State: duplicated flatten key ", entry.name);
  entries_.push_back(std::move(entry));
}

State& State::add(const std::string& name, const at::Tensor& tensor) {
  TORCH_CHECK_VALUE(
      tensor.defined() && tensor.layout() == at::kStrided, "checkpoint::State: tensor ", name,
      " must be defined and dense");
  if (const auto shard = dtensor_of(tensor)) {
    return add(name, *shard);
  }
  add_entry({name, {name}, tensor});
  return *this;
}

State& State::add(const std::string& name, const DTensor& tensor) {
  TORCH_CHECK_VALUE(tensor.defined(), "checkpoint::State: tensor ", name, " is not defined");
  for (const auto& placement : tensor.placements()) {
    TORCH_CHECK_VALUE(
        !std::holds_alternative<Partial>(placement), "checkpoint::State: tensor ", name,
        " is not reduced yet: redistribute it first");
  }
  add_entry({name, {name}, tensor});
  return *this;
}

State& State::add(const std::string& name, c10::IValue* value) {
  TORCH_CHECK_VALUE(value != nullptr, "checkpoint::State: the value ", name, " is null");
  add_entry({name, {name}, value});
  return *this;
}

State& State::add(const std::string& name, nn::Module& module) {
  const auto add_all = [&](const auto& tensors) {
    for (const auto& item : tensors) {
      add(name + "." + item.key(), item.value());
      entries_.back().path = {name, item.key()};
    }
  };
  add_all(module.named_parameters());
  add_all(module.named_buffers());
  return *this;
}

State& State::add(const std::string& name, optim::Optimizer& optimizer, const nn::Module& module) {
  OptimizerEntry entry{name, &optimizer, {}};
  const auto known = module.named_parameters();
  for (const auto& group : optimizer.param_groups()) {
    for (const auto& param : group.params()) {
      const auto found =
          std::find_if(known.begin(), known.end(), [&](const auto& item) { return item.value().is_same(param); });
      TORCH_CHECK_VALUE(
          found != known.end(), "checkpoint::State: a parameter of optimizer ", name, " is not one of the module's");
      entry.parameters.push_back(found->key());
    }
  }
  optimizers_.push_back(std::move(entry));
  return *this;
}

} // namespace torch::distributed::checkpoint
