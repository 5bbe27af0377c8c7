// The queue of a QueueBackend, and what it does about failures.
#include <csrc/distributed/backends/queue_state.h>

#include <c10/util/Exception.h>

#include <algorithm>

namespace c10d::detail {

namespace {
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
    const std::shared_ptr<QueueState>& state,
    OpType type,
    const char* title,
    std::vector<at::Tensor> inputs,
    std::vector<at::Tensor> outputs,
    std::chrono::milliseconds timeout,
    Body body)
    : RecordedWork(state->record(), type, title, inputs, outputs, timeout),
      state_(state),
      about_(about(inputs, outputs)),
      body_(std::move(body)) {}

void QueueWork::run() noexcept {
  if (const auto state = state_.lock()) {
    state->run(*this);
    body_ = nullptr;
  } else {
    end(backend_error(group_->engine() + ": the group has been shut down"));
  }
}

QueueState::QueueState(
    std::shared_ptr<Carrier> carrier,
    const c10::intrusive_ptr<Store>& store,
    int rank,
    int size,
    const Backend::Options& options)
    : record_(std::make_shared<RecordedGroup>(options.backend, options.group_name, options.group_desc, rank, size)),
      carrier_(std::move(carrier)),
      queue_(std::make_shared<WorkQueue>(options.backend)) {
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
  queue_->begin("c10d_queue");
}

std::string QueueState::describe(const QueueWork& work) const {
  return c10::str(
      lower(opTypeToString(work.retrieveOpType())), " number ", work.number_, work.about_, " in group ",
      record_->name());
}

std::string QueueState::failure() {
  const std::lock_guard lock(mutex_);
  return failure_;
}

void QueueState::enqueue(const c10::intrusive_ptr<QueueWork>& work) {
  const std::string failed = failure();
  if (failed.empty()) {
    return queue_->enqueue(work, true);
  }
  work->end(backend_error(c10::str(
      "rank ", record_->rank(), ": ", lower(opTypeToString(work->retrieveOpType())),
      " cannot begin, for the group has failed: ", failed)));
}

std::exception_ptr QueueState::error_of(QueueWork& work, const std::string& reason, bool ask_others) {
  std::string others;
  if (watch_ && ask_others) {
    others = watch_->report(reason);
  }
  std::string text = c10::str("rank ", record_->rank(), " in ", describe(work), " failed: ", reason);
  if (!others.empty()) {
    text += "\nwhat the ranks were doing:" + others;
  }
  return backend_error(text + record_->on_failure());
}

// Another rank has failed: what runs here cannot end any more, even where the engine does not notice.
void QueueState::fail(const std::string& reason) {
  {
    const std::lock_guard lock(mutex_);
    if (failure_.empty()) {
      failure_ = reason;
    }
  }
  const auto end = [this, &reason](const WorkQueue::WorkPtr& work, bool ask_others) {
    work->end(error_of(static_cast<QueueWork&>(*work), reason, ask_others));
  };
  const auto running = queue_->running();
  const auto left = queue_->take_all();
  carrier_->abort();
  if (running) {
    end(running, true);
  }
  for (const auto& work : left) {
    end(work, false);
  }
}

// Runs the body; returns what went wrong.
std::string QueueState::problem_of(QueueWork& work) {
  try {
    work.body_(*carrier_, {describe(work), work.timeout_, work.number_});
  } catch (const c10::Error& error) {
    return error.what_without_backtrace();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

void QueueState::run(QueueWork& work) {
  if (const std::string failed = failure(); !failed.empty()) {
    return work.end(error_of(work, failed, false));
  }
  work.start(++number_);
  if (watch_) {
    watch_->set_state("is in " + describe(work), true);
  }
  const std::string problem = problem_of(work);
  work.stop_clock();
  if (problem.empty()) {
    if (watch_) {
      watch_->set_state("has ended " + describe(work) + ", and is in no other", false);
    }
    return work.end(nullptr);
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

// What is queued is run before.
void QueueState::stop() {
  if (!queue_->close()) {
    return;
  }
  if (watch_) {
    watch_->stop();
  }
  // After a failure an engine may stay in a call until its own timeout; what it uses lives on with the thread.
  queue_->join(queue_->running() && !failure().empty());
}

} // namespace c10d::detail
