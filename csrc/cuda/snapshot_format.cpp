#include <csrc/cuda/snapshot_format.h>

#include <c10/cuda/impl/AllocationHistory.h>
#include <c10/util/Backtrace.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string_view>

namespace torch::cuda::detail {
namespace {

using c10::CachingDeviceAllocator::BlockInfo;
using c10::CachingDeviceAllocator::SegmentInfo;
using c10::CachingDeviceAllocator::TraceEntry;

struct StackContext final : c10::GatheredContext {
  explicit StackContext(c10::Backtrace trace) : trace(std::move(trace)) {}
  c10::Backtrace trace;
};

/// Takes a value piece by piece. In a dictionary, keys and values take turns.
class Sink {
 public:
  virtual ~Sink() = default;
  virtual void begin_dict() = 0;
  virtual void end_dict() = 0;
  virtual void begin_list() = 0;
  virtual void end_list() = 0;
  virtual void text(std::string_view value) = 0;
  virtual void integer(int64_t value) = 0;
  virtual void real(double value) = 0;
  virtual void boolean(bool value) = 0;
};

class JsonSink final : public Sink {
 public:
  void begin_dict() override {
    open('{');
  }
  void end_dict() override {
    close('}');
  }
  void begin_list() override {
    open('[');
  }
  void end_list() override {
    close(']');
  }
  void text(std::string_view value) override {
    separate();
    out += '"';
    for (const char c : value) {
      if (c == '"' || c == '\\') {
        out += '\\';
        out += c;
      } else if (static_cast<unsigned char>(c) < 0x20) {
        char escaped[8];
        std::snprintf(escaped, sizeof(escaped), "\\u%04x", static_cast<unsigned>(c));
        out += escaped;
      } else {
        out += c;
      }
    }
    out += '"';
  }
  void integer(int64_t value) override {
    separate();
    out += std::to_string(value);
  }
  void real(double value) override {
    separate();
    char digits[32];
    std::snprintf(digits, sizeof(digits), "%.17g", value);
    out += digits;
  }
  void boolean(bool value) override {
    separate();
    out += value ? "true" : "false";
  }

  std::string out;

 private:
  struct Level {
    bool dict;
    int pieces;
  };

  void separate() {
    if (levels_.empty()) {
      return;
    }
    Level& level = levels_.back();
    if (level.pieces != 0) {
      out += level.dict && level.pieces % 2 == 1 ? ':' : ',';
    }
    ++level.pieces;
  }
  void open(char bracket) {
    separate();
    out += bracket;
    levels_.push_back({bracket == '{', 0});
  }
  void close(char bracket) {
    out += bracket;
    levels_.pop_back();
  }

  std::vector<Level> levels_;
};

/// Protocol 2.
class PickleSink final : public Sink {
 public:
  PickleSink() : out("\x80\x02") {}

  void begin_dict() override {
    out += "}(";
  }
  void end_dict() override {
    out += 'u';
  }
  void begin_list() override {
    out += "](";
  }
  void end_list() override {
    out += 'e';
  }
  void text(std::string_view value) override {
    out += 'X';
    little_endian(value.size(), 4);
    out += value;
  }
  void integer(int64_t value) override {
    out += "\x8a\x08";
    little_endian(static_cast<uint64_t>(value), 8);
  }
  void real(double value) override {
    out += 'G';
    const auto bits = std::bit_cast<uint64_t>(value);
    for (int shift = 56; shift >= 0; shift -= 8) {
      out += static_cast<char>(bits >> shift & 0xff);
    }
  }
  void boolean(bool value) override {
    out += value ? '\x88' : '\x89';
  }

  std::string out;

 private:
  void little_endian(uint64_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) {
      out += static_cast<char>(value >> (8 * i) & 0xff);
    }
  }
};

class Writer {
 public:
  explicit Writer(Sink& sink) : sink_(sink) {}

  void snapshot(const SnapshotContent& content) {
    sink_.begin_dict();
    key("segments");
    list(content.segments, [&](const SegmentInfo& segment) { write(segment); });
    key("device_traces");
    list(content.device_traces, [&](const std::vector<TraceEntry>& trace) {
      list(trace, [&](const TraceEntry& entry) { write(entry); });
    });
    key("allocator_settings");
    write(content);
    key("external_annotations");
    list(std::vector<int>(), [](int) {});
    sink_.end_dict();
  }

 private:
  void key(std::string_view name) {
    sink_.text(name);
  }
  void field(std::string_view name, size_t value) {
    key(name);
    sink_.integer(static_cast<int64_t>(value));
  }
  void field(std::string_view name, std::string_view value) {
    key(name);
    sink_.text(value);
  }
  void flag(std::string_view name, bool value) {
    key(name);
    sink_.boolean(value);
  }
  template <class List, class Function>
  void list(const List& items, Function f) {
    sink_.begin_list();
    for (const auto& item : items) {
      f(item);
    }
    sink_.end_list();
  }
  void pool_id(std::string_view name, const c10::MempoolId_t& id) {
    key(name);
    list(std::array<unsigned long long, 2>{id.first, id.second}, [&](unsigned long long part) {
      sink_.integer(static_cast<int64_t>(part));
    });
  }

  void write(const SegmentInfo& segment) {
    sink_.begin_dict();
    field("device", static_cast<size_t>(segment.device));
    field("address", segment.address);
    field("total_size", segment.total_size);
    field("allocated_size", segment.allocated_size);
    field("active_size", segment.active_size);
    field("requested_size", segment.requested_size);
    field("stream", reinterpret_cast<size_t>(segment.stream));
    field("segment_type", segment.is_large ? "large" : "small");
    pool_id("segment_pool_id", segment.owner_private_pool_id);
    flag("is_expandable", segment.is_expandable);
    frames(segment.context_when_allocated);
    key("blocks");
    size_t address = segment.address;
    list(segment.blocks, [&](const BlockInfo& block) {
      sink_.begin_dict();
      field("address", address);
      field("size", block.size);
      field("requested_size", block.requested_size);
      field("state", block.allocated ? "active_allocated" : block.active ? "active_pending_free" : "inactive");
      frames(block.context_when_allocated);
      sink_.end_dict();
      address += block.size;
    });
    sink_.end_dict();
  }

  void write(const TraceEntry& entry) {
    sink_.begin_dict();
    field("action", c10::cuda::impl::AllocationHistory::name(entry.action_));
    field(entry.action_ == TraceEntry::OOM ? "device_free" : "addr", entry.addr_);
    field("size", entry.size_);
    field("stream", reinterpret_cast<size_t>(entry.stream_));
    field("time_us", static_cast<size_t>(entry.time_ns_ / 1000));
    pool_id("pool_id", entry.mempool_);
    frames(entry.context_);
    sink_.end_dict();
  }

  void write(const SnapshotContent& content) {
    const auto& settings = content.settings;
    sink_.begin_dict();
    field("PYTORCH_CUDA_ALLOC_CONF", content.settings_text);
    key("max_split_size");
    sink_.integer(settings.max_split_size == SIZE_MAX ? -1 : static_cast<int64_t>(settings.max_split_size));
    key("garbage_collection_threshold");
    sink_.real(settings.garbage_collection_threshold);
    flag("expandable_segments", settings.expandable_segments);
    key("roundup_power2_divisions");
    sink_.begin_dict();
    for (size_t i = 0; i < settings.kRoundingIntervals; ++i) {
      field(std::to_string(size_t{1} << i), settings.roundup_power2_divisions[i]);
    }
    sink_.end_dict();
    sink_.end_dict();
  }

  /// One for each line of the stack trace.
  void frames(const std::shared_ptr<c10::GatheredContext>& context) {
    key("frames");
    sink_.begin_list();
    if (const auto* stack = dynamic_cast<const StackContext*>(context.get())) {
      std::string_view rest = stack->trace->get();
      while (!rest.empty()) {
        const size_t end = std::min(rest.find('\n'), rest.size());
        sink_.begin_dict();
        field("name", rest.substr(0, end));
        field("filename", "");
        field("line", size_t{0});
        sink_.end_dict();
        rest.remove_prefix(std::min(end + 1, rest.size()));
      }
    }
    sink_.end_list();
  }

  Sink& sink_;
};

} // namespace

std::string snapshot_as_json(const SnapshotContent& snapshot) {
  JsonSink sink;
  Writer(sink).snapshot(snapshot);
  return std::move(sink.out);
}

std::string snapshot_as_pickle(const SnapshotContent& snapshot) {
  PickleSink sink;
  Writer(sink).snapshot(snapshot);
  sink.out += '.';
  return std::move(sink.out);
}

std::shared_ptr<c10::GatheredContext> gather_stack() {
  return std::make_shared<StackContext>(c10::get_lazy_backtrace(/*frames_to_skip=*/2));
}

} // namespace torch::cuda::detail
