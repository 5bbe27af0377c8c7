// ProcessGroup: ranks that work together, with a backend for each type of device.
#pragma once

#include <csrc/distributed/c10d/Backend.h>

#include <atomic>
#include <map>

constexpr auto kProcessGroupDefaultTimeout = std::chrono::milliseconds(30 * 60 * 1000);

namespace c10d {

/// Keeps the work of a collective whose result is `tensor` until wait_tensor.
TORCH_API void register_work(const at::Tensor& tensor, const c10::intrusive_ptr<c10d::Work>& work);
/// Waits for the collective whose result shares this storage, if there is one under way; returns the tensor.
TORCH_API at::Tensor wait_tensor(const at::Tensor& tensor);
TORCH_API std::vector<at::Tensor> wait_tensors(at::TensorList tensors);
TORCH_API void unregister_work(const c10::intrusive_ptr<c10d::Work>& work);
TORCH_API size_t get_work_registry_size();
TORCH_API void set_allow_inflight_collective_as_graph_input(bool value);
TORCH_API bool allow_inflight_collective_as_graph_input();

/// Collectives go through operators `c10d::*` to the backend of the tensors' device. All ranks call the same ones in
/// the same order.
class TORCH_API ProcessGroup : public torch::CustomClassHolder {
 public:
  using Work = ::c10d::Work; // its name before 1.13

  struct TORCH_API MergeOptions : torch::CustomClassHolder {
    explicit MergeOptions(
        const std::chrono::milliseconds timeout = kProcessGroupDefaultTimeout,
        const std::optional<std::string> group_name = std::nullopt,
        const std::optional<std::string> group_desc = std::nullopt)
        : timeout(timeout), group_name(group_name), group_desc(group_desc) {}
    ~MergeOptions() override = default;
    MergeOptions(const MergeOptions&) = delete;
    MergeOptions& operator=(const MergeOptions&) = delete;

    std::chrono::milliseconds timeout;
    std::optional<std::string> group_name;
    std::optional<std::string> group_desc;
  };

  enum BackendType : uint8_t {
    UNDEFINED = 0,
    GLOO = 1,
    NCCL = 2,
    UCC = 3,
    MPI = 4,
    XCCL = 5,
    CUSTOM = 6,
  };
  static std::string backendTypeToString(const BackendType& type);
  static BackendType strToBackendType(const std::string& backend);

  /// A group without backends; setBackend gives it some.
  explicit ProcessGroup(int rank, int size);
  explicit ProcessGroup(c10::intrusive_ptr<::c10d::Store> store, int rank, int size);
  ~ProcessGroup() override;

  virtual int getRank() const;
  virtual int getSize() const;
  int64_t getID() const {
    return reinterpret_cast<std::intptr_t>(this);
  }
  int64_t getBackendID(BackendType backend_type) const {
    return reinterpret_cast<std::intptr_t>(getBackend(backend_type).get());
  }
  virtual const std::string getBackendName() const;
  BackendType getBackendType() const {
    return backendType_;
  }
  virtual void setTimeout(std::chrono::milliseconds timeout);
  virtual void addEphemeralTimeout(const std::chrono::milliseconds& timeout);
  int64_t incrementSplitCount() {
    return splitCounter_++;
  }

  /// Collectives; see Backend.
  virtual void startCoalescing(c10::DeviceType deviceType);
  virtual c10::intrusive_ptr<Work> endCoalescing(c10::DeviceType deviceType);
  virtual c10::intrusive_ptr<Work> broadcast(
      std::vector<at::Tensor>& tensors, const BroadcastOptions& opts = BroadcastOptions());
  virtual c10::intrusive_ptr<Work> allreduce(
      std::vector<at::Tensor>& tensors, const AllreduceOptions& opts = AllreduceOptions());
  virtual c10::intrusive_ptr<Work> allreduce_coalesced(
      std::vector<at::Tensor>& tensors, const AllreduceCoalescedOptions& opts = AllreduceCoalescedOptions());
  virtual c10::intrusive_ptr<Work> reduce(
      std::vector<at::Tensor>& tensors, const ReduceOptions& opts = ReduceOptions());
  virtual c10::intrusive_ptr<Work> allgather(
      std::vector<std::vector<at::Tensor>>& outputTensors,
      std::vector<at::Tensor>& inputTensors,
      const AllgatherOptions& opts = AllgatherOptions());
  virtual c10::intrusive_ptr<Work> all_gather_single(
      at::Tensor& outputBuffer, at::Tensor& inputBuffer, const AllgatherOptions& opts = AllgatherOptions());
  /// all_gather_single by its old name.
  virtual c10::intrusive_ptr<Work> _allgather_base(
      at::Tensor& outputBuffer, at::Tensor& inputBuffer, const AllgatherOptions& opts = AllgatherOptions());
  virtual c10::intrusive_ptr<Work> allgather_coalesced(
      std::vector<std::vector<at::Tensor>>& outputTensorLists,
      std::vector<at::Tensor>& inputTensors,
      const AllgatherOptions& opts = AllgatherOptions());
  virtual c10::intrusive_ptr<Work> all_gather_single_coalesced(
      std::vector<at::Tensor>& outputTensors,
      std::vector<at::Tensor>& inputTensors,
      const AllgatherOptions& opts = AllgatherOptions());
  virtual c10::intrusive_ptr<Work> allgather_into_tensor_coalesced(
      std::vector<at::Tensor>& outputTensors,
      std::vector<at::Tensor>& inputTensors,
      const AllgatherOptions& opts = AllgatherOptions());
  virtual c10::intrusive_ptr<Work> gather(
      std::vector<std::vector<at::Tensor>>& outputTensors,
      std::vector<at::Tensor>& inputTensors,
      const GatherOptions& opts = GatherOptions());
  virtual c10::intrusive_ptr<Work> gather_single(
      at::Tensor& outputBuffer, at::Tensor& inputBuffer, const GatherOptions& opts = GatherOptions());
  virtual c10::intrusive_ptr<Work> gather_into_tensor(
      at::Tensor& outputBuffer, at::Tensor& inputBuffer, const GatherOptions& opts = GatherOptions());
  virtual c10::intrusive_ptr<Work> scatter(
      std::vector<at::Tensor>& outputTensors,
      std::vector<std::vector<at::Tensor>>& inputTensors,
      const ScatterOptions& opts = ScatterOptions());
  virtual c10::intrusive_ptr<Work> reduce_scatter(
      std::vector<at::Tensor>& outputTensors,
      std::vector<std::vector<at::Tensor>>& inputTensors,
      const ReduceScatterOptions& opts = ReduceScatterOptions());
  virtual c10::intrusive_ptr<Work> reduce_scatter_single(
      at::Tensor& outputBuffer, at::Tensor& inputBuffer, const ReduceScatterOptions& opts = ReduceScatterOptions());
  virtual c10::intrusive_ptr<Work> _reduce_scatter_base(
      at::Tensor& outputBuffer, at::Tensor& inputBuffer, const ReduceScatterOptions& opts = ReduceScatterOptions());
  virtual c10::intrusive_ptr<Work> reduce_scatter_single_coalesced(
      std::vector<at::Tensor>& outputTensors,
      std::vector<at::Tensor>& inputTensors,
      const ReduceScatterOptions& opts = ReduceScatterOptions());
  virtual c10::intrusive_ptr<Work> reduce_scatter_tensor_coalesced(
      std::vector<at::Tensor>& outputTensors,
      std::vector<at::Tensor>& inputTensors,
      const ReduceScatterOptions& opts = ReduceScatterOptions());
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
  virtual c10::intrusive_ptr<Work> alltoall(
      std::vector<at::Tensor>& outputTensors,
      std::vector<at::Tensor>& inputTensors,
      const AllToAllOptions& opts = AllToAllOptions());
  virtual void monitoredBarrier(const BarrierOptions& opts, bool wait_all_ranks = false);
  virtual uint64_t getSequenceNumberForGroup();
  virtual c10::intrusive_ptr<Work> send(std::vector<at::Tensor>& tensors, int dstRank, int tag);
  virtual c10::intrusive_ptr<Work> recv(std::vector<at::Tensor>& tensors, int srcRank, int tag);
  virtual c10::intrusive_ptr<Work> recvAnysource(std::vector<at::Tensor>& tensors, int tag);
  virtual c10::intrusive_ptr<Work> barrier(const BarrierOptions& opts = BarrierOptions());

  /// Backends.
  bool hasBackends() {
    return !deviceTypeToBackendType_.empty();
  }
  bool hasBackendForDeviceType(c10::DeviceType deviceType) {
    return deviceTypeToBackendType_.find(deviceType) != deviceTypeToBackendType_.end();
  }
  /// One backend of a type serves all device types that ask for it.
  void setBackend(
      c10::DeviceType deviceType, BackendType backendType, const std::optional<c10::intrusive_ptr<Backend>>& backend);
  c10::intrusive_ptr<Backend> getDefaultBackend() const;
  void setDefaultBackend(const BackendType& backendType) {
    backendType_ = backendType;
  }
  void setDefaultBackend(const std::string& backend) {
    backendType_ = strToBackendType(backend);
  }
  c10::intrusive_ptr<Backend> getBackend(c10::DeviceType deviceType);
  c10::intrusive_ptr<Backend> getBackend(BackendType backendType) const;
  std::vector<c10::Device> getDeviceTypes() const;

  void registerOnCompletionHook(std::function<void(std::shared_ptr<WorkInfo>)>&& hook) {
    getDefaultBackend()->registerOnCompletionHook(std::move(hook));
  }
  void waitForPendingWorks() {
    getDefaultBackend()->waitForPendingWorks();
  }
  virtual void shutdown();
  virtual void abort();
  bool hasHooks() const;
  virtual const std::string& getGroupName() const;
  virtual void setGroupName(const std::string& name);
  virtual const std::string& getGroupDesc() const;
  virtual void setGroupDesc(const std::string& name);
  void enableCollectivesTiming();
  void release_resources() override;
  std::optional<at::Device> getBoundDeviceId() const {
    return bound_device_id_;
  }
  c10::intrusive_ptr<c10d::Store> getStore() const {
    return store_;
  }
  void setBoundDeviceId(std::optional<at::Device> device);
  bool getUsePgForSymmMemRendezvous() const {
    return getDefaultBackend()->getUsePgForSymmMemRendezvous();
  }
  void setUsePgForSymmMemRendezvous(bool value) {
    getDefaultBackend()->setUsePgForSymmMemRendezvous(value);
  }

  virtual bool supportsReconfigure() const;
  virtual ReconfigureHandle get_reconfigure_handle() const;
  virtual c10::intrusive_ptr<Work> reconfigure(const ReconfigureOptions& opts);
  virtual bool supportsWindow() const {
    return getDefaultBackend()->supportsWindow();
  }
  virtual c10::intrusive_ptr<Window> new_window(const std::optional<at::Tensor>& tensor = std::nullopt) {
    return getDefaultBackend()->new_window(tensor);
  }

  /// Hooks, by a number of the caller's choice. Those around collectives are called in the order of their numbers.
  virtual bool supportsAbortHooks() const {
    return getDefaultBackend()->supportsAbortHooks();
  }
  virtual void registerAbortHook(int64_t hook_id, AbortHook hook) {
    getDefaultBackend()->registerAbortHook(hook_id, std::move(hook));
  }
  virtual void unregisterAbortHook(int64_t hook_id) {
    getDefaultBackend()->unregisterAbortHook(hook_id);
  }
  virtual bool supportsCompletionHooks() const {
    return getDefaultBackend()->supportsCompletionHooks();
  }
  virtual void registerCompletionHook(int64_t hook_id, CompletionHook hook) {
    getDefaultBackend()->registerCompletionHook(hook_id, std::move(hook));
  }
  virtual void unregisterCompletionHook(int64_t hook_id) {
    getDefaultBackend()->unregisterCompletionHook(hook_id);
  }
  virtual void registerPreHook(int64_t hook_id, PreHook hook) {
    preHooks_[hook_id] = std::move(hook);
  }
  virtual void unregisterPreHook(int64_t hook_id) {
    preHooks_.erase(hook_id);
  }
  virtual void registerPostHook(int64_t hook_id, PostHook hook) {
    postHooks_[hook_id] = std::move(hook);
  }
  virtual void unregisterPostHook(int64_t hook_id) {
    postHooks_.erase(hook_id);
  }
  /// Called by the operators: the pre-hooks with what `tensors` fills in, and the number for the post-hooks.
  int64_t firePreHook(HookOpName name, bool async_op, int64_t root, const std::function<void(PreHookArgs&)>& tensors);
  void firePostHook(HookOpName name, bool async_op, int64_t op_id, const c10::intrusive_ptr<Work>& work);

  /// A group of some of the ranks, this one among them; all of those call it.
  virtual c10::intrusive_ptr<ProcessGroup> splitGroup(
      const std::vector<int>& ranks,
      const std::optional<std::chrono::milliseconds>& timeout,
      const std::optional<c10::intrusive_ptr<Backend::Options>>& opts,
      const std::optional<std::string>& name,
      const std::optional<std::string>& groupDesc,
      const std::optional<std::vector<c10::Device>>& devices = std::nullopt);
  /// A group with the ranks of others that meet at `store`.
  virtual c10::intrusive_ptr<ProcessGroup> mergeRemoteGroup(
      const c10::intrusive_ptr<Store>& store, const MergeOptions& opts, const int& size);

 protected:
  void init();
  bool hasMultipleBackends() const;

  c10::intrusive_ptr<c10d::Store> store_;
  const int rank_;
  const int size_;
  BackendType backendType_;
  std::string pg_desc_;
  int64_t splitCounter_{0};
  DebugLevel dist_debug_level_{DebugLevel::Off};
  std::unordered_set<c10::DeviceType> deviceTypes_;
  std::map<c10::DeviceType, BackendType> deviceTypeToBackendType_;
  std::unordered_map<c10::DeviceType, c10::intrusive_ptr<Backend>> deviceTypeToBackend_;
  std::unordered_map<BackendType, c10::intrusive_ptr<Backend>> backendTypeToBackend_;
  std::optional<at::Device> bound_device_id_;
  std::map<int64_t, PreHook> preHooks_;
  std::map<int64_t, PostHook> postHooks_;
  std::atomic<int64_t> hookOpIdCounter_{0};
  std::string pg_name_;
};

/// The group of this thread that code without a group argument uses.
TORCH_API c10::intrusive_ptr<ProcessGroup>& currentProcessGroup();
TORCH_API void setProcessGroup(c10::intrusive_ptr<ProcessGroup> processGroup);

} // namespace c10d
