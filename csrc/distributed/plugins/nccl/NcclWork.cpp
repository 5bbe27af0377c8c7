// An operation on a stream of NCCL, and who watches over those that are under way.
#include <csrc/distributed/plugins/nccl/NcclWork.h>

#include <aten/core/jit_type.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/util/Exception.h>

#include <pthread.h>

#include <algorithm>

namespace c10d::detail {

namespace {

constexpr auto kLook = std::chrono::milliseconds(20);

std::exception_ptr nccl_error(const std::string& text) {
  return std::make_exception_ptr(c10::DistBackendError({__func__, __FILE__, __LINE__}, text));
}

std::string lower_case(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

} // namespace

NcclWork::NcclWork(
    std::shared_ptr<NcclWatch> watch,
    OpType type,
    const char* title,
    std::vector<at::Tensor> inputs,
    std::vector<at::Tensor> outputs,
    std::shared_ptr<NcclCommunicator> communicator,
    std::chrono::milliseconds timeout,
    bool blocks_host)
    : Work(watch->rank(), type, ("nccl:" + std::string(title)).c_str(), inputs),
      watch_(std::move(watch)),
      inputs_(std::move(inputs)),
      outputs_(std::move(outputs)),
      communicator_(std::move(communicator)),
      timeout_(timeout),
      blocks_host_(blocks_host),
      record_(watch_->record().schedule({0, type, title, &inputs_, &outputs_, timeout})),
      deadline_(std::chrono::steady_clock::now() + timeout),
      future_(c10::make_intrusive<c10::ivalue::Future>(
          c10::ListType::create(c10::TensorType::get()),
          std::vector<c10::Device>{c10::Device(c10::kCUDA, communicator_->device())})) {}

void NcclWork::begin(uint64_t number) {
  number_ = number;
  watch_->record().start(record_, number);
  ready_.record(c10::cuda::getCurrentCUDAStream(communicator_->device()));
  ready_.block(communicator_->stream());
}

void NcclWork::add(const std::vector<at::Tensor>& inputs, const std::vector<at::Tensor>& outputs) {
  inputs_.insert(inputs_.end(), inputs.begin(), inputs.end());
  outputs_.insert(outputs_.end(), outputs.begin(), outputs.end());
}

void NcclWork::launched() {
  end_.record(communicator_->stream());
  launched_ = true;
  const c10::cuda::CUDAStreamGuard on(communicator_->stream());
  future_->markCompleted(c10::IValue(outputs_));
}

std::string NcclWork::describe() const {
  return c10::str(lower_case(opTypeToString(retrieveOpType())), " number ", number_, " in group ", watch_->group());
}

bool NcclWork::done_on_device() const {
  return launched_ && end_.query();
}

void NcclWork::end(std::exception_ptr error) noexcept {
  if (ended_.exchange(true)) {
    return;
  }
  if (!error) {
    watch_->record().complete(record_);
  }
  if (error && !future_->completed()) {
    future_->setError(error);
  }
  finish(std::move(error));
}

// What the device completes after the group has failed ends with the group's error, as it does on the other ranks.
bool NcclWork::isCompleted() {
  if (!ended_ && !failing_ && done_on_device()) {
    end(nullptr);
  }
  return ended_;
}

void NcclWork::throw_if_failed() {
  const auto error = exception();
  if (error) {
    std::rethrow_exception(error);
  }
}

void NcclWork::synchronize() {
  throw_if_failed();
  if (blocks_host_) {
    return wait_on_host(timeout_);
  }
  end_.block(c10::cuda::getCurrentCUDAStream(communicator_->device()));
}

bool NcclWork::wait(std::chrono::milliseconds timeout) {
  synchronize();
  if (timeout != kNoTimeout) {
    wait_on_host(timeout);
  }
  return true;
}

// The watch ends it at its own deadline; this one is the caller's.
void NcclWork::wait_on_host(std::chrono::milliseconds timeout) {
  const auto deadline = deadline_after(timeout);
  for (int looks = 0; !isCompleted(); ++looks) {
    if (std::chrono::steady_clock::now() >= deadline) {
      watch_->fail(c10::str("timed out after ", timeout.count(), " ms"), this);
    }
    std::this_thread::sleep_for(std::chrono::microseconds(looks < 100 ? 10 : 500));
  }
  throw_if_failed();
}

void NcclWork::abort() {
  watch_->fail(c10::str("rank ", watch_->rank(), " has aborted ", describe()), this);
}

NcclWatch::NcclWatch(const c10::intrusive_ptr<Store>& store, int rank, int size, const Backend::Options& options)
    : group_(options.group_name),
      rank_(rank),
      record_("nccl", options.group_name, options.group_desc, rank, size),
      peers_(std::make_unique<PeerWatch>(store, rank, size, options.timeout)) {}

void NcclWatch::start() {
  peers_->on_failure([weak = weak_from_this()](const std::string& reason) {
    if (const auto self = weak.lock()) {
      self->fail(reason);
    }
  });
  thread_ = std::thread([self = shared_from_this()] { self->serve(); });
  ::pthread_setname_np(thread_.native_handle(), "nccl_watch");
}

void NcclWatch::enqueue(const c10::intrusive_ptr<NcclWork>& work) {
  {
    const std::lock_guard lock(mutex_);
    under_way_.push_back(work);
    if (under_way_.size() > 1) {
      return; // the watch is awake
    }
  }
  peers_->set_state("is in " + work->describe(), true);
  changed_.notify_all();
}

void NcclWatch::add_communicator(const std::shared_ptr<NcclCommunicator>& communicator) {
  const std::lock_guard lock(mutex_);
  communicators_.push_back(communicator);
}

std::string NcclWatch::failure() const {
  const std::lock_guard lock(mutex_);
  return failure_;
}

void NcclWatch::check_usable(const char* what) const {
  const std::lock_guard lock(mutex_);
  if (!failure_.empty()) {
    C10_THROW_ERROR(
        DistBackendError, c10::str("rank ", rank_, ": ", what, " cannot begin, for the group has failed: ", failure_));
  }
  if (stopping_) {
    C10_THROW_ERROR(DistBackendError, c10::str("nccl: ", what, ": the group has been shut down"));
  }
}

void NcclWatch::fail(const std::string& reason, const NcclWork* because) {
  std::deque<c10::intrusive_ptr<NcclWork>> left;
  std::vector<std::shared_ptr<NcclCommunicator>> communicators;
  {
    const std::lock_guard lock(mutex_);
    if (failure_.empty()) {
      failure_ = because != nullptr ? c10::str("rank ", rank_, " in ", because->describe(), ": ", reason) : reason;
    }
    left.swap(under_way_);
    communicators = communicators_;
  }
  for (const auto& work : left) {
    work->failing_ = true;
  }
  std::string others = peers_->report(failure());
  others = others.empty() ? "" : "\nwhat the ranks were doing:" + others;
  const std::string last = record_.on_failure();
  for (const auto& work : left) {
    work->end(nccl_error(c10::str("rank ", rank_, " in ", work->describe(), " failed: ", reason, others, last)));
  }
  for (const auto& communicator : communicators) {
    communicator->abort();
  }
}

// Ends what is over; what is late or has an error ends all.
void NcclWatch::look() {
  std::deque<c10::intrusive_ptr<NcclWork>> works;
  std::vector<std::shared_ptr<NcclCommunicator>> communicators;
  {
    const std::lock_guard lock(mutex_);
    works = under_way_;
    communicators = communicators_;
  }
  const auto now = std::chrono::steady_clock::now();
  std::set<const NcclWork*> over;
  for (const auto& work : works) {
    if (work->isCompleted()) {
      over.insert(work.get());
    } else if (now >= work->deadline_) {
      return fail(c10::str("timed out after ", work->timeout_.count(), " ms"), work.get());
    }
  }
  for (const auto& communicator : communicators) {
    const std::string error = communicator->async_error();
    if (!error.empty()) {
      return fail(error, works.empty() ? nullptr : works.front().get());
    }
  }
  std::string state;
  {
    const std::lock_guard lock(mutex_);
    under_way_.erase(
        std::remove_if(
            under_way_.begin(), under_way_.end(), [&](const auto& work) { return over.count(work.get()) > 0; }),
        under_way_.end());
    state = under_way_.empty() ? "" : "is in " + under_way_.front()->describe();
  }
  peers_->set_state(state.empty() ? "calls nothing" : state, !state.empty());
}

void NcclWatch::serve() {
  auto mode = cudaStreamCaptureModeRelaxed; // to ask for events while another thread captures a graph
  C10_CUDA_CHECK(cudaThreadExchangeStreamCaptureMode(&mode));
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    if (under_way_.empty()) {
      changed_.wait(lock, [&] { return stopping_ || !under_way_.empty(); });
      continue;
    }
    changed_.wait_for(lock, kLook, [&] { return stopping_; });
    lock.unlock();
    look();
    lock.lock();
  }
}

// The watch's own thread ends what is late, so that this ends as well.
void NcclWatch::wait_for_all() {
  std::deque<c10::intrusive_ptr<NcclWork>> works;
  {
    const std::lock_guard lock(mutex_);
    works = under_way_;
  }
  for (const auto& work : works) {
    while (!work->isCompleted()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
}

void NcclWatch::stop() {
  const bool by_watch = thread_.get_id() == std::this_thread::get_id();
  if (!by_watch) {
    wait_for_all(); // the device uses their tensors
  }
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(stopping_, true)) {
      return;
    }
  }
  changed_.notify_all();
  peers_->stop();
  by_watch ? thread_.detach() : thread_.join();
  const std::lock_guard lock(mutex_);
  communicators_.clear();
  under_way_.clear();
}

} // namespace c10d::detail
