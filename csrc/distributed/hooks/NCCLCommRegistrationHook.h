// Tells a program of the communicators of NCCL that groups make.
#pragma once

#include <c10/core/Device.h>
#include <c10/macros/Export.h>

#include <functional>
#include <string>

namespace c10d {

/// `comm` is an ncclComm_t. Either may be empty.
struct NCCLCommRegistrationHooks {
  std::function<void(const std::string& group_name, void* comm, c10::Device)> on_register;
  std::function<void(const std::string& group_name, void* comm, c10::Device)> on_unregister;
};

/// Those that were set before are called no more.
TORCH_API void setNCCLCommRegistrationHooks(NCCLCommRegistrationHooks hooks);
/// Called by ProcessGroupNCCL when it has made a communicator, and before it ends one.
TORCH_API void publishNCCLComm(const std::string& group_name, void* comm, c10::Device device);
TORCH_API void retireNCCLComm(const std::string& group_name, void* comm, c10::Device device);

} // namespace c10d
