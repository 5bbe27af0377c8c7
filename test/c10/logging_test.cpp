#include <c10/util/Logging.h>

#include <catch2/catch.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <functional>
#include <limits>
#include <string>

using namespace c10;

namespace {

template <class E = Error, class F>
std::string message_of(F&& f) {
  try {
    f();
  } catch (const E& e) {
    return e.what_without_backtrace();
  }
  return "nothing thrown";
}

// A message without its "[enforce fail at FILE:LINE] ".
template <class F>
std::string enforced(F&& f) {
  const std::string message = message_of(f);
  const size_t end = message.find("] ");
  return end == std::string::npos ? message : message.substr(end + 2);
}

struct Object {
  const void* caller = nullptr;

  void compare(int x, int y) {
    try {
      CAFFE_ENFORCE_EQ_WITH_CALLER(x, y);
      CAFFE_ENFORCE_LT_WITH_CALLER(x, y, "in ", "a method");
    } catch (const Error& e) {
      caller = e.caller();
      throw;
    }
  }
};

} // namespace

TEST_CASE("a failed comparison tells both values and what is said beside them", "[c10][logging]") {
  CHECK(enforced([] { CAFFE_ENFORCE_EQ(1, 2); }) == "1 == 2. 1 vs 2");
  CHECK(enforced([] { CAFFE_ENFORCE_EQ(1, 2, ""); }) == "1 == 2. 1 vs 2. ");
  const int left = 5;
  CHECK(enforced([&] { CAFFE_ENFORCE_GE(left, 7.5, "not ", left); }) == "left >= 7.5. 5 vs 7.5. not 5");
  CHECK(enforced([&] { CAFFE_ENFORCE_NE(left, 5); }) == "left != 5. 5 vs 5");
  CHECK(enforced([&] { CAFFE_ENFORCE_LE(left, 5); }) == "nothing thrown");
  CHECK(enforced([&] { CAFFE_ENFORCE_GT(left, 4, "not evaluated"); }) == "nothing thrown");
  CHECK(enforced([] { CAFFE_ENFORCE(1 > 2, "said ", 3); }) == "1 > 2. said 3");
}

TEST_CASE("a comparison may be any predicate of two values, each evaluated once", "[c10][logging]") {
  int evaluated = 0;
  const auto next = [&] { return ++evaluated; };
  CHECK(enforced([&] { CAFFE_ENFORCE_THAT(std::equal_to<void>(), ==, next(), 2); }) == "next() == 2. 1 vs 2");
  CHECK(evaluated == 1);
  const auto seven_more = [](int x, int y) { return x == y + 7; };
  CHECK(enforced([&] {
          CAFFE_ENFORCE_THAT(seven_more, is seven more than, 4, 2, "by ", 5);
        }) == "4 is seven more than 2. 4 vs 2. by 5");
  CHECK(enforced([&] { CAFFE_ENFORCE_THAT(seven_more, is seven more than, 9, 2); }) == "nothing thrown");
}

TEST_CASE("an error of a comparison in a method knows the object", "[c10][logging]") {
  Object object;
  CHECK(enforced([&] { object.compare(1, 2); }) == "x == y. 1 vs 2");
  CHECK(object.caller == &object);
  CHECK(enforced([&] { object.compare(2, 2); }) == "x < y. 2 vs 2. in a method");
}

TEST_CASE("what is not finite has an error of its own", "[c10][logging]") {
  const double infinite = std::numeric_limits<double>::infinity();
  const auto check = [&] { CAFFE_ENFORCE_FINITE(std::isfinite(infinite), "got ", infinite); };
  CHECK(enforced(check) == "std::isfinite(infinite). got inf");
  CHECK(message_of<EnforceFiniteError>(check) != "nothing thrown");
}

TEST_CASE("a failed check ends the process where the flag asks for it", "[c10][logging]") {
  CHECK_FALSE(FLAGS_caffe2_use_fatal_for_enforce);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    std::signal(SIGABRT, SIG_DFL);
    close(STDERR_FILENO);
    FLAGS_caffe2_use_fatal_for_enforce = true;
    message_of([] { CAFFE_ENFORCE(false, "fatal"); });
    _exit(0);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFSIGNALED(status));
  CHECK(WTERMSIG(status) == SIGABRT);
}
