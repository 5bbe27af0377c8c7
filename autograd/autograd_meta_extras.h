// What few tensors have of autograd: a name and hooks.
#pragma once

#include <autograd/variable.h>

#include <memory>
#include <string>
#include <vector>

namespace torch::autograd {

struct AutogradMeta::Extras {
  ~Extras();

  std::string name;
  std::vector<std::unique_ptr<FunctionPreHook>> hooks;
  std::shared_ptr<hooks_list> cpp_hooks_list;
  std::unique_ptr<PostAccumulateGradHook> post_acc_grad_hook;
};

} // namespace torch::autograd
