// The small helpers of c10/util.

#include <c10/core/CompileTimeFunctionPointer.h>
#include <c10/util/Bitset.h>
#include <c10/util/ConstexprCrc.h>
#include <c10/util/DeadlockDetection.h>
#include <c10/util/Enumerate.h>
#include <c10/util/Flags.h>
#include <c10/util/FunctionRef.h>
#include <c10/util/Indirect.h>
#include <c10/util/Metaprogramming.h>
#include <c10/util/Registry.h>
#include <c10/util/ScopeExit.h>
#include <c10/util/SharedOf.h>
#include <c10/util/StringUtil.h>
#include <c10/util/ThreadLocalDebugInfo.h>
#include <c10/util/Type.h>
#include <c10/util/TypeIndex.h>
#include <c10/util/TypeTraits.h>
#include <c10/util/accumulate.h>
#include <c10/util/env.h>
#include <c10/util/generic_math.h>
#include <c10/util/irange.h>
#include <c10/util/llvmMathExtras.h>
#include <c10/util/safe_numerics.h>
#include <c10/util/thread_name.h>
#include <c10/util/typeid.h>

#include <catch2/catch.hpp>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <memory>
#include <string>
#include <thread>
#include <vector>

C10_DEFINE_int(c10_test_count, 3, "A number.");
C10_DEFINE_bool(c10_test_switch, false, "A switch.");
C10_DEFINE_string(c10_test_name, "none", "A name.");

struct KnownToTypeMeta {};
CAFFE_KNOWN_TYPE(KnownToTypeMeta) // as macros of other libraries, some programs' lines have no semicolon
CAFFE_KNOWN_TYPE(std::vector<KnownToTypeMeta>);

namespace {

struct Shape {
  virtual ~Shape() = default;
  virtual int corners() const = 0;
};
struct Triangle : Shape {
  int corners() const override {
    return 3;
  }
};

C10_DECLARE_REGISTRY(ShapeRegistry, Shape);
C10_DEFINE_REGISTRY(ShapeRegistry, Shape)
C10_REGISTER_CLASS(ShapeRegistry, Triangle, Triangle)

} // namespace

TEST_CASE("irange counts", "[c10][util]") {
  std::vector<int64_t> seen;
  for (const auto i : c10::irange(int64_t{4})) {
    seen.push_back(i);
  }
  CHECK(seen == std::vector<int64_t>{0, 1, 2, 3});
  int count = 0;
  for ([[maybe_unused]] const auto i : c10::irange(-3)) {
    ++count;
  }
  for ([[maybe_unused]] const auto i : c10::irange(5, 2)) {
    ++count;
  }
  CHECK(count == 0);
  for (const auto i : c10::irange(2, size_t{4})) {
    STATIC_REQUIRE(std::is_same_v<decltype(i), const size_t>);
    ++count;
  }
  CHECK(count == 2);
}

TEST_CASE("overflow is noticed", "[c10][util]") {
  int64_t result = 0;
  CHECK_FALSE(c10::mul_overflows(int64_t{3}, int64_t{4}, &result));
  CHECK(result == 12);
  CHECK(c10::mul_overflows(int64_t{1} << 40, int64_t{1} << 40, &result));
  CHECK(c10::add_overflows(std::numeric_limits<int64_t>::max(), int64_t{1}, &result));
  uint64_t product = 0;
  CHECK(c10::safe_multiplies_u64(std::vector<int64_t>{int64_t{1} << 33, int64_t{1} << 33}, &product));
  CHECK_FALSE(c10::safe_multiplies_u64(std::vector<int64_t>{3, 5}, &product));
  CHECK(product == 15);
}

TEST_CASE("sums and products of dimensions", "[c10][util]") {
  const std::vector<int64_t> dims = {2, 3, 4};
  CHECK(c10::sum_integers(dims) == 9);
  CHECK(c10::multiply_integers(dims) == 24);
  CHECK(c10::numelements_from_dim(1, dims) == 12);
  CHECK(c10::numelements_to_dim(2, dims) == 6);
  CHECK(c10::numelements_between_dim(2, 1, dims) == 3);
}

TEST_CASE("floor division follows Python", "[c10][util]") {
  CHECK(c10::div_floor_integer(-7, 2) == -4);
  CHECK(c10::div_floor_integer(7, -2) == -4);
  CHECK(c10::div_floor_integer(7, 2) == 3);
  CHECK(c10::div_mod(-7, 3) == 2);
  CHECK(c10::div_mod(7.5, -2.0) == -0.5);
  CHECK(c10::div_floor_floating(-7.0, 2.0) == -4.0);
  CHECK(c10::div_floor_floating(0.6, 0.2) == 2.0); // the quotient of these doubles is just below 3
  CHECK(std::isinf(c10::div_floor_floating(1.0, 0.0)));
}

TEST_CASE("a registry makes objects by name", "[c10][util]") {
  CHECK(ShapeRegistry()->Has("Triangle"));
  CHECK(ShapeRegistry()->Create("Triangle")->corners() == 3);
  CHECK(ShapeRegistry()->Create("Square") == nullptr);
  CHECK_THROWS_AS(ShapeRegistry()->Register("Triangle", [] { return std::unique_ptr<Shape>(); }), c10::Error);
}

TEST_CASE("flags are taken off the command line", "[c10][util]") {
  std::string program = "program", number = "--c10_test_count=7", rest = "input", name = "--c10_test_name", value = "x",
              on = "--c10_test_switch=true";
  char* argv[] = {program.data(), number.data(), rest.data(), name.data(), value.data(), on.data(), nullptr};
  int argc = 6;
  char** args = argv;
  CHECK(c10::ParseCommandLineFlags(&argc, &args));
  CHECK(FLAGS_c10_test_count == 7);
  CHECK(FLAGS_c10_test_name == "x");
  CHECK(FLAGS_c10_test_switch);
  CHECK(argc == 2);
  CHECK(std::string(args[1]) == "input");
}

TEST_CASE("text helpers", "[c10][util]") {
  std::string text = "a.b.c";
  CHECK(c10::ReplaceAll(text, ".", "::") == 2);
  CHECK(text == "a::b::c");
  CHECK(c10::ReplaceAll(text, "x", "y") == 0);
  CHECK(c10::StripBasename("/a/b/c.cpp") == "c.cpp");
  CHECK(c10::demangle(typeid(std::vector<int>).name()).find("vector<int") != std::string::npos);
  CHECK(c10::demangle("no mangled name") == "no mangled name");
  CHECK(c10::util::get_fully_qualified_type_name<int>() == "int");
  CHECK(c10::util::get_type_index<int>() != c10::util::get_type_index<long>());
}

TEST_CASE("function_traits sees lambdas and functions", "[c10][util]") {
  const auto lambda = [](int, float) -> double { return 0; };
  using Traits = c10::guts::infer_function_traits_t<std::remove_const_t<decltype(lambda)>>;
  STATIC_REQUIRE(std::is_same_v<Traits::return_type, double>);
  STATIC_REQUIRE(std::is_same_v<Traits::parameter_types, c10::guts::typelist::typelist<int, float>>);
  STATIC_REQUIRE(c10::guts::infer_function_traits_t<int (*)(int)>::number_of_parameters == 1);
  STATIC_REQUIRE(c10::guts::is_stateless_lambda<decltype(lambda)>::value);
  const int captured = 3;
  const auto with_state = [captured](int x) { return x + captured; };
  STATIC_REQUIRE_FALSE(c10::guts::is_stateless_lambda<decltype(with_state)>::value);
  using List = c10::guts::typelist::typelist<int, float, double>;
  STATIC_REQUIRE(
      std::is_same_v<c10::guts::typelist::reverse_t<List>, c10::guts::typelist::typelist<double, float, int>>);
  STATIC_REQUIRE(std::is_same_v<c10::guts::typelist::take_t<List, 1>, c10::guts::typelist::typelist<int>>);
  STATIC_REQUIRE(c10::guts::typelist::find_if<List, std::is_floating_point>::value == 1);
  CHECK(c10::guts::tuple_map(std::tuple<int, int>(1, 2), [](int x) { return 2 * x; }) == std::tuple<int, int>(2, 4));
}

TEST_CASE("parts of tuples", "[c10][util]") {
  using Tuple = std::tuple<int, const char*, double>;
  constexpr Tuple t(1, "a", 2.5);
  static_assert(std::is_same_v<c10::guts::make_offset_index_sequence<3, 2>, std::index_sequence<3, 4>>);
  STATIC_REQUIRE(c10::guts::tuple_elements(t, std::index_sequence<2, 0>()) == std::tuple<double, int>(2.5, 1));
  CHECK(c10::guts::tuple_take<Tuple, 2>(t) == std::tuple<int, const char*>(1, std::get<1>(t)));
  CHECK(c10::guts::tuple_take<Tuple, -2>(t) == std::tuple<const char*, double>(std::get<1>(t), 2.5));
  CHECK(c10::guts::tuple_take<Tuple, 0>(t) == std::tuple<>());
  CHECK(c10::guts::tuple_slice<Tuple, 1, 1>(t) == std::tuple<const char*>(std::get<1>(t)));
}

TEST_CASE("scope_exit, function_ref, bitset, enumerate", "[c10][util]") {
  int ran = 0;
  {
    const auto guard = c10::make_scope_exit([&] { ++ran; });
    auto released = c10::make_scope_exit([&] { ran += 10; });
    released.release();
  }
  CHECK(ran == 1);
  const auto add = [&](int x) { return x + ran; };
  const c10::function_ref<int(int)> ref = add;
  CHECK(ref(4) == 5);
  c10::utils::bitset bits;
  bits.set(3);
  bits.set(63);
  std::vector<size_t> set_bits;
  bits.for_each_set_bit([&](size_t i) { set_bits.push_back(i); });
  CHECK(set_bits == std::vector<size_t>{3, 63});
  bits.unset(3);
  CHECK_FALSE(bits.get(3));
  const std::vector<std::string> words = {"a", "b"};
  std::string joined;
  for (const auto& [i, word] : c10::enumerate(words)) {
    joined += std::to_string(i) + word;
  }
  CHECK(joined == "0a1b");
  CHECK(c10::llvm::PowerOf2Ceil(5) == 8);
  CHECK(c10::llvm::PowerOf2Ceil(8) == 8);
  CHECK(c10::llvm::Log2_64(1025) == 10);
}

TEST_CASE("debug info belongs to a thread and nests", "[c10][util]") {
  using c10::DebugInfoKind;
  struct Info : c10::DebugInfoBase {};
  const auto outer = std::make_shared<Info>(), inner = std::make_shared<Info>();
  CHECK(c10::ThreadLocalDebugInfo::get(DebugInfoKind::TEST_INFO) == nullptr);
  {
    const c10::DebugInfoGuard guard(DebugInfoKind::TEST_INFO, outer);
    {
      const c10::DebugInfoGuard nested(DebugInfoKind::TEST_INFO_2, inner);
      CHECK(c10::ThreadLocalDebugInfo::get(DebugInfoKind::TEST_INFO) == outer.get());
      CHECK(c10::ThreadLocalDebugInfo::get(DebugInfoKind::TEST_INFO_2) == inner.get());
      const auto current = c10::ThreadLocalDebugInfo::current();
      std::thread([&] {
        CHECK(c10::ThreadLocalDebugInfo::get(DebugInfoKind::TEST_INFO) == nullptr);
        const c10::DebugInfoGuard carried(current);
        CHECK(c10::ThreadLocalDebugInfo::get(DebugInfoKind::TEST_INFO) == outer.get());
      }).join();
    }
    CHECK(c10::ThreadLocalDebugInfo::get(DebugInfoKind::TEST_INFO_2) == nullptr);
  }
  CHECK(c10::ThreadLocalDebugInfo::get(DebugInfoKind::TEST_INFO) == nullptr);
}

TEST_CASE("a value out of the object copies as the value does", "[c10][util]") {
  using Text = c10::Indirect<std::string>;
  const Text unwritten;
  CHECK(unwritten.get().empty());
  Text text("one");
  Text copy = text;
  copy->append(" more");
  CHECK(*text == "one");
  CHECK(*copy == "one more");
  text = copy;
  *copy = "other";
  CHECK(*text == "one more");
  text = unwritten;
  CHECK(text->empty());
  text.set("again");
  Text moved = std::move(text);
  CHECK(*moved == "again");
  text = std::move(moved);
  CHECK(*text == "again");
  CHECK(moved->size() < 100); // some value, which may be read
  text = *&text;
  CHECK(*text == "again");
  Text made;
  made->append("written");
  CHECK(made.get() == "written");
}

TEST_CASE("threads that read an unwritten value out of the object get the same one", "[c10][util]") {
  for (int round = 0; round < 50; ++round) {
    c10::Indirect<std::string> shared;
    std::string* seen[4] = {};
    std::vector<std::thread> threads;
    for (auto& place : seen) {
      threads.emplace_back([&shared, &place] { place = &shared.get(); });
    }
    for (auto& thread : threads) {
      thread.join();
    }
    for (std::string* value : seen) {
      CHECK(value == &shared.get());
    }
  }
}

TEST_CASE("a value out of the object takes values as it would itself", "[c10][util]") {
  c10::Indirect<std::string> text;
  text = "one";
  CHECK(*text == "one");
  text = std::string("two");
  CHECK(*text == "two");
}

TEST_CASE("a shared object without a type of its own lives as long as one refers to it", "[c10][util]") {
  const auto object = std::make_shared<std::string>("one");
  c10::SharedOf<std::string> shared = object;
  c10::SharedOf<const std::string> constant = std::shared_ptr<const std::string>(object);
  CHECK(object.use_count() == 3);
  CHECK(shared);
  CHECK(shared != nullptr);
  CHECK(shared.get() == object.get());
  shared->append(" more");
  CHECK(*constant == "one more");
  const std::weak_ptr<void> weak = shared.untyped();
  CHECK(shared.shared() == object);
  constant = nullptr;
  c10::SharedOf<std::string> copy = shared;
  CHECK(object.use_count() == 3);
  copy = {};
  shared = std::move(copy);
  CHECK(shared == nullptr);
  CHECK(shared.shared() == nullptr);
  CHECK(object.use_count() == 1);
  CHECK_FALSE(weak.expired());
}

TEST_CASE("environment switches", "[c10][util]") {
  c10::utils::set_env("C10_TEST_SWITCH", "on");
  CHECK(c10::utils::check_env("C10_TEST_SWITCH") == true);
  c10::utils::set_env("C10_TEST_SWITCH", "0");
  CHECK(c10::utils::check_env("C10_TEST_SWITCH") == false);
  CHECK_FALSE(c10::utils::check_env("C10_TEST_NOT_THERE").has_value());
  c10::setThreadName("c10_test");
  CHECK(c10::getThreadName() == "c10_test");
}

TEST_CASE("crc64 is computed by the compiler", "[c10][util]") {
  static_assert(c10::util::crc64("123456789").checksum() == 0xe9c6d914c4b8d9ca); // the check value of CRC-64/REDIS
  CHECK(c10::util::crc64("\xff").checksum() != c10::util::crc64("\x7f").checksum());
  CHECK(c10::util::crc64("a", 0) == c10::util::crc64(""));
}

namespace {
int sum_of_two(int a, int b) {
  return a + b;
}
} // namespace

TEST_CASE("a function pointer is a type", "[c10][util]") {
  using Sum = TORCH_FN_TYPE(sum_of_two);
  static_assert(c10::is_compile_time_function_pointer<Sum>::value && std::is_same_v<Sum::FuncType, int(int, int)>);
  CHECK(Sum::func_ptr()(1, 2) == 3);
}

namespace {

struct GILHooks : c10::impl::PythonGILHooks {
  bool held = true;
  bool check_python_gil() const override {
    return held;
  }
};

} // namespace

TEST_CASE("waiting while the thread holds Python's lock is refused", "[c10][util]") {
  CHECK_FALSE(c10::impl::check_python_gil());
  GILHooks hooks;
  {
    const c10::impl::PythonGILHooksRegisterer registerer(&hooks);
    CHECK(c10::impl::check_python_gil());
    CHECK_THROWS_AS([] { TORCH_ASSERT_NO_GIL_WITHOUT_PYTHON_DEP(); }(), c10::Error);
    CHECK_THROWS_AS(c10::impl::SetPythonGILHooks(&hooks), c10::Error);
    hooks.held = false;
    CHECK_NOTHROW([] { TORCH_ASSERT_NO_GIL_WITHOUT_PYTHON_DEP(); }());
  }
  hooks.held = true;
  CHECK_FALSE(c10::impl::check_python_gil());
}

TEST_CASE("TORCH_DISABLE_DEADLOCK_DETECTION switches the hooks of Python's lock off", "[c10][util]") {
  setenv("TORCH_DISABLE_DEADLOCK_DETECTION", "1", 1);
  GILHooks hooks;
  CHECK_NOTHROW(c10::impl::SetPythonGILHooks(&hooks));
  CHECK_NOTHROW(c10::impl::SetPythonGILHooks(&hooks));
  CHECK_FALSE(c10::impl::check_python_gil());
  unsetenv("TORCH_DISABLE_DEADLOCK_DETECTION");
}

TEST_CASE("wide strings are printed in UTF-8", "[c10][str]") {
  CHECK(c10::str("a ", L"wide", ' ', L'w', std::wstring(L" string")) == "a wide w string");
  CHECK(c10::str(L"\u00ec \u20ac \U0001d11e") == "\xc3\xac \xe2\x82\xac \xf0\x9d\x84\x9e");
  CHECK(c10::str(L'\0') == std::string(1, '\0'));
}
