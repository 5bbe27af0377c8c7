// A backend that hands everything on to another one.
#include <csrc/distributed/backends/ForwardingBackend.h>

namespace c10d {

using WorkPtr = c10::intrusive_ptr<Work>;
using Tensors = std::vector<at::Tensor>;
using Lists = std::vector<Tensors>;

const std::string ForwardingBackend::getBackendName() const {
  return inner_->getBackendName();
}
c10::intrusive_ptr<Backend::Options> ForwardingBackend::getBackendOptions() {
  return inner_->getBackendOptions();
}
bool ForwardingBackend::supportsSplitting() const {
  return inner_->supportsSplitting();
}
bool ForwardingBackend::isInitialized() {
  return inner_->isInitialized();
}
bool ForwardingBackend::supportsCoalescing() const {
  return inner_->supportsCoalescing();
}
bool ForwardingBackend::supportsTimeEstimation() const {
  return inner_->supportsTimeEstimation();
}
bool ForwardingBackend::supportsShrinking() const {
  return inner_->supportsShrinking();
}
bool ForwardingBackend::supportsReconfigure() const {
  return inner_->supportsReconfigure();
}
bool ForwardingBackend::supportsWindow() const {
  return inner_->supportsWindow();
}
bool ForwardingBackend::supportsTensorAlloc(c10::DeviceIndex device) {
  return inner_->supportsTensorAlloc(device);
}
at::Tensor ForwardingBackend::allocateTensor(long size, at::TensorOptions options) {
  return inner_->allocateTensor(size, options);
}
std::shared_ptr<c10::Allocator> ForwardingBackend::getMemAllocator() {
  return inner_->getMemAllocator();
}
void ForwardingBackend::setTimeout(std::chrono::milliseconds timeout) {
  inner_->setTimeout(timeout);
}
uint64_t ForwardingBackend::getSequenceNumberForGroup() {
  return inner_->getSequenceNumberForGroup();
}
ErrorType ForwardingBackend::getError() {
  return inner_->getError();
}
void ForwardingBackend::abort() {
  inner_->abort();
}
void ForwardingBackend::shutdown() {
  inner_->shutdown();
}
void ForwardingBackend::suspend() {
  inner_->suspend();
}
void ForwardingBackend::resume() {
  inner_->resume();
}
std::unordered_map<std::string, uint64_t> ForwardingBackend::getMemoryStats() {
  return inner_->getMemoryStats();
}
void ForwardingBackend::eagerConnectSingleDevice(at::Device device) {
  inner_->eagerConnectSingleDevice(device);
}
std::optional<at::Device> ForwardingBackend::getBoundDeviceId() const {
  return inner_->getBoundDeviceId();
}
void ForwardingBackend::setBoundDeviceId(std::optional<at::Device> device) {
  inner_->setBoundDeviceId(device);
}
void ForwardingBackend::registerOnCompletionHook(std::function<void(std::shared_ptr<WorkInfo>)>&& hook) {
  inner_->registerOnCompletionHook(std::move(hook));
}
bool ForwardingBackend::supportsAbortHooks() const {
  return inner_->supportsAbortHooks();
}
void ForwardingBackend::registerAbortHook(int64_t hook_id, AbortHook hook) {
  inner_->registerAbortHook(hook_id, std::move(hook));
}
void ForwardingBackend::unregisterAbortHook(int64_t hook_id) {
  inner_->unregisterAbortHook(hook_id);
}
void ForwardingBackend::waitForPendingWorks() {
  inner_->waitForPendingWorks();
}
void ForwardingBackend::enableCollectivesTiming() {
  inner_->enableCollectivesTiming();
}
void ForwardingBackend::startCoalescing() {
  inner_->startCoalescing();
}
WorkPtr ForwardingBackend::endCoalescing() {
  return inner_->endCoalescing();
}
void ForwardingBackend::startTimeEstimate() {
  inner_->startTimeEstimate();
}
float ForwardingBackend::endTimeEstimate() {
  return inner_->endTimeEstimate();
}
c10::intrusive_ptr<Backend> ForwardingBackend::split(
    const c10::intrusive_ptr<Store>& store, const std::vector<int>& ranks, const c10::intrusive_ptr<Options>& opts) {
  return inner_->split(store, ranks, opts);
}
c10::intrusive_ptr<Backend> ForwardingBackend::merge(
    const c10::intrusive_ptr<Store>& store, const c10::intrusive_ptr<Options>& opts, const int& rank, const int& size) {
  return inner_->merge(store, opts, rank, size);
}
c10::intrusive_ptr<Backend> ForwardingBackend::shrink(
    const std::vector<int64_t>& ranks_to_exclude, int shrink_flags, const c10::intrusive_ptr<Options>& opts_override) {
  return inner_->shrink(ranks_to_exclude, shrink_flags, opts_override);
}

WorkPtr ForwardingBackend::broadcast(Tensors& tensors, const BroadcastOptions& opts) {
  before(OpType::BROADCAST, tensors);
  return inner_->broadcast(tensors, opts);
}
WorkPtr ForwardingBackend::allreduce(Tensors& tensors, const AllreduceOptions& opts) {
  before(OpType::ALLREDUCE, tensors);
  return inner_->allreduce(tensors, opts);
}
WorkPtr ForwardingBackend::allreduce_sparse(Tensors& tensors, const AllreduceOptions& opts) {
  before(OpType::_ALLREDUCE_SPARSE, {});
  return inner_->allreduce_sparse(tensors, opts);
}
WorkPtr ForwardingBackend::allreduce_coalesced(Tensors& tensors, const AllreduceCoalescedOptions& opts) {
  before(OpType::ALLREDUCE_COALESCED, tensors);
  return inner_->allreduce_coalesced(tensors, opts);
}
WorkPtr ForwardingBackend::reduce(Tensors& tensors, const ReduceOptions& opts) {
  before(OpType::REDUCE, tensors);
  return inner_->reduce(tensors, opts);
}
WorkPtr ForwardingBackend::allgather(Lists& outputs, Tensors& inputs, const AllgatherOptions& opts) {
  before(OpType::ALLGATHER, inputs);
  return inner_->allgather(outputs, inputs, opts);
}
WorkPtr ForwardingBackend::all_gather_single(at::Tensor& output, at::Tensor& input, const AllgatherOptions& opts) {
  before(OpType::_ALLGATHER_BASE, {input});
  return inner_->all_gather_single(output, input, opts);
}
WorkPtr ForwardingBackend::allgather_coalesced(Lists& output_lists, Tensors& inputs, const AllgatherOptions& opts) {
  before(OpType::ALLGATHER_COALESCED, inputs);
  return inner_->allgather_coalesced(output_lists, inputs, opts);
}
WorkPtr ForwardingBackend::all_gather_single_coalesced(
    Tensors& outputs, Tensors& inputs, const AllgatherOptions& opts) {
  before(OpType::ALLGATHER_INTO_TENSOR_COALESCED, inputs);
  return inner_->all_gather_single_coalesced(outputs, inputs, opts);
}
WorkPtr ForwardingBackend::gather(Lists& outputs, Tensors& inputs, const GatherOptions& opts) {
  before(OpType::GATHER, inputs);
  return inner_->gather(outputs, inputs, opts);
}
WorkPtr ForwardingBackend::gather_single(at::Tensor& output, at::Tensor& input, const GatherOptions& opts) {
  before(OpType::GATHER, {input});
  return inner_->gather_single(output, input, opts);
}
WorkPtr ForwardingBackend::scatter(Tensors& outputs, Lists& inputs, const ScatterOptions& opts) {
  before(OpType::SCATTER, outputs);
  return inner_->scatter(outputs, inputs, opts);
}
WorkPtr ForwardingBackend::reduce_scatter(Tensors& outputs, Lists& inputs, const ReduceScatterOptions& opts) {
  before(OpType::REDUCE_SCATTER, outputs);
  return inner_->reduce_scatter(outputs, inputs, opts);
}
WorkPtr ForwardingBackend::reduce_scatter_single(
    at::Tensor& output, at::Tensor& input, const ReduceScatterOptions& opts) {
  before(OpType::_REDUCE_SCATTER_BASE, {output});
  return inner_->reduce_scatter_single(output, input, opts);
}
WorkPtr ForwardingBackend::reduce_scatter_single_coalesced(
    Tensors& outputs, Tensors& inputs, const ReduceScatterOptions& opts) {
  before(OpType::REDUCE_SCATTER_TENSOR_COALESCED, outputs);
  return inner_->reduce_scatter_single_coalesced(outputs, inputs, opts);
}
WorkPtr ForwardingBackend::all_to_all_single(
    at::Tensor& output,
    at::Tensor& input,
    std::vector<int64_t>& output_split_sizes,
    std::vector<int64_t>& input_split_sizes,
    const AllToAllOptions& opts) {
  before(OpType::ALLTOALL_BASE, {});
  return inner_->all_to_all_single(output, input, output_split_sizes, input_split_sizes, opts);
}
WorkPtr ForwardingBackend::alltoall(Tensors& outputs, Tensors& inputs, const AllToAllOptions& opts) {
  before(OpType::ALLTOALL, {});
  return inner_->alltoall(outputs, inputs, opts);
}
void ForwardingBackend::monitoredBarrier(const BarrierOptions& opts, bool wait_all_ranks) {
  inner_->monitoredBarrier(opts, wait_all_ranks);
}
WorkPtr ForwardingBackend::barrier(const BarrierOptions& opts) {
  before(OpType::BARRIER, {});
  return inner_->barrier(opts);
}
WorkPtr ForwardingBackend::send(Tensors& tensors, int dst_rank, int tag) {
  return inner_->send(tensors, dst_rank, tag);
}
WorkPtr ForwardingBackend::recv(Tensors& tensors, int src_rank, int tag) {
  return inner_->recv(tensors, src_rank, tag);
}
WorkPtr ForwardingBackend::recvAnysource(Tensors& tensors, int tag) {
  return inner_->recvAnysource(tensors, tag);
}

} // namespace c10d
