// Backend: what is refused unless a backend overrides it.
#include <csrc/distributed/c10d/Backend.h>

#include <c10/util/Exception.h>
#include <c10/util/api_usage.h>

namespace c10d {

namespace {

// Of two names that call each other, notices when nobody has overridden either.
class ForwardGuard {
 public:
  ForwardGuard(bool& entered, const Backend& backend, const char* what) : entered_(entered) {
    if (entered_) {
      detail::unsupported(backend.getBackendName(), what);
    }
    entered_ = true;
  }
  ~ForwardGuard() {
    entered_ = false;
  }
  ForwardGuard(const ForwardGuard&) = delete;
  ForwardGuard& operator=(const ForwardGuard&) = delete;

 private:
  bool& entered_;
};

} // namespace

Backend::Backend(int rank, int size) : rank_(rank), size_(size), dist_debug_level_(debug_level()) {}

Backend::~Backend() = default;

void Backend::init() {
  c10::LogAPIUsage("c10d.backend_" + getBackendName());
}

const std::string Backend::getBackendName() const {
  TORCH_INTERNAL_ASSERT(false, "getBackendName is not implemented.");
}

void Backend::setTimeout(std::chrono::milliseconds) {
  TORCH_WARN("Backend ", getBackendName(), " does not support setting timeout; the new value is ignored");
}

void Backend::setSequenceNumberForGroup() {
  TORCH_WARN_ONCE(
      "setSequenceNumberForGroup() is deprecated and is now a no-op; sequence numbers always start at 0 on every "
      "rank.");
}

void Backend::setBoundDeviceId(std::optional<at::Device> device) {
  TORCH_CHECK(!device || device->has_index(), "setBoundDeviceId must have an index");
  bound_device_id_ = device;
}

c10::intrusive_ptr<Work> Backend::broadcast(std::vector<at::Tensor>&, const BroadcastOptions&) {
  detail::unsupported(getBackendName(), "broadcast");
}

c10::intrusive_ptr<Work> Backend::allreduce(std::vector<at::Tensor>&, const AllreduceOptions&) {
  detail::unsupported(getBackendName(), "allreduce");
}

c10::intrusive_ptr<Work> Backend::allreduce_sparse(std::vector<at::Tensor>&, const AllreduceOptions&) {
  detail::unsupported(getBackendName(), "allreduce sparse");
}

c10::intrusive_ptr<Work> Backend::allreduce_coalesced(std::vector<at::Tensor>&, const AllreduceCoalescedOptions&) {
  detail::unsupported(getBackendName(), "allreduce_coalesced");
}

c10::intrusive_ptr<Work> Backend::reduce(std::vector<at::Tensor>&, const ReduceOptions&) {
  detail::unsupported(getBackendName(), "reduce");
}

c10::intrusive_ptr<Work> Backend::allgather(
    std::vector<std::vector<at::Tensor>>&, std::vector<at::Tensor>&, const AllgatherOptions&) {
  detail::unsupported(getBackendName(), "allgather");
}

c10::intrusive_ptr<Work> Backend::all_gather_single(
    at::Tensor& outputBuffer, at::Tensor& inputBuffer, const AllgatherOptions& opts) {
  static thread_local bool entered = false;
  const ForwardGuard guard(entered, *this, "all_gather_single");
  return _allgather_base(outputBuffer, inputBuffer, opts);
}

c10::intrusive_ptr<Work> Backend::_allgather_base(
    at::Tensor& outputBuffer, at::Tensor& inputBuffer, const AllgatherOptions& opts) {
  return all_gather_single(outputBuffer, inputBuffer, opts);
}

c10::intrusive_ptr<Work> Backend::allgather_coalesced(
    std::vector<std::vector<at::Tensor>>&, std::vector<at::Tensor>&, const AllgatherOptions&) {
  detail::unsupported(getBackendName(), "allgather_coalesced");
}

c10::intrusive_ptr<Work> Backend::all_gather_single_coalesced(
    std::vector<at::Tensor>& outputs, std::vector<at::Tensor>& inputs, const AllgatherOptions& opts) {
  static thread_local bool entered = false;
  const ForwardGuard guard(entered, *this, "all_gather_single_coalesced");
  return allgather_into_tensor_coalesced(outputs, inputs, opts);
}

c10::intrusive_ptr<Work> Backend::allgather_into_tensor_coalesced(
    std::vector<at::Tensor>& outputs, std::vector<at::Tensor>& inputs, const AllgatherOptions& opts) {
  return all_gather_single_coalesced(outputs, inputs, opts);
}

c10::intrusive_ptr<Work> Backend::gather(
    std::vector<std::vector<at::Tensor>>&, std::vector<at::Tensor>&, const GatherOptions&) {
  detail::unsupported(getBackendName(), "gather");
}

c10::intrusive_ptr<Work> Backend::gather_single(
    at::Tensor& outputBuffer, at::Tensor& inputBuffer, const GatherOptions& opts) {
  static thread_local bool entered = false;
  const ForwardGuard guard(entered, *this, "gather_single");
  return gather_into_tensor(outputBuffer, inputBuffer, opts);
}

c10::intrusive_ptr<Work> Backend::gather_into_tensor(
    at::Tensor& outputBuffer, at::Tensor& inputBuffer, const GatherOptions& opts) {
  return gather_single(outputBuffer, inputBuffer, opts);
}

c10::intrusive_ptr<Work> Backend::scatter(
    std::vector<at::Tensor>&, std::vector<std::vector<at::Tensor>>&, const ScatterOptions&) {
  detail::unsupported(getBackendName(), "scatter");
}

c10::intrusive_ptr<Work> Backend::reduce_scatter(
    std::vector<at::Tensor>&, std::vector<std::vector<at::Tensor>>&, const ReduceScatterOptions&) {
  detail::unsupported(getBackendName(), "reduce_scatter");
}

c10::intrusive_ptr<Work> Backend::reduce_scatter_single(
    at::Tensor& outputBuffer, at::Tensor& inputBuffer, const ReduceScatterOptions& opts) {
  static thread_local bool entered = false;
  const ForwardGuard guard(entered, *this, "reduce_scatter_single");
  return _reduce_scatter_base(outputBuffer, inputBuffer, opts);
}

c10::intrusive_ptr<Work> Backend::_reduce_scatter_base(
    at::Tensor& outputBuffer, at::Tensor& inputBuffer, const ReduceScatterOptions& opts) {
  return reduce_scatter_single(outputBuffer, inputBuffer, opts);
}

c10::intrusive_ptr<Work> Backend::reduce_scatter_single_coalesced(
    std::vector<at::Tensor>& outputs, std::vector<at::Tensor>& inputs, const ReduceScatterOptions& opts) {
  static thread_local bool entered = false;
  const ForwardGuard guard(entered, *this, "reduce_scatter_single_coalesced");
  return reduce_scatter_tensor_coalesced(outputs, inputs, opts);
}

c10::intrusive_ptr<Work> Backend::reduce_scatter_tensor_coalesced(
    std::vector<at::Tensor>& outputs, std::vector<at::Tensor>& inputs, const ReduceScatterOptions& opts) {
  return reduce_scatter_single_coalesced(outputs, inputs, opts);
}

c10::intrusive_ptr<Work> Backend::all_to_all_single(
    at::Tensor& outputBuffer,
    at::Tensor& inputBuffer,
    std::vector<int64_t>& outputSplitSizes,
    std::vector<int64_t>& inputSplitSizes,
    const AllToAllOptions& opts) {
  static thread_local bool entered = false;
  const ForwardGuard guard(entered, *this, "all_to_all_single");
  return alltoall_base(outputBuffer, inputBuffer, outputSplitSizes, inputSplitSizes, opts);
}

c10::intrusive_ptr<Work> Backend::alltoall_base(
    at::Tensor& outputBuffer,
    at::Tensor& inputBuffer,
    std::vector<int64_t>& outputSplitSizes,
    std::vector<int64_t>& inputSplitSizes,
    const AllToAllOptions& opts) {
  return all_to_all_single(outputBuffer, inputBuffer, outputSplitSizes, inputSplitSizes, opts);
}

c10::intrusive_ptr<Work> Backend::alltoall(std::vector<at::Tensor>&, std::vector<at::Tensor>&, const AllToAllOptions&) {
  detail::unsupported(getBackendName(), "alltoall");
}

void Backend::monitoredBarrier(const BarrierOptions&, bool) {
  detail::unsupported(getBackendName(), "monitoredBarrier");
}

uint64_t Backend::getSequenceNumberForGroup() {
  detail::unsupported(getBackendName(), "sequence numbers");
}

c10::intrusive_ptr<Work> Backend::send(std::vector<at::Tensor>&, int, int) {
  detail::unsupported(getBackendName(), "send");
}

c10::intrusive_ptr<Work> Backend::recv(std::vector<at::Tensor>&, int, int) {
  detail::unsupported(getBackendName(), "recv");
}

c10::intrusive_ptr<Work> Backend::recvAnysource(std::vector<at::Tensor>&, int) {
  detail::unsupported(getBackendName(), "recvAnysource");
}

c10::intrusive_ptr<Work> Backend::barrier(const BarrierOptions&) {
  detail::unsupported(getBackendName(), "barrier");
}

void Backend::startCoalescing() {
  detail::unsupported(getBackendName(), "startCoalescing");
}

c10::intrusive_ptr<Work> Backend::endCoalescing() {
  detail::unsupported(getBackendName(), "endCoalescing");
}

void Backend::startTimeEstimate() {
  detail::unsupported(getBackendName(), "time estimation");
}

float Backend::endTimeEstimate() {
  detail::unsupported(getBackendName(), "time estimation");
}

c10::intrusive_ptr<Backend> Backend::shrink(const std::vector<int64_t>&, int, const c10::intrusive_ptr<Options>&) {
  detail::unsupported(getBackendName(), "shrink");
}

ReconfigureHandle Backend::get_reconfigure_handle() const {
  detail::unsupported(getBackendName(), "get_reconfigure_handle");
}

c10::intrusive_ptr<Work> Backend::reconfigure(const ReconfigureOptions&) {
  detail::unsupported(getBackendName(), "reconfigure");
}

c10::intrusive_ptr<Window> Backend::new_window(const std::optional<at::Tensor>&) {
  detail::unsupported(getBackendName(), "new_window");
}

void Backend::registerAbortHook(int64_t, AbortHook) {
  detail::unsupported(getBackendName(), "registerAbortHook");
}

void Backend::unregisterAbortHook(int64_t) {
  detail::unsupported(getBackendName(), "unregisterAbortHook");
}

void Backend::registerCompletionHook(int64_t, CompletionHook) {
  detail::unsupported(getBackendName(), "registerCompletionHook");
}

void Backend::unregisterCompletionHook(int64_t) {
  detail::unsupported(getBackendName(), "unregisterCompletionHook");
}

c10::intrusive_ptr<Backend::Options> Backend::getBackendOptions() {
  detail::unsupported(getBackendName(), "getBackendOptions");
}

void Backend::registerOnCompletionHook(std::function<void(std::shared_ptr<WorkInfo>)>&&) {
  detail::unsupported(getBackendName(), "registerOnCompletionHook");
}

void Backend::waitForPendingWorks() {
  detail::unsupported(getBackendName(), "waitForPendingWorks");
}

void Backend::enableCollectivesTiming() {
  detail::unsupported(getBackendName(), "enableCollectivesTiming");
}

c10::intrusive_ptr<Backend> Backend::split(
    const c10::intrusive_ptr<Store>&, const std::vector<int>&, const c10::intrusive_ptr<Options>&) {
  detail::unsupported(getBackendName(), "split");
}

c10::intrusive_ptr<Backend> Backend::merge(
    const c10::intrusive_ptr<Store>&, const c10::intrusive_ptr<Options>&, const int&, const int&) {
  detail::unsupported(getBackendName(), "merge");
}

std::shared_ptr<c10::Allocator> Backend::getMemAllocator() {
  detail::unsupported(getBackendName(), "getMemAllocator");
}

at::Tensor Backend::allocateTensor(long, at::TensorOptions) {
  detail::unsupported(getBackendName(), "allocateTensor");
}

void Backend::suspend() {
  detail::unsupported(getBackendName(), "suspend");
}

void Backend::resume() {
  detail::unsupported(getBackendName(), "resume");
}

std::unordered_map<std::string, uint64_t> Backend::getMemoryStats() {
  detail::unsupported(getBackendName(), "getMemoryStats");
}

void Window::tensor_register(const at::Tensor&, bool) {
  TORCH_CHECK(false, "This window does not support tensor_register");
}
void Window::tensor_deregister() {
  TORCH_CHECK(false, "This window does not support tensor_deregister");
}
c10::intrusive_ptr<Work> Window::put(const at::Tensor&, int64_t, int64_t, bool, const PutOptions&) {
  TORCH_CHECK(false, "This window does not support put");
}
at::Tensor Window::map_remote_tensor(int64_t) {
  TORCH_CHECK(false, "This window does not support map_remote_tensor");
}
c10::intrusive_ptr<Work> Window::signal(int64_t, bool, const SignalOptions&) {
  TORCH_CHECK(false, "This window does not support signal");
}
c10::intrusive_ptr<Work> Window::wait_signal(int64_t, bool, const WaitSignalOptions&) {
  TORCH_CHECK(false, "This window does not support wait_signal");
}
WindowAttr Window::get_attr(int64_t) {
  TORCH_CHECK(false, "This window does not support get_attr");
}

} // namespace c10d
