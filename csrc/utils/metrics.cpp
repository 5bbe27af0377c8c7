#include <csrc/utils/metrics.h>

#include <c10/util/Exception.h>
#include <csrc/utils/metrics_file.h>

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstring>

namespace torch {

namespace {

constexpr double kFlushSeconds = 2;

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) {
    return text;
  }
  std::string quoted = "\"";
  for (const char c : text) {
    quoted += c == '"' ? "\"\"" : std::string(1, c);
  }
  return quoted + "\"";
}

/// The first row of a CSV file, and where the second begins.
std::pair<std::vector<std::string>, size_t> first_csv_row(const std::string& text) {
  std::vector<std::string> cells(1);
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') {
      if (quoted && i + 1 < text.size() && text[i + 1] == '"') {
        cells.back() += '"';
        ++i;
      } else {
        quoted = !quoted;
      }
    } else if (!quoted && c == ',') {
      cells.emplace_back();
    } else if (!quoted && c == '\n') {
      return {cells, i + 1};
    } else if (quoted || c != '\r') {
      cells.back() += c;
    }
  }
  return {cells, text.size()};
}

std::string json_string(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      quoted += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      quoted += c;
    }
  }
  return quoted + "\"";
}

} // namespace

double wall_time() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

MetricsWriter::File::File(std::string path, bool append)
    : path(std::move(path)), stream(std::fopen(this->path.c_str(), append ? "a+b" : "wb")), last_flush(wall_time()) {
  TORCH_CHECK(stream != nullptr, "Error opening file ", this->path, ": ", std::strerror(errno));
}

MetricsWriter::File::~File() {
  std::fclose(stream);
}

void MetricsWriter::File::write(const std::string& bytes) {
  const bool written = std::fwrite(bytes.data(), 1, bytes.size(), stream) == bytes.size();
  TORCH_CHECK(written, "Error writing file ", path, ": ", std::strerror(errno));
  const double now = wall_time();
  if (std::abs(now - last_flush) >= kFlushSeconds) {
    last_flush = now;
    flush();
  }
}

void MetricsWriter::File::flush() {
  TORCH_CHECK(std::fflush(stream) == 0, "Error writing file ", path, ": ", std::strerror(errno));
}

void MetricsWriter::File::replace(const std::string& bytes) {
  const std::string temporary = path + ".new";
  {
    File file(temporary, /*append=*/false);
    file.write(bytes);
    file.flush();
  }
  TORCH_CHECK(
      std::rename(temporary.c_str(), path.c_str()) == 0, "Error replacing file ", path, ": ", std::strerror(errno));
  std::FILE* replaced = std::fopen(path.c_str(), "a+b");
  TORCH_CHECK(replaced != nullptr, "Error opening file ", path, ": ", std::strerror(errno));
  std::fclose(stream);
  stream = replaced;
}

std::string MetricsWriter::File::read() const {
  std::string bytes;
  std::FILE* file = std::fopen(path.c_str(), "rb");
  TORCH_CHECK(file != nullptr, "Error opening file ", path, ": ", std::strerror(errno));
  char buffer[1 << 14];
  for (size_t count; (count = std::fread(buffer, 1, sizeof buffer, file)) > 0;) {
    bytes.append(buffer, count);
  }
  std::fclose(file);
  return bytes;
}

std::unique_ptr<MetricsWriter> MetricsWriter::open(const std::string& path, bool append) {
  if (ends_with(path, ".csv")) {
    return std::make_unique<CsvWriter>(path, append);
  }
  if (ends_with(path, ".jsonl")) {
    return std::make_unique<JsonLinesWriter>(path, append);
  }
  return std::make_unique<TensorBoardWriter>(path);
}

MetricsWriter::MetricsWriter(std::unique_ptr<File> file) : file_(std::move(file)) {}

MetricsWriter::~MetricsWriter() = default;

void MetricsWriter::write(int64_t step, const Metrics& metrics) {
  file_->write(encode(wall_time(), step, metrics));
}

void MetricsWriter::flush() {
  file_->flush();
}

CsvWriter::CsvWriter(const std::string& path, bool append) : MetricsWriter(std::make_unique<File>(path, append)) {
  const std::string old = append ? file_->read() : "";
  if (old.empty()) {
    file_->write("step,time\n");
    return;
  }
  columns_ = first_csv_row(old).first;
  TORCH_CHECK(
      columns_.size() >= 2 && columns_[0] == "step" && columns_[1] == "time", "CsvWriter: cannot append to ", path,
      ": its first row does not begin with step,time");
  columns_.erase(columns_.begin(), columns_.begin() + 2);
  if (old.back() != '\n') {
    // The last run was stopped in the middle of a row.
    file_->write("\n");
  }
}

CsvWriter::~CsvWriter() = default;

void CsvWriter::add_columns(const Metrics& metrics) {
  const size_t before = columns_.size();
  for (const auto& [name, value] : metrics) {
    if (std::find(columns_.begin(), columns_.end(), name) == columns_.end()) {
      columns_.push_back(name);
    }
  }
  if (columns_.size() == before) {
    return;
  }
  std::string header = "step,time";
  for (const std::string& column : columns_) {
    header += "," + csv_cell(column);
  }
  file_->flush();
  const std::string old = file_->read();
  file_->replace(header + "\n" + old.substr(first_csv_row(old).second));
}

std::string CsvWriter::encode(double time, int64_t step, const Metrics& metrics) {
  add_columns(metrics);
  std::string row = fmt::format("{},{:.3f}", step, time);
  for (const std::string& column : columns_) {
    row += ',';
    for (const auto& [name, value] : metrics) {
      if (name == column) {
        row += fmt::format("{}", value);
        break;
      }
    }
  }
  return row + "\n";
}

JsonLinesWriter::JsonLinesWriter(const std::string& path, bool append)
    : MetricsWriter(std::make_unique<File>(path, append)) {}

JsonLinesWriter::~JsonLinesWriter() = default;

std::string JsonLinesWriter::encode(double time, int64_t step, const Metrics& metrics) {
  std::string row = fmt::format("{{\"step\": {}, \"time\": {:.3f}", step, time);
  for (const auto& [name, value] : metrics) {
    row += ", " + json_string(name) + ": " + (std::isfinite(value) ? fmt::format("{}", value) : "null");
  }
  return row + "}\n";
}

} // namespace torch
