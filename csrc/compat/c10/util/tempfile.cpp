#include <csrc/compat/c10/util/tempfile.h>

#include <c10/util/Exception.h>

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace c10 {

namespace {

// A path for mkstemp and mkdtemp, which replace the six letters.
std::string temporary_path_pattern(std::string_view name_prefix) {
  std::string folder = "/tmp";
  for (const char* variable : {"TMPDIR", "TMP", "TEMP", "TEMPDIR"}) {
    if (const char* value = std::getenv(variable)) {
      folder = value;
      break;
    }
  }
  return folder + "/" + std::string(name_prefix) + "XXXXXX";
}

} // namespace

TempFile::~TempFile() {
  if (fd >= 0) {
    unlink(name.c_str());
    close(fd);
  }
}

TempDir::~TempDir() {
  if (!name.empty()) {
    rmdir(name.c_str());
  }
}

std::optional<TempFile> try_make_tempfile(std::string_view name_prefix) {
  std::string path = temporary_path_pattern(name_prefix);
  const int fd = mkstemp(path.data());
  if (fd < 0) {
    return std::nullopt;
  }
  return std::optional<TempFile>(std::in_place, path, fd);
}

std::optional<TempDir> try_make_tempdir(std::string_view name_prefix) {
  std::string path = temporary_path_pattern(name_prefix);
  if (mkdtemp(path.data()) == nullptr) {
    return std::nullopt;
  }
  return std::optional<TempDir>(std::in_place, path);
}

TempFile make_tempfile(std::string_view name_prefix) {
  std::optional<TempFile> file = try_make_tempfile(name_prefix);
  TORCH_CHECK(
      file.has_value(), "Error generating temporary file, file name: ", temporary_path_pattern(name_prefix), ": ",
      std::strerror(errno));
  return std::move(*file);
}

TempDir make_tempdir(std::string_view name_prefix) {
  std::optional<TempDir> folder = try_make_tempdir(name_prefix);
  TORCH_CHECK(
      folder.has_value(), "Error generating temporary directory, folder name: ", temporary_path_pattern(name_prefix),
      ": ", std::strerror(errno));
  return std::move(*folder);
}

} // namespace c10
