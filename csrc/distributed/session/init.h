// How the processes of a job find one another.
#pragma once

#include <csrc/arg.h>
#include <csrc/distributed/c10d/ProcessGroup.h>

namespace torch::distributed {

using GroupPtr = c10::intrusive_ptr<c10d::ProcessGroup>;

/// Arguments of init_process_group.
struct TORCH_API InitOptions {
  /// "shm", "gloo", "mpi", "nccl" or "fake", or one for each type of device: "cpu:gloo,cuda:nccl". Empty: "gloo", which
  /// is "shm" within a host.
  TORCH_ARG(std::string, backend);
  /// Where the processes meet: "env://" (variables of tensor-launch, torchrun, Open MPI, MPICH and Slurm; without any
  /// the process is alone), "tcp://host:port" or "file:///path", the last two with rank and world_size here or behind a
  /// "?".
  TORCH_ARG(std::string, init_method) = "env://";
  /// In place of init_method; with rank and world_size.
  TORCH_ARG(c10::intrusive_ptr<c10d::Store>, store);
  TORCH_ARG(int, rank) = -1;
  TORCH_ARG(int, world_size) = -1;
  /// How long a call waits for ranks that are alive but late.
  TORCH_ARG(std::chrono::milliseconds, timeout) = std::chrono::minutes(10);
};

/// Makes the group of all processes. All of them call it. Throws if there is one already.
TORCH_API void init_process_group(const InitOptions& options = {});
/// Ends the group of all processes and those made of it, or one of them.
TORCH_API void destroy_process_group(const GroupPtr& group = {});
TORCH_API bool is_initialized();

/// The group of all processes. Throws before init_process_group.
TORCH_API GroupPtr default_group();
/// This process's place in the group; -1 where it is in none, or nothing is initialized.
TORCH_API int get_rank(const GroupPtr& group = {});
TORCH_API int get_world_size(const GroupPtr& group = {});
TORCH_API std::string get_backend(const GroupPtr& group = {});
/// This process's place among those of its host, from the launcher's variables, or its rank.
TORCH_API int get_local_rank();

/// A group of some ranks. All processes call it, in the same order; those that are not in it get null.
TORCH_API GroupPtr new_group(
    const std::vector<int>& ranks,
    std::optional<std::chrono::milliseconds> timeout = std::nullopt,
    const std::string& backend = "");

/// init_process_group, and destroy_process_group at its end.
class TORCH_API Session {
 public:
  explicit Session(const InitOptions& options = {}) {
    init_process_group(options);
  }
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  int rank() const {
    return get_rank();
  }
  int world_size() const {
    return get_world_size();
  }
};

} // namespace torch::distributed
