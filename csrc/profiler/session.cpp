#include <csrc/profiler/session.h>

#include <aten/core/Tensor.h>
#include <aten/core/ivalue.h>
#include <c10/util/ThreadLocalDebugInfo.h>

#include <algorithm>
#include <atomic>

namespace torch::profiler {

namespace {

using c10::DebugInfoKind;
using c10::ThreadLocalDebugInfo;

std::atomic<uint64_t> last_session_id{0};

// The session that hears of all threads; there is one at most.
struct GlobalSession {
  std::mutex mutex;
  std::weak_ptr<Session> session;
  std::atomic<bool> present{false};

  static GlobalSession& get() {
    static auto& global = *new GlobalSession();
    return global;
  }
};

// The records that this thread wrote to last.
struct LastRecords {
  uint64_t session = 0;
  ThreadRecords* records = nullptr;
};
__thread LastRecords last_records;

std::vector<int64_t> sizes_of(const c10::IValue& value) {
  if (!value.isTensor() || !value.toTensor().defined()) {
    return {};
  }
  return value.toTensor().sizes().vec();
}

} // namespace

Session::Session(const ProfileOptions& options)
    : options_(options),
      id_(++last_session_id),
      owner_(at::RecordFunction::currentThreadId()),
      started_(std::chrono::steady_clock::now()) {}

Session::~Session() = default;

int64_t Session::now() const {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - started_).count();
}

std::shared_ptr<Session> Session::of_this_thread() {
  auto* info = ThreadLocalDebugInfo::get(DebugInfoKind::PROFILER_STATE);
  if (auto* session = dynamic_cast<Session*>(info); session && session->running_) {
    return session->shared_from_this();
  }
  GlobalSession& global = GlobalSession::get();
  if (!global.present.load(std::memory_order_acquire)) {
    return nullptr;
  }
  const std::lock_guard<std::mutex> lock(global.mutex);
  return global.session.lock();
}

bool Session::is_mine() const {
  return owner_ == at::RecordFunction::currentThreadId();
}

void Session::start() {
  at::RecordFunctionCallback callback(&Session::on_start, &Session::on_end);
  callback.needsInputs(options_.record_shapes());
  callback.scopes({options_.scopes().begin(), options_.scopes().end()});
  if (options_.all_threads()) {
    GlobalSession& global = GlobalSession::get();
    const std::lock_guard<std::mutex> lock(global.mutex);
    TORCH_CHECK(
        global.session.lock() == nullptr,
        "torch::profiler::Profile: a profile of all threads is running already; stop() it first");
    global.session = shared_from_this();
    global.present.store(true, std::memory_order_release);
  }
  ThreadLocalDebugInfo::_push(DebugInfoKind::PROFILER_STATE, shared_from_this());
  running_ = true;
  handle_ = options_.all_threads() ? at::addGlobalCallback(callback) : at::addThreadLocalCallback(callback);
}

void Session::stop() {
  abandon();
  if (!options_.all_threads()) {
    at::removeCallback(handle_);
  }
  // Somebody may have put other information on top of ours; then ours stays there and does nothing.
  const auto top = ThreadLocalDebugInfo::current();
  if (top && ThreadLocalDebugInfo::get(DebugInfoKind::PROFILER_STATE) == static_cast<c10::DebugInfoBase*>(this)) {
    try {
      ThreadLocalDebugInfo::_pop(DebugInfoKind::PROFILER_STATE);
    } catch (const c10::Error&) {
    }
  }
}

// The callback of another thread stays with it, and finds no session that runs.
void Session::abandon() {
  running_ = false;
  stopped_ns_ = now();
  if (options_.all_threads()) {
    at::removeCallback(handle_);
    GlobalSession& global = GlobalSession::get();
    const std::lock_guard<std::mutex> lock(global.mutex);
    global.session.reset();
    global.present.store(false, std::memory_order_release);
  }
}

ThreadRecords& Session::records_of_this_thread() {
  if (C10_LIKELY(last_records.session == id_)) {
    return *last_records.records;
  }
  const uint64_t thread = at::RecordFunction::currentThreadId();
  const std::lock_guard<std::mutex> lock(mutex_);
  auto found = std::find_if(threads_.begin(), threads_.end(), [&](const auto& have) { return have->thread == thread; });
  if (found == threads_.end()) {
    threads_.push_back(std::make_unique<ThreadRecords>(thread));
    found = threads_.end() - 1;
  }
  last_records = {id_, found->get()};
  return **found;
}

// ---- calls
// ---------------------------------------------------------------------------------------------------------------

std::unique_ptr<at::ObserverContext> Session::on_start(const at::RecordFunction& call) {
  if (const std::shared_ptr<Session> session = of_this_thread()) {
    session->begin_call(call);
  }
  return nullptr;
}

void Session::on_end(const at::RecordFunction& call, at::ObserverContext*) {
  if (const std::shared_ptr<Session> session = of_this_thread()) {
    session->end_call(call);
  }
}

void Session::begin_call(const at::RecordFunction& call) {
  ThreadRecords& records = records_of_this_thread();
  const std::lock_guard<std::mutex> lock(records.mutex);
  if (records.calls.size() >= options_.max_events()) {
    ++records.dropped;
    records.open.push_back({&call, -1});
    return;
  }
  CallRecord record{};
  record.name = records.names.emplace(call.name()).first->c_str();
  record.scope = call.scope();
  record.sequence_nr = call.seqNr();
  record.forward_thread = call.forwardThreadId();
  record.end_thread = records.thread;
  record.parent = records.open.empty() ? -1 : records.open.back().index;
  if (options_.record_shapes()) {
    for (const c10::IValue& input : call.inputs()) {
      record.shapes.push_back(sizes_of(input));
    }
  }
  records.open.push_back({&call, static_cast<int64_t>(records.calls.size())});
  record.end_ns = -1;
  record.start_ns = now();
  records.calls.push_back(std::move(record));
}

void Session::end_call(const at::RecordFunction& call) {
  const int64_t time = now();
  ThreadRecords& mine = records_of_this_thread();
  if (end_call_of(mine, call, time, mine.thread)) {
    return;
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const auto& records : threads_) {
    if (records.get() != &mine && end_call_of(*records, call, time, mine.thread)) {
      return;
    }
  }
}

bool Session::end_call_of(ThreadRecords& records, const at::RecordFunction& call, int64_t time, uint64_t thread) {
  const std::lock_guard<std::mutex> lock(records.mutex);
  const auto found =
      std::find_if(records.open.rbegin(), records.open.rend(), [&](const auto& open) { return open.call == &call; });
  if (found == records.open.rend()) {
    return false;
  }
  if (found->index >= 0) {
    CallRecord& record = records.calls[static_cast<size_t>(found->index)];
    record.end_ns = time;
    record.end_thread = thread;
  }
  records.open.erase(std::next(found).base());
  return true;
}

// ---- memory
// --------------------------------------------------------------------------------------------------------------

bool Session::memoryProfilingEnabled() const {
  return running_ && options_.profile_memory();
}

void Session::reportMemoryUsage(
    void*, int64_t bytes, size_t total_allocated, size_t total_reserved, c10::Device device) {
  ThreadRecords& records = records_of_this_thread();
  const std::lock_guard<std::mutex> lock(records.mutex);
  if (records.memory.size() < options_.max_events()) {
    records.memory.push_back(
        {now(), bytes, static_cast<int64_t>(total_allocated), static_cast<int64_t>(total_reserved), device});
  }
  const int64_t innermost = records.open.empty() ? -1 : records.open.back().index;
  if (innermost < 0) {
    records.outside_cpu_bytes += device.is_cpu() ? bytes : 0;
    return;
  }
  CallRecord& call = records.calls[static_cast<size_t>(innermost)];
  (device.is_cpu() ? call.self_cpu_bytes : call.self_device_bytes) += bytes;
}

} // namespace torch::profiler
