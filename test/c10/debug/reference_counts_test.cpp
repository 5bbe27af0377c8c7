// What programs compiled without NDEBUG are told about wrong use of reference counts. A program of its own: in one with
// NDEBUG the linker might take the other copy of the inline functions.
#include <c10/util/intrusive_ptr.h>

#include <catch2/catch.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <functional>
#include <string>

#ifdef NDEBUG
#error "these tests are about assertions, which NDEBUG removes"
#endif

namespace {

using Catch::Matchers::Contains;

struct Object : c10::intrusive_ptr_target {};

struct SelfReferring : c10::intrusive_ptr_target {
  SelfReferring() {
    c10::raw::intrusive_ptr::incref(this);
    c10::raw::intrusive_ptr::incref(this);
  }
};

/// What a child process that ends by abort() has said; empty if it ends otherwise.
std::string abort_message_of(const std::function<void()>& wrong_use) {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    std::signal(SIGABRT, SIG_DFL); // not Catch2's, which would print a report of its own
    ::dup2(ends[1], STDERR_FILENO);
    wrong_use();
    ::_exit(0);
  }
  ::close(ends[1]);
  std::string text;
  char buffer[256];
  for (ssize_t n = 0; (n = ::read(ends[0], buffer, sizeof(buffer))) > 0;) {
    text.append(buffer, static_cast<size_t>(n));
  }
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT ? text : std::string();
}

} // namespace

TEST_CASE("a weak reference to an object that has none left is refused", "[c10][intrusive_ptr]") {
  CHECK_THAT(
      abort_message_of([] {
        Object on_stack;
        c10::raw::weak_intrusive_ptr::incref(&on_stack);
      }),
      Contains("weak_intrusive_ptr: Cannot increase weakcount after it reached zero."));
}

TEST_CASE("a weak pointer takes over only what was released as one", "[c10][intrusive_ptr]") {
  CHECK_THAT(
      abort_message_of([] {
        const auto strong = c10::make_intrusive<Object>();
        c10::weak_intrusive_ptr<Object>::reclaim(strong.get()).release();
      }),
      Contains("weak_intrusive_ptr: Can only weak_intrusive_ptr::reclaim() owning pointers that were created using "
               "weak_intrusive_ptr::release()."));
}

TEST_CASE("an object that is destroyed while a weak reference is left is reported", "[c10][intrusive_ptr]") {
  CHECK_THAT(
      abort_message_of([] {
        auto strong = c10::make_intrusive<Object>();
        c10::weak_intrusive_ptr<Object> weak(strong);
        delete strong.release();
      }),
      Contains("intrusive_ptr_target: destroyed while"));
}

TEST_CASE("an object whose constructor has counted is refused", "[c10][intrusive_ptr]") {
  CHECK_THAT(abort_message_of([] { c10::make_intrusive<SelfReferring>(); }), Contains("intrusive_ptr: "));
}

TEST_CASE("a strong reference to an object without owner is refused", "[c10][intrusive_ptr]") {
  CHECK_THAT(
      abort_message_of([] {
        Object on_stack;
        c10::intrusive_ptr<Object>::unsafe_reclaim_from_nonowning(&on_stack).release();
      }),
      Contains("intrusive_ptr: Can only reclaim pointers that are owned by someone"));
}

TEST_CASE("right use of reference counts passes the assertions", "[c10][intrusive_ptr]") {
  auto strong = c10::make_intrusive<Object>();
  c10::weak_intrusive_ptr<Object> weak(strong);
  auto again = c10::weak_intrusive_ptr<Object>::reclaim(weak.release());
  const auto copy = c10::weak_intrusive_ptr<Object>::reclaim_copy(strong.get());
  CHECK(strong.weak_use_count() == 3);
  strong.reset();
  CHECK(copy.weak_use_count() == 2);
  again = c10::weak_intrusive_ptr<Object>::reclaim(again.release()); // without strong references one weak is enough
  CHECK(again.expired());
  Object on_stack;
  const auto adapted = c10::intrusive_ptr<Object>::unsafe_adapt_non_heap_allocated(&on_stack, 1);
  const c10::weak_intrusive_ptr<Object> weak_on_stack(adapted);
  CHECK(weak_on_stack.lock() == adapted);
}
