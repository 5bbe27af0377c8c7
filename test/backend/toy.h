// A device of its own, as somebody outside of this project would write it: on the key PrivateUse1, with public headers
// only. Its memory cannot be read from the CPU: addresses carry a tag that faults, so whatever is not the backend's own
// code and touches the data stops the test.
#pragma once

#include <torch/library.h>
#include <torch/torch.h>

namespace toy {

constexpr c10::DeviceType kToy = c10::DeviceType::PrivateUse1;
constexpr c10::DeviceIndex kDevices = 2;
/// Bytes of each device.
constexpr size_t kMemory = 1 << 20;

/// "toy:0" and "toy:1".
at::Device device(c10::DeviceIndex index = 0);

/// Blocks of memory that exist now.
int64_t live_blocks();

/// Calls of the backend's own kernel for add.
int64_t add_calls();

/// The tensor's memory as the backend's kernels see it: a CPU tensor over the same bytes.
at::Tensor inside(const at::Tensor& t);

/// While it lives, operators without a kernel for the toy run on the CPU.
struct CpuFallback {
  CpuFallback();
  torch::Library registration;
};

} // namespace toy
