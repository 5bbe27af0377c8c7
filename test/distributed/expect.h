// Checks for several threads: Catch's own are for one at a time. What fails is noted, and reported by the test's
// thread.
#pragma once

#include <exception>
#include <initializer_list>
#include <source_location>
#include <string>

namespace test {

/// Notes a failure unless `holds`.
void expect(bool holds, const std::string& got = "", std::source_location place = std::source_location::current());

/// `text` holds each of `parts`.
void expect_text(
    const std::string& text,
    std::initializer_list<const char*> parts,
    std::source_location place = std::source_location::current());

/// `call` throws an Error whose message holds each of `parts`.
template <class Error = std::exception, class Call>
void expect_error(
    Call&& call,
    std::initializer_list<const char*> parts = {},
    std::source_location place = std::source_location::current()) {
  try {
    call();
  } catch (const std::exception& error) {
    if (dynamic_cast<const Error*>(&error) != nullptr) {
      return expect_text(error.what(), parts, place);
    }
    return expect(false, std::string("an error of another type: ") + error.what(), place);
  }
  expect(false, "no error", place);
}

/// Fails the test with what was noted since the last report. For the thread of the test, when the others have ended.
void report_expectations();

} // namespace test
