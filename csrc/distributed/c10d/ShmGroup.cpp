// What a ProcessGroupShm runs.
#include <csrc/distributed/c10d/ShmGroup.h>

#include <aten/core/jit_type.h>
#include <c10/util/Exception.h>

#include <pthread.h>

namespace c10d::detail {

namespace {
constexpr auto kNobodyWaits = std::chrono::milliseconds(1);
constexpr auto kIdle = std::chrono::seconds(1);
} // namespace

ShmWork::ShmWork(
    std::shared_ptr<ShmGroup> group,
    OpType type,
    const char* title,
    std::vector<at::Tensor> inputs,
    std::vector<at::Tensor> outputs,
    std::chrono::milliseconds timeout,
    Body body)
    : Work(group->segment().rank(), type, group->title(title).c_str(), inputs),
      group_(group),
      outputs_(std::move(outputs)),
      timeout_(timeout),
      record_(group->record().schedule({0, type, title, &inputs, &outputs_, timeout})),
      body_(std::move(body)) {}

bool ShmWork::wait(std::chrono::milliseconds timeout) {
  if (timeout == kNoTimeout) {
    if (const auto group = group_.lock()) {
      group->run_until(*this);
    }
  }
  return Work::wait(timeout);
}

c10::intrusive_ptr<c10::ivalue::Future> ShmWork::getFuture() {
  const std::lock_guard lock(mutex_);
  if (!future_) {
    future_ = c10::make_intrusive<c10::ivalue::Future>(c10::ListType::create(c10::TensorType::get()));
    if (completed_) {
      exception_ ? future_->setError(exception_) : future_->markCompleted(c10::IValue(outputs_));
    }
  }
  return future_;
}

c10::intrusive_ptr<c10::ivalue::Future> ShmWork::getFutureResult() {
  const std::lock_guard lock(mutex_);
  if (!future_result_) {
    future_result_ = c10::make_intrusive<c10::ivalue::Future>(c10::IntType::get());
    if (completed_) {
      future_result_->markCompleted(int64_t(exception_ ? WorkResult::COMM_ERROR : WorkResult::SUCCESS));
    }
  }
  return future_result_;
}

void ShmWork::run(ShmGroup& group) noexcept {
  const auto begin = std::chrono::steady_clock::now();
  ShmEngine& engine = group.engine();
  group.record().start(record_, engine.number() + 1);
  std::exception_ptr error;
  try {
    Collective call;
    call.type = retrieveOpType();
    call.deadline = deadline_after(timeout_);
    body_(engine, call);
  } catch (c10::Error& failure) {
    failure.add_context(group.record().on_failure());
    error = std::current_exception();
  } catch (...) {
    error = std::current_exception();
  }
  number_ = engine.number();
  duration_ms_ = std::chrono::duration<float, std::milli>(std::chrono::steady_clock::now() - begin).count();
  if (!error) {
    group.record().complete(record_);
  }
  end(error);
}

void ShmWork::fail(std::exception_ptr error) noexcept {
  end(std::move(error));
}

void ShmWork::end(std::exception_ptr error) noexcept {
  body_ = nullptr;
  finish(error);
  c10::intrusive_ptr<c10::ivalue::Future> future;
  c10::intrusive_ptr<c10::ivalue::Future> result;
  {
    const std::lock_guard lock(mutex_);
    future = future_;
    result = future_result_;
  }
  // Only one of this and getFuture() completes the future: the one that finds both it and the end.
  if (future && !future->completed()) {
    error ? future->setError(error) : future->markCompleted(c10::IValue(outputs_));
  }
  if (result && !result->completed()) {
    result->markCompleted(int64_t(error ? WorkResult::COMM_ERROR : WorkResult::SUCCESS));
  }
}

ShmGroup::ShmGroup(Store& store, int rank, int size, const Backend::Options& options)
    : engine_name_(options.backend),
      record_(options.backend, options.group_name, options.group_desc, rank, size),
      segment_(store, rank, size, options.timeout),
      engine_(segment_, options.group_name),
      messages_(segment_) {
  thread_ = std::thread([this] { serve(); });
  ::pthread_setname_np(thread_.native_handle(), "shm_group");
}

ShmGroup::~ShmGroup() {
  stop();
}

void ShmGroup::enqueue(const c10::intrusive_ptr<ShmWork>& work, bool promptly) {
  const std::lock_guard lock(mutex_);
  if (stopping_) {
    C10_THROW_ERROR(DistBackendError, "shm: the group has been shut down");
  }
  queue_.push_back(work);
  last_used_ = std::chrono::steady_clock::now();
  if (promptly || asleep_) {
    changed_.notify_all();
  }
}

// Runs the first of the queue, with the lock given up meanwhile. False if there is none, or another runs.
bool ShmGroup::run_one(std::unique_lock<std::mutex>& lock) {
  if (running_ || queue_.empty()) {
    return false;
  }
  running_ = true;
  const auto work = std::move(queue_.front());
  queue_.pop_front();
  lock.unlock();
  work->run(*this);
  lock.lock();
  running_ = false;
  changed_.notify_all();
  return true;
}

void ShmGroup::run_until(ShmWork& work) {
  std::unique_lock lock(mutex_);
  while (!work.isCompleted()) {
    if (!run_one(lock)) {
      changed_.wait(lock);
    }
  }
}

void ShmGroup::serve() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    if (run_one(lock)) {
      continue;
    }
    if (running_ || (queue_.empty() && std::chrono::steady_clock::now() - last_used_ > kIdle)) {
      asleep_ = true;
      changed_.wait(lock);
      asleep_ = false;
    } else {
      changed_.wait_for(lock, kNobodyWaits);
    }
  }
}

void ShmGroup::stop() {
  std::deque<c10::intrusive_ptr<ShmWork>> left;
  {
    std::unique_lock lock(mutex_);
    if (stopping_) {
      return;
    }
    stopping_ = true;
    left.swap(queue_);
  }
  changed_.notify_all();
  if (thread_.get_id() == std::this_thread::get_id()) {
    thread_.detach(); // the last owner is a work that this thread has just run
  } else {
    thread_.join();
  }
  messages_.stop();
  segment_.leave();
  for (const auto& work : left) {
    work->fail(std::make_exception_ptr(
        c10::DistBackendError({__func__, __FILE__, __LINE__}, "shm: the group has been shut down")));
  }
}

} // namespace c10d::detail
