#include <c10/util/ArrayRef.h>
#include <c10/util/Exception.h>

#include <catch2/catch.hpp>

#include <exception>
#include <string>
#include <thread>
#include <vector>

using namespace c10;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

namespace {

template <class F>
std::string message_of(F&& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what_without_backtrace();
  }
  return "nothing thrown";
}

enum Fruit { kApple = 4 };
enum class Colour : int8_t { kRed = 2 };
struct Point {
  int x, y;
};
std::ostream& operator<<(std::ostream& out, const Point& p) {
  return out << '<' << p.x << ',' << p.y << '>';
}

} // namespace

TEST_CASE("a failed check says what it was told to say", "[c10][exception]") {
  const int64_t got = 5;
  CHECK(message_of([&] { TORCH_CHECK(got == 3, "expected 3 but got ", got, '!'); }) == "expected 3 but got 5!");
  CHECK(message_of([&] { TORCH_CHECK(got == 3); }) == "Expected got == 3 to be true, but got false.");
  CHECK(message_of([&] { TORCH_CHECK(got == 5, "not evaluated"); }) == "nothing thrown");
  CHECK(message_of([&] { TORCH_CHECK_ARG(false, 2, "too big: ", 2.5f); }) == "invalid argument 2: too big: 2.5");
  CHECK(message_of([&] { TORCH_CHECK_EQ(got, 3); }) == "Check failed: got == 3 (5 vs. 3). ");
  CHECK(message_of([&] { TORCH_CHECK_LT(got, 9); }) == "nothing thrown");
  CHECK(message_of([&] { AT_ERROR("plain ", std::string("text")); }) == "plain text");
}

TEST_CASE("the arguments of a check are not evaluated when it holds", "[c10][exception]") {
  int evaluated = 0;
  TORCH_CHECK(true, "never ", ++evaluated);
  TORCH_CHECK_INDEX(true, ++evaluated);
  TORCH_INTERNAL_ASSERT(true, ++evaluated);
  CHECK(evaluated == 0);
}

TEST_CASE("messages print every kind of value", "[c10][exception]") {
  const char* text = "text";
  char buffer[] = "buffer";
  const std::vector<int64_t> sizes = {2, 3};
  CHECK(str(1, ' ', 2u, ' ', -3l, ' ', true, ' ', 1.5, ' ', 0.1f) == "1 2 -3 1 1.5 0.1");
  CHECK(str(text, ' ', buffer, ' ', std::string_view("view")) == "text buffer view");
  CHECK(str(kApple, ' ', Colour::kRed, ' ', Point{1, 2}) == "4 2 <1,2>");
  CHECK(str(IntArrayRef(sizes)) == "[2, 3]");
  CHECK(str().empty());
  CHECK(str(static_cast<const char*>(nullptr), "") == "(null)");
  CHECK(Join(", ", sizes) == "2, 3");
}

TEST_CASE("errors come in classes", "[c10][exception]") {
  CHECK_THROWS_AS([] { TORCH_CHECK_INDEX(false, "x"); }(), IndexError);
  CHECK_THROWS_AS([] { TORCH_CHECK_VALUE(false, "x"); }(), ValueError);
  CHECK_THROWS_AS([] { TORCH_CHECK_TYPE(false, "x"); }(), TypeError);
  CHECK_THROWS_AS([] { TORCH_CHECK_LINALG(false, "x"); }(), LinAlgError);
  CHECK_THROWS_AS([] { TORCH_CHECK_NOT_IMPLEMENTED(false, "x"); }(), NotImplementedError);
  CHECK_THROWS_AS([] { TORCH_CHECK_WITH(OutOfMemoryError, false, "x"); }(), OutOfMemoryError);
  CHECK_THROWS_AS([] { C10_THROW_ERROR(DistBackendError, "x"); }(), DistError);
  CHECK_THROWS_AS([] { TORCH_CHECK_INDEX(false, "x"); }(), std::exception);
}

TEST_CASE("a broken invariant names itself and its place", "[c10][exception]") {
  const std::string message = message_of([] { TORCH_INTERNAL_ASSERT(1 + 1 == 3, "more: ", 7); });
  CHECK_THAT(message, StartsWith("1 + 1 == 3 INTERNAL ASSERT FAILED at \""));
  CHECK_THAT(message, Contains("exception_test.cpp\":"));
  CHECK_THAT(message, Contains("more: 7"));
}

TEST_CASE("what() starts with the message, then says where it was raised", "[c10][exception]") {
  try {
    TORCH_CHECK(false, "the message");
  } catch (Error& e) {
    CHECK(e.msg() == "the message");
    CHECK_THAT(e.what(), StartsWith("the message\nException raised from "));
    CHECK_THAT(e.what(), Contains("exception_test.cpp:"));
    e.add_context("first");
    CHECK(std::string(e.what_without_backtrace()) == "the message (first)");
    e.add_context("second");
    CHECK(std::string(e.what_without_backtrace()) == "the message\n  first\n  second");
    CHECK(e.context().size() == 2);
    REQUIRE(e.backtrace() != nullptr);
    CHECK_THAT(e.backtrace()->get(), Contains("frame #0: "));
    const Error copy = e;
    CHECK(std::string(copy.what()) == e.what());
  }
}

TEST_CASE("warnings go to the handler of the thread", "[c10][exception]") {
  struct Collector : WarningHandler {
    std::vector<std::string> messages;
    void process(const Warning& warning) override {
      messages.push_back(warning.msg());
    }
  } collector;
  {
    const WarningUtils::WarningHandlerGuard guard(&collector);
    const auto warn_twice = [] {
      for (int i = 0; i < 2; ++i) {
        TORCH_WARN_ONCE("once ", i);
      }
    };
    TORCH_WARN("value ", 3);
    warn_twice();
    CHECK(collector.messages == std::vector<std::string>{"value 3", "once 0"});
    const WarningUtils::WarnAlways always;
    warn_twice();
    CHECK(collector.messages.size() == 4);
    std::thread([] { CHECK(dynamic_cast<Collector*>(WarningUtils::get_warning_handler()) == nullptr); }).join();
  }
  CHECK(WarningUtils::get_warning_handler() != &collector);
}

TEST_CASE("errors cross threads", "[c10][exception]") {
  std::exception_ptr error;
  std::thread([&] {
    try {
      TORCH_CHECK_VALUE(false, "from afar");
    } catch (...) {
      error = std::current_exception();
    }
  }).join();
  CHECK_THROWS_AS(std::rethrow_exception(error), ValueError);
  CHECK_THROWS_WITH(std::rethrow_exception(error), StartsWith("from afar"));
}
