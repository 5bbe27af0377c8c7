// Files of metrics: CSV, JSON lines and TensorBoard events, read back by readers written for these tests.
#include "datasets_for_tests.h"

#include <torch/metrics.h>

#include <catch2/catch.hpp>

#include <cmath>
#include <cstring>
#include <limits>
#include <regex>

using test::TemporaryFolder;

namespace {

/// With the times, which differ, made "T".
std::string without_times(const std::string& text) {
  return std::regex_replace(text, std::regex("[0-9]{10}\\.[0-9]{3}"), "T");
}

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

} // namespace

TEST_CASE("CSV files grow by rows and columns", "[metrics]") {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/run.csv";
  {
    auto log = torch::MetricsWriter::open(path);
    log->write(1, {{"loss", 0.5}, {"lr", 1e-3}});
    log->write(2, {{"loss", kNan}});
    log->write(3, {{"loss", 0.1}, {"accuracy, \"top 1\"", 0.75}});
    log->add_scalar("lr", 2, 4);
  }
  const std::string first =
      "step,time,loss,lr,\"accuracy, \"\"top 1\"\"\"\n1,T,0.5,0.001\n2,T,nan,\n3,T,0.1,,0.75\n4,T,,2,\n";
  CHECK(without_times(TemporaryFolder::read(path)) == first);
  {
    torch::CsvWriter more(path, /*append=*/true);
    more.add_scalar("accuracy, \"top 1\"", 1, 5);
  }
  CHECK(without_times(TemporaryFolder::read(path)) == first + "5,T,,,1\n");
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 1);
  torch::CsvWriter{path};
  CHECK(TemporaryFolder::read(path) == "step,time\n");
  folder.write("other.csv", "a,b\n1,2\n");
  CHECK_THROWS_WITH(
      torch::CsvWriter(folder.path() + "/other.csv", true), Catch::Contains("does not begin with step,time"));
}

TEST_CASE("JSON lines hold one object each", "[metrics]") {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/run.jsonl";
  torch::MetricsWriter::open(path)->write(1, {{"loss", 0.5}, {"a\"\\\n", -1e300}});
  torch::MetricsWriter::open(path, true)->write(2, {{"loss", kNan}});
  CHECK(
      without_times(TemporaryFolder::read(path)) ==
      "{\"step\": 1, \"time\": T, \"loss\": 0.5, \"a\\\"\\\\\\u000a\": -1e+300}\n{\"step\": 2, \"time\": T, \"loss\": "
      "null}\n");
}

namespace {

/// CRC32C bit by bit, apart from the library's table.
uint32_t slow_crc32c(const std::string& bytes) {
  uint32_t crc = 0xffffffff;
  for (const char c : bytes) {
    crc ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) {
      crc = (crc & 1) != 0 ? (crc >> 1) ^ 0x82f63b78 : crc >> 1;
    }
  }
  return ~crc;
}

template <class T>
T raw(const std::string& bytes, size_t at) {
  T value;
  REQUIRE(at + sizeof(T) <= bytes.size());
  std::memcpy(&value, bytes.data() + at, sizeof(T));
  return value;
}

uint32_t masked(const std::string& bytes) {
  const uint32_t crc = slow_crc32c(bytes);
  return ((crc >> 15) | (crc << 17)) + 0xa282ead8U;
}

/// The events of a file, with checksums verified.
std::vector<std::string> events(const std::string& file) {
  std::vector<std::string> all;
  for (size_t at = 0; at < file.size();) {
    const auto size = raw<uint64_t>(file, at);
    CHECK(raw<uint32_t>(file, at + 8) == masked(file.substr(at, 8)));
    REQUIRE(at + 16 + size <= file.size());
    all.push_back(file.substr(at + 12, size));
    CHECK(raw<uint32_t>(file, at + 12 + size) == masked(all.back()));
    at += 16 + size;
  }
  return all;
}

} // namespace

TEST_CASE("TensorBoard files hold events with checksums", "[metrics]") {
  CHECK(slow_crc32c("123456789") == 0xe3069283); // the check value of RFC 3720's polynomial
  const TemporaryFolder folder;
  std::string path;
  {
    torch::TensorBoardWriter log(folder.path() + "/runs/a");
    path = log.path();
    log.write(300, {{"loss", 0.5}, {"lr", 0.25}});
  }
  CHECK_THAT(path, Catch::Contains("/runs/a/events.out.tfevents."));
  const std::vector<std::string> all = events(TemporaryFolder::read(path));
  REQUIRE(all.size() == 2);
  CHECK(
      all[0].substr(9) ==
      "\x1a\x0d"
      "brain.Event:2");
  CHECK(all[0][0] == '\x09');
  CHECK(raw<double>(all[0], 1) > 1.7e9);
  // step 300, a summary with two values: a name and a float each
  CHECK(
      all[1].substr(9) ==
      std::string("\x10\xac\x02\x2a\x18\x0a\x0b\x0a\x04loss\x15\0\0\0\x3f\x0a\x09\x0a\x02lr\x15\0\0\x80\x3e", 29));
}

TEST_CASE("metrics that cannot be written name the file", "[metrics]") {
  const TemporaryFolder folder;
  CHECK_THROWS_WITH(
      torch::CsvWriter(folder.path() + "/no/run.csv"), Catch::Contains(folder.path() + "/no/run.csv: No such"));
  folder.write("file", "");
  CHECK_THROWS_WITH(
      torch::TensorBoardWriter(folder.path() + "/file/runs"), Catch::Contains("cannot create the folder"));
  torch::JsonLinesWriter full("/dev/full");
  full.write(1, {{"loss", 1}});
  CHECK_THROWS_WITH(full.flush(), Catch::Contains("Error writing file /dev/full: No space left"));
}
