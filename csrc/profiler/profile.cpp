#include <csrc/profiler/profile.h>

#include <c10/util/Exception.h>
#include <csrc/profiler/results.h>
#include <csrc/profiler/session.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <unordered_map>

namespace torch::profiler {

// ---- a profile
// ---------------------------------------------------------------------------------------------------------

Profile::Profile(ProfileOptions options) : options_(std::move(options)) {
  start();
}

Profile::~Profile() {
  if (!is_running()) {
    return;
  }
  try {
    session_->is_mine() ? session_->stop() : session_->abandon();
  } catch (const std::exception& error) {
    TORCH_WARN("torch::profiler::Profile could not be stopped: ", error.what());
  }
}

bool Profile::is_running() const noexcept {
  return session_ != nullptr;
}

void Profile::start() {
  TORCH_CHECK(
      !is_running(), "torch::profiler::Profile: start() was called while the profile is running; stop() it first");
  const std::shared_ptr<Session> other = Session::of_this_thread();
  TORCH_CHECK(
      other == nullptr,
      "torch::profiler::Profile: another profile is running on this thread; stop() it before a new one begins");
  results_.reset();
  const auto session = std::make_shared<Session>(options_);
  session->start();
  session_ = session;
}

void Profile::stop() {
  TORCH_CHECK(
      is_running(), "torch::profiler::Profile: stop() was called, but the profile is not running; start() it first");
  TORCH_CHECK(
      session_->is_mine(),
      "torch::profiler::Profile: stop() was called on another thread than start(); call both on the same one");
  const std::shared_ptr<Session> session = std::exchange(session_, nullptr);
  session->stop();
  results_ = std::make_unique<Results>(*session);
}

const Profile::Results& Profile::results() const {
  TORCH_CHECK(
      results_ != nullptr,
      "torch::profiler::Profile: there are no results while the profile is running; stop() it first");
  return *results_;
}

const std::vector<ProfileEvent>& Profile::events() const {
  return results().events;
}

const std::vector<std::pair<uint64_t, MemoryEvent>>& Profile::memory_events() const {
  return results().memory;
}

int64_t Profile::memory_outside_cpu() const {
  return results().outside_cpu_bytes;
}

size_t Profile::dropped_events() const {
  return results().dropped;
}

// ---- results
// -----------------------------------------------------------------------------------------------------------

Profile::Results::Results(const Session& session)
    : has_shapes(session.options().record_shapes()), has_memory(session.options().profile_memory()) {
  const int64_t stopped = session.stopped_ns();
  for (const auto& records : session.threads()) {
    const std::lock_guard<std::mutex> lock(records->mutex);
    const auto first = static_cast<int64_t>(events.size());
    for (CallRecord& call : records->calls) {
      ProfileEvent event;
      event.name = call.name;
      event.scope = call.scope;
      event.start_ns = call.start_ns;
      event.end_ns = call.end_ns >= 0 ? call.end_ns : std::max(stopped, call.start_ns);
      event.thread = records->thread;
      event.forward_thread = call.forward_thread;
      event.end_thread = call.end_thread;
      event.sequence_nr = call.sequence_nr;
      event.parent = call.parent >= 0 ? first + call.parent : -1;
      event.shapes = std::move(call.shapes);
      event.self_cpu_bytes = call.self_cpu_bytes;
      event.self_device_bytes = call.self_device_bytes;
      events.push_back(std::move(event));
    }
    for (const MemoryEvent& change : records->memory) {
      memory.emplace_back(records->thread, change);
    }
    outside_cpu_bytes += records->outside_cpu_bytes;
    dropped += records->dropped;
  }

  std::vector<size_t> order(events.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(
      order.begin(), order.end(), [&](size_t a, size_t b) { return events[a].start_ns < events[b].start_ns; });
  std::vector<int64_t> place(events.size());
  std::vector<ProfileEvent> sorted;
  sorted.reserve(events.size());
  for (const size_t i : order) {
    place[i] = static_cast<int64_t>(sorted.size());
    sorted.push_back(std::move(events[i]));
  }
  events = std::move(sorted);
  for (ProfileEvent& event : events) {
    event.parent = event.parent >= 0 ? place[static_cast<size_t>(event.parent)] : -1;
  }
  compute_self_times();
  link_forward();
}

void Profile::Results::compute_self_times() {
  for (ProfileEvent& event : events) {
    event.self_ns = event.end_ns - event.start_ns;
  }
  for (const ProfileEvent& event : events) {
    if (event.parent >= 0) {
      // A region that ends on another thread may outlive what it began in.
      ProfileEvent& parent = events[static_cast<size_t>(event.parent)];
      const int64_t inside = std::min(event.end_ns, parent.end_ns) - event.start_ns;
      parent.self_ns = std::max<int64_t>(parent.self_ns - std::max<int64_t>(inside, 0), 0);
    }
  }
}

// A forward operator notes the number that its thread gives to the next node, and so do the operators around it and
// those before it that made no node. The one that made it is the last of them.
void Profile::Results::link_forward() {
  using Key = std::pair<uint64_t, int64_t>; // thread, sequence number
  std::map<Key, int64_t> maker;
  std::unordered_map<int64_t, std::vector<uint64_t>> threads_of; // sequence number -> threads
  for (size_t i = 0; i < events.size(); ++i) {
    ProfileEvent& event = events[i];
    if (event.sequence_nr < 0) {
      continue;
    }
    if (event.forward_thread == 0) {
      if (maker.insert_or_assign({event.thread, event.sequence_nr}, static_cast<int64_t>(i)).second) {
        threads_of[event.sequence_nr].push_back(event.thread);
      }
      continue;
    }
    // Numbers belong to a thread. The node's is not known, but it mostly is the one that called backward(), or the only
    // one.
    auto found = maker.find({event.forward_thread, event.sequence_nr});
    if (found == maker.end()) {
      const auto threads = threads_of.find(event.sequence_nr);
      if (threads == threads_of.end() || threads->second.size() != 1) {
        continue;
      }
      found = maker.find({threads->second[0], event.sequence_nr});
    }
    event.forward = found->second;
    event.forward_thread = found->first.first;
  }
}

std::string text_of_shapes(const std::vector<std::vector<int64_t>>& shapes) {
  std::string text = "[";
  for (size_t i = 0; i < shapes.size(); ++i) {
    text += i == 0 ? "[" : ", [";
    for (size_t dim = 0; dim < shapes[i].size(); ++dim) {
      text += (dim == 0 ? "" : ", ") + std::to_string(shapes[i][dim]);
    }
    text += "]";
  }
  return text + "]";
}

} // namespace torch::profiler
