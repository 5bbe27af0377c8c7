// ProcessGroupShm: the backend of ranks on one host, over shared memory.
#pragma once

#include <csrc/distributed/c10d/Backend.h>

#include <memory>

namespace c10d {

namespace detail {
class ShmGroup;
class ShmWork;
} // namespace detail

/// For CPU tensors. Sums are taken in the order of the ranks, so that results are the same bits on all ranks and in all
/// runs. A collective runs in the thread that waits for it, or in a thread of the group if nobody does. A rank that
/// dies, stops or calls something else ends the call on all others with c10::DistBackendError, after which the group is
/// unusable.
///
/// Ranks are processes, or threads of one process with a backend each.
class TORCH_API ProcessGroupShm : public Backend {
 public:
  struct TORCH_API Options : Backend::Options {
    explicit Options(std::chrono::milliseconds timeout = kBackendDefaultTimeout) : Backend::Options("shm", timeout) {}
    /// For a backend by another name, which profiles show.
    Options(const std::string& backend, std::chrono::milliseconds timeout) : Backend::Options(backend, timeout) {}
    c10::intrusive_ptr<Backend::Options> clone() const override {
      return c10::make_intrusive<Options>(*this);
    }
    /// Whether a send is over only when the other rank has received it, as Gloo's are. Else it is when the message is
    /// on its way, of which there is room for 64 KB between two ranks.
    bool synchronous_sends = false;
    /// The default options.
    static c10::intrusive_ptr<Options> create(std::chrono::milliseconds timeout = kBackendDefaultTimeout) {
      return c10::make_intrusive<Options>(timeout);
    }
  };

  /// All ranks meet at the store. Throws if they are not on one host.
  ProcessGroupShm(
      const c10::intrusive_ptr<Store>& store,
      int rank,
      int size,
      c10::intrusive_ptr<Options> options = Options::create());
  ~ProcessGroupShm() override;

  const std::string getBackendName() const override;
  c10::intrusive_ptr<Backend::Options> getBackendOptions() override;
  bool supportsSplitting() const override {
    return true;
  }
  c10::intrusive_ptr<Backend> split(
      const c10::intrusive_ptr<Store>& store,
      const std::vector<int>& ranks,
      const c10::intrusive_ptr<Backend::Options>& opts) override;
  c10::intrusive_ptr<Backend> merge(
      const c10::intrusive_ptr<Store>& store,
      const c10::intrusive_ptr<Backend::Options>& opts,
      const int& rank,
      const int& size) override;
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
  /// Tensors in memory that collectives reduce in place, without copies.
  bool supportsTensorAlloc(c10::DeviceIndex) override {
    return true;
  }
  at::Tensor allocateTensor(long size, at::TensorOptions options = {}) override;

  c10::intrusive_ptr<Work> broadcast(std::vector<at::Tensor>& tensors, const BroadcastOptions& opts) override;
  c10::intrusive_ptr<Work> allreduce(std::vector<at::Tensor>& tensors, const AllreduceOptions& opts) override;
  c10::intrusive_ptr<Work> allreduce_coalesced(
      std::vector<at::Tensor>& tensors, const AllreduceCoalescedOptions& opts) override;
  c10::intrusive_ptr<Work> reduce(std::vector<at::Tensor>& tensors, const ReduceOptions& opts) override;
  c10::intrusive_ptr<Work> allgather(
      std::vector<std::vector<at::Tensor>>& outputs,
      std::vector<at::Tensor>& inputs,
      const AllgatherOptions& opts) override;
  c10::intrusive_ptr<Work> all_gather_single(
      at::Tensor& output, at::Tensor& input, const AllgatherOptions& opts) override;
  c10::intrusive_ptr<Work> allgather_coalesced(
      std::vector<std::vector<at::Tensor>>& output_lists,
      std::vector<at::Tensor>& inputs,
      const AllgatherOptions& opts) override;
  c10::intrusive_ptr<Work> all_gather_single_coalesced(
      std::vector<at::Tensor>& outputs, std::vector<at::Tensor>& inputs, const AllgatherOptions& opts) override;
  c10::intrusive_ptr<Work> gather(
      std::vector<std::vector<at::Tensor>>& outputs,
      std::vector<at::Tensor>& inputs,
      const GatherOptions& opts) override;
  c10::intrusive_ptr<Work> gather_single(at::Tensor& output, at::Tensor& input, const GatherOptions& opts) override;
  c10::intrusive_ptr<Work> scatter(
      std::vector<at::Tensor>& outputs,
      std::vector<std::vector<at::Tensor>>& inputs,
      const ScatterOptions& opts) override;
  c10::intrusive_ptr<Work> reduce_scatter(
      std::vector<at::Tensor>& outputs,
      std::vector<std::vector<at::Tensor>>& inputs,
      const ReduceScatterOptions& opts) override;
  c10::intrusive_ptr<Work> reduce_scatter_single(
      at::Tensor& output, at::Tensor& input, const ReduceScatterOptions& opts) override;
  c10::intrusive_ptr<Work> reduce_scatter_single_coalesced(
      std::vector<at::Tensor>& outputs, std::vector<at::Tensor>& inputs, const ReduceScatterOptions& opts) override;
  c10::intrusive_ptr<Work> all_to_all_single(
      at::Tensor& output,
      at::Tensor& input,
      std::vector<int64_t>& output_split_sizes,
      std::vector<int64_t>& input_split_sizes,
      const AllToAllOptions& opts) override;
  c10::intrusive_ptr<Work> alltoall(
      std::vector<at::Tensor>& outputs, std::vector<at::Tensor>& inputs, const AllToAllOptions& opts) override;
  void monitoredBarrier(const BarrierOptions& opts, bool wait_all_ranks) override;
  c10::intrusive_ptr<Work> barrier(const BarrierOptions& opts) override;
  c10::intrusive_ptr<Work> send(std::vector<at::Tensor>& tensors, int dst_rank, int tag) override;
  c10::intrusive_ptr<Work> recv(std::vector<at::Tensor>& tensors, int src_rank, int tag) override;
  c10::intrusive_ptr<Work> recvAnysource(std::vector<at::Tensor>& tensors, int tag) override;

 private:
  c10::intrusive_ptr<Options> options_;
  c10::intrusive_ptr<Store> store_;
  // Works that are under way keep it.
  std::shared_ptr<detail::ShmGroup> group_;
};

} // namespace c10d
