// Work: waiting, and works made of futures.
#include <csrc/distributed/c10d/Work.h>

#include <aten/core/jit_type.h>
#include <aten/observe/record_function.h>
#include <c10/util/Exception.h>
#include <csrc/distributed/c10d/Types.h>

#include <array>

namespace c10d {

std::string opTypeToString(OpType opType) {
  static constexpr std::array names = {
      "BROADCAST",
      "ALLREDUCE",
      "ALLREDUCE_COALESCED",
      "REDUCE",
      "ALLGATHER",
      "_ALLGATHER_BASE",
      "ALLGATHER_COALESCED",
      "GATHER",
      "SCATTER",
      "REDUCE_SCATTER",
      "ALLTOALL_BASE",
      "ALLTOALL",
      "SEND",
      "RECV",
      "RECVANYSOURCE",
      "BARRIER",
      "_REDUCE_SCATTER_BASE",
      "COALESCED",
      "_ALLREDUCE_SPARSE",
      "REDUCE_SCATTER_TENSOR_COALESCED",
      "ALLGATHER_INTO_TENSOR_COALESCED"};
  const auto number = static_cast<size_t>(opType);
  return number < names.size() ? names[number] : "UNKNOWN";
}

bool isP2POp(OpType opType, bool batchP2P) {
  return !batchP2P && (opType == OpType::SEND || opType == OpType::RECV || opType == OpType::RECVANYSOURCE);
}

bool isComplexViewAsRealAllowed(const ReduceOp& reduceOp) {
  switch (reduceOp) {
    case ReduceOp::SUM:
    case ReduceOp::AVG:
    case ReduceOp::PREMUL_SUM:
    case ReduceOp::UNUSED:
      return true;
    default:
      return false;
  }
}

Work::Work(
    int rank, OpType opType, const char* profilingTitle, const std::optional<std::vector<at::Tensor>>& inputTensors)
    : rank_(rank), opType_(opType) {
  if (profilingTitle == nullptr || !at::hasCallbacks()) {
    return;
  }
  auto record = std::make_shared<at::RecordFunction>(at::RecordScope::USER_SCOPE);
  if (!record->isActive()) {
    return;
  }
  record->_setAsync();
  std::vector<c10::IValue> inputs;
  if (inputTensors) {
    inputs.assign(inputTensors->begin(), inputTensors->end());
  }
  const std::string& name = get_comm_profiling_name();
  record->before(name.empty() ? std::string(profilingTitle) : name, &inputs);
  recordFunctionEndCallback_ = [record] { record->end(); };
}

Work::~Work() = default;

bool Work::isCompleted() {
  const std::lock_guard lock(mutex_);
  return completed_;
}

bool Work::isSuccess() const {
  const std::lock_guard lock(mutex_);
  return !exception_;
}

std::exception_ptr Work::exception() const {
  const std::lock_guard lock(mutex_);
  return exception_;
}

int Work::sourceRank() const {
  TORCH_CHECK(
      false, "sourceRank() may only be called on work objects that correspond to a recv or recv-from-any call.");
}

std::vector<at::Tensor> Work::result() {
  return {};
}

void Work::synchronize() {
  if (const auto future = getFuture()) {
    future->wait();
  }
}

bool Work::wait(std::chrono::milliseconds timeout) {
  std::unique_lock lock(mutex_);
  const auto done = [&] { return completed_; };
  if (timeout == kNoTimeout) {
    cv_.wait(lock, done);
  } else if (!cv_.wait_for(lock, timeout, done)) {
    TORCH_CHECK(
        false, "Operation timed out! ", opTypeToString(opType_), " has not ended after ", timeout.count(), "ms");
  }
  if (exception_) {
    std::rethrow_exception(exception_);
  }
  return true;
}

void Work::blockCurrentStream() {
  synchronize();
}

void Work::abort() {
  TORCH_CHECK(false, "Work::abort not implemented.");
}

c10::intrusive_ptr<c10::ivalue::Future> Work::getFuture() {
  TORCH_CHECK(false, "Work::getFuture not implemented.");
}

c10::intrusive_ptr<c10::ivalue::Future> Work::getFutureResult() {
  TORCH_CHECK(false, "Work::getFutureResult not implemented.");
}

float Work::getDuration() const {
  TORCH_CHECK(false, "This Backend doesn't support getDuration.");
}

uint64_t Work::getSequencenumber() const {
  TORCH_CHECK(false, "This Backend doesn't support getSequencenumber.");
}

std::chrono::milliseconds Work::getTimeout() const {
  TORCH_CHECK(false, "This Backend doesn't support getTimeout.");
}

uint64_t Work::getCompletionKey() const {
  return reinterpret_cast<uint64_t>(this);
}

OpType Work::retrieveOpType() const {
  return opType_;
}

void Work::finish(std::exception_ptr exception) {
  std::function<void()> end;
  {
    const std::lock_guard lock(mutex_);
    completed_ = true;
    exception_ = std::move(exception);
    end = std::exchange(recordFunctionEndCallback_, nullptr);
  }
  if (end) {
    end();
  }
  cv_.notify_all();
}

void Work::finishAndThrow(std::exception_ptr exception) {
  finish(exception);
  if (exception) {
    std::rethrow_exception(exception);
  }
}

namespace {

class FutureWork : public Work {
 public:
  explicit FutureWork(c10::intrusive_ptr<c10::ivalue::Future> future) : future_(std::move(future)) {}
  bool isCompleted() override {
    return future_->completed();
  }
  bool isSuccess() const override {
    return future_->hasValue();
  }
  std::exception_ptr exception() const override {
    return future_->exception_ptr();
  }
  bool wait(std::chrono::milliseconds) override {
    future_->waitAndThrow();
    return true;
  }
  c10::intrusive_ptr<c10::ivalue::Future> getFuture() override {
    return future_;
  }

 private:
  c10::intrusive_ptr<c10::ivalue::Future> future_;
};

thread_local std::string profiling_name;

} // namespace

c10::intrusive_ptr<Work> Work::create_from_future(const c10::intrusive_ptr<c10::ivalue::Future>& future) {
  return c10::make_intrusive<FutureWork>(future);
}

void set_comm_profiling_name(const std::string& name) {
  profiling_name = name;
}

const std::string& get_comm_profiling_name() {
  return profiling_name;
}

namespace detail {
void unsupported(const std::string& backend, const char* what) {
  TORCH_CHECK(false, "Backend ", backend, " does not support ", what);
}
} // namespace detail

} // namespace c10d
