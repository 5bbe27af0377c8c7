// What few tensors have of autograd: a name, hooks and tangents.
#pragma once

#include <autograd/forward/forward_grad.h>
#include <autograd/variable.h>
#include <c10/core/SmallPool.h>

#include <memory>
#include <string>
#include <vector>

namespace torch::autograd {

struct AutogradMeta::Extras {
  ~Extras();

  static void* operator new(size_t bytes) {
    return c10::small_alloc(bytes);
  }
  static void operator delete(void* extras, size_t bytes) {
    c10::small_free(extras, bytes);
  }

  std::string name;
  std::vector<std::unique_ptr<FunctionPreHook>> hooks;
  std::shared_ptr<hooks_list> cpp_hooks_list;
  std::unique_ptr<PostAccumulateGradHook> post_acc_grad_hook;
  std::shared_ptr<ForwardGrad> forward_grad;
  /// Whether it is this tensor's, not shared with the tensor that it stands for.
  bool owns_forward_grad = false;
};

} // namespace torch::autograd
