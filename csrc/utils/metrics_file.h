// The file behind a MetricsWriter. Private to the writers' sources.
#pragma once

#include <csrc/utils/metrics.h>

#include <cstdio>
#include <string>

namespace torch {

struct MetricsWriter::File {
  /// Throws with the path and the reason if it cannot be opened.
  File(std::string path, bool append);
  ~File();
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  void write(const std::string& bytes);
  void flush();
  /// Puts `bytes` in place of everything; all at once, so that a crash leaves the old file or the new one.
  void replace(const std::string& bytes);
  std::string read() const;

  std::string path;
  std::FILE* stream = nullptr;
  double last_flush;
};

/// Seconds since 1970.
double wall_time();

} // namespace torch
