// NCCL's functions, looked up in its library when they are first needed.
#pragma once

#include <nccl.h>

#include <string>

namespace c10d::detail {

/// libnccl.so.2, or what TENSOR_NCCL_LIBRARY names.
struct NcclLibrary {
  /// Opens it, once. Throws c10::DistBackendError, and says why, where it cannot be used.
  static const NcclLibrary& get();

  decltype(&::ncclGetVersion) get_version;
  decltype(&::ncclGetUniqueId) get_unique_id;
  decltype(&::ncclCommInitRank) comm_init_rank;
  decltype(&::ncclCommInitAll) comm_init_all;
  decltype(&::ncclCommCount) comm_count;
  decltype(&::ncclCommUserRank) comm_user_rank;
  decltype(&::ncclCommDestroy) comm_destroy;
  decltype(&::ncclCommAbort) comm_abort;
  decltype(&::ncclCommGetAsyncError) comm_get_async_error;
  decltype(&::ncclGetErrorString) get_error_string;
  decltype(&::ncclGetLastError) get_last_error;
  decltype(&::ncclAllReduce) all_reduce;
  decltype(&::ncclReduce) reduce;
  decltype(&::ncclBroadcast) broadcast;
  decltype(&::ncclAllGather) all_gather;
  decltype(&::ncclReduceScatter) reduce_scatter;
  decltype(&::ncclSend) send;
  decltype(&::ncclRecv) recv;
  decltype(&::ncclGroupStart) group_start;
  decltype(&::ncclGroupEnd) group_end;
  decltype(&::ncclRedOpCreatePreMulSum) red_op_create_pre_mul_sum;
  decltype(&::ncclRedOpDestroy) red_op_destroy;

  /// Throws c10::DistBackendError unless the call went well: "NCCL ncclAllReduce failed: unhandled system error (...)".
  void check(ncclResult_t result, const char* call, ncclComm_t comm = nullptr) const;
  /// What a result means, and NCCL's own last words.
  std::string describe(ncclResult_t result, ncclComm_t comm) const;
};

} // namespace c10d::detail
