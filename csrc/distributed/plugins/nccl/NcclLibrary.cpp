// NCCL's functions, looked up in its library when they are first needed.
#include <csrc/distributed/plugins/nccl/NcclLibrary.h>

#include <c10/util/Exception.h>

#include <dlfcn.h>

#include <cstdlib>

namespace c10d::detail {

namespace {

template <class Function>
void find(void* library, const std::string& path, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(library, name)); // NOLINT: how POSIX gives functions
  if (function == nullptr) {
    C10_THROW_ERROR(DistBackendError, c10::str("nccl: ", path, " has no ", name, "; NCCL 2.11 or later is needed"));
  }
}

NcclLibrary open_library() {
  const char* named = std::getenv("TENSOR_NCCL_LIBRARY");
  const std::string path = named != nullptr ? named : "libnccl.so.2";
  void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* why = ::dlerror();
    C10_THROW_ERROR(
        DistBackendError,
        c10::str(
            "nccl: NCCL's library cannot be opened: ", why != nullptr ? why : path,
            ". Install NCCL where the loader finds it, or name the file in TENSOR_NCCL_LIBRARY"));
  }
  NcclLibrary all{};
  find(library, path, "ncclGetVersion", all.get_version);
  find(library, path, "ncclGetUniqueId", all.get_unique_id);
  find(library, path, "ncclCommInitRank", all.comm_init_rank);
  find(library, path, "ncclCommInitAll", all.comm_init_all);
  find(library, path, "ncclCommCount", all.comm_count);
  find(library, path, "ncclCommUserRank", all.comm_user_rank);
  find(library, path, "ncclCommDestroy", all.comm_destroy);
  find(library, path, "ncclCommAbort", all.comm_abort);
  find(library, path, "ncclCommGetAsyncError", all.comm_get_async_error);
  find(library, path, "ncclGetErrorString", all.get_error_string);
  find(library, path, "ncclGetLastError", all.get_last_error);
  find(library, path, "ncclAllReduce", all.all_reduce);
  find(library, path, "ncclReduce", all.reduce);
  find(library, path, "ncclBroadcast", all.broadcast);
  find(library, path, "ncclAllGather", all.all_gather);
  find(library, path, "ncclReduceScatter", all.reduce_scatter);
  find(library, path, "ncclSend", all.send);
  find(library, path, "ncclRecv", all.recv);
  find(library, path, "ncclGroupStart", all.group_start);
  find(library, path, "ncclGroupEnd", all.group_end);
  find(library, path, "ncclRedOpCreatePreMulSum", all.red_op_create_pre_mul_sum);
  find(library, path, "ncclRedOpDestroy", all.red_op_destroy);
  return all;
}

} // namespace

const NcclLibrary& NcclLibrary::get() {
  static const NcclLibrary library = open_library();
  return library;
}

std::string NcclLibrary::describe(ncclResult_t result, ncclComm_t comm) const {
  const char* last = get_last_error(comm);
  return c10::str(
      get_error_string(result), last != nullptr && *last != '\0' ? c10::str(" (", last, ")") : std::string());
}

void NcclLibrary::check(ncclResult_t result, const char* call, ncclComm_t comm) const {
  if (result != ncclSuccess) {
    C10_THROW_ERROR(DistBackendError, c10::str("NCCL ", call, " failed: ", describe(result, comm)));
  }
}

} // namespace c10d::detail
