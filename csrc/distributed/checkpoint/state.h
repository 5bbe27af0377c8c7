// What is saved into a checkpoint, and loaded from it into the same places.
#pragma once

#include <aten/core/ivalue.h>
#include <csrc/distributed/checkpoint/metadata.h>
#include <csrc/distributed/tensor/dtensor.h>
#include <csrc/nn/Module.h>
#include <csrc/optim/optimizer.h>

#include <string>
#include <variant>
#include <vector>

namespace torch::distributed::checkpoint {

/// Tensors, values, modules and optimizers by name, the same names on all ranks. Refers to them: load changes them in
/// place.
class TORCH_API State {
 public:
  /// A tensor that all ranks have alike: it is written once.
  State& add(const std::string& name, const at::Tensor& tensor);
  /// A tensor of which each rank has a part; into another number of ranks it is cut anew.
  State& add(const std::string& name, const DTensor& tensor);
  /// Numbers, texts, lists and dictionaries; that of rank 0 is written.
  State& add(const std::string& name, c10::IValue* value);
  /// Parameters and buffers under "name." and their own names; those that fully_shard has cut, as DTensors.
  State& add(const std::string& name, nn::Module& module);
  /// The state of each parameter under "name.state." and its name in the module, and the options of groups, as
  /// PyTorch's get_optimizer_state_dict.
  State& add(const std::string& name, optim::Optimizer& optimizer, const nn::Module& module);
  template <class Holder, class = decltype(static_cast<nn::Module&>(*std::declval<Holder&>()))>
  State& add(const std::string& name, const Holder& module) {
    return add(name, static_cast<nn::Module&>(*const_cast<Holder&>(module)));
  }
  template <class Holder, class = decltype(static_cast<nn::Module&>(*std::declval<Holder&>()))>
  State& add(const std::string& name, optim::Optimizer& optimizer, const Holder& module) {
    return add(name, optimizer, static_cast<const nn::Module&>(*const_cast<Holder&>(module)));
  }

  struct Entry {
    std::string name;
    Path path;
    std::variant<at::Tensor, DTensor, c10::IValue*> content;
  };
  struct OptimizerEntry {
    std::string name;
    optim::Optimizer* optimizer;
    std::vector<std::string> parameters; // by number
  };
  const std::vector<Entry>& entries() const {
    return entries_;
  }
  const std::vector<OptimizerEntry>& optimizers() const {
    return optimizers_;
  }

 private:
  void add_entry(Entry entry);

  std::vector<Entry> entries_;
  std::vector<OptimizerEntry> optimizers_;
};

} // namespace torch::distributed::checkpoint
