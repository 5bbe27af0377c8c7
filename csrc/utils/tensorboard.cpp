// TensorBoard's event files: records with checksums (TFRecord), each holding a protocol buffer of type Event.
#include <csrc/utils/metrics.h>

#include <c10/util/Exception.h>
#include <csrc/utils/crc32.h>
#include <csrc/utils/metrics_file.h>

#include <fmt/format.h>

#include <unistd.h>

#include <atomic>
#include <cstring>
#include <filesystem>

namespace torch {

namespace {

// Protocol buffers: each field is a key (number and wire type) and a value.
enum WireType : uint32_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

// Fields of the messages Event, Summary and Summary.Value.
constexpr uint32_t kEventTime = 1, kEventStep = 2, kEventFileVersion = 3, kEventSummary = 5;
constexpr uint32_t kSummaryValue = 1;
constexpr uint32_t kValueTag = 1, kValueNumber = 2;

void put_varint(std::string& out, uint64_t value) {
  for (; value >= 0x80; value >>= 7) {
    out += static_cast<char>(value | 0x80);
  }
  out += static_cast<char>(value);
}

void put_key(std::string& out, uint32_t field, WireType type) {
  put_varint(out, field << 3 | type);
}

/// The bytes of a number, the lowest first, as the machines are that this library runs on.
template <class T>
void put_raw(std::string& out, T value) {
  char bytes[sizeof(T)];
  std::memcpy(bytes, &value, sizeof(T));
  out.append(bytes, sizeof(T));
}

void put_bytes(std::string& out, uint32_t field, const std::string& bytes) {
  put_key(out, field, kBytes);
  put_varint(out, bytes.size());
  out += bytes;
}

std::string event_at(double time) {
  std::string event;
  put_key(event, kEventTime, kFixed64);
  put_raw(event, time);
  return event;
}

/// Checksums are stored turned and shifted, so that data which itself holds checksums does not weaken them.
uint32_t masked_crc(const std::string& bytes) {
  const uint32_t crc = utils::crc32c(bytes.data(), bytes.size());
  return (crc >> 15 | crc << 17) + 0xa282ead8;
}

std::string record(const std::string& event) {
  std::string out;
  put_raw(out, uint64_t{event.size()});
  put_raw(out, masked_crc(out));
  out += event;
  put_raw(out, masked_crc(event));
  return out;
}

/// TensorBoard takes files with "tfevents" in their names and reads them in the order of these.
std::string new_event_file(const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  TORCH_CHECK(!error, "TensorBoardWriter: cannot create the folder ", folder, ": ", error.message());
  char host[256] = "localhost";
  gethostname(host, sizeof host - 1);
  static std::atomic<int> count{0};
  return fmt::format(
      "{}/events.out.tfevents.{:010}.{}.{}.{}", folder, static_cast<int64_t>(wall_time()), host, getpid(), count++);
}

} // namespace

TensorBoardWriter::TensorBoardWriter(const std::string& folder)
    : MetricsWriter(std::make_unique<File>(new_event_file(folder), /*append=*/false)) {
  std::string event = event_at(wall_time());
  put_bytes(event, kEventFileVersion, "brain.Event:2");
  file_->write(record(event));
  file_->flush();
}

TensorBoardWriter::~TensorBoardWriter() = default;

const std::string& TensorBoardWriter::path() const noexcept {
  return file_->path;
}

std::string TensorBoardWriter::encode(double time, int64_t step, const Metrics& metrics) {
  std::string summary;
  for (const auto& [name, number] : metrics) {
    std::string value;
    put_bytes(value, kValueTag, name);
    put_key(value, kValueNumber, kFixed32);
    put_raw(value, static_cast<float>(number));
    put_bytes(summary, kSummaryValue, value);
  }
  std::string event = event_at(time);
  put_key(event, kEventStep, kVarint);
  put_varint(event, static_cast<uint64_t>(step));
  put_bytes(event, kEventSummary, summary);
  return record(event);
}

} // namespace torch
