#include <csrc/data/detail/pin_memory.h>

#include <csrc/cuda.h>

namespace torch::data::detail {

bool can_pin_memory() {
  return torch::cuda::is_available();
}

void pin_memory(at::Tensor& tensor) {
  if (tensor.defined() && tensor.device().is_cpu()) {
    tensor = tensor.pin_memory();
  }
}

} // namespace torch::data::detail
