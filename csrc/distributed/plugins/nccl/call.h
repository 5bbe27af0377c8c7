// What all operations of ProcessGroupNCCL have in common.
#pragma once

#include <csrc/distributed/plugins/nccl/NcclCommunicator.h>
#include <csrc/distributed/plugins/nccl/ProcessGroupNCCL.h>

namespace c10d {

struct ProcessGroupNCCL::Call {
  OpType type;
  const char* title;
  std::vector<at::Tensor> inputs;
  std::vector<at::Tensor> outputs;
  std::chrono::milliseconds timeout;
  at::Device device;
  CommunicatorPtr on = nullptr; // null: that of all ranks
};

} // namespace c10d
