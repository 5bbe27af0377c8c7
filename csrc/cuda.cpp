#include <csrc/cuda.h>

#include <aten/detail/CUDAHooksInterface.h>

namespace torch::cuda {

size_t device_count() {
  return static_cast<size_t>(at::detail::getCUDAHooks().device_count());
}

bool is_available() {
  return device_count() > 0;
}

bool cudnn_is_available() {
  return is_available() && at::detail::getCUDAHooks().has_cudnn();
}

std::string unavailable_reason() {
  return at::detail::getCUDAHooks().unavailable_reason();
}

void manual_seed(uint64_t seed) {
  if (is_available()) {
    at::detail::getCUDAHooks().manual_seed(seed);
  }
}

void manual_seed_all(uint64_t seed) {
  if (is_available()) {
    at::detail::getCUDAHooks().manual_seed_all(seed);
  }
}

void synchronize(int64_t device_index) {
  at::detail::getCUDAHooks().synchronize(device_index);
}

} // namespace torch::cuda
