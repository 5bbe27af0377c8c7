// Memory whose content comes and goes while tensors that lie in it stay.
#pragma once

#include <aten/core/Tensor.h>

namespace torch::distributed::fsdp {

/// One flat tensor. Without its content it takes no memory, but views of it live on, those that graphs have saved too.
class GatheredMemory {
 public:
  GatheredMemory() = default;
  GatheredMemory(int64_t numel, const at::TensorOptions& options);

  /// A tensor of all of it, with a version of its own: writing through it is no change that graphs see.
  at::Tensor view() const;
  void acquire();
  void release();

 private:
  at::Tensor tensor_;
  size_t bytes_ = 0;
};

} // namespace torch::distributed::fsdp
