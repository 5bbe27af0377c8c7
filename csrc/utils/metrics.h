// Writes losses and other numbers of a training run to files.
#pragma once

#include <c10/macros/Export.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace torch {

/// Names with values.
using Metrics = std::vector<std::pair<std::string, double>>;

/// A file of metrics by step.
///
///     auto log = torch::MetricsWriter::open("run/metrics.csv");
///     log->write(step, {{"loss", loss}, {"accuracy", accuracy}});
///
/// Rows are on disk after a few seconds, after flush() and in the end. All functions throw a c10::Error that names the
/// file when it cannot be written.
class TORCH_API MetricsWriter {
 public:
  /// A CsvWriter for a name that ends in ".csv", a JsonLinesWriter for ".jsonl", else a TensorBoardWriter for a folder.
  static std::unique_ptr<MetricsWriter> open(const std::string& path, bool append = false);

  virtual ~MetricsWriter();

  void write(int64_t step, const Metrics& metrics);
  void add_scalar(const std::string& name, double value, int64_t step) {
    write(step, {{name, value}});
  }
  void flush();

 protected:
  struct File;
  explicit MetricsWriter(std::unique_ptr<File> file);
  /// The bytes of one row. `time` is in seconds since 1970.
  virtual std::string encode(double time, int64_t step, const Metrics& metrics) = 0;

  std::unique_ptr<File> file_;
};

/// Comma-separated values (RFC 4180) with the columns step, time and one for each name; a cell without a value is
/// empty. When a name comes for the first time the file is written anew with a column more.
class TORCH_API CsvWriter final : public MetricsWriter {
 public:
  /// With `append` goes on behind the rows of an older file, else replaces it.
  explicit CsvWriter(const std::string& path, bool append = false);
  ~CsvWriter() override;

 private:
  std::string encode(double time, int64_t step, const Metrics& metrics) override;
  void add_columns(const Metrics& metrics);

  std::vector<std::string> columns_; // of names, behind step and time
};

/// An object in JSON a line: {"step": 1, "time": 1.7e9, "loss": 0.5}. NaN and infinities, which JSON lacks, are null.
class TORCH_API JsonLinesWriter final : public MetricsWriter {
 public:
  explicit JsonLinesWriter(const std::string& path, bool append = false);
  ~JsonLinesWriter() override;

 private:
  std::string encode(double time, int64_t step, const Metrics& metrics) override;
};

/// An event file as TensorBoard reads it; values are rounded to float. Each writer makes a new file in the folder,
/// which is created where it is missing.
class TORCH_API TensorBoardWriter final : public MetricsWriter {
 public:
  explicit TensorBoardWriter(const std::string& folder);
  ~TensorBoardWriter() override;

  const std::string& path() const noexcept;

 private:
  std::string encode(double time, int64_t step, const Metrics& metrics) override;
};

} // namespace torch
