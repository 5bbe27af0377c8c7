// ProcessGroup's collectives: calls of the operators c10d::*.
#include <csrc/distributed/c10d/ProcessGroup.h>

#include <aten/Functions.h>
#include <aten/core/dispatch/Dispatcher.h>
#include <csrc/distributed/c10d/operators.h>

namespace c10d {

namespace {

using Group = const c10::intrusive_ptr<ProcessGroup>&;
using Op = const c10::intrusive_ptr<ReduceOp>&;
using WorkPtr = c10::intrusive_ptr<Work>;
using Lists = std::vector<std::vector<at::Tensor>>;

template <class Signature>
c10::TypedOperatorHandle<Signature> operator_named(const char* name) {
  detail::register_operators();
  return c10::Dispatcher::singleton().findSchemaOrThrow(name, "").typed<Signature>();
}

c10::intrusive_ptr<ProcessGroup> shared(ProcessGroup* group) {
  return c10::intrusive_ptr<ProcessGroup>::unsafe_reclaim_from_nonowning(group);
}

c10::intrusive_ptr<ReduceOp> boxed(const ReduceOp& op) {
  return c10::make_intrusive<ReduceOp>(op);
}

// With graphs whose inputs may be results under way, these are found by their works.
void note(const at::Tensor& tensor, const WorkPtr& work) {
  if (allow_inflight_collective_as_graph_input()) {
    register_work(tensor, work);
  }
}
void note(const std::vector<at::Tensor>& tensors, const WorkPtr& work) {
  for (const auto& tensor : tensors) {
    note(tensor, work);
  }
}
void note(const Lists& lists, const WorkPtr& work) {
  for (const auto& tensors : lists) {
    note(tensors, work);
  }
}

template <class Result>
WorkPtr work_of(const Result& result) {
  if constexpr (std::is_same_v<Result, WorkPtr>) {
    return result;
  } else {
    return std::get<1>(result);
  }
}

template <class Signature, class Noted, class... Args>
WorkPtr call(const c10::TypedOperatorHandle<Signature>& op, const Noted& noted, Args&&... args) {
  WorkPtr work = work_of(op.call(std::forward<Args>(args)...));
  note(noted, work);
  return work;
}

} // namespace

void ProcessGroup::startCoalescing(c10::DeviceType deviceType) {
  getBackend(deviceType)->startCoalescing();
}

WorkPtr ProcessGroup::endCoalescing(c10::DeviceType deviceType) {
  return getBackend(deviceType)->endCoalescing();
}

WorkPtr ProcessGroup::broadcast(std::vector<at::Tensor>& tensors, const BroadcastOptions& opts) {
  static const auto op = operator_named<std::tuple<std::vector<at::Tensor>, WorkPtr>(
      at::TensorList, Group, int64_t, int64_t, bool, int64_t)>("c10d::broadcast_");
  return call(op, tensors, tensors, shared(this), opts.rootRank, opts.rootTensor, opts.asyncOp, opts.timeout.count());
}

WorkPtr ProcessGroup::allreduce(std::vector<at::Tensor>& tensors, const AllreduceOptions& opts) {
  static const auto op = operator_named<std::tuple<std::vector<at::Tensor>, WorkPtr>(
      at::TensorList, Group, Op, const std::optional<at::Tensor>&, bool, int64_t)>("c10d::allreduce_");
  return call(
      op, tensors, tensors, shared(this), boxed(opts.reduceOp), opts.sparseIndices, opts.asyncOp, opts.timeout.count());
}

WorkPtr ProcessGroup::allreduce_coalesced(std::vector<at::Tensor>& tensors, const AllreduceCoalescedOptions& opts) {
  static const auto op =
      operator_named<WorkPtr(at::TensorList, Group, Op, bool, int64_t)>("c10d::allreduce_coalesced_");
  return call(op, tensors, tensors, shared(this), boxed(opts.reduceOp), opts.asyncOp, opts.timeout.count());
}

WorkPtr ProcessGroup::reduce(std::vector<at::Tensor>& tensors, const ReduceOptions& opts) {
  static const auto op =
      operator_named<WorkPtr(at::TensorList, Group, Op, int64_t, int64_t, bool, int64_t)>("c10d::reduce_");
  return call(
      op, tensors, tensors, shared(this), boxed(opts.reduceOp), opts.rootRank, opts.rootTensor, opts.asyncOp,
      opts.timeout.count());
}

WorkPtr ProcessGroup::allgather(
    std::vector<std::vector<at::Tensor>>& outputTensors,
    std::vector<at::Tensor>& inputTensors,
    const AllgatherOptions& opts) {
  static const auto op = operator_named<std::tuple<Lists, WorkPtr>(const Lists&, at::TensorList, Group, bool, int64_t)>(
      "c10d::allgather_");
  return call(op, outputTensors, outputTensors, inputTensors, shared(this), opts.asyncOp, opts.timeout.count());
}

WorkPtr ProcessGroup::all_gather_single(
    at::Tensor& outputBuffer, at::Tensor& inputBuffer, const AllgatherOptions& opts) {
  static const auto op =
      operator_named<std::tuple<at::Tensor, WorkPtr>(at::Tensor&, at::Tensor&, Group, bool, int64_t)>(
          "c10d::_allgather_base_");
  return call(op, outputBuffer, outputBuffer, inputBuffer, shared(this), opts.asyncOp, opts.timeout.count());
}

WorkPtr ProcessGroup::_allgather_base(at::Tensor& outputBuffer, at::Tensor& inputBuffer, const AllgatherOptions& opts) {
  return all_gather_single(outputBuffer, inputBuffer, opts);
}

WorkPtr ProcessGroup::allgather_coalesced(
    std::vector<std::vector<at::Tensor>>& outputTensorLists,
    std::vector<at::Tensor>& inputTensors,
    const AllgatherOptions& opts) {
  static const auto op =
      operator_named<WorkPtr(const Lists&, const at::TensorList&, Group, bool)>("c10d::allgather_coalesced_");
  return call(op, outputTensorLists, outputTensorLists, inputTensors, shared(this), opts.asyncOp);
}

WorkPtr ProcessGroup::all_gather_single_coalesced(
    std::vector<at::Tensor>& outputTensors, std::vector<at::Tensor>& inputTensors, const AllgatherOptions& opts) {
  static const auto op = operator_named<WorkPtr(const at::TensorList, const at::TensorList, Group, bool)>(
      "c10d::allgather_into_tensor_coalesced_");
  return call(op, outputTensors, outputTensors, inputTensors, shared(this), opts.asyncOp);
}

WorkPtr ProcessGroup::allgather_into_tensor_coalesced(
    std::vector<at::Tensor>& outputTensors, std::vector<at::Tensor>& inputTensors, const AllgatherOptions& opts) {
  return all_gather_single_coalesced(outputTensors, inputTensors, opts);
}

WorkPtr ProcessGroup::gather(
    std::vector<std::vector<at::Tensor>>& outputTensors,
    std::vector<at::Tensor>& inputTensors,
    const GatherOptions& opts) {
  static const auto op =
      operator_named<WorkPtr(const Lists&, const at::TensorList&, Group, int64_t, bool, int64_t)>("c10d::gather_");
  return call(
      op, outputTensors, outputTensors, inputTensors, shared(this), opts.rootRank, opts.asyncOp, opts.timeout.count());
}

WorkPtr ProcessGroup::gather_single(at::Tensor& outputBuffer, at::Tensor& inputBuffer, const GatherOptions& opts) {
  static const auto op =
      operator_named<std::tuple<at::Tensor, WorkPtr>(at::Tensor&, at::Tensor&, Group, int64_t, bool, int64_t)>(
          "c10d::gather_into_tensor_");
  return call(
      op, outputBuffer, outputBuffer, inputBuffer, shared(this), opts.rootRank, opts.asyncOp, opts.timeout.count());
}

WorkPtr ProcessGroup::gather_into_tensor(at::Tensor& outputBuffer, at::Tensor& inputBuffer, const GatherOptions& opts) {
  return gather_single(outputBuffer, inputBuffer, opts);
}

WorkPtr ProcessGroup::scatter(
    std::vector<at::Tensor>& outputTensors,
    std::vector<std::vector<at::Tensor>>& inputTensors,
    const ScatterOptions& opts) {
  static const auto op = operator_named<std::tuple<std::vector<at::Tensor>, WorkPtr>(
      const at::TensorList&, const Lists&, Group, int64_t, bool, int64_t)>("c10d::scatter_");
  return call(
      op, outputTensors, outputTensors, inputTensors, shared(this), opts.rootRank, opts.asyncOp, opts.timeout.count());
}

WorkPtr ProcessGroup::reduce_scatter(
    std::vector<at::Tensor>& outputTensors,
    std::vector<std::vector<at::Tensor>>& inputTensors,
    const ReduceScatterOptions& opts) {
  static const auto op = operator_named<std::tuple<std::vector<at::Tensor>, WorkPtr>(
      const at::TensorList&, const Lists&, Group, Op, bool, int64_t)>("c10d::reduce_scatter_");
  return call(
      op, outputTensors, outputTensors, inputTensors, shared(this), boxed(opts.reduceOp), opts.asyncOp,
      opts.timeout.count());
}

WorkPtr ProcessGroup::reduce_scatter_single(
    at::Tensor& outputBuffer, at::Tensor& inputBuffer, const ReduceScatterOptions& opts) {
  static const auto op =
      operator_named<std::tuple<at::Tensor, WorkPtr>(at::Tensor&, at::Tensor&, Group, Op, bool, int64_t)>(
          "c10d::_reduce_scatter_base_");
  return call(
      op, outputBuffer, outputBuffer, inputBuffer, shared(this), boxed(opts.reduceOp), opts.asyncOp,
      opts.timeout.count());
}

WorkPtr ProcessGroup::_reduce_scatter_base(
    at::Tensor& outputBuffer, at::Tensor& inputBuffer, const ReduceScatterOptions& opts) {
  return reduce_scatter_single(outputBuffer, inputBuffer, opts);
}

WorkPtr ProcessGroup::reduce_scatter_single_coalesced(
    std::vector<at::Tensor>& outputTensors, std::vector<at::Tensor>& inputTensors, const ReduceScatterOptions& opts) {
  static const auto op = operator_named<WorkPtr(const at::TensorList, const at::TensorList, Group, Op, bool, int64_t)>(
      "c10d::reduce_scatter_tensor_coalesced_");
  return call(
      op, outputTensors, outputTensors, inputTensors, shared(this), boxed(opts.reduceOp), opts.asyncOp,
      opts.timeout.count());
}

WorkPtr ProcessGroup::reduce_scatter_tensor_coalesced(
    std::vector<at::Tensor>& outputTensors, std::vector<at::Tensor>& inputTensors, const ReduceScatterOptions& opts) {
  return reduce_scatter_single_coalesced(outputTensors, inputTensors, opts);
}

WorkPtr ProcessGroup::all_to_all_single(
    at::Tensor& outputBuffer,
    at::Tensor& inputBuffer,
    std::vector<int64_t>& outputSplitSizes,
    std::vector<int64_t>& inputSplitSizes,
    const AllToAllOptions& opts) {
  static const auto op = operator_named<WorkPtr(
      at::Tensor&, at::Tensor&, Group, std::vector<int64_t>, std::vector<int64_t>, bool, int64_t)>(
      "c10d::alltoall_base_");
  return call(
      op, outputBuffer, outputBuffer, inputBuffer, shared(this), outputSplitSizes, inputSplitSizes, opts.asyncOp,
      opts.timeout.count());
}

WorkPtr ProcessGroup::alltoall_base(
    at::Tensor& outputBuffer,
    at::Tensor& inputBuffer,
    std::vector<int64_t>& outputSplitSizes,
    std::vector<int64_t>& inputSplitSizes,
    const AllToAllOptions& opts) {
  return all_to_all_single(outputBuffer, inputBuffer, outputSplitSizes, inputSplitSizes, opts);
}

WorkPtr ProcessGroup::alltoall(
    std::vector<at::Tensor>& outputTensors, std::vector<at::Tensor>& inputTensors, const AllToAllOptions& opts) {
  static const auto op = operator_named<std::tuple<std::vector<at::Tensor>, WorkPtr>(
      const at::TensorList&, const at::TensorList&, Group, bool, int64_t)>("c10d::alltoall_");
  return call(op, outputTensors, outputTensors, inputTensors, shared(this), opts.asyncOp, opts.timeout.count());
}

void ProcessGroup::monitoredBarrier(const BarrierOptions& opts, bool wait_all_ranks) {
  static const auto op =
      operator_named<void(at::Tensor, Group, const std::vector<int64_t>&, int64_t, bool)>("c10d::monitored_barrier_");
  op.call(at::empty({0}, at::kByte), shared(this), opts.device_ids, opts.timeout.count(), wait_all_ranks);
}

uint64_t ProcessGroup::getSequenceNumberForGroup() {
  return getDefaultBackend()->getSequenceNumberForGroup();
}

WorkPtr ProcessGroup::send(std::vector<at::Tensor>& tensors, int dstRank, int tag) {
  static const auto op = operator_named<WorkPtr(at::TensorList, Group, int64_t, int64_t)>("c10d::send");
  return call(op, tensors, tensors, shared(this), dstRank, tag);
}

WorkPtr ProcessGroup::recv(std::vector<at::Tensor>& tensors, int srcRank, int tag) {
  static const auto op = operator_named<WorkPtr(at::TensorList, Group, int64_t, int64_t)>("c10d::recv_");
  return call(op, tensors, tensors, shared(this), srcRank, tag);
}

WorkPtr ProcessGroup::recvAnysource(std::vector<at::Tensor>& tensors, int tag) {
  static const auto op = operator_named<WorkPtr(at::TensorList, Group, int64_t)>("c10d::recv_any_source_");
  return call(op, tensors, tensors, shared(this), tag);
}

WorkPtr ProcessGroup::barrier(const BarrierOptions& opts) {
  static const auto op =
      operator_named<WorkPtr(at::Tensor, Group, const std::vector<int64_t>&, bool, int64_t)>("c10d::barrier");
  // The operator goes by the tensor's device.
  const auto device = opts.device.value_or(at::Device(backendType_ == NCCL ? at::kCUDA : at::kCPU));
  const at::Tensor tensor = at::empty({1}, at::TensorOptions().device(device).dtype(at::kByte));
  return call(op, tensor, tensor, shared(this), opts.device_ids, opts.asyncOp, opts.timeout.count());
}

} // namespace c10d
