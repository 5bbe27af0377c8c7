// torch::cuda::nccl: NCCL's operations on one tensor for each device of this process, or for communicators of the
// program's own. In libtensor_nccl.so.
//
// All run on the current stream of each tensor's device, or those given, and do not wait. Without communicators there
// is one for each list of devices, made at its first use. Errors of NCCL are c10::DistBackendError.
#pragma once

#if __has_include(<nccl.h>) && __has_include(<cuda_runtime_api.h>)

#include <aten/core/Tensor.h>
#include <c10/cuda/CUDAStream.h>
#include <c10/macros/Export.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#ifndef NCCL_UNIQUE_ID_BYTES
#define NCCL_UNIQUE_ID_BYTES 128
#endif

namespace torch::cuda::nccl {

/// NCCL's own handle.
using ncclComm_t = void*;
struct ncclUniqueId {
  char internal[NCCL_UNIQUE_ID_BYTES];
};

enum class ncclResult {
  Success = 0,
  UnhandledCudaError = 1,
  SystemError = 2,
  InternalError = 3,
  InvalidArgument = 4,
  InvalidUsage = 5,
  RemoteError = 6,
  InProgress = 7,
  NumResults = 8
};
enum class ncclRedOp { Sum = 0, Prod = 1, Max = 2, Min = 3, NumOps = 4 };
enum class ncclDataType {
  Int8 = 0,
  Char = 0,
  Uint8 = 1,
  Int32 = 2,
  Int = 2,
  Uint32 = 3,
  Int64 = 4,
  Uint64 = 5,
  Float16 = 6,
  Half = 6,
  Float32 = 7,
  Float = 7,
  Float64 = 8,
  Double = 8,
  Bfloat16 = 9,
  NumTypes = 10
};

/// What is called while it lives is one group of NCCL's.
struct TORCH_API AutoNcclGroup {
  AutoNcclGroup();
  AutoNcclGroup(const AutoNcclGroup&) = delete;
  AutoNcclGroup& operator=(const AutoNcclGroup&) = delete;
  ~AutoNcclGroup() noexcept(false);
};

using comm_list = std::vector<ncclComm_t>;
using stream_list = std::vector<std::optional<c10::cuda::CUDAStream>>;

/// Of NCCL's library: major in the bits from 32 on, minor from 16 on, patch below.
TORCH_API std::uint64_t version();
TORCH_API const char* version_suffix();
/// Whether the functions below take these tensors: on CUDA, dense and contiguous, each on another device.
TORCH_API bool is_available(at::TensorList tensors);

TORCH_API void get_unique_id(ncclUniqueId& id);
/// For the current device; waits for the other ranks.
TORCH_API ncclComm_t comm_init_rank(int nranks, const ncclUniqueId& comm_id, int rank);
TORCH_API void comm_destroy(ncclComm_t comm);

namespace detail {
TORCH_API void throw_nccl_error(ncclResult status);
inline void NCCL_CHECK(ncclResult status) {
  if (status != ncclResult::Success) {
    throw_nccl_error(status);
  }
}
/// Of the tensors' devices.
TORCH_API at::ArrayRef<ncclComm_t> get_communicators(at::TensorList inputs);
/// Throws std::runtime_error unless inputs are of one dtype and size, and each output is as many times as large as an
/// input as the multipliers say, on its device.
TORCH_API void check_inputs(
    at::TensorList inputs, at::TensorList outputs, size_t input_multiplier, size_t output_multiplier);
} // namespace detail

/// All tensors get the values of that of the root.
TORCH_API void broadcast(
    at::TensorList tensors, int32_t root = 0, const stream_list& streams = {}, const comm_list& user_comms = {});
TORCH_API void reduce(
    const std::vector<at::Tensor>& inputs,
    at::Tensor& output,
    int32_t root = 0,
    int32_t op = static_cast<int>(ncclRedOp::Sum),
    const stream_list& streams = {},
    const comm_list& user_comms = {});
/// Into the tensor of the root.
TORCH_API void reduce(
    std::vector<at::Tensor>& inputs,
    int32_t root = 0,
    int32_t op = static_cast<int>(ncclRedOp::Sum),
    const stream_list& streams = {},
    const comm_list& user_comms = {});
TORCH_API void all_reduce(
    const std::vector<at::Tensor>& inputs,
    std::vector<at::Tensor>& outputs,
    int32_t op = static_cast<int>(ncclRedOp::Sum),
    const stream_list& streams = {},
    const comm_list& user_comms = {});
/// Each output is a part of the sum: as many times smaller than the inputs as there are tensors.
TORCH_API void reduce_scatter(
    const std::vector<at::Tensor>& inputs,
    std::vector<at::Tensor>& outputs,
    int32_t op = static_cast<int>(ncclRedOp::Sum),
    const stream_list& streams = {},
    const comm_list& user_comms = {});
/// Each output has all inputs.
TORCH_API void all_gather(
    const std::vector<at::Tensor>& inputs,
    std::vector<at::Tensor>& outputs,
    const stream_list& streams = {},
    const comm_list& user_comms = {});

// Of one rank, with a communicator of the program's.
TORCH_API void send(const at::Tensor& input, ncclComm_t comm, c10::cuda::CUDAStream stream, int dst);
TORCH_API void recv(at::Tensor& output, ncclComm_t comm, c10::cuda::CUDAStream stream, int src);
/// `inputs` of the root, one for each rank.
TORCH_API void scatter(
    const std::vector<at::Tensor>& inputs,
    at::Tensor& outputs,
    ncclComm_t comm,
    c10::cuda::CUDAStream& stream,
    int32_t root = 0);
/// `outputs` of the root, one for each rank.
TORCH_API void gather(
    const at::Tensor& inputs,
    std::vector<at::Tensor>& outputs,
    ncclComm_t comm,
    c10::cuda::CUDAStream& stream,
    int32_t root = 0);
TORCH_API void all2all(
    std::vector<at::Tensor>& outputTensors,
    std::vector<at::Tensor>& inputTensors,
    ncclComm_t comm,
    c10::cuda::CUDAStream& stream);
TORCH_API void all2all_single_equal_split(
    at::Tensor& input, at::Tensor& output, int size, ncclComm_t comm, c10::cuda::CUDAStream& stream);
/// Counts and offsets are of elements.
TORCH_API void all2all_single_unequal_split(
    void* sendbuff,
    const size_t* sendcounts,
    const size_t* senddispls,
    void* recvbuff,
    const size_t* recvcounts,
    const size_t* recvdispls,
    size_t size,
    c10::ScalarType type,
    ncclComm_t comm,
    c10::cuda::CUDAStream& stream);

} // namespace torch::cuda::nccl

#endif
