// Records the operations of groups whose backend does not record them itself.
#include <csrc/distributed/hooks/FlightRecorderHook.h>

#include <c10/util/Exception.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace c10d {

namespace {

struct Named {
  OpType type;
  const char* title;
};

// In the order of HookOpName.
constexpr std::array kOperations = {
    Named{OpType::SEND, "send"},
    Named{OpType::RECV, "recv"},
    Named{OpType::BROADCAST, "broadcast"},
    Named{OpType::ALLREDUCE, "all_reduce"},
    Named{OpType::REDUCE, "reduce"},
    Named{OpType::ALLGATHER, "all_gather"},
    Named{OpType::REDUCE_SCATTER, "reduce_scatter"},
    Named{OpType::ALLTOALL, "all_to_all"},
    Named{OpType::BARRIER, "barrier"},
    Named{OpType::SCATTER, "scatter"},
    Named{OpType::GATHER, "gather"},
    Named{OpType::UNKNOWN, "split"},
    Named{OpType::UNKNOWN, "new_window"},
    Named{OpType::ALLREDUCE_COALESCED, "all_reduce"},
    Named{OpType::_ALLGATHER_BASE, "all_gather"},
    Named{OpType::ALLGATHER_COALESCED, "all_gather"},
    Named{OpType::ALLGATHER_INTO_TENSOR_COALESCED, "all_gather"},
    Named{OpType::_REDUCE_SCATTER_BASE, "reduce_scatter"},
    Named{OpType::REDUCE_SCATTER_TENSOR_COALESCED, "reduce_scatter"},
    Named{OpType::ALLTOALL_BASE, "all_to_all"},
    Named{OpType::UNKNOWN, "unknown"}};
static_assert(kOperations.size() == static_cast<size_t>(HookOpName::UNKNOWN) + 1);

// Of the backend that an operation goes to: that of its tensors' device, or of the group.
std::string backend_of(ProcessGroup& group, const PreHookArgs& args) {
  for (const auto* tensors : {&args.input_tensors, &args.output_tensors}) {
    if (!tensors->empty() && tensors->front().defined()) {
      return group.getBackend(tensors->front().device().type())->getBackendName();
    }
  }
  return group.getBackendName();
}

} // namespace

bool recordsFlightRecorderNatively(const std::string& backend) {
  constexpr std::array<std::string_view, 4> engines = {"gloo", "mpi", "nccl", "shm"};
  return std::find(engines.begin(), engines.end(), backend) != engines.end();
}

FlightRecorderHook::FlightRecorderHook(c10::intrusive_ptr<ProcessGroup> pg)
    : group_(std::move(pg)),
      record_(std::make_shared<detail::RecordedGroup>(
          group_->getBackendName(),
          group_->getGroupName(),
          group_->getGroupDesc(),
          group_->getRank(),
          group_->getSize())) {}

std::shared_ptr<FlightRecorderHook> FlightRecorderHook::attach(
    c10::intrusive_ptr<ProcessGroup> pg, std::vector<uint64_t>) {
  TORCH_CHECK_VALUE(pg, "FlightRecorderHook::attach: the group is null");
  const std::shared_ptr<FlightRecorderHook> hook(new FlightRecorderHook(std::move(pg)));
  const auto call = [weak = std::weak_ptr(hook)](auto method) {
    return [weak, method](const auto& args) {
      if (const auto self = weak.lock()) {
        (self.get()->*method)(args);
      }
    };
  };
  ProcessGroup& group = *hook->group_;
  group.registerPreHook(hook->hook_id(), call(&FlightRecorderHook::on_begin));
  group.registerPostHook(hook->hook_id(), call(&FlightRecorderHook::on_begun));
  if (group.supportsAbortHooks() && !recordsFlightRecorderNatively(group.getBackendName())) {
    group.registerAbortHook(hook->hook_id(), [record = hook->record_] { record->on_failure(); });
  }
  return hook;
}

FlightRecorderHook::~FlightRecorderHook() {
  remove();
}

void FlightRecorderHook::remove() {
  const auto group = std::exchange(group_, nullptr);
  if (!group) {
    return;
  }
  group->unregisterPreHook(hook_id());
  group->unregisterPostHook(hook_id());
  if (group->supportsAbortHooks() && !recordsFlightRecorderNatively(group->getBackendName())) {
    group->unregisterAbortHook(hook_id());
  }
}

void FlightRecorderHook::on_begin(const PreHookArgs& args) {
  const auto group = group_;
  if (!group || recordsFlightRecorderNatively(backend_of(*group, args))) {
    return;
  }
  const Named& operation = kOperations[static_cast<size_t>(args.name)];
  const std::lock_guard lock(mutex_);
  const uint64_t entry = record_->schedule(
      {++number_, operation.type, operation.title, &args.input_tensors, &args.output_tensors,
       std::chrono::milliseconds(0)});
  record_->start(entry, number_);
  begun_[args.op_id] = entry;
}

// An operation whose work is no future is complete when it has begun: nobody would tell.
void FlightRecorderHook::on_begun(const PostHookArgs& args) {
  uint64_t entry = 0;
  {
    const std::lock_guard lock(mutex_);
    const auto found = begun_.find(args.op_id);
    if (found == begun_.end()) {
      return;
    }
    entry = found->second;
    begun_.erase(found);
  }
  c10::intrusive_ptr<c10::ivalue::Future> future;
  try {
    future = args.work ? args.work->getFuture() : nullptr;
  } catch (const c10::Error&) {
  }
  if (!future) {
    record_->complete(entry);
    return;
  }
  future->addCallback([record = record_, entry](c10::ivalue::Future& done) {
    if (!done.hasError()) {
      record->complete(entry);
    }
  });
}

} // namespace c10d
