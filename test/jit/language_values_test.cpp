// Expressions of sources and what they give. What they give was made by PyTorch.
#include <catch2/catch.hpp>

#include <csrc/jit/api/compilation_unit.h>
#include <csrc/jit/api/graph_function.h>

#include <cmath>
#include <limits>
#include <sstream>
#include <string>

using namespace torch::jit;

namespace {

// The text of what the source's function f gives.
std::string result_of(const std::string& source) {
  const std::shared_ptr<CompilationUnit> unit = compile(source);
  Stack stack;
  unit->get_function("f").run(stack);
  std::ostringstream text;
  text << stack.at(0);
  return text.str();
}

} // namespace

TEST_CASE("Slices of lists, strings and tuples", "[jit]") {
  CHECK(result_of(R"(def f():
    x = [1, 2, 3, 4, 5]
    return x[1:3], x[:2], x[2:], x[::2], x[::-1], x[-3:-1], x[4:0:-2], x[:], x[10:], x[-10:2]
)") == "([2, 3], [1, 2], [3, 4, 5], [1, 3, 5], [5, 4, 3, 2, 1], [3, 4], [5, 3], [1, 2, 3, 4, 5], [], [1, 2])");
  CHECK(result_of(R"(def f():
    x = (1, "a", 2.5, True)
    return x[0], x[-1], x[1:3], x[::-1], x[:2], x[2:], x[::2]
)") == "(1, True, (a, 2.5), (True, 2.5, a, 1), (1, a), (2.5, True), (1, 2.5))");
  CHECK(result_of(R"(def g(i: int):
    x = (1, 2)
    return x[i]
def f():
    return g(1)
)") == "2");
  CHECK(result_of(R"(def f():
    x = "abc"
    return x[0:2], x[::2], x[::-1], x[-2:], x[5:]
)") == "(ab, ac, cba, bc, )");
}

TEST_CASE("Comprehensions have variables of their own", "[jit]") {
  CHECK(result_of(R"(def f():
    return {i: i * i for i in range(4)}, [i for i in range(3)], [str(i) + "a" for i in [1, 2]], [[j for j in range(i)] for i in range(3)]
)") == "({0: 0, 1: 1, 2: 4, 3: 9}, [0, 1, 2], [1a, 2a], [[], [0], [0, 1]])");
  CHECK(result_of(R"(def f():
    return (i for i in range(5))
)") == "[0, 1, 2, 3, 4]");
  CHECK(result_of(R"(def f():
    i = 10
    y = [i for i in range(3)]
    return i, y
)") == "(10, [0, 1, 2])");
  CHECK(result_of(R"(def f():
    x = 5
    y = [x + i for i in range(3)]
    return y
)") == "[5, 6, 7]");
  CHECK(result_of(R"(def f():
    return "".join([c for c in "abc"])
)") == "abc");
}

TEST_CASE("Lists and dictionaries take the type that their elements have in common", "[jit]") {
  CHECK(result_of(R"(def f():
    return [], {}, (), (1,), [()], ((),)
)") == "([], {}, (), (1,), [()], ((),))");
  CHECK(result_of(R"(def f():
    return [1, 2.5]
)") == "[1, 2.5]");
  CHECK(result_of(R"(def f():
    return [1, "a"]
)") == "[1, a]");
  CHECK(result_of(R"(def f():
    return [[1], []]
)") == "[[1], []]");
  CHECK(result_of(R"(def f():
    return [[], [1]]
)") == "[[], [1]]");
  CHECK(result_of(R"(def f():
    return {"a": 1, "b": "c"}
)") == "{a: 1, b: c}");
  CHECK(result_of(R"(def f():
    return {"a": 1, "a": 2}
)") == "{a: 2}");
  CHECK(result_of(R"(def f():
    return {1: None, 2: 3}
)") == "{1: None, 2: 3}");
}

TEST_CASE("Comparisons in a row compare from left to right", "[jit]") {
  CHECK(result_of(R"(def f():
    x = 3
    return 1 < x < 5, 1 < x > 5, 1 < 2 < 3 < 4, x == 3 == 3, 3 > 2 > 1, 3 > 1 > 2
)") == "(True, False, True, False, False, False)");
}

TEST_CASE("Division goes down, remainders take the sign of the divisor", "[jit]") {
  CHECK(result_of(R"(def f():
    return 7.5 // 2, -7.5 // 2, 7.5 % -2, -7.5 % 2, 7 / 2, 6 / 3, 2 ** -1, 2.0 ** 3, 0 ** 0
)") == "(3., -4., -0.5, 0.5, 3.5, 2., 0.5, 8., 1.)");
  CHECK(result_of(R"(def f():
    return 1 / 0
)") == "inf");
  CHECK(result_of(R"(def f():
    return 1.0 / 0.0, -1.0 / 0.0
)") == "(inf, -inf)");
  CHECK(result_of(R"(def f():
    return 1.0 // 0.0
)") == "inf");
  CHECK(result_of(R"(def f():
    return 1.5 / 0
)") == "inf");
}

TEST_CASE("Numbers wrap and overflow as those of the processor", "[jit]") {
  CHECK(result_of(R"(def f():
    return 9223372036854775807
)") == "9223372036854775807");
  CHECK(result_of(R"(def f():
    return -9223372036854775808
)") == "-9223372036854775808");
  CHECK(result_of(R"(def f():
    return 1e400, 1e-400
)") == "(inf, 0.)");
  CHECK(result_of(R"(def f():
    return 2 ** 64, 3 ** 50, (-2) ** 3, 2 ** 0.5
)") == "(1.8446744073709552e+19, 7.1789798769185258e+23, -8., 1.4142135623730951)");
  CHECK(result_of(R"(def f():
    x = 9223372036854775807
    return x + 1, x * 2, -x - 2
)") == "(-9223372036854775808, -2, 9223372036854775807)");
  CHECK(result_of(R"(def f():
    return 1 << 64, 1 << 63, 1 << -1, -8 >> 1, 8 >> 70
)") == "(1, -9223372036854775808, -9223372036854775808, -4, 0)");
  CHECK(result_of(R"(def f():
    return int(1e30)
)") == "-9223372036854775808");
  CHECK(result_of(R"(def f():
    return int(float("nan"))
)") == "-9223372036854775808");
}

TEST_CASE("Texts are formatted", "[jit]") {
  CHECK(result_of(R"(def f():
    return "%d" % 2.7
)") == "2");
  CHECK(result_of(R"(def f():
    return "%s" % [1, 2]
)") == "[1, 2]");
  CHECK(result_of(R"(def f():
    return "{} {} {}".format(1, 2.5, True), "{}".format([1, 2]), "{}".format(None), "{}{}".format("a", {"b": 1}), "{}".format((1, "a")), "{}".format(1e20), "{}".format(0.1), "{}".format(1.0)
)") == "(1 2.5 True, [1, 2], None, a{b: 1}, (1, a), 1e+20, 0.10000000000000001, 1.)");
  CHECK(result_of(R"(def f():
    return "{0} {1}".format(1, 2)
)") == "{0} {1}");
  CHECK(result_of(R"(def f():
    return "{:d}".format(1)
)") == "{:d}");
  CHECK(result_of(R"(def f():
    return "{".format(1)
)") == "{");
  CHECK(result_of(R"(def f():
    return "}".format(1)
)") == "}");
  CHECK(result_of(R"(def f():
    return "{}".format(1, 2)
)") == "1");
  CHECK(result_of(R"(def f():
    return str(1), str(2.5), str(True), str(None), str([1, 2]), str(["a"]), str((1, "b")), str({"a": 1}), str(1e20), str(1.0), str(-0.0), str(1e-5), str(123456789.123), str("a")
)") == "(1, 2.5, True, None, [1, 2], [a], (1, b), {a: 1}, 1e+20, 1., 0., 1.0000000000000001e-05, 123456789.123, a)");
}

TEST_CASE("Casts and builtin functions", "[jit]") {
  CHECK(result_of(R"(def f():
    return int(2.7), int(-2.7), int("12"), int(True), int("-5"), int(torch.tensor(3)), float(3), float("1.5"), float(True), float("inf"), float("-inf"), float("nan"), bool(0), bool(3), bool(0.0), bool(""), bool("a") 
)") == "(2, -2, 12, 1, -5, 3, 3., 1.5, 1., inf, -inf, nan, False, True, False, False, True)");
  CHECK(result_of(R"(def f():
    return bool([1]), bool([])
)") == "(True, False)");
  CHECK(result_of(R"(def f():
    return max(1, 2, 3)
)") == "3");
  CHECK(result_of(R"(def f():
    return hex(255), oct(8), bin(5), hex(-255), oct(-8), bin(-5), ord("a"), chr(97), hash("a") == hash("a"), hash(1)
)") == "(0xff, 0o10, 0b101, -0xff, -0o10, -0b101, 97, a, True, 1)");
  CHECK(result_of(R"(def f():
    return sorted((3, 1, 2))
)") == "[1, 2, 3]");
  CHECK(result_of(R"(def f():
    return sorted("bca")
)") == "[bca]");
  CHECK(result_of(R"(def f():
    return list("abc"), list((1, 2)), list([1, 2]), list(range(3)), list({"a": 1}), list(range(1, 6, 2)), list(zip([1, 2], ["a", "b"])), list(enumerate([7, 8]))
)") == "([a, b, c], [1, 2], [1, 2], [0, 1, 2], [a], [1, 3, 5], [(1, a), (2, b)], [(0, 7), (1, 8)])");
  CHECK(result_of(R"(def f():
    return dict([("a", 1), ("b", 2)]), dict({"a": 1}), dict(zip(["a", "b"], [1, 2])), dict(a=1, b=2)
)") == "({a: 1, b: 2}, {a: 1}, {a: 1, b: 2}, {a: 1, b: 2})");
  CHECK(result_of(R"(def f():
    return dict(), list()
)") == "({}, [])");
  CHECK(result_of(R"(def f():
    return tuple((1, 2))
)") == "(1, 2)");
}

TEST_CASE("and, or and not take truth values", "[jit]") {
  CHECK(result_of(R"(def f():
    return 1 and 2
)") == "True");
  CHECK(result_of(R"(def f():
    return 1 or "a"
)") == "True");
  CHECK(result_of(R"(def f():
    return [] or [1]
)") == "True");
  CHECK(result_of(R"(def f():
    x = 1 if [1] else 2
    y = 1 if "" else 2
    z = 1 if 0.5 else 2
    return x, y, z
)") == "(1, 2, 1)");
  CHECK(result_of(R"(def f():
    if "a":
        return 1
    return 2
)") == "1");
  CHECK(result_of(R"(def f():
    while 3:
        return 1
    return 2
)") == "1");
  CHECK(result_of(R"(def f():
    if [1]:
        return 1
    return 2
)") == "1");
}

TEST_CASE("Containers are searched and compared", "[jit]") {
  CHECK(result_of(R"(def f():
    return 3 in [1, 2, 3], 3 not in [1, 2, 3], "a" in {"a": 1}, 1.5 in [1.5], "a" in ["b"]
)") == "(True, False, True, True, False)");
  CHECK(result_of(R"(def f():
    return 3 in (1, 2, 3)
)") == "True");
  CHECK(result_of(R"(def f():
    return None is None, None is not None, 1 is None, [1] is not None
)") == "(True, False, False, True)");
  CHECK(result_of(R"(def f():
    x = [1]
    y = x
    return x is y, x is [1], x is not y
)") == "(True, False, False)");
  CHECK(result_of(R"(def f():
    return (1, 2) == (1, 2), (1, 2) != (1, 3)
)") == "(True, True)");
  CHECK(result_of(R"(def f():
    return 1 in {1: 2}, "a" in "abc", 2 in [1]
)") == "(True, True, False)");
}

TEST_CASE("Methods of lists and strings", "[jit]") {
  CHECK(result_of(R"(def f():
    l = [1, 2, 3]
    return l.pop(), l.pop(0), l, l.index(2), l.count(2), l.copy()
)") == "(3, 1, [2], 0, 1, [2])");
  CHECK(result_of(R"(def f():
    l = [3, 1, 2]
    l.sort()
    m = ["b", "a"]
    m.sort(reverse=True)
    n = [True, False]
    n.sort()
    o = [2.5, 1.5]
    o.sort()
    return l, m, n, o
)") == "([1, 2, 3], [b, a], [False, True], [1.5, 2.5])");
  CHECK(result_of(R"(def f():
    l = [(2, "a"), (1, "b")]
    l.sort()
    return l
)") == "[(1, b), (2, a)]");
  CHECK(
      result_of(R"(def f():
    s = "hello world"
    return s.upper(), s.title(), s.capitalize(), s.split(), s.split("o"), s.find("o"), s.rfind("o"), s.replace("o", "0"), s.count("l"), s.startswith("he"), s.endswith("ld"), s.isalpha(), s.center(20), s.zfill(15), s.strip("hd"), "-".join(["a", "b"]), s.partition(" "), s.splitlines(), s.index("w"), s.swapcase(), len(s), s.ljust(15) + "|", s.rjust(15), s.expandtabs()
)") ==
      "(HELLO WORLD, Hello World, Hello world, [hello, world], [hell,  w, rld], 4, 7, hell0 w0rld, 3, True, True, "
      "False,     hello world     , 0000hello world, ello worl, a-b, (hello,  , world), [hello world], 6, HELLO WORLD, "
      "11, hello world    |,     hello world, hello world)");
  CHECK(result_of(R"(def f():
    return ",".join([])
)") == "");
  CHECK(result_of(R"(def f():
    return "a,b".split(",")[1]
)") == "b");
}

TEST_CASE("Tuples are added and repeated", "[jit]") {
  CHECK(result_of(R"(def f():
    t = (1, 2, 3)
    a, b, c = t
    s = 0
    for x in t:
        s += x
    return s, len(t), t + (4,), (1, 2) + ("a",)
)") == "(6, 3, (1, 2, 3, 4), (1, 2, a))");
  CHECK(result_of(R"(def f():
    t = (1, 2)
    return t * 2
)") == "[1, 2, 1, 2]");
  CHECK(result_of(R"(def f():
    t = (1, 2, 3)
    return max(t)
)") == "3");
}

TEST_CASE("Tensors become lists and numbers", "[jit]") {
  CHECK(result_of(R"(def f():
    x = torch.ones(2)
    y: List[float] = x.tolist()
    return y
)") == "[1., 1.]");
  CHECK(result_of(R"(def f():
    x = torch.ones(2)
    if x.sum() > 1:
        return 1
    return 2
)") == "1");
  CHECK(result_of(R"(def f():
    x = torch.tensor(2)
    i = 0
    while x > 0:
        x -= 1
        i += 1
    return i
)") == "2");
  CHECK(result_of(R"(def g(x: float):
    return x
def f():
    return g(torch.tensor(3)), g(2.5)
)") == "(3., 2.5)");
  CHECK(result_of(R"(def f():
    return getattr(torch.ones(2, 3), "shape")
)") == "[2, 3]");
}

TEST_CASE("Numbers of any type and bools take part in arithmetic", "[jit]") {
  CHECK(
      result_of(R"(def g(a: number):
    return a + 1, a * 2.5, a / 2, a // 2, a % 2, a ** 2, -a, a < 3, a == 2, int(a), float(a), bool(a), str(a)
def f():
    return g(2), g(2.5)
)") ==
      "((3, 5., 1., 1, 0, 4., -2, True, True, 2, 2., True, 2), (3.5, 6.25, 1.25, 1., 0.5, 6.25, -2.5, True, False, 2, "
      "2.5, True, 2.5))");
  CHECK(result_of(R"(def g(a: bool, b: bool):
    return a & b, a | b, a ^ b, a == b, a != b, a and b, a or b, not a, a + b
def f():
    return g(True, False)
)") == "(False, True, True, False, True, False, True, False, 1)");
  CHECK(result_of(R"(def g(a: bool, b: bool):
    return a & b, a | b, a ^ b, a == b, a != b, int(a) + int(b), float(a)
def f():
    return g(True, False)
)") == "(False, True, True, False, True, 1, 1.)");
  CHECK(result_of(R"(def f():
    x = 1
    x += 1.5
    return x
)") == "2.5");
  CHECK(result_of(R"(def f():
    z = 5
    z -= 2
    z *= 4
    w = 7.5
    w /= 2
    w -= 1
    return z, w
)") == "(12, 2.75)");
}

TEST_CASE("Powers of complex numbers by real ones that are not finite", "[jit]") {
  const auto unit = torch::jit::compile("def f(c: complex, x: float) -> complex:\n    return c ** x\n");
  const auto power = [&](c10::complex<double> base, double exponent) {
    return unit->run_method("f", base, exponent).toComplexDouble();
  };
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  CHECK(power({1, 0}, std::nan("")) == c10::complex<double>(1, 0));
  CHECK(power({1, 0}, -kInfinity) == c10::complex<double>(1, 0));
  CHECK(std::isnan(power({-1, -1}, -kInfinity).real()));
  CHECK(std::isnan(power({0, 0}, kInfinity).imag()));
}
