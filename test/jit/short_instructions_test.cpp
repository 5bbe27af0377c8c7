// Instructions for numbers, lists and loops. What they give was made by PyTorch.
#include <catch2/catch.hpp>

#include <csrc/jit/api/compilation_unit.h>
#include <csrc/jit/api/graph_function.h>
#include <csrc/jit/ir/irparser.h>
#include <csrc/jit/runtime/interpreter.h>

#include <sstream>
#include <string>

using namespace torch::jit;
using Catch::Matchers::Contains;

namespace {

// What the source's function f gives.
IValue result_of(const std::string& source) {
  const std::shared_ptr<CompilationUnit> unit = compile(source);
  Stack stack;
  unit->get_function("f").run(stack);
  return stack.at(0);
}

std::string text_of(const std::string& source) {
  std::ostringstream text;
  text << result_of(source);
  return text.str();
}

struct Failing {
  const char* source;
  const char* why;
};

constexpr Failing kFailing[] = {
    {R"(def f():
    l = [1, 2]
    return l[2]
)",
     "RuntimeError: list index out of range"},
    {R"(def f():
    l = [1, 2]
    return l[-3]
)",
     "RuntimeError: list index out of range"},
    {R"(def f():
    l = [1.5]
    l[1] = 2.5
    return l
)",
     "RuntimeError: list index out of range"},
    {R"(def f():
    l = [True]
    l[-2] = False
    return l
)",
     "RuntimeError: list index out of range"},
    {R"(def f():
    l: List[int] = []
    return l[0]
)",
     "RuntimeError: list index out of range"},
    {R"(def f():
    l: List[int] = []
    l[0] = 1
    return l
)",
     "RuntimeError: list index out of range"},
    {R"(def f():
    l: List[int] = []
    return l.pop()
)",
     "RuntimeError: pop from empty list"},
    {R"(def f():
    l: List[int] = []
    return l.pop(3)
)",
     "RuntimeError: pop from empty list"},
    {R"(def f():
    l = [1, 2]
    return l.pop(2)
)",
     "RuntimeError: list index out of range"},
    {R"(def f():
    l = [1, 2]
    return l.pop(-3)
)",
     "RuntimeError: list index out of range"},
    {R"(def f():
    l = ["a"]
    l[4] = "b"
    return l
)",
     "RuntimeError: list index out of range"},
    {R"(def f():
    l = [torch.tensor(1)]
    return l[1]
)",
     "RuntimeError: list index out of range"},
    {R"(def f():
    l = [torch.tensor(1)]
    l[-2] = torch.tensor(3)
    return l
)",
     "RuntimeError: list index out of range"},
    {R"(def f():
    l: List[Tensor] = []
    return l.pop()
)",
     "RuntimeError: pop from empty list"},
    {R"(def f():
    a = 3
    return a // (a - 3)
)",
     "RuntimeError: division by 0"},
    {R"(def f():
    l = [1, 2, 3]
    n = 0
    for i in range(9):
        n += l[i]
    return n
)",
     "RuntimeError: list index out of range"},
    {R"(def f():
    l = [5]
    while len(l) > -1:
        l.pop()
    return l
)",
     "RuntimeError: pop from empty list"},
    {R"(def f():
    l = [[1], [2]]
    return l[0][l[1].pop()]
)",
     "RuntimeError: list index out of range"},
    {R"(def f():
    l = [1]
    if l[1] < 2:
        return 1
    return 2
)",
     "RuntimeError: list index out of range"},
    {R"(def f():
    l = [1]
    l.append(9223372036854775807)
    return l[l[1]]
)",
     "RuntimeError: list index out of range"},
    {R"(def f():
    l = [1]
    l[-9223372036854775807 - 1] = 2
    return l
)",
     "RuntimeError: list index out of range"},
    {R"(def f():
    a = 3
    return a % (a - 3)
)",
     "RuntimeError: integer division or modulo by zero"},
    {R"(def f():
    d = {"a": 1}
    return d["b"]
)",
     "RuntimeError: KeyError: b"},
    {R"(def f():
    d = {4: 1.5}
    d[4] += d[5]
    return d
)",
     "RuntimeError: KeyError: 5"},
};

} // namespace

TEST_CASE("Lists are read, changed and lengthened in place, whoever else holds them", "[jit]") {
  CHECK(text_of(R"(def f():
    l = [3, 1, 4, 1, 5]
    return l[0], l[-1], l[4], l[-5], l.pop(), l.pop(0), l.pop(-2), l, len(l)
)") == "(3, 5, 5, 3, 5, 3, 4, [1, 1], 2)");
  CHECK(text_of(R"(def f():
    l = [1.5, 2.5]
    l[0] = -0.0
    l[-1] = l[0] + 1.0
    l.append(l[1])
    return l, len(l)
)") == "([0., 1., 1.], 3)");
  CHECK(text_of(R"(def f():
    flags = [True, False]
    flags[-2] = not flags[0]
    flags.append(flags[0] or flags[1])
    return flags, flags.pop(), len(flags)
)") == "([False, False], False, 2)");
  CHECK(text_of(R"(def f():
    words = ["a", "b"]
    words[0] = words[-1] + words[0]
    words.append(words.pop(0))
    return words, len(words), len(words[1])
)") == "([b, ba], 2, 2)");
  CHECK(text_of(R"(def f():
    inner = [1, 2]
    outer = [inner, [3], inner]
    alias = outer[0]
    alias.append(len(outer))
    outer[1][0] = alias.pop(0)
    outer.append(outer[1])
    outer[-1].append(9)
    return inner, outer, alias
)") == "([2, 3], [[2, 3], [1, 9], [2, 3], [1, 9]], [2, 3])");
  CHECK(text_of(R"(def f():
    l = [torch.tensor(1), torch.tensor(2), torch.tensor(3)]
    x = l[0]
    x += 10
    l.append(l.pop(1))
    l[1] = l[0] + l[-1]
    return [int(t) for t in l], len(l)
)") == "([11, 13, 2], 3)");
  CHECK(text_of(R"(def g(l: List[int], k: int) -> int:
    l.append(k)
    l[0] = l[0] + len(l)
    return l[-1]
def f():
    l = [0]
    other = l
    total = 0
    for i in range(4):
        total += g(l, i) * other[0]
    return l, other, total
)") == "([14, 0, 1, 2, 3], [14, 0, 1, 2, 3], 65)");
  CHECK(text_of(R"(def f():
    l: List[Optional[int]] = [1, None]
    l[1] = 5
    l.append(None)
    l[0] = None
    return l, len(l), l[1] is None, l[0] is None
)") == "([None, 5, None], 3, False, True)");
  CHECK(text_of(R"(def f():
    l = [1, 2, 3]
    for x in l:
        if x < 3:
            l.append(x + 10)
        if len(l) > 6:
            break
    return l
)") == "[1, 2, 3, 11, 12]");
  CHECK(text_of(R"(def f():
    l: List[int] = []
    i = 0
    while True:
        l.append(i)
        i += 1
        if len(l) == 3:
            l.pop(0)
            if i > 6:
                return l, i
)") == "([5, 6], 7)");
}

TEST_CASE("Dictionaries are read and changed in place, whoever else holds them", "[jit]") {
  CHECK(text_of(R"(def f():
    d = {"a": 1, "b": 2}
    d["a"] = d["b"] + 10
    d["c"] = 7
    key = "b"
    if key in d and "z" not in d:
        d[key] += 5
    other = d
    other["a"] -= 1
    return d["a"], d, len(d), other["c"], "q" in other, list(d.keys())
)") == "(11, {a: 11, b: 7, c: 7}, 3, 7, False, [a, b, c])");
  CHECK(text_of(R"(def f():
    seen: Dict[int, int] = {}
    order: List[int] = []
    x = 7
    for i in range(40):
        if x in seen:
            order.append(seen[x])
            break
        seen[x] = i
        order.append(x)
        x = (x * x + 1) % 37
    return order, len(seen), x in seen, -1 in seen
)") == "([7, 13, 22, 4, 17, 31, 0, 1, 2, 5, 26, 11, 11], 12, True, False)");
  CHECK(text_of(R"(def f():
    d = {"x": [1, 2], "y": [3]}
    l = d["x"]
    l.append(9)
    d["y"] = d["x"]
    d["y"][0] = 5
    names = {1: "one", 2: "two"}
    names[3] = names[1] + names[2]
    return d, l, names[3], names
)") == "({x: [5, 2, 9], y: [5, 2, 9]}, [5, 2, 9], onetwo, {1: one, 2: two, 3: onetwo})");
}

TEST_CASE("State of loops stays apart: swaps, early exits and uses behind them", "[jit]") {
  CHECK(text_of(R"(def f():
    a, b, c = 1, 2, 3
    for i in range(5):
        a, b, c = b, c, a
    return a, b, c
)") == "(3, 1, 2)");
  CHECK(text_of(R"(def f():
    a, b = 0, 1
    for i in range(7):
        a, b = b, a + b
        if b % 2 == 0:
            continue
        if a > 8:
            a, b = b, a
    return a, b
)") == "(21, 13)");
  CHECK(text_of(R"(def f():
    last = -1
    before = -1
    for i in range(6):
        before = last
        last = i
        if i * i > 10:
            break
    return last, before
)") == "(4, 3)");
  CHECK(text_of(R"(def f():
    found = (-1, -1)
    steps = 0
    for i in range(5):
        for j in range(5):
            steps += 1
            if j > i:
                break
            if (i + j) % 2 == 0:
                continue
            if i * j == 6:
                found = (i, j)
        if found[0] >= 0:
            break
    return found, steps
)") == "((3, 2), 14)");
  CHECK(text_of(R"(def g(n: int) -> int:
    for i in range(n):
        k = i
        while k > 0:
            k -= 3
            if k == 2:
                return i * 100 + n
    return -n
def f():
    return g(3), g(4), g(5), g(6), g(0), g(-2)
)") == "(-3, -4, -5, 506, 0, 2)");
  CHECK(text_of(R"(def f():
    i = 5
    n = 3
    for i in range(n):
        n = n + i
    return i, n
)") == "(2, 6)");
  CHECK(text_of(R"(def f():
    x = 1.0
    y = 2
    done = False
    while not done:
        t = x
        x = float(y)
        y = int(t) + y
        done = y > 20 or x > 11.5
    return x, y, done
)") == "(13., 21, True)");
  CHECK(text_of(R"(def f():
    l = [0]
    s = "a"
    for i in range(3):
        t = s
        s = s + str(l[-1])
        l.append(len(t))
        m = l
        l = [i] + l
        m.append(7)
    return l, s
)") == "([2, 1, 0, 0, 1, 2, 3], a012)");
  CHECK(text_of(R"(def f():
    a = [1]
    b = [2]
    for i in range(3):
        a, b = b, a
        a.append(i)
    return a, b
)") == "([2, 0, 2], [1, 1])");
  CHECK(text_of(R"(def f():
    n = 0
    for i in range(3):
        for j in range(i):
            for k in range(j + 2):
                if k == j:
                    n += 1
                elif k > j:
                    n += 10
                else:
                    n -= 100 * i
    return n
)") == "-167");
  CHECK(text_of(R"(def f():
    a, b, c, d = 1, 2, 3, 4.5
    for i in range(7):
        a, b, c, d = c, a + b, b, d + a
    return a, b, c, d
)") == "(17, 36, 25, 38.5)");
  CHECK(text_of(R"(def f():
    a, b, c = 1, 2, 3
    flag = False
    n = 0
    while n < 9:
        t = a * 2 - b
        a, b, c, flag = b, c, t, not flag
        if flag:
            a, c = c, a
        else:
            b = a - c
        n += 1
    return a, b, c, flag, n
)") == "(0, 3, -6, True, 9)");
}

TEST_CASE("Numbers wrap, round and compare as those of the processor", "[jit]") {
  CHECK(
      text_of(R"(def f():
    big = 9223372036854775807
    low = -big - 1
    return big + 1, low - 1, big * 2, low * -1, low // -1, low % -1, -low
)") ==
      "(-9223372036854775808, 9223372036854775807, -2, -9223372036854775808, -9223372036854775808, 0, "
      "-9223372036854775808)");
  CHECK(text_of(R"(def f():
    n = 1
    for i in range(70):
        n = n * 3 + i
    return n
)") == "2866337510376752556");
  CHECK(text_of(R"(def f():
    nan = float("nan")
    c = 0
    if nan < 1.0:
        c += 1
    if nan > 1.0:
        c += 2
    if nan <= nan:
        c += 4
    if nan >= nan:
        c += 8
    if nan == nan:
        c += 16
    if nan != nan:
        c += 32
    if not nan < 1.0:
        c += 64
    return c, nan < 1.0, nan > 1.0, nan <= nan, nan >= nan, nan == nan, nan != nan
)") == "(96, False, False, False, False, False, True)");
  CHECK(text_of(R"(def f():
    l = [float("nan"), 1.0, -0.0, float("inf")]
    c = [0]
    for x in l:
        for y in l:
            c[0] += 1 if x < y else 0
            c.append(len(c) if x == y else -1 if x >= y else -2)
    i = 0
    while not l[i] >= 0.5:
        i += 1
    return c, i
)") == "([3, -2, -2, -2, -2, -2, 6, -1, -2, -2, -2, 11, -2, -2, -1, -1, 16], 1)");
  CHECK(text_of(R"(def f():
    a, b, c = 3, 3, -4
    return a < b, a <= b, a > b, a >= b, a == b, a != b, a < c, c < a, c <= a, c > a, c >= a, c == a, c != a
)") == "(False, True, False, True, True, False, False, True, True, False, False, False, True)");
  CHECK(text_of(R"(def f():
    out = [0.0]
    for i in range(1, 4):
        out.append(out[-1] * 2.0 - 1.5 / float(i) + 0.25)
    return out
)") == "[0., -1.25, -3., -6.25]");
  CHECK(text_of(R"(def f():
    return [7 // 2, -7 // 2, 7 // -2, -7 // -2, 7 % 2, -7 % 2, 7 % -2, -7 % -2, 0 // 5, 0 % -5]
)") == "[3, -4, -4, 3, 1, 1, -1, -1, 0, 0]");
  CHECK(text_of(R"(def f():
    a, b = -7, 3
    r = [0]
    for i in range(4):
        r.append(a // b)
        r.append(a % b)
        a, b = -a, -b if i % 2 == 1 else b
    return r
)") == "[0, -3, 2, 2, 1, 2, -1, -3, -2]");
}

TEST_CASE("Positions outside of a list and divisions by zero are errors of the program", "[jit]") {
  for (const Failing& failing : kFailing) {
    CAPTURE(failing.source);
    CHECK_THROWS_WITH(result_of(failing.source), Contains(failing.why));
  }
}

TEST_CASE("Characters outside of a string are errors of the program", "[jit]") {
  CHECK_THROWS_WITH(
      result_of("def f():\n    return 'ab'[5]\n"),
      Contains("RuntimeError: basic_string::at: __n (which is 5) >= this->size() (which is 2)"));
}

TEST_CASE("A function without annotation that may reach its end gives an Optional", "[jit]") {
  CHECK(text_of(R"(def f():
    i = 0
    while True:
        i += 1
        if i > 6:
            return i
)") == "7");
  CHECK(text_of(R"(def g(x: bool):
    if x:
        return [1, 2]
def f():
    return g(True), g(False)
)") == "([1, 2], None)");
  CHECK(text_of(R"(def f():
    for i in range(0):
        return i
)") == "None");
}

TEST_CASE("Values of other types than a graph says are errors", "[jit]") {
  const auto run = [](const char* text, Stack stack) {
    const auto graph = std::make_shared<Graph>();
    parseIR(text, graph.get());
    InterpreterState(Code(graph, "f")).run(stack);
  };
  const c10::List<int64_t> list({1, 2});
  const char* add = "graph(%a : int, %b : int):\n  %c : int = aten::add(%a, %b)\n  return (%c)";
  CHECK_THROWS_AS(run(add, {"a", 1}), c10::Error);
  CHECK_THROWS_AS(run(add, {1, IValue()}), c10::Error);
  CHECK_THROWS_AS(run(add, {1, list}), c10::Error);
  const char* get = "graph(%a : int[], %b : int):\n  %c : int = aten::__getitem__(%a, %b)\n  return (%c)";
  CHECK_THROWS_AS(run(get, {1.5, 1}), c10::Error);
  CHECK_THROWS_AS(run(get, {list, 1.5}), c10::Error);
  CHECK_THROWS_AS(run(get, {IValue(), 0}), c10::Error);
  const char* len = "graph(%a : int[]):\n  %c : int = aten::len(%a)\n  return (%c)";
  CHECK_THROWS_AS(run(len, {"ab"}), c10::Error);
  const char* pop = "graph(%a : int[], %b : int):\n  %c : int = aten::pop(%a, %b)\n  return (%c)";
  CHECK_THROWS_AS(run(pop, {at::Tensor(), 0}), c10::Error);
  const char* append = "graph(%a : int[], %b : int):\n  %c : int[] = aten::append(%a, %b)\n  return (%b)";
  CHECK_THROWS_AS(run(append, {IValue(), 0}), c10::Error);
}
