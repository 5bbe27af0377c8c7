// The flight recorder: a ring of entries of fixed size, so that an operation costs no allocation.
#include <csrc/distributed/recorder/FlightRecorder.h>

#include <c10/util/Exception.h>
#include <c10/util/env.h>
#include <csrc/distributed/recorder/event_logger.h>
#include <csrc/distributed/recorder/trace.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <map>
#include <mutex>

namespace c10d {

namespace detail {

namespace {

constexpr size_t kUsualEntries = 2000;

int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

size_t entries_wanted() {
  for (const char* name : {"TORCH_FR_BUFFER_SIZE", "TORCH_NCCL_TRACE_BUFFER_SIZE"}) {
    const auto text = c10::utils::get_env(name);
    size_t value = 0;
    if (text && std::from_chars(text->data(), text->data() + text->size(), value).ec == std::errc()) {
      return std::min<size_t>(value, 1 << 20);
    }
  }
  return kUsualEntries;
}

void note_tensors(TraceTensors& noted, const std::vector<at::Tensor>* tensors) {
  if (tensors == nullptr) {
    return;
  }
  noted.count = tensors->size();
  noted.kept = static_cast<uint8_t>(std::min(tensors->size(), TraceTensors::kKept));
  for (size_t i = 0; i < noted.kept; ++i) {
    const at::Tensor& tensor = (*tensors)[i];
    TraceTensors::One& one = noted.tensors[i];
    if (tensor.defined()) {
      one.dtype = tensor.scalar_type();
      one.dims = static_cast<uint8_t>(std::min<int64_t>(tensor.dim(), TraceTensors::kDims));
      std::copy_n(tensor.sizes().begin(), one.dims, one.sizes);
    }
  }
}

// Never destroyed: groups may end after all else.
struct Ring {
  std::mutex mutex;
  std::vector<TraceEntry> entries = std::vector<TraceEntry>(entries_wanted());
  std::map<size_t, TraceGroup> groups;
  uint64_t next = 0; // entries ever made
  uint64_t first = 0; // since the last reset
  size_t next_group = 0;

  TraceEntry* find(uint64_t id) {
    const bool there = !entries.empty() && id >= first && id < next && next - id <= entries.size();
    return there ? &entries[id % entries.size()] : nullptr;
  }
};

Ring& ring() {
  static Ring& all = *new Ring();
  return all;
}

} // namespace

Trace snapshot_of_trace() {
  Ring& all = ring();
  const std::lock_guard lock(all.mutex);
  Trace trace;
  trace.groups = all.groups;
  const uint64_t kept = std::min<uint64_t>(all.next - all.first, all.entries.size());
  for (uint64_t id = all.next - kept; id < all.next; ++id) {
    trace.entries.push_back(all.entries[id % all.entries.size()]);
  }
  return trace;
}

namespace {
std::string last_in_words(size_t count, const std::function<bool(size_t number, const TraceGroup&)>& of_group) {
  const Trace trace = snapshot_of_trace();
  std::vector<std::string> lines;
  for (auto entry = trace.entries.rbegin(); entry != trace.entries.rend() && lines.size() < count; ++entry) {
    const auto group = trace.groups.find(entry->group);
    if (group != trace.groups.end() && of_group(group->first, group->second)) {
      lines.push_back("  " + words_of(*entry) + "\n");
    }
  }
  std::string text;
  for (auto line = lines.rbegin(); line != lines.rend(); ++line) {
    text += *line;
  }
  return text;
}
} // namespace

RecordedGroup::RecordedGroup(std::string engine, std::string name, std::string description, int rank, int size)
    : engine_(std::move(engine)), name_(std::move(name)), rank_(rank) {
  Ring& all = ring();
  const std::lock_guard lock(all.mutex);
  number_ = all.next_group++;
  all.groups[number_] = TraceGroup{engine_, name_, std::move(description), rank, size, 0, 0, 0};
}

RecordedGroup::~RecordedGroup() {
  // Entries stay, and with them the group's name, as long as some are there.
  Ring& all = ring();
  const std::lock_guard lock(all.mutex);
  constexpr size_t remembered = 64;
  while (all.groups.size() > remembered && all.groups.begin()->first != number_) {
    all.groups.erase(all.groups.begin());
  }
}

uint64_t RecordedGroup::schedule(const RecordedCall& call) {
  Ring& all = ring();
  const std::lock_guard lock(all.mutex);
  const uint64_t id = all.next;
  if (all.entries.empty()) {
    return id;
  }
  ++all.next;
  TraceEntry& entry = all.entries[id % all.entries.size()];
  entry = TraceEntry();
  entry.id = id;
  entry.group = number_;
  entry.number = call.number;
  entry.type = call.type;
  entry.title = call.title;
  entry.timeout_ms = call.timeout.count();
  entry.created = now_ns();
  note_tensors(entry.inputs, call.inputs);
  note_tensors(entry.outputs, call.outputs);
  ++all.groups[number_].enqueued;
  return id;
}

void RecordedGroup::start(uint64_t id, uint64_t number) {
  Ring& all = ring();
  const std::lock_guard lock(all.mutex);
  if (TraceEntry* entry = all.find(id)) {
    entry->number = number;
    entry->started = now_ns();
    all.groups[number_].started = number;
  }
}

void RecordedGroup::complete(uint64_t id) {
  Ring& all = ring();
  const std::lock_guard lock(all.mutex);
  if (TraceEntry* entry = all.find(id)) {
    entry->completed = now_ns();
    all.groups[number_].completed = entry->number;
  }
}

void RecordedGroup::log_failure() const {
  C10dLogger* const logger = C10dLogger::getLogger();
  if (logger == nullptr) {
    return;
  }
  const TraceGroup group = snapshot_of_trace().groups[number_];
  C10dLoggingData data;
  data.strings = {
      {"pg_name", group.name}, {"pg_desc", group.description}, {"backend", group.engine}, {"event", "failure"}};
  data.integers = {{"rank", group.rank}, {"size", group.size}};
  logger->log(data);
}

void RecordedGroup::add_abort_hook(int64_t id, std::function<void()> hook) {
  const std::lock_guard lock(hooks_mutex_);
  abort_hooks_[id] = std::move(hook);
}

void RecordedGroup::remove_abort_hook(int64_t id) {
  const std::lock_guard lock(hooks_mutex_);
  abort_hooks_.erase(id);
}

void RecordedGroup::call_abort_hooks() {
  std::map<int64_t, std::function<void()>> hooks;
  {
    const std::lock_guard lock(hooks_mutex_);
    hooks = abort_hooks_; // one may remove itself
  }
  for (const auto& [id, hook] : hooks) {
    try {
      hook();
    } catch (const std::exception& error) {
      TORCH_WARN("an abort hook of group ", name_, " failed: ", error.what());
    }
  }
}

std::string RecordedGroup::on_failure() {
  if (failed_.exchange(true)) {
    return "";
  }
  log_failure();
  call_abort_hooks();
  constexpr size_t told = 3;
  const std::string words = last_in_words(told, [&](size_t number, const TraceGroup&) { return number == number_; });
  try_dump_fr_trace_file(true, false, false);
  return words.empty() ? "" : c10::str("\nlast operations of rank ", rank_, " in group ", name_, ":\n", words);
}

} // namespace detail

std::string describe_fr_trace(const std::string& group, size_t count) {
  return detail::last_in_words(count, [&](size_t, const detail::TraceGroup& one) { return one.name == group; });
}

void reset_fr_trace(const std::string&) {
  detail::Ring& all = detail::ring();
  const std::lock_guard lock(all.mutex);
  all.first = all.next;
}

namespace {

class FileWriter : public DebugInfoWriter {
 public:
  FileWriter(const std::string& prefix, int rank) : DebugInfoWriter(prefix, rank) {}
};

std::mutex writer_mutex;
std::unique_ptr<DebugInfoWriter> writer;

std::optional<std::string> file_prefix() {
  for (const char* name : {"TORCH_FR_DUMP_TEMP_FILE", "TORCH_NCCL_DEBUG_INFO_TEMP_FILE"}) {
    if (auto value = c10::utils::get_env(name)) {
      return value;
    }
  }
  return std::nullopt;
}

} // namespace

void DebugInfoWriter::write(const std::string& trace) {
  std::ofstream file(filename_, std::ios::binary);
  file.write(trace.data(), static_cast<std::streamsize>(trace.size()));
  if (!file) {
    TORCH_WARN("the flight recorder's trace could not be written to ", filename_);
  }
}

DebugInfoWriter& DebugInfoWriter::getWriter(int rank) {
  const std::lock_guard lock(writer_mutex);
  if (!writer) {
    writer = std::make_unique<FileWriter>(file_prefix().value_or("/tmp/nccl_trace_rank_"), rank);
  }
  return *writer;
}

void DebugInfoWriter::registerWriter(std::unique_ptr<DebugInfoWriter> custom) {
  const std::lock_guard lock(writer_mutex);
  TORCH_CHECK(!writer, "DebugInfoWriter: a writer has been registered or used already");
  writer = std::move(custom);
}

void dump_fr_trace_file(
    int rank, bool includeCollectives, bool includeStackTraces, bool onlyActive, const std::string& backend) {
  DebugInfoWriter::getWriter(rank).write(dump_fr_trace(includeCollectives, includeStackTraces, onlyActive, backend));
}

bool try_dump_fr_trace_file(
    bool includeCollectives, bool includeStackTraces, bool onlyActive, const std::string& backend) {
  {
    const std::lock_guard lock(writer_mutex);
    if (!writer && !file_prefix()) {
      return false;
    }
  }
  const detail::Trace trace = detail::snapshot_of_trace();
  const int rank = trace.groups.empty() ? 0 : trace.groups.begin()->second.rank;
  dump_fr_trace_file(rank, includeCollectives, includeStackTraces, onlyActive, backend);
  return true;
}

} // namespace c10d
