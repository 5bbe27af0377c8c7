// How a checkpoint's folder comes into being at once.
#include <csrc/distributed/checkpoint/folder.h>

#include <c10/util/Exception.h>

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>

namespace torch::distributed::checkpoint {

namespace fs = std::filesystem;

namespace {

fs::path absolute(const std::string& folder) {
  TORCH_CHECK_VALUE(!folder.empty(), "checkpoint: the folder's name is empty");
  fs::path path = fs::absolute(folder).lexically_normal();
  return path.has_filename() ? path : path.parent_path(); // "a/b/"
}

std::string prefix_of(const fs::path& folder) {
  return "." + folder.filename().string() + ".partial-";
}

bool is_part(const fs::path& file) {
  return file.filename() == ".metadata" || file.extension() == ".distcp";
}

void sync_folder(const fs::path& folder) {
  const int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd >= 0) {
    ::fsync(fd);
    ::close(fd);
  }
}

// Files that are no part of a checkpoint stay under its name.
void move_other_files(const fs::path& from, const fs::path& target) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(from, error)) {
    if (!is_part(entry.path()) && !fs::exists(target / entry.path().filename(), error)) {
      fs::rename(entry.path(), target / entry.path().filename(), error);
    }
  }
}

} // namespace

std::string make_partial(const std::string& folder) {
  const fs::path target = absolute(folder);
  std::error_code error;
  if (fs::exists(target, error)) {
    TORCH_CHECK(
        fs::is_directory(target, error) && (fs::exists(target / ".metadata", error) || fs::is_empty(target, error)),
        "checkpoint::save: '", folder, "' is there already and is no checkpoint; name another folder");
  }
  fs::create_directories(target.parent_path());
  for (const auto& entry : fs::directory_iterator(target.parent_path())) {
    if (entry.path().filename().string().rfind(prefix_of(target), 0) == 0) {
      move_other_files(entry.path(), target); // of a save that ended between its two steps
      fs::remove_all(entry.path(), error);
    }
  }
  static std::atomic<int> count{0};
  const auto now = std::chrono::system_clock::now().time_since_epoch().count();
  const fs::path partial = target.parent_path() /
      (prefix_of(target) + std::to_string(now) + "-" + std::to_string(::getpid()) + "-" + std::to_string(count++));
  fs::create_directory(partial);
  return partial.string();
}

void put_in_place(const std::string& partial, const std::string& folder) {
  const fs::path target = absolute(folder);
  sync_folder(partial);
  std::error_code error;
  if (!fs::exists(target, error)) {
    fs::rename(partial, target);
    sync_folder(target.parent_path());
    return;
  }
  // Both names change in one step: there is a whole checkpoint under the name at any time.
  if (::renameat2(AT_FDCWD, partial.c_str(), AT_FDCWD, target.c_str(), RENAME_EXCHANGE) != 0) {
    // File systems without that: the old one is moved away for a moment, under a name that load looks at too.
    const fs::path old = target.parent_path() / ("." + target.filename().string() + ".old");
    fs::remove_all(old, error);
    fs::rename(target, old);
    fs::rename(partial, target);
    fs::rename(old, partial);
  }
  sync_folder(target.parent_path());
  move_other_files(partial, target);
  fs::remove_all(partial, error);
}

void remove_partial(const std::string& partial) noexcept {
  std::error_code error;
  fs::remove_all(partial, error);
}

} // namespace torch::distributed::checkpoint
