// The thread of a QueueBackend.
#include <csrc/distributed/backends/queue_state.h>

#include <aten/core/jit_type.h>
#include <c10/util/Exception.h>

#include <pthread.h>

#include <algorithm>

namespace c10d::detail {

namespace {
std::exception_ptr backend_error(const std::string& text) {
  return std::make_exception_ptr(c10::DistBackendError({__func__, __FILE__, __LINE__}, text));
}

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

std::string about(const std::vector<at::Tensor>& inputs, const std::vector<at::Tensor>& outputs) {
  const auto& tensors = inputs.empty() ? outputs : inputs;
  if (tensors.empty() || !tensors[0].defined()) {
    return "";
  }
  int64_t numel = 0;
  for (const auto& tensor : tensors) {
    numel += tensor.defined() ? tensor.numel() : 0;
  }
  return c10::str(" of ", numel, " ", tensors[0].scalar_type(), " elements");
}
} // namespace

QueueWork::QueueWork(
    std::shared_ptr<QueueState> state,
    OpType type,
    const char* title,
    std::vector<at::Tensor> inputs,
    std::vector<at::Tensor> outputs,
    std::chrono::milliseconds timeout,
    Body body)
    : Work(state->rank(), type, state->title(title).c_str(), inputs),
      state_(state),
      outputs_(std::move(outputs)),
      timeout_(timeout),
      record_(state->record().schedule({0, type, title, &inputs, &outputs_, timeout})),
      about_(about(inputs, outputs_)),
      body_(std::move(body)),
      future_(c10::make_intrusive<c10::ivalue::Future>(c10::ListType::create(c10::TensorType::get()))),
      future_result_(c10::make_intrusive<c10::ivalue::Future>(c10::IntType::get())) {}

void QueueWork::end(std::exception_ptr error) noexcept {
  if (ended_.exchange(true)) {
    return;
  }
  if (const auto state = state_.lock(); state && !error) {
    state->record().complete(record_);
  }
  finish(error);
  error ? future_->setError(error) : future_->markCompleted(c10::IValue(outputs_));
  future_result_->markCompleted(int64_t(error ? WorkResult::COMM_ERROR : WorkResult::SUCCESS));
}

QueueState::QueueState(
    std::shared_ptr<Carrier> carrier,
    const c10::intrusive_ptr<Store>& store,
    int rank,
    int size,
    const Backend::Options& options)
    : engine_(options.backend),
      group_(options.group_name),
      rank_(rank),
      record_(options.backend, options.group_name, options.group_desc, rank, size),
      carrier_(std::move(carrier)) {
  if (store) {
    watch_ = std::make_unique<PeerWatch>(store, rank, size, options.timeout);
  }
}

void QueueState::begin() {
  if (watch_) {
    watch_->on_failure([weak = weak_from_this()](const std::string& reason) {
      if (const auto self = weak.lock()) {
        self->fail(reason);
      }
    });
  }
  thread_ = std::thread([self = shared_from_this()] { self->serve(); });
  ::pthread_setname_np(thread_.native_handle(), "c10d_queue");
}

std::string QueueState::describe(const QueueWork& work) const {
  return c10::str(
      lower(opTypeToString(work.retrieveOpType())), " number ", work.number_, work.about_, " in group ", group_);
}

std::string QueueState::failure() {
  const std::lock_guard lock(mutex_);
  return failure_;
}

void QueueState::throw_failed(const std::string& what) {
  C10_THROW_ERROR(
      DistBackendError, c10::str("rank ", rank_, ": ", what, " cannot begin, for the group has failed: ", failure()));
}

void QueueState::enqueue(const c10::intrusive_ptr<QueueWork>& work) {
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) {
      C10_THROW_ERROR(DistBackendError, c10::str(engine_, ": the group has been shut down"));
    }
    if (failure_.empty()) {
      queue_.push_back(work);
      changed_.notify_all();
      return;
    }
  }
  work->end(backend_error(c10::str(
      "rank ", rank_, ": ", lower(opTypeToString(work->retrieveOpType())),
      " cannot begin, for the group has failed: ", failure())));
}

std::exception_ptr QueueState::error_of(QueueWork& work, const std::string& reason, bool ask_others) {
  std::string others;
  if (watch_ && ask_others) {
    others = watch_->report(reason);
  }
  std::string text = c10::str("rank ", rank_, " in ", describe(work), " failed: ", reason);
  if (!others.empty()) {
    text += "\nwhat the ranks were doing:" + others;
  }
  return backend_error(text + record_.on_failure());
}

// Another rank has failed: what runs here cannot end any more, even where the engine does not notice.
void QueueState::fail(const std::string& reason) {
  c10::intrusive_ptr<QueueWork> running;
  std::deque<c10::intrusive_ptr<QueueWork>> left;
  {
    const std::lock_guard lock(mutex_);
    if (failure_.empty()) {
      failure_ = reason;
    }
    running = running_;
    left.swap(queue_);
  }
  carrier_->abort();
  if (running) {
    running->end(error_of(*running, reason, true));
  }
  for (const auto& work : left) {
    work->end(error_of(*work, reason, false));
  }
}

void QueueState::run(QueueWork& work) {
  work.number_ = ++number_;
  record_.start(work.record_, work.number_);
  const auto begin = std::chrono::steady_clock::now();
  if (watch_) {
    watch_->set_state("is in " + describe(work), true);
  }
  std::string problem;
  try {
    work.body_(*carrier_, {describe(work), work.timeout_, work.number_});
  } catch (const c10::Error& error) {
    problem = error.what_without_backtrace();
  } catch (const std::exception& error) {
    problem = error.what();
  }
  work.duration_ms_ = std::chrono::duration<float, std::milli>(std::chrono::steady_clock::now() - begin).count();
  if (problem.empty()) {
    if (watch_) {
      watch_->set_state("has ended " + describe(work) + ", and is in no other", false);
    }
    work.end(nullptr);
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    if (failure_.empty()) {
      failure_ = problem;
    }
  }
  carrier_->abort();
  if (!work.isCompleted()) { // else the watch was first
    work.end(error_of(work, problem, true));
  }
}

void QueueState::serve() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return stopping_ || !queue_.empty(); });
    if (queue_.empty()) {
      return;
    }
    running_ = std::move(queue_.front());
    queue_.pop_front();
    auto work = running_;
    lock.unlock();
    if (failure().empty()) {
      run(*work);
    } else {
      work->end(error_of(*work, failure(), false));
    }
    work->body_ = nullptr;
    lock.lock();
    running_.reset();
  }
}

void QueueState::stop() {
  bool stuck = false;
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(stopping_, true)) {
      return;
    }
    stuck = running_ && !failure_.empty();
  }
  changed_.notify_all();
  if (watch_) {
    watch_->stop();
  }
  // After a failure an engine may stay in a call until its own timeout; what it uses lives on with the thread.
  if (stuck || thread_.get_id() == std::this_thread::get_id()) {
    thread_.detach();
  } else {
    thread_.join();
  }
}

} // namespace c10d::detail
