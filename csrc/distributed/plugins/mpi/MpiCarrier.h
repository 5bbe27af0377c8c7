// Collectives by MPI, without blocking in it: so that they can time out, and one thread at a time is enough.
#pragma once

#include <csrc/distributed/plugins/mpi/ProcessGroupMPI.h>

#include <atomic>
#include <functional>
#include <mutex>

namespace c10d::detail {

/// MPI of this process: begun by the first group unless the program has done so, ended at exit.
class MpiRuntime {
 public:
  static MpiRuntime& get();
  /// Calls of MPI go through this. Throws DistBackendError with MPI's words where one fails.
  void call(const char* name, const std::function<int()>& f);

 private:
  MpiRuntime();
  bool one_at_a_time_ = false;
  std::mutex mutex_;
};

/// A communicator stays until MPI's end: to free it is a collective call, which a rank that has failed does not make.
class MpiCarrier : public ExchangingCarrier {
 public:
  MpiCarrier(int rank, int size, MPI_Comm comm);

  void barrier(const Call& call) override;
  void broadcast(const Call& call, const at::Tensor& data, int root) override;
  void allreduce(const Call& call, const at::Tensor& data, ReduceOp::RedOpType op) override;
  void reduce(const Call& call, const at::Tensor& data, int root, ReduceOp::RedOpType op) override;
  void allgather(const Call& call, const at::Tensor& output, const at::Tensor& input) override;
  void allgatherv(
      const Call& call, const at::Tensor& output, const at::Tensor& input, const std::vector<int64_t>& counts) override;
  void gather(const Call& call, const at::Tensor& output, const at::Tensor& input, int root) override;
  void scatter(const Call& call, const at::Tensor& output, const at::Tensor& input, int root) override;
  void alltoall(
      const Call& call,
      const at::Tensor& output,
      const at::Tensor& input,
      const std::vector<int64_t>& output_counts,
      const std::vector<int64_t>& input_counts) override;
  std::unique_ptr<Message> send(const at::Tensor& data, int to, int tag) override;
  std::unique_ptr<Message> receive(const at::Tensor& data, int from, int tag) override;
  void abort() override {
    aborted_ = true;
  }

 private:
  void run(
      const Call& call,
      const char* name,
      const std::vector<at::Tensor>& tensors,
      const std::function<int(MPI_Request*)>& begin);

  MPI_Comm comm_;
  std::atomic<bool> aborted_{false};
};

} // namespace c10d::detail
