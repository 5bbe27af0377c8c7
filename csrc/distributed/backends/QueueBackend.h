// A backend over an engine that moves bytes: its operations run one after the other in a thread.
#pragma once

#include <csrc/distributed/c10d/Backend.h>

#include <memory>

namespace c10d {

/// What an engine is asked for. Tensors are dense and on the CPU; methods return when it is done, and throw what goes
/// wrong. Collectives come from one thread.
class TORCH_API Carrier {
 public:
  /// About the call under way.
  struct Call {
    std::string what; // "allreduce number 3 of group 0"
    std::chrono::milliseconds timeout{0};
    uint64_t number = 0;
  };
  /// A message under way.
  class TORCH_API Message {
   public:
    virtual ~Message() = default;
    /// Whether it has come, or gone; waits for a short time. `source` becomes the rank that it came from.
    virtual bool progress(int& source) = 0;
  };

  virtual ~Carrier() = default;
  virtual void barrier(const Call& call) = 0;
  virtual void broadcast(const Call& call, const at::Tensor& data, int root) = 0;
  virtual void allreduce(const Call& call, const at::Tensor& data, ReduceOp::RedOpType op) = 0;
  /// `data` of the root gets the result.
  virtual void reduce(const Call& call, const at::Tensor& data, int root, ReduceOp::RedOpType op) = 0;
  /// Outputs, and the inputs of scatter and reduce_scatter, have a row for each rank.
  virtual void allgather(const Call& call, const at::Tensor& output, const at::Tensor& input) = 0;
  /// The larger tensor is undefined but on the root.
  virtual void gather(const Call& call, const at::Tensor& output, const at::Tensor& input, int root) = 0;
  virtual void scatter(const Call& call, const at::Tensor& output, const at::Tensor& input, int root) = 0;
  virtual void reduce_scatter(
      const Call& call, const at::Tensor& output, const at::Tensor& input, ReduceOp::RedOpType op) = 0;
  /// Flat tensors, and how many elements go to and come from each rank.
  virtual void alltoall(
      const Call& call,
      const at::Tensor& output,
      const at::Tensor& input,
      const std::vector<int64_t>& output_counts,
      const std::vector<int64_t>& input_counts) = 0;
  /// Messages may come from any thread.
  virtual std::unique_ptr<Message> send(const at::Tensor& data, int to, int tag) = 0;
  /// From -1: from any rank.
  virtual std::unique_ptr<Message> receive(const at::Tensor& data, int from, int tag) = 0;
  /// After a failure, perhaps while another thread waits in a collective: lets it go where that can be done.
  virtual void abort() {}
};

/// Reductions as exchanges of bytes and sums of our own in the order of the ranks: the same bits on all ranks and in
/// all runs, for all dtypes.
class TORCH_API ExchangingCarrier : public Carrier {
 public:
  ExchangingCarrier(int rank, int size) : rank_(rank), size_(size) {}
  void allreduce(const Call& call, const at::Tensor& data, ReduceOp::RedOpType op) override;
  void reduce(const Call& call, const at::Tensor& data, int root, ReduceOp::RedOpType op) override;
  void reduce_scatter(
      const Call& call, const at::Tensor& output, const at::Tensor& input, ReduceOp::RedOpType op) override;
  /// Flat tensors; `counts` elements from each rank.
  virtual void allgatherv(
      const Call& call, const at::Tensor& output, const at::Tensor& input, const std::vector<int64_t>& counts) = 0;

 protected:
  const int rank_;
  const int size_;

 private:
  void sum_rows(const at::Tensor& rows, const at::Tensor& sum, ReduceOp::RedOpType op) const;
};

namespace detail {
class QueueState;
} // namespace detail

/// Failures are c10::DistBackendError, which name the ranks that are missing, and what each rank was doing; after that
/// the group is unusable.
class TORCH_API QueueBackend : public Backend {
 public:
  /// `store`, which may be null, is where ranks learn about the failures of others.
  QueueBackend(
      std::shared_ptr<Carrier> carrier,
      const c10::intrusive_ptr<Store>& store,
      int rank,
      int size,
      c10::intrusive_ptr<Options> options);
  ~QueueBackend() override;

  const std::string getBackendName() const override;
  c10::intrusive_ptr<Options> getBackendOptions() override;
  void setTimeout(std::chrono::milliseconds timeout) override;
  uint64_t getSequenceNumberForGroup() override;
  ErrorType getError() override;
  void abort() override;
  bool supportsAbortHooks() const override {
    return true;
  }
  void registerAbortHook(int64_t hook_id, AbortHook hook) override;
  void unregisterAbortHook(int64_t hook_id) override;
  void shutdown() override;

  c10::intrusive_ptr<Work> broadcast(
      std::vector<at::Tensor>& tensors, const BroadcastOptions& opts = BroadcastOptions()) override;
  c10::intrusive_ptr<Work> allreduce(
      std::vector<at::Tensor>& tensors, const AllreduceOptions& opts = AllreduceOptions()) override;
  c10::intrusive_ptr<Work> allreduce_coalesced(
      std::vector<at::Tensor>& tensors, const AllreduceCoalescedOptions& opts = AllreduceCoalescedOptions()) override;
  c10::intrusive_ptr<Work> reduce(
      std::vector<at::Tensor>& tensors, const ReduceOptions& opts = ReduceOptions()) override;
  c10::intrusive_ptr<Work> allgather(
      std::vector<std::vector<at::Tensor>>& outputs,
      std::vector<at::Tensor>& inputs,
      const AllgatherOptions& opts = AllgatherOptions()) override;
  c10::intrusive_ptr<Work> all_gather_single(
      at::Tensor& output, at::Tensor& input, const AllgatherOptions& opts = AllgatherOptions()) override;
  c10::intrusive_ptr<Work> allgather_coalesced(
      std::vector<std::vector<at::Tensor>>& output_lists,
      std::vector<at::Tensor>& inputs,
      const AllgatherOptions& opts = AllgatherOptions()) override;
  c10::intrusive_ptr<Work> all_gather_single_coalesced(
      std::vector<at::Tensor>& outputs,
      std::vector<at::Tensor>& inputs,
      const AllgatherOptions& opts = AllgatherOptions()) override;
  c10::intrusive_ptr<Work> gather(
      std::vector<std::vector<at::Tensor>>& outputs,
      std::vector<at::Tensor>& inputs,
      const GatherOptions& opts = GatherOptions()) override;
  c10::intrusive_ptr<Work> scatter(
      std::vector<at::Tensor>& outputs,
      std::vector<std::vector<at::Tensor>>& inputs,
      const ScatterOptions& opts = ScatterOptions()) override;
  c10::intrusive_ptr<Work> reduce_scatter(
      std::vector<at::Tensor>& outputs,
      std::vector<std::vector<at::Tensor>>& inputs,
      const ReduceScatterOptions& opts = ReduceScatterOptions()) override;
  c10::intrusive_ptr<Work> reduce_scatter_single(
      at::Tensor& output, at::Tensor& input, const ReduceScatterOptions& opts = ReduceScatterOptions()) override;
  c10::intrusive_ptr<Work> reduce_scatter_single_coalesced(
      std::vector<at::Tensor>& outputs,
      std::vector<at::Tensor>& inputs,
      const ReduceScatterOptions& opts = ReduceScatterOptions()) override;
  c10::intrusive_ptr<Work> all_to_all_single(
      at::Tensor& output,
      at::Tensor& input,
      std::vector<int64_t>& output_split_sizes,
      std::vector<int64_t>& input_split_sizes,
      const AllToAllOptions& opts = AllToAllOptions()) override;
  c10::intrusive_ptr<Work> alltoall(
      std::vector<at::Tensor>& outputs,
      std::vector<at::Tensor>& inputs,
      const AllToAllOptions& opts = AllToAllOptions()) override;
  c10::intrusive_ptr<Work> barrier(const BarrierOptions& opts = BarrierOptions()) override;
  void monitoredBarrier(const BarrierOptions& opts = BarrierOptions(), bool wait_all_ranks = false) override;
  c10::intrusive_ptr<Work> send(std::vector<at::Tensor>& tensors, int dst_rank, int tag) override;
  c10::intrusive_ptr<Work> recv(std::vector<at::Tensor>& tensors, int src_rank, int tag) override;
  c10::intrusive_ptr<Work> recvAnysource(std::vector<at::Tensor>& tensors, int tag) override;

 protected:
  /// Before a derived class, which the carrier needs, is gone.
  void stop();

 private:
  c10::intrusive_ptr<Options> options_;
  // Shared with the thread, which stays behind if an engine never returns.
  std::shared_ptr<detail::QueueState> state_;
};

} // namespace c10d
