// FakeProcessGroup: a rank without the others.
#pragma once

#include <csrc/distributed/c10d/Backend.h>

namespace c10d {

/// A work that has ended.
class TORCH_API FakeWork : public Work {
 public:
  explicit FakeWork(std::vector<at::Tensor> result = {}, int rank = -1, OpType type = OpType::UNKNOWN);
  std::vector<at::Tensor> result() override {
    return result_;
  }
  c10::intrusive_ptr<c10::ivalue::Future> getFuture() override;

  /// For programs.
  int seq_id = -1;

 private:
  std::vector<at::Tensor> result_;
};

/// Collectives of a group of any size in one process: they check nothing, send nothing and end at once. Outputs that
/// have an input of their shape get its values, so that shapes, dtypes and memory are those of a real run.
class TORCH_API FakeProcessGroup : public Backend {
 public:
  struct Options : Backend::Options {
    explicit Options() : Backend::Options("fake") {}
    c10::intrusive_ptr<Backend::Options> clone() const override {
      return c10::make_intrusive<Options>(*this);
    }

    /// For programs.
    int fake_option = 0;
    /// Collectives throw.
    bool error_on_collective = false;
    /// Results are those of a group whose ranks all have this rank's values: sums are `size` times as much, and what
    /// comes from any rank is what this rank would send to one in its place.
    bool simulate_uniform_ranks = false;
  };

  FakeProcessGroup(int rank, int size, c10::intrusive_ptr<Options> options = c10::make_intrusive<Options>());
  static c10::intrusive_ptr<FakeProcessGroup> _create_internal(
      int rank, int size, c10::intrusive_ptr<Options> options = c10::make_intrusive<Options>()) {
    return c10::make_intrusive<FakeProcessGroup>(rank, size, std::move(options));
  }

  const std::string getBackendName() const override {
    return "fake";
  }
  /// As given: may be null.
  c10::intrusive_ptr<Options> getOptions() {
    return options_;
  }
  c10::intrusive_ptr<Backend::Options> getBackendOptions() override {
    return options_ ? options_ : c10::make_intrusive<Options>();
  }
  bool supportsSplitting() const override {
    return true;
  }
  c10::intrusive_ptr<Backend> split(
      const c10::intrusive_ptr<Store>& store,
      const std::vector<int>& ranks,
      const c10::intrusive_ptr<Backend::Options>& opts) override;
  uint64_t getSequenceNumberForGroup() override {
    return number_;
  }
  void setTimeout(std::chrono::milliseconds) override {}

  c10::intrusive_ptr<Work> broadcast(
      std::vector<at::Tensor>& tensors, const BroadcastOptions& opts = BroadcastOptions()) override;
  c10::intrusive_ptr<Work> allreduce(
      std::vector<at::Tensor>& tensors, const AllreduceOptions& opts = AllreduceOptions()) override;
  c10::intrusive_ptr<Work> allreduce_sparse(
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
  c10::intrusive_ptr<Work> send(std::vector<at::Tensor>& tensors, int dst_rank, int tag) override;
  c10::intrusive_ptr<Work> recv(std::vector<at::Tensor>& tensors, int src_rank, int tag) override;
  c10::intrusive_ptr<Work> recvAnysource(std::vector<at::Tensor>& tensors, int tag) override;
  c10::intrusive_ptr<Work> barrier(const BarrierOptions& opts = BarrierOptions()) override;
  void startCoalescing() override {}
  c10::intrusive_ptr<Work> endCoalescing() override;

 private:
  c10::intrusive_ptr<Work> done(OpType type, std::vector<at::Tensor> results = {});
  /// Throws where collectives are to.
  void check_collective(const char* what) const;
  bool uniform() const {
    return options_ && options_->simulate_uniform_ranks;
  }
  /// What `size` equal values reduce to, in place, where ranks are uniform.
  void reduce_uniform(const std::vector<at::Tensor>& tensors, const ReduceOp& op) const;

  c10::intrusive_ptr<Options> options_;
  uint64_t number_ = 0;
};

} // namespace c10d
