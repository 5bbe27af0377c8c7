// A communicator of NCCL and the stream on which its operations run.
#pragma once

#include <c10/cuda/CUDAEvent.h>
#include <c10/cuda/CUDAStream.h>
#include <csrc/distributed/c10d/Types.h>
#include <csrc/distributed/plugins/nccl/NcclLibrary.h>

#include <functional>
#include <mutex>
#include <string>

namespace c10d::detail {

/// How NCCL takes a tensor: elements of complex tensors are two numbers.
struct NcclElements {
  ncclDataType_t type;
  size_t count;
};
/// For reductions. Throws ValueError for dtypes that NCCL has no arithmetic for.
NcclElements reducible_elements(const char* what, const at::Tensor& tensor, const ReduceOp& op);
/// For what only moves: bytes.
NcclElements moved_elements(const at::Tensor& tensor);

class NcclCommunicator {
 public:
  /// Where and with whom it is made.
  struct Place {
    std::string key; // of the store
    std::string group; // for NCCLCommRegistrationHooks
    int rank;
    int size;
    c10::DeviceIndex device;
    bool high_priority;
  };
  /// All ranks make it at the same time, and meet at the store. Waits for them, and calls `look` meanwhile, which
  /// throws when it has waited for long enough: NCCL's own call does not return then.
  NcclCommunicator(Store& store, const Place& place, const std::function<void()>& look);
  ~NcclCommunicator();
  NcclCommunicator(const NcclCommunicator&) = delete;
  NcclCommunicator& operator=(const NcclCommunicator&) = delete;

  ncclComm_t get() const {
    return comm_;
  }
  c10::cuda::CUDAStream stream() const {
    return stream_;
  }
  c10::DeviceIndex device() const {
    return device_;
  }
  /// The reduction as NCCL names it, made for the communicator where it has a factor. Throws ValueError for those that
  /// NCCL does not have.
  class Reduction {
   public:
    Reduction(const NcclCommunicator& of, const char* what, const ReduceOp& op, const at::Tensor& tensor);
    ~Reduction();
    Reduction(const Reduction&) = delete;
    Reduction& operator=(const Reduction&) = delete;
    ncclRedOp_t get() const {
      return op_;
    }

   private:
    ncclComm_t made_for_ = nullptr;
    ncclRedOp_t op_ = ncclSum;
  };

  /// What went wrong behind NCCL's back, or nothing.
  std::string async_error() const;
  /// Lets what runs end, with an error; from any thread.
  void abort();

 private:
  ncclComm_t retire();

  const std::string group_;
  mutable std::mutex mutex_; // for the end of comm_
  ncclComm_t comm_ = nullptr;
  const c10::DeviceIndex device_;
  const c10::cuda::CUDAStream stream_;
};

} // namespace c10d::detail
