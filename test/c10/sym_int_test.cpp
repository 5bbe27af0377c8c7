#include <catch2/catch.hpp>

#include <c10/core/ConstantSymNodeImpl.h>
#include <c10/core/SymBool.h>
#include <c10/core/SymFloat.h>
#include <c10/core/SymInt.h>
#include <c10/core/SymIntArrayRef.h>

#include <cstdint>
#include <limits>
#include <random>
#include <sstream>
#include <string>
#include <vector>

using namespace c10;

namespace {

// A value with a name, that counts how many nodes are alive.
class Node final : public SymNodeImpl {
 public:
  explicit Node(std::string text, int64_t hint = 0, bool boolean = false)
      : text_(std::move(text)), hint_(hint), boolean_(boolean) {
    ++alive;
  }
  ~Node() override {
    --alive;
  }
  bool is_int() override {
    return !boolean_;
  }
  bool is_bool() override {
    return boolean_;
  }
  SymNode wrap_int(int64_t value) override {
    return make_intrusive<Node>(std::to_string(value), value);
  }
  SymNode wrap_bool(bool value) override {
    return make_intrusive<Node>(value ? "true" : "false", value, true);
  }
  SymNode add(const SymNode& other) override {
    return make_intrusive<Node>("(" + text_ + " + " + other->str() + ")", hint_ + other->guard_int("", 0));
  }
  SymNode lt(const SymNode& other) override {
    return make_intrusive<Node>("(" + text_ + " < " + other->str() + ")", hint_ < other->guard_int("", 0), true);
  }
  SymNode sym_not() override {
    return make_intrusive<Node>("not " + text_, hint_ == 0, true);
  }
  SymNode sym_and(const SymNode& other) override {
    return make_intrusive<Node>(
        "(" + text_ + " and " + other->str() + ")", hint_ != 0 && other->guard_bool("", 0), true);
  }
  int64_t guard_int(const char*, int64_t) override {
    return hint_;
  }
  bool guard_bool(const char*, int64_t) override {
    return hint_ != 0;
  }
  bool has_hint() override {
    return true;
  }
  std::string str() override {
    return text_;
  }

  static inline int alive = 0;

 private:
  std::string text_;
  int64_t hint_;
  bool boolean_;
};

SymInt symbol(const char* name, int64_t hint) {
  return SymInt(SymNode(make_intrusive<Node>(name, hint)));
}

template <class T>
std::string text(const T& value) {
  std::ostringstream out;
  out << value;
  return out.str();
}

constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

} // namespace

TEST_CASE("concrete SymInts compute as integers", "[c10][sym]") {
  std::mt19937_64 random(2);
  for (int round = 0; round < 1000; ++round) {
    const auto a = static_cast<int64_t>(random() % 2001) - 1000;
    const auto b = static_cast<int64_t>(random() % 2001) - 1000;
    const SymInt x = a;
    const SymInt y = b;
    REQUIRE((x + y).expect_int() == a + b);
    REQUIRE((x - b).expect_int() == a - b);
    REQUIRE((a * y).expect_int() == a * b);
    if (b != 0) {
      REQUIRE((x / y).expect_int() == a / b);
      REQUIRE((x % y).expect_int() == a % b);
    }
    REQUIRE((x < y) == (a < b));
    REQUIRE((x >= b) == (a >= b));
    REQUIRE(x.min(y) == std::min(a, b));
    REQUIRE(x.max(y) == std::max(a, b));
    REQUIRE((-x).expect_int() == -a);
  }
  CHECK_FALSE(SymInt(5).is_symbolic());
  CHECK(text(SymInt(-3)) == "-3");
  CHECK(SymInt(2) * 1.5 == 3.0);
  CHECK(SymInt(2) < 2.5f);
  CHECK(static_cast<SymFloat>(SymInt(7)).expect_float() == 7.0);
}

TEST_CASE("integers of any size survive", "[c10][sym]") {
  for (const int64_t value :
       {kMin, kMin + 1, SymInt::min_representable_int() - 1, SymInt::min_representable_int(), int64_t{-1}, int64_t{0},
        kMax}) {
    SymInt x(value);
    CHECK(x.expect_int() == value);
    CHECK_FALSE(x.is_symbolic());
    CHECK(x.is_heap_allocated() == (value < SymInt::min_representable_int()));
    SymInt y = x;
    SymInt z = std::move(x);
    CHECK(y == z);
    CHECK(y.is_same(z));
    y = 3;
    CHECK(z.expect_int() == value);
    CHECK((z.min(SymInt(0)) == std::min<int64_t>(value, 0)));
  }
}

TEST_CASE("overflow of SymInts throws", "[c10][sym]") {
  CHECK_THROWS_WITH(SymInt(kMax) + 1, Catch::Contains("overflows a 64-bit integer"));
  CHECK_THROWS(SymInt(kMin) - 1);
  CHECK_THROWS(SymInt(int64_t{1} << 40) * (int64_t{1} << 40));
  CHECK_THROWS(-SymInt(kMin));
  CHECK_THROWS(SymInt(kMin) / -1);
  CHECK_THROWS_WITH(SymInt(1) / 0, Catch::Contains("by zero"));
  CHECK_THROWS(SymInt(1) % 0);
  CHECK(SymInt(kMin) % -1 == 0);
  const std::vector<SymInt> sizes = {2, 3, 4};
  CHECK(multiply_integers(sizes) == 24);
}

TEST_CASE("symbolic SymInts go to their node and own it", "[c10][sym]") {
  const int before = Node::alive;
  {
    SymInt s = symbol("s0", 5);
    CHECK(s.is_symbolic());
    CHECK(text(s + 1) == "(s0 + 1)");
    CHECK(text(2 + s) == "(2 + s0)");
    SymInt copy = s;
    copy += copy;
    CHECK(copy.guard_int(__FILE__, __LINE__) == 10);
    CHECK(s < 6);
    CHECK_FALSE(s.sym_lt(SymInt(5)).guard_bool(__FILE__, __LINE__));
    const SymBool both = s.sym_lt(SymInt(6)).sym_and(SymBool(true));
    CHECK(both.is_symbolic());
    CHECK(text(both) == "((s0 < 6) and true)");
    CHECK(text(both.sym_not()) == "not ((s0 < 6) and true)");
    CHECK_THROWS_WITH(s.expect_int(), Catch::Contains("when unpacking SymInt, expected int but got s0"));
    CHECK_THROWS_WITH(s * 2, Catch::Contains("mul is not implemented"));
    CHECK_THROWS(both.expect_bool());
    CHECK(s.is_same(s));
    SymInt assigned;
    assigned = s;
    assigned = std::move(assigned);
    assigned = SymInt(3);
    CHECK(assigned == 3);
    SymNodeImpl* raw = std::move(s).release();
    SymNode::reclaim(raw);
  }
  CHECK(Node::alive == before);
  CHECK_THROWS(SymInt(SymNode()));
  CHECK_THROWS(SymInt(SymNode(make_intrusive<Node>("b", 1, true))));
}

TEST_CASE("SymBool and SymFloat compute when concrete", "[c10][sym]") {
  CHECK((SymBool(true) & SymBool(true)).expect_bool());
  CHECK((SymBool(false) | SymBool(true)).expect_bool());
  CHECK((~SymBool(true)).expect_bool() == false);
  CHECK(TORCH_GUARD_SIZE_OBLIVIOUS(SymBool(true)));
  CHECK(SymFloat(2.0) + SymFloat(0.5) == SymFloat(2.5));
  CHECK(SymFloat(9.0).sqrt().expect_float() == 3.0);
  CHECK(SymFloat(1.0).max(SymFloat(2.0)).maybe_as_float() == 2.0);
  CHECK(text(SymFloat(0.5)) == "0.5");
  CHECK(text(SymInt(ConstantSymNodeImpl<int64_t>(4).wrap_int(4))) == "4");
}

TEST_CASE("arrays of sizes are read as SymInts and back without a copy", "[c10][sym]") {
  const std::vector<int64_t> sizes = {2, 3, 0};
  const SymIntArrayRef sym = fromIntArrayRefSlow(sizes);
  CHECK(static_cast<const void*>(sym.data()) == sizes.data());
  CHECK(sym[1] == 3);
  CHECK(C10_AS_INTARRAYREF_SLOW(sym).data() == sizes.data());
  CHECK(asIntArrayRefSlowOpt(sym)->size() == 3);
  const std::vector<int64_t> too_negative = {kMin};
  CHECK_THROWS_WITH(fromIntArrayRefSlow(too_negative), Catch::Contains("cannot be represented as a SymInt"));
  const std::vector<SymInt> mixed = {2, symbol("s0", 8)};
  CHECK_FALSE(asIntArrayRefSlowOpt(mixed).has_value());
  CHECK_THROWS_WITH(
      C10_AS_INTARRAYREF_SLOW(SymIntArrayRef(mixed)), Catch::Contains("expected to contain only concrete integers"));
  CHECK(C10_AS_INTARRAYREF_SLOW_ALLOC(SymIntArrayRef(mixed))[1] == 8);
}
