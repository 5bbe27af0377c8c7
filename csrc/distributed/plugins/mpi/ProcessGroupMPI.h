// ProcessGroupMPI: the backend "mpi", over the system's MPI, in a library of its own (libtensor_mpi.so).
//
// Programs that use the class are compiled with MPI's headers and linked to that library (tensor::tensor_mpi); others
// say init_process_group(InitOptions().backend("mpi")).
#pragma once

#if __has_include(<mpi.h>)

#include <csrc/distributed/backends/QueueBackend.h>

// Not its C++ classes, which would have to be linked.
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include <memory>
#include <vector>

namespace c10d {

constexpr const char* MPI_BACKEND_NAME = "mpi";

/// For CPU tensors of processes that mpirun or srun has started. Operations of a group run one after the other, in a
/// thread; MPI must allow calls from several threads, one at a time at least.
class TORCH_API ProcessGroupMPI : public QueueBackend {
 public:
  using WorkMPI = ::c10d::Work;
  using AsyncWork = ::c10d::Work;

  /// The communicator is the group's from now on.
  explicit ProcessGroupMPI(int rank, int size, MPI_Comm pgComm);
  ProcessGroupMPI(
      int rank, int size, MPI_Comm pgComm, const c10::intrusive_ptr<Store>& store, c10::intrusive_ptr<Options> options);
  ~ProcessGroupMPI() override;

  const std::string getBackendName() const override {
    return MPI_BACKEND_NAME;
  }
  /// A group of these ranks of all processes, or of all; every process calls it. Null where this one is not among them.
  static c10::intrusive_ptr<ProcessGroupMPI> createProcessGroupMPI(std::vector<int> ranks = {});
};

} // namespace c10d

#endif
