// Traces in the JSON object format of chrome://tracing ("Trace Event Format"), which Perfetto reads too.
#include <c10/util/Exception.h>
#include <csrc/profiler/results.h>

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <ostream>
#include <set>
#include <string_view>
#include <utility>

namespace torch::profiler {

namespace {

// Bytes of the UTF-8 character at the start of `text`; 0 if there is none.
size_t utf8_length(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  const size_t length = first < 0x80 ? 1 : first >> 5 == 0x6 ? 2 : first >> 4 == 0xe ? 3 : first >> 3 == 0x1e ? 4 : 0;
  if (length == 0 || length > text.size()) {
    return 0;
  }
  uint32_t character = length == 1 ? first : first & (0x7fu >> length);
  for (size_t i = 1; i < length; ++i) {
    if (byte(i) >> 6 != 0x2) {
      return 0;
    }
    character = character << 6 | (byte(i) & 0x3fu);
  }
  constexpr uint32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = character >= 0xd800 && character < 0xe000;
  return character < kSmallest[length] || character > 0x10ffff || surrogate ? 0 : length;
}

// Names are bytes that a program chose; the file must be valid JSON all the same.
std::string json_text(std::string_view text) {
  std::string quoted = "\"";
  while (!text.empty()) {
    const size_t length = utf8_length(text);
    if (length == 0) {
      quoted += "\\ufffd";
    } else if (text[0] == '"' || text[0] == '\\') {
      quoted += {'\\', text[0]};
    } else if (static_cast<unsigned char>(text[0]) < 0x20) {
      quoted += fmt::format("\\u{:04x}", static_cast<unsigned>(text[0]));
    } else {
      quoted += text.substr(0, length);
    }
    text.remove_prefix(std::max<size_t>(length, 1));
  }
  return quoted + "\"";
}

const char* category_of(const ProfileEvent& event) {
  return event.scope == at::RecordScope::USER_SCOPE ? "user_annotation" : "cpu_op";
}

std::string microseconds(int64_t ns) {
  return fmt::format("{}.{:03}", ns / 1000, ns % 1000);
}

// One file, whole or not at all.
class OutputFile {
 public:
  explicit OutputFile(const std::string& path)
      : path_(path),
        temporary_(fmt::format("{}.{}.tmp", path, getpid())),
        stream_(std::fopen(temporary_.c_str(), "wb")) {
    TORCH_CHECK(stream_ != nullptr, "export_chrome_trace: Error opening file ", path_, ": ", std::strerror(errno));
  }
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  ~OutputFile() {
    if (stream_ != nullptr) {
      std::fclose(stream_);
      std::remove(temporary_.c_str());
    }
  }

  void write(const std::string& text) {
    TORCH_CHECK(
        std::fwrite(text.data(), 1, text.size(), stream_) == text.size(), "export_chrome_trace: Error writing file ",
        path_, ": ", std::strerror(errno));
  }
  void finish() {
    std::FILE* stream = std::exchange(stream_, nullptr);
    if (std::fclose(stream) != 0 || std::rename(temporary_.c_str(), path_.c_str()) != 0) {
      const int reason = errno;
      std::remove(temporary_.c_str());
      TORCH_CHECK(false, "export_chrome_trace: Error writing file ", path_, ": ", std::strerror(reason));
    }
  }

 private:
  const std::string path_;
  const std::string temporary_;
  std::FILE* stream_;
};

class TraceWriter {
 public:
  std::string take() {
    return std::move(text_) + "\n]}\n";
  }

  void name_thread(uint64_t thread) {
    begin("M", "thread_name", thread);
    text_ += fmt::format(", \"args\": {{\"name\": \"thread {}\"}}}}", thread);
  }

  void call(const ProfileEvent& event) {
    begin("X", event.name, event.thread);
    text_ += fmt::format(
        ", \"cat\": \"{}\", \"ts\": {}, \"dur\": {}, \"args\": {{", category_of(event), microseconds(event.start_ns),
        microseconds(event.end_ns - event.start_ns));
    std::string args;
    const auto add = [&](const char* name, const std::string& value) {
      args += fmt::format("{}\"{}\": {}", args.empty() ? "" : ", ", name, value);
    };
    if (event.sequence_nr >= 0) {
      add("Sequence number", std::to_string(event.sequence_nr));
    }
    if (event.forward_thread != 0) {
      add("Fwd thread id", std::to_string(event.forward_thread));
    }
    if (!event.shapes.empty()) {
      add("Input Dims", text_of_shapes(event.shapes));
    }
    text_ += args + "}}";
  }

  // An arrow from an operator to the node that computes its gradient.
  void link(const ProfileEvent& forward, const ProfileEvent& backward, size_t id) {
    begin("s", "fwdbwd", forward.thread);
    text_ += fmt::format(", \"cat\": \"fwdbwd\", \"id\": {}, \"ts\": {}}}", id, microseconds(forward.start_ns));
    begin("f", "fwdbwd", backward.thread);
    text_ += fmt::format(
        ", \"cat\": \"fwdbwd\", \"id\": {}, \"ts\": {}, \"bp\": \"e\"}}", id, microseconds(backward.start_ns));
  }

  void memory(uint64_t thread, const MemoryEvent& change) {
    begin("i", "[memory]", thread);
    text_ += fmt::format(
        ", \"cat\": \"cpu_instant_event\", \"s\": \"t\", \"ts\": {}, \"args\": {{\"Device Type\": {}, \"Device Id\": "
        "{}, "
        "\"Bytes\": {}, \"Total Allocated\": {}, \"Total Reserved\": {}}}}}",
        microseconds(change.time_ns), static_cast<int>(change.device.type()), static_cast<int>(change.device.index()),
        change.bytes, change.total_allocated, change.total_reserved);
  }

 private:
  void begin(const char* phase, const std::string& name, uint64_t thread) {
    text_ += text_.back() == '[' ? "\n" : ",\n";
    text_ += fmt::format(
        "{{\"ph\": \"{}\", \"name\": {}, \"pid\": {}, \"tid\": {}", phase, json_text(name), getpid(), thread);
  }

  std::string text_ = "{\"schemaVersion\": 1, \"displayTimeUnit\": \"ms\", \"traceEvents\": [";
};

} // namespace

std::string Profile::chrome_trace() const {
  const Results& found = results();
  TraceWriter writer;
  std::set<uint64_t> threads;
  for (const ProfileEvent& event : found.events) {
    if (threads.insert(event.thread).second) {
      writer.name_thread(event.thread);
    }
  }
  for (size_t i = 0; i < found.events.size(); ++i) {
    const ProfileEvent& event = found.events[i];
    writer.call(event);
    if (event.forward >= 0 && event.scope == at::RecordScope::BACKWARD_FUNCTION) {
      writer.link(found.events[static_cast<size_t>(event.forward)], event, i);
    }
  }
  for (const auto& [thread, change] : found.memory) {
    writer.memory(thread, change);
  }
  return writer.take();
}

void Profile::export_chrome_trace(const std::string& path) const {
  const std::string text = chrome_trace();
  OutputFile file(path);
  file.write(text);
  file.finish();
}

} // namespace torch::profiler

namespace torch::autograd::profiler {

RecordProfile::RecordProfile(std::string filename) : filename_(std::move(filename)) {}
RecordProfile::RecordProfile(std::ostream& out) : out_(&out) {}

RecordProfile::~RecordProfile() {
  try {
    profile_.stop();
    if (out_ != nullptr) {
      *out_ << profile_.chrome_trace();
    } else {
      profile_.export_chrome_trace(filename_);
    }
  } catch (const std::exception& error) {
    TORCH_WARN("RecordProfile could not write its trace: ", error.what());
  }
}

} // namespace torch::autograd::profiler
