// The works of backends that run operations themselves.
#include <csrc/distributed/c10d/RecordedWork.h>

#include <aten/core/jit_type.h>
#include <c10/util/Exception.h>

namespace c10d::detail {

namespace {
int64_t outcome(const std::exception_ptr& error) {
  return static_cast<int64_t>(error ? WorkResult::COMM_ERROR : WorkResult::SUCCESS);
}
} // namespace

std::exception_ptr backend_error(const std::string& text) {
  return std::make_exception_ptr(c10::DistBackendError({__func__, __FILE__, __LINE__}, text));
}

RecordedWork::RecordedWork(
    std::shared_ptr<RecordedGroup> group,
    OpType type,
    const char* title,
    std::vector<at::Tensor> inputs,
    std::vector<at::Tensor> outputs,
    std::chrono::milliseconds timeout)
    : Work(group->rank(), type, (group->engine() + ":" + title).c_str(), inputs),
      group_(std::move(group)),
      outputs_(std::move(outputs)),
      timeout_(timeout),
      record_(group_->schedule({0, type, title, &inputs, &outputs_, timeout})) {}

// Only one of this and end() completes the future: the one that finds both it and the end.
c10::intrusive_ptr<c10::ivalue::Future> RecordedWork::getFuture() {
  const std::lock_guard lock(mutex_);
  if (!future_) {
    future_ = c10::make_intrusive<c10::ivalue::Future>(c10::ListType::create(c10::TensorType::get()));
    if (completed_) {
      exception_ ? future_->setError(exception_) : future_->markCompleted(c10::IValue(outputs_));
    }
  }
  return future_;
}

c10::intrusive_ptr<c10::ivalue::Future> RecordedWork::getFutureResult() {
  const std::lock_guard lock(mutex_);
  if (!future_result_) {
    future_result_ = c10::make_intrusive<c10::ivalue::Future>(c10::IntType::get());
    if (completed_) {
      future_result_->markCompleted(outcome(exception_));
    }
  }
  return future_result_;
}

void RecordedWork::start(uint64_t number) {
  number_ = number;
  begun_ = std::chrono::steady_clock::now();
  group_->start(record_, number);
}

void RecordedWork::stop_clock() {
  duration_ms_ = std::chrono::duration<float, std::milli>(std::chrono::steady_clock::now() - begun_).count();
}

void RecordedWork::end(std::exception_ptr error) noexcept {
  if (ended_.exchange(true)) {
    return;
  }
  if (!error) {
    group_->complete(record_);
  }
  finish(error);
  c10::intrusive_ptr<c10::ivalue::Future> future;
  c10::intrusive_ptr<c10::ivalue::Future> result;
  {
    const std::lock_guard lock(mutex_);
    future = future_;
    result = future_result_;
  }
  if (future && !future->completed()) {
    error ? future->setError(error) : future->markCompleted(c10::IValue(outputs_));
  }
  if (result && !result->completed()) {
    result->markCompleted(outcome(error));
  }
}

} // namespace c10d::detail
