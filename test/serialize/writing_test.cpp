// Files come into being at once or not at all.
#include "support.h"

#include <csrc/serialize/pickle_file.h>

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <sstream>

using namespace serialize_test;
using torch::serialize::load_pickle;
using torch::serialize::save_pickle;

namespace {

/// Writes beyond so many bytes of a file fail, as on a full disk.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    REQUIRE(::getrlimit(RLIMIT_FSIZE, &before_) == 0);
    const rlimit limit{bytes, before_.rlim_max};
    REQUIRE(::setrlimit(RLIMIT_FSIZE, &limit) == 0);
  }
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  void (*handler_)(int);
  rlimit before_{};
};

} // namespace

TEST_CASE("a full disk loses nothing of the older file", "[serialize][writing]") {
  const Folder folder;
  const std::string path = folder.file("model.pt");
  save_pickle(torch::arange(3), path);
  const std::string before = read_bytes(path);
  const size_t room = GENERATE(0, 1000, 100000);
  {
    const FileSizeLimit limit(room);
    CHECK_THROWS_MATCHES(
        save_pickle(torch::zeros({100000}), path), c10::Error,
        test::Says("writing '" + path + "' failed: write: File too large. An older file of this name is as it was."));
    CHECK_THROWS_MATCHES(torch::save(torch::zeros({100000}), path), c10::Error, test::Says("File too large"));
  }
  CHECK(read_bytes(path) == before);
  CHECK(folder.files() == std::vector<std::string>{"model.pt"});
}

TEST_CASE("a value that cannot be saved leaves the older file alone", "[serialize][writing]") {
  const Folder folder;
  const std::string path = folder.file("model.pt");
  save_pickle(torch::arange(3), path);
  CHECK_THROWS_AS(save_pickle(torch::Storage(torch::ones({1}).storage()), path), c10::Error);
  CHECK_THAT(load_pickle(path).toTensor(), EqualsTensor({0, 1, 2}));
  CHECK(folder.files() == std::vector<std::string>{"model.pt"});
}

TEST_CASE("paths that cannot be written to", "[serialize][writing]") {
  const Folder folder;
  CHECK_THROWS_MATCHES(
      save_pickle(true, "/nowhere/x.pt"), c10::Error, test::Says("Parent directory /nowhere does not exist."));
  CHECK_THROWS_MATCHES(save_pickle(true, folder.file("")), c10::Error, test::Says("is a directory"));
  CHECK_THROWS_MATCHES(save_pickle(true, "/proc/version/x"), c10::Error, test::Says("/proc/version/x"));
}

TEST_CASE("links and permissions stay", "[serialize][writing]") {
  const Folder folder;
  const std::string path = folder.file("target.pt"), link = folder.file("link.pt");
  save_pickle(true, path);
  struct stat status {};
  REQUIRE(::stat(path.c_str(), &status) == 0);
  const mode_t mask = ::umask(0);
  ::umask(mask);
  CHECK((status.st_mode & 0777) == (0666 & ~mask));
  REQUIRE(::chmod(path.c_str(), 0640) == 0);
  REQUIRE(::symlink("target.pt", link.c_str()) == 0);
  save_pickle(false, link);
  REQUIRE(::lstat(link.c_str(), &status) == 0);
  CHECK(S_ISLNK(status.st_mode));
  REQUIRE(::stat(path.c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0640);
  CHECK_FALSE(load_pickle(path).toBool());
}

TEST_CASE("streams and functions that stop", "[serialize][writing]") {
  std::ostringstream stream;
  stream.setstate(std::ios::badbit);
  CHECK_THROWS_MATCHES(torch::save(torch::ones({1}), stream), c10::Error, test::Says("writing to the stream failed"));
  const auto half = [](const void*, size_t size) { return size / 2; };
  CHECK_THROWS_MATCHES(torch::save(torch::ones({1}), half), c10::Error, test::Says("the writer function took"));
}
