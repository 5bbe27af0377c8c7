// Backend: the interface of engines that carry tensors between the ranks of a group.
#pragma once

#include <c10/core/Allocator.h>
#include <csrc/distributed/c10d/Hooks.h>
#include <csrc/distributed/c10d/Types.h>
#include <csrc/distributed/c10d/Window.h>
#include <csrc/distributed/c10d/Work.h>
#include <csrc/distributed/c10d/debug.h>

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

// For backends that are built against several versions of these headers.
#define C10D_BACKEND_HAS_RECONFIGURE 1
#define C10D_BACKEND_HAS_WINDOW 1
#define C10D_BACKEND_HAS_HOOKS 1

constexpr auto kBackendDefaultTimeout = std::chrono::milliseconds(30 * 60 * 1000);

namespace c10d {

enum class ErrorType { SUCCESS = 0, TIMEOUT = 1, COMM_ERROR = 2, REMOTE_ERROR = 3 };

/// To derive from. Every operation refuses, naming the backend, unless it is overridden.
class TORCH_API Backend : public torch::CustomClassHolder {
 public:
  /// What all backends are told; derive from it for more.
  struct TORCH_API Options : torch::CustomClassHolder {
    explicit Options(std::string backend, std::chrono::milliseconds timeout = kBackendDefaultTimeout)
        : timeout(timeout), backend(std::move(backend)) {}
    ~Options() override = default;
    Options(const Options&) = default;
    /// An independent copy; to be overridden where there are more fields.
    virtual c10::intrusive_ptr<Options> clone() const {
      return c10::make_intrusive<Options>(*this);
    }

    std::chrono::milliseconds timeout;
    const std::string backend;
    std::string group_name;
    std::string group_desc;
    std::vector<uint64_t> global_ranks_in_group;
    bool use_pg_for_symm_mem_rendezvous = false;
    bool enable_reconfigure = false;
  };

  explicit Backend(int rank, int size);
  ~Backend() override = 0;

  int getRank() const {
    return rank_;
  }
  int getSize() const {
    return size_;
  }
  /// A number that no other backend has.
  int64_t getID() const {
    return reinterpret_cast<std::intptr_t>(this);
  }
  bool getUsePgForSymmMemRendezvous() const {
    return use_pg_for_symm_mem_rendezvous_;
  }
  void setUsePgForSymmMemRendezvous(bool value) {
    use_pg_for_symm_mem_rendezvous_ = value;
  }

  virtual const std::string getBackendName() const;
  virtual bool supportsSplitting() const {
    return false;
  }
  virtual bool isInitialized() {
    return true;
  }
  virtual bool supportsCoalescing() const {
    return false;
  }
  virtual bool supportsTimeEstimation() const {
    return false;
  }
  virtual bool supportsShrinking() const {
    return false;
  }
  virtual bool supportsReconfigure() const {
    return false;
  }
  virtual bool supportsWindow() const {
    return false;
  }
  virtual bool supportsAbortHooks() const {
    return false;
  }
  virtual bool supportsCompletionHooks() const {
    return false;
  }
  virtual bool supportsTensorAlloc(c10::DeviceIndex) {
    return false;
  }
  /// For operations begun from now on.
  virtual void setTimeout(std::chrono::milliseconds timeout);
  virtual void addEphemeralTimeout(const std::chrono::milliseconds&) {}
  /// Does nothing but warn: numbers begin at 0 on every rank.
  virtual void setSequenceNumberForGroup();
  virtual ErrorType getError() {
    return ErrorType::SUCCESS;
  }
  /// Ends all operations with an error.
  virtual void abort() {}
  /// The good end.
  virtual void shutdown() {}
  virtual void eagerConnectSingleDevice(at::Device) {}

  /// The root's values to all.
  virtual c10::intrusive_ptr<Work> broadcast(
      std::vector<at::Tensor>& tensors, const BroadcastOptions& opts = BroadcastOptions());
  /// Each element becomes the reduction over all ranks.
  virtual c10::intrusive_ptr<Work> allreduce(
      std::vector<at::Tensor>& tensors, const AllreduceOptions& opts = AllreduceOptions());
  virtual c10::intrusive_ptr<Work> allreduce_sparse(
      std::vector<at::Tensor>& tensors, const AllreduceOptions& opts = AllreduceOptions());
  /// Several tensors, of one dtype, as one.
  virtual c10::intrusive_ptr<Work> allreduce_coalesced(
      std::vector<at::Tensor>& tensors, const AllreduceCoalescedOptions& opts = AllreduceCoalescedOptions());
  /// As allreduce, for the root alone.
  virtual c10::intrusive_ptr<Work> reduce(
      std::vector<at::Tensor>& tensors, const ReduceOptions& opts = ReduceOptions());
  /// The tensors of all ranks to all.
  virtual c10::intrusive_ptr<Work> allgather(
      std::vector<std::vector<at::Tensor>>& outputTensors,
      std::vector<at::Tensor>& inputTensors,
      const AllgatherOptions& opts = AllgatherOptions());
  /// Into one tensor, rank after rank. The two names call each other: a backend overrides one.
  virtual c10::intrusive_ptr<Work> all_gather_single(
      at::Tensor& outputBuffer, at::Tensor& inputBuffer, const AllgatherOptions& opts = AllgatherOptions());
  virtual c10::intrusive_ptr<Work> _allgather_base(
      at::Tensor& outputBuffer, at::Tensor& inputBuffer, const AllgatherOptions& opts = AllgatherOptions());
  virtual c10::intrusive_ptr<Work> allgather_coalesced(
      std::vector<std::vector<at::Tensor>>& outputTensorLists,
      std::vector<at::Tensor>& inputTensors,
      const AllgatherOptions& opts = AllgatherOptions());
  /// Several of them. The two names call each other: a backend overrides one.
  virtual c10::intrusive_ptr<Work> all_gather_single_coalesced(
      std::vector<at::Tensor>& outputs,
      std::vector<at::Tensor>& inputs,
      const AllgatherOptions& opts = AllgatherOptions());
  virtual c10::intrusive_ptr<Work> allgather_into_tensor_coalesced(
      std::vector<at::Tensor>& outputs,
      std::vector<at::Tensor>& inputs,
      const AllgatherOptions& opts = AllgatherOptions());
  /// The tensors of all ranks to the root.
  virtual c10::intrusive_ptr<Work> gather(
      std::vector<std::vector<at::Tensor>>& outputTensors,
      std::vector<at::Tensor>& inputTensors,
      const GatherOptions& opts = GatherOptions());
  /// Into one tensor of the root. The two names call each other: a backend overrides one.
  virtual c10::intrusive_ptr<Work> gather_single(
      at::Tensor& outputBuffer, at::Tensor& inputBuffer, const GatherOptions& opts = GatherOptions());
  virtual c10::intrusive_ptr<Work> gather_into_tensor(
      at::Tensor& outputBuffer, at::Tensor& inputBuffer, const GatherOptions& opts = GatherOptions());
  /// One tensor of the root's list to each rank.
  virtual c10::intrusive_ptr<Work> scatter(
      std::vector<at::Tensor>& outputTensors,
      std::vector<std::vector<at::Tensor>>& inputTensors,
      const ScatterOptions& opts = ScatterOptions());
  /// The reduction over all ranks of the tensor that each has for this one.
  virtual c10::intrusive_ptr<Work> reduce_scatter(
      std::vector<at::Tensor>& outputTensors,
      std::vector<std::vector<at::Tensor>>& inputTensors,
      const ReduceScatterOptions& opts = ReduceScatterOptions());
  /// Of one tensor, a part for each rank. The two names call each other: a backend overrides one.
  virtual c10::intrusive_ptr<Work> reduce_scatter_single(
      at::Tensor& outputBuffer, at::Tensor& inputBuffer, const ReduceScatterOptions& opts = ReduceScatterOptions());
  virtual c10::intrusive_ptr<Work> _reduce_scatter_base(
      at::Tensor& outputBuffer, at::Tensor& inputBuffer, const ReduceScatterOptions& opts = ReduceScatterOptions());
  /// Several of them. The two names call each other: a backend overrides one.
  virtual c10::intrusive_ptr<Work> reduce_scatter_single_coalesced(
      std::vector<at::Tensor>& outputs,
      std::vector<at::Tensor>& inputs,
      const ReduceScatterOptions& opts = ReduceScatterOptions());
  virtual c10::intrusive_ptr<Work> reduce_scatter_tensor_coalesced(
      std::vector<at::Tensor>& outputs,
      std::vector<at::Tensor>& inputs,
      const ReduceScatterOptions& opts = ReduceScatterOptions());
  /// Rows of one tensor to each rank; empty sizes split evenly. The two names call each other: a backend overrides one.
  virtual c10::intrusive_ptr<Work> all_to_all_single(
      at::Tensor& outputBuffer,
      at::Tensor& inputBuffer,
      std::vector<int64_t>& outputSplitSizes,
      std::vector<int64_t>& inputSplitSizes,
      const AllToAllOptions& opts = AllToAllOptions());
  virtual c10::intrusive_ptr<Work> alltoall_base(
      at::Tensor& outputBuffer,
      at::Tensor& inputBuffer,
      std::vector<int64_t>& outputSplitSizes,
      std::vector<int64_t>& inputSplitSizes,
      const AllToAllOptions& opts = AllToAllOptions());
  /// The i-th tensor to rank i.
  virtual c10::intrusive_ptr<Work> alltoall(
      std::vector<at::Tensor>& outputTensors,
      std::vector<at::Tensor>& inputTensors,
      const AllToAllOptions& opts = AllToAllOptions());
  /// A barrier that names the ranks that do not come.
  virtual void monitoredBarrier(const BarrierOptions& opts, bool wait_all_ranks = false);
  /// The number of the last collective.
  virtual uint64_t getSequenceNumberForGroup();
  /// To one rank, which receives with the same tag.
  virtual c10::intrusive_ptr<Work> send(std::vector<at::Tensor>& tensors, int dstRank, int tag);
  virtual c10::intrusive_ptr<Work> recv(std::vector<at::Tensor>& tensors, int srcRank, int tag);
  /// From whichever rank has sent first.
  virtual c10::intrusive_ptr<Work> recvAnysource(std::vector<at::Tensor>& tensors, int tag);
  /// Ends when all ranks have called it.
  virtual c10::intrusive_ptr<Work> barrier(const BarrierOptions& opts = BarrierOptions());
  /// What follows becomes one operation, until endCoalescing.
  virtual void startCoalescing();
  virtual c10::intrusive_ptr<Work> endCoalescing();
  virtual void startTimeEstimate();
  virtual float endTimeEstimate();
  /// A group without these ranks.
  virtual c10::intrusive_ptr<Backend> shrink(
      const std::vector<int64_t>& ranks_to_exclude,
      int shrink_flags = 0,
      const c10::intrusive_ptr<Options>& opts_override = nullptr);
  virtual ReconfigureHandle get_reconfigure_handle() const;
  virtual c10::intrusive_ptr<Work> reconfigure(const ReconfigureOptions& opts);
  virtual c10::intrusive_ptr<Window> new_window(const std::optional<at::Tensor>& tensor = std::nullopt);
  virtual void registerAbortHook(int64_t hook_id, AbortHook hook);
  virtual void unregisterAbortHook(int64_t hook_id);
  virtual void registerCompletionHook(int64_t hook_id, CompletionHook hook);
  virtual void unregisterCompletionHook(int64_t hook_id);
  /// The options it was made with.
  virtual c10::intrusive_ptr<Options> getBackendOptions();
  virtual void registerOnCompletionHook(std::function<void(std::shared_ptr<WorkInfo>)>&& hook);
  virtual void waitForPendingWorks();
  virtual void enableCollectivesTiming();
  /// A group of some of the ranks, which all of them call.
  virtual c10::intrusive_ptr<Backend> split(
      const c10::intrusive_ptr<Store>& store, const std::vector<int>& ranks, const c10::intrusive_ptr<Options>& opts);
  virtual c10::intrusive_ptr<Backend> merge(
      const c10::intrusive_ptr<Store>& store,
      const c10::intrusive_ptr<Options>& opts,
      const int& rank,
      const int& size);
  /// Memory that collectives use without copies.
  virtual std::shared_ptr<c10::Allocator> getMemAllocator();
  /// A tensor of `size` elements in such memory.
  virtual at::Tensor allocateTensor(long size, at::TensorOptions options = {});
  virtual void suspend();
  virtual void resume();
  virtual std::unordered_map<std::string, uint64_t> getMemoryStats();

  bool hasHooks() const {
    return onCompletionHook_ != nullptr;
  }
  virtual void setGroupUid(const std::string& pg_uid) {
    pg_uid_ = pg_uid;
  }
  const std::string& getGroupUid() const {
    return pg_uid_;
  }
  void setGroupDesc(const std::string& desc) {
    pg_desc_ = desc;
  }
  const std::string& getGroupDesc() const {
    return pg_desc_;
  }
  virtual std::optional<at::Device> getBoundDeviceId() const {
    return bound_device_id_;
  }
  virtual void setBoundDeviceId(std::optional<at::Device> device);

 protected:
  /// For the constructors of derived classes.
  void init();

  int rank_;
  int size_;
  DebugLevel dist_debug_level_;
  std::string pg_uid_;
  std::string pg_desc_;
  std::function<void(std::shared_ptr<WorkInfo>)> onCompletionHook_;
  std::optional<at::Device> bound_device_id_;
  bool use_pg_for_symm_mem_rendezvous_ = false;
};

} // namespace c10d
