// The inside of a module. For the sources of torch::nn.
#pragma once

#include <csrc/nn/Module.h>
#include <csrc/nn/hook_lists.h>

namespace torch::nn::detail {

struct ModuleAccess {
  static OrderedDict<std::string, Tensor>& parameters(Module& module) {
    return module.parameters_;
  }
  static OrderedDict<std::string, Tensor>& buffers(Module& module) {
    return module.buffers_;
  }
  static OrderedDict<std::string, std::shared_ptr<Module>>& children(Module& module) {
    return module.children_;
  }
  static HookLists& hooks(Module& module) {
    return *module.hooks_.lists();
  }
};

} // namespace torch::nn::detail
