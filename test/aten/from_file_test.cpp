// Tensors over mapped files.
#include <catch2/catch.hpp>

#include <aten/Functions.h>
#include <aten/ops/from_file.h>

#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include "test/support/matchers.h"

using at::Tensor;
using test::Says;

namespace {

/// A file of 16 bytes, 0 to 15, for as long as this lives.
class SmallFile {
 public:
  SmallFile() {
    const int fd = ::mkstemp(path_);
    REQUIRE(fd >= 0);
    ::close(fd);
    std::ofstream out(path_, std::ios::binary);
    for (char c = 0; c < 16; ++c) {
      out.put(c);
    }
  }
  ~SmallFile() {
    ::unlink(path_);
  }
  std::string path() const {
    return path_;
  }
  int64_t size() const {
    return static_cast<int64_t>(std::ifstream(path_, std::ios::binary | std::ios::ate).tellg());
  }

 private:
  char path_[32] = "/tmp/from_file_XXXXXX";
};

} // namespace

TEST_CASE("a private mapping reads a file and leaves it alone", "[from_file]") {
  const SmallFile file;
  Tensor t = at::from_file(file.path(), false, 16, at::kByte);
  CHECK(t.equal(at::arange(16, at::kByte)));
  t.fill_(9);
  CHECK(at::from_file(file.path(), std::nullopt, 4, at::kByte).equal(at::arange(4, at::kByte)));
  CHECK(at::from_file(file.path()).sizes() == at::IntArrayRef({0}));
  CHECK(at::from_file(file.path(), false, 4).scalar_type() == at::kFloat);
  CHECK_THROWS_MATCHES(
      at::from_file(file.path(), false, 5), c10::Error,
      Says("size <16> is smaller than the required mapping size <20>"));
  CHECK(file.size() == 16);
}

TEST_CASE("a shared mapping grows a file and writes to it", "[from_file]") {
  const SmallFile file;
  {
    Tensor t = at::from_file(file.path(), true, 5, at::kInt);
    CHECK(file.size() == 20);
    t.fill_(0x01010101);
  }
  CHECK(at::from_file(file.path(), false, 20, at::kByte).eq(1).all().item<bool>());
  Tensor out = at::empty({0}, at::kByte);
  at::from_file_out(out, file.path(), false, 3);
  CHECK(out.equal(at::ones({3}, at::kByte)));
}

TEST_CASE("files that cannot be mapped are refused", "[from_file]") {
  const SmallFile file;
  CHECK_THROWS_MATCHES(
      at::from_file("/no such file", false, 1), c10::Error,
      Says("unable to open file </no such file> in read-only mode"));
  CHECK_THROWS_MATCHES(at::from_file("/tmp", false, 1), c10::Error, Says("it is not a regular file"));
  CHECK_THROWS_MATCHES(at::from_file(file.path(), false, -1), c10::Error, Says("must not be negative"));
  CHECK_THROWS_MATCHES(at::from_file(file.path(), false, int64_t{1} << 62), c10::Error, Says("must fit 64 bits"));
  CHECK_THROWS_MATCHES(
      at::from_file(file.path(), false, int64_t{1} << 60), c10::Error, Says("smaller than the required mapping size"));
  CHECK_THROWS_MATCHES(
      at::from_file(file.path(), false, 1, at::TensorOptions().pinned_memory(true)), c10::Error,
      Says("cannot be pinned"));
  CHECK_THROWS_MATCHES(
      at::from_file(file.path(), false, 1, at::kMeta), c10::Error, Says("is a strided tensor on the CPU"));
  CHECK_THROWS_AS(at::from_file(std::string("a\0b", 3), false, 1), c10::Error);
}
