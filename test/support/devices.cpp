#include "test/support/devices.h"

#include <torch/cuda.h>

namespace test {

std::vector<c10::Device> devices() {
  std::vector<c10::Device> found = {c10::Device(c10::DeviceType::CPU)};
  if (torch::cuda::is_available()) {
    found.emplace_back(c10::DeviceType::CUDA, 0);
  }
  return found;
}

} // namespace test
