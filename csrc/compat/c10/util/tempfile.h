#pragma once

#include <c10/macros/Macros.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>

// Files and folders that are removed when their object is destroyed. They stand in the folder that TMPDIR, TMP, TEMP or
// TEMPDIR names, else in /tmp, as the prefix and six random letters.

namespace c10 {

/// An open file of this process; closed and removed with the object.
struct C10_API TempFile {
  TempFile(std::string_view name, int fd) : fd(fd), name(name) {}
  TempFile(const TempFile&) = delete;
  TempFile(TempFile&& other) noexcept : fd(std::exchange(other.fd, -1)), name(std::move(other.name)) {}
  TempFile& operator=(const TempFile&) = delete;
  TempFile& operator=(TempFile&& other) noexcept {
    std::swap(fd, other.fd);
    std::swap(name, other.name);
    return *this;
  }
  ~TempFile();

  int fd;
  std::string name;
};

/// A folder, removed with the object where it is empty.
struct C10_API TempDir {
  explicit TempDir(std::string_view name) noexcept : name(name) {}
  TempDir(const TempDir&) = delete;
  TempDir(TempDir&& other) noexcept : name(std::exchange(other.name, std::string())) {}
  TempDir& operator=(const TempDir&) = delete;
  TempDir& operator=(TempDir&& other) noexcept {
    std::swap(name, other.name);
    return *this;
  }
  ~TempDir();

  std::string name;
};

/// Without a value where the system makes none.
C10_API std::optional<TempFile> try_make_tempfile(std::string_view name_prefix = "torch-file-");
C10_API std::optional<TempDir> try_make_tempdir(std::string_view name_prefix = "torch-dir-");

/// Throw c10::Error instead.
C10_API TempFile make_tempfile(std::string_view name_prefix = "torch-file-");
C10_API TempDir make_tempdir(std::string_view name_prefix = "torch-dir-");

} // namespace c10
