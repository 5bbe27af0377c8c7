#include "expect.h"

#include <catch2/catch.hpp>

#include <mutex>
#include <vector>

namespace test {

namespace {

std::mutex mutex;
std::vector<std::string>& failures() {
  static std::vector<std::string> all;
  return all;
}

} // namespace

void expect(bool holds, const std::string& got, std::source_location place) {
  if (!holds) {
    const std::lock_guard lock(mutex);
    failures().push_back(std::string(place.file_name()) + ":" + std::to_string(place.line()) + " " + got);
  }
}

void expect_text(const std::string& text, std::initializer_list<const char*> parts, std::source_location place) {
  for (const char* part : parts) {
    expect(text.find(part) != std::string::npos, "\"" + text + "\" does not hold \"" + part + "\"", place);
  }
}

void report_expectations() {
  const std::lock_guard lock(mutex);
  CHECK(failures() == std::vector<std::string>());
  failures().clear();
}

} // namespace test
