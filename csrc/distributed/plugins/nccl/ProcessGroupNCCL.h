// ProcessGroupNCCL: the backend "nccl", for CUDA tensors, in a library of its own (libtensor_nccl.so).
//
// NCCL itself is opened when the first group is made (libnccl.so.2, or what TENSOR_NCCL_LIBRARY names). Programs that
// use the class are linked to the plugin; others say init_process_group(InitOptions().backend("nccl")).
#pragma once

#if __has_include(<nccl.h>) && __has_include(<cuda_runtime_api.h>)

#include <csrc/distributed/c10d/Backend.h>

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace c10d {

constexpr const char* NCCL_BACKEND_NAME = "nccl";
constexpr auto kProcessGroupNCCLDefaultTimeout = std::chrono::milliseconds(10 * 60 * 1000);

// Variables of the environment, by the names that are looked at in turn.
/// Where "1", waiting for a work makes the host wait, too.
inline const std::vector<std::string> TORCH_NCCL_BLOCKING_WAIT = {"TORCH_NCCL_BLOCKING_WAIT", "NCCL_BLOCKING_WAIT"};
/// Where "1", streams have a high priority in all groups.
inline const std::vector<std::string> TORCH_NCCL_HIGH_PRIORITY = {"TORCH_NCCL_HIGH_PRIORITY"};
/// These have no effect: errors always end the operations of all ranks, and the flight recorder is always on.
inline const std::vector<std::string> TORCH_NCCL_ASYNC_ERROR_HANDLING = {
    "TORCH_NCCL_ASYNC_ERROR_HANDLING", "NCCL_ASYNC_ERROR_HANDLING"};
inline const std::vector<std::string> TORCH_NCCL_DESYNC_DEBUG = {"TORCH_NCCL_DESYNC_DEBUG", "NCCL_DESYNC_DEBUG"};
inline const std::vector<std::string> TORCH_NCCL_ENABLE_TIMING = {"TORCH_NCCL_ENABLE_TIMING", "NCCL_ENABLE_TIMING"};
inline const std::vector<std::string> TORCH_NCCL_ENABLE_MONITORING = {"TORCH_NCCL_ENABLE_MONITORING"};
inline const std::vector<std::string> TORCH_NCCL_HEARTBEAT_TIMEOUT_SEC = {"TORCH_NCCL_HEARTBEAT_TIMEOUT_SEC"};
inline const std::vector<std::string> TORCH_NCCL_DUMP_ON_TIMEOUT = {"TORCH_NCCL_DUMP_ON_TIMEOUT"};

namespace detail {
class NcclCommunicator;
class NcclWatch;
class NcclWork;
} // namespace detail

/// Operations run on streams of their own, after what the caller's stream has so far; waiting for a work makes the
/// caller's stream wait, not the host. Tensors are contiguous and on one device, the same in all calls of a rank. A
/// rank that is lost, late, or whose NCCL reports an error ends the operations of all with c10::DistBackendError and
/// aborts NCCL's communicators; after that the group is unusable.
///
/// The first message between two ranks makes communicators for both directions, for which both have to call.
class TORCH_API ProcessGroupNCCL : public Backend {
 public:
  struct TORCH_API Options : Backend::Options {
    explicit Options(bool is_high_priority_stream = false)
        : Backend::Options(NCCL_BACKEND_NAME, kProcessGroupNCCLDefaultTimeout),
          is_high_priority_stream(is_high_priority_stream) {}
    c10::intrusive_ptr<Backend::Options> clone() const override {
      return c10::make_intrusive<Options>(*this);
    }
    static c10::intrusive_ptr<Options> create(bool is_high_priority_stream = false) {
      return c10::make_intrusive<Options>(is_high_priority_stream);
    }

    bool is_high_priority_stream;
  };

  /// All ranks make it at the same time. Throws c10::DistBackendError where NCCL or a device is missing.
  ProcessGroupNCCL(
      const c10::intrusive_ptr<Store>& store,
      int rank,
      int size,
      c10::intrusive_ptr<Options> options = Options::create());
  /// The form of libtorch 1.x; the name of the group has no effect.
  ProcessGroupNCCL(
      const c10::intrusive_ptr<Store>& store,
      int rank,
      int size,
      const std::string& /*group_name*/,
      c10::intrusive_ptr<Options> options = Options::create())
      : ProcessGroupNCCL(store, rank, size, std::move(options)) {}
  ~ProcessGroupNCCL() override;

  const std::string getBackendName() const override {
    return NCCL_BACKEND_NAME;
  }
  c10::intrusive_ptr<Backend::Options> getBackendOptions() override;
  c10::intrusive_ptr<Options> getOptions() {
    return options_;
  }
  bool supportsSplitting() const override {
    return true;
  }
  bool supportsCoalescing() const override {
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
  uint64_t getSequenceNumberForGroup() override {
    return number_;
  }
  ErrorType getError() override;
  void abort() override;
  void shutdown() override;
  void waitForPendingWorks() override;
  /// Makes the communicator now rather than with the first collective.
  void eagerConnectSingleDevice(at::Device device) override;
  void startCoalescing() override;
  c10::intrusive_ptr<Work> endCoalescing() override;

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
  c10::intrusive_ptr<Work> send(std::vector<at::Tensor>& tensors, int dst_rank, int tag) override;
  c10::intrusive_ptr<Work> recv(std::vector<at::Tensor>& tensors, int src_rank, int tag) override;

 private:
  using CommunicatorPtr = std::shared_ptr<detail::NcclCommunicator>;
  struct Call;

  CommunicatorPtr communicator(at::Device device);
  /// From this rank to `peer`, or from there.
  CommunicatorPtr channel(at::Device device, int peer, bool sends);
  CommunicatorPtr make_communicator(const std::string& key, int rank, int size, at::Device device);
  c10::intrusive_ptr<Work> launch(const Call& call, const std::function<void(detail::NcclCommunicator&)>& body);
  void launched(const c10::intrusive_ptr<detail::NcclWork>& work);
  c10::intrusive_ptr<Work> message(std::vector<at::Tensor>& tensors, int peer, bool sends);
  std::chrono::milliseconds or_usual(std::chrono::milliseconds timeout) const;
  at::Device device_of_barrier(const BarrierOptions& opts) const;

  c10::intrusive_ptr<Options> options_;
  c10::intrusive_ptr<Store> store_;
  std::shared_ptr<detail::NcclWatch> watch_;
  std::mutex mutex_; // for communicators_
  std::map<std::string, CommunicatorPtr> communicators_;
  const bool blocking_wait_;
  const bool high_priority_;
  std::atomic<uint64_t> number_{0};
  bool coalescing_ = false;
  c10::intrusive_ptr<detail::NcclWork> coalesced_; // of what was called since startCoalescing
  std::optional<at::Device> last_device_;
};

} // namespace c10d

#endif
