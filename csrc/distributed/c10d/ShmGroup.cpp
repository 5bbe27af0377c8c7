// What a ProcessGroupShm runs.
#include <csrc/distributed/c10d/ShmGroup.h>

#include <c10/util/Exception.h>

namespace c10d::detail {

ShmWork::ShmWork(
    const std::shared_ptr<ShmGroup>& group,
    OpType type,
    const char* title,
    std::vector<at::Tensor> inputs,
    std::vector<at::Tensor> outputs,
    std::chrono::milliseconds timeout,
    Body body)
    : RecordedWork(group->record(), type, title, std::move(inputs), std::move(outputs), timeout),
      shm_(group),
      body_(std::move(body)) {}

bool ShmWork::wait(std::chrono::milliseconds timeout) {
  if (timeout == kNoTimeout) {
    if (const auto shm = shm_.lock()) {
      shm->queue().run_until(*this);
    }
  }
  return Work::wait(timeout);
}

void ShmWork::run() noexcept {
  const auto shm = shm_.lock();
  if (!shm) {
    return end(backend_error("shm: the group has been shut down"));
  }
  ShmEngine& engine = shm->engine();
  start(engine.number() + 1);
  std::exception_ptr error;
  try {
    Collective call;
    call.type = retrieveOpType();
    call.deadline = deadline_after(timeout_);
    body_(engine, call);
  } catch (c10::Error& failure) {
    failure.add_context(group_->on_failure());
    error = std::current_exception();
  } catch (...) {
    error = std::current_exception();
  }
  number_ = engine.number(); // of the last one, where there are several
  stop_clock();
  body_ = nullptr;
  end(error);
}

ShmGroup::ShmGroup(Store& store, int rank, int size, const Backend::Options& options)
    : record_(std::make_shared<RecordedGroup>(options.backend, options.group_name, options.group_desc, rank, size)),
      segment_(store, rank, size, options.timeout),
      engine_(segment_, options.group_name),
      messages_(segment_),
      queue_(std::make_shared<WorkQueue>("shm")) {
  queue_->begin("shm_group");
}

ShmGroup::~ShmGroup() {
  stop();
}

void ShmGroup::stop() {
  if (!queue_->close()) {
    return;
  }
  const auto left = queue_->take_all();
  queue_->join();
  messages_.stop();
  segment_.leave();
  for (const auto& work : left) {
    work->end(backend_error("shm: the group has been shut down"));
  }
}

} // namespace c10d::detail
