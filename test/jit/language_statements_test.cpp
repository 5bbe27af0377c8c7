// Statements of sources. What they give was made by PyTorch.
#include <catch2/catch.hpp>

#include <csrc/jit/api/compilation_unit.h>
#include <csrc/jit/api/graph_function.h>

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

TEST_CASE("Loops go through ranges, containers, strings and tensors", "[jit]") {
  CHECK(result_of(R"(def f():
    s = 0
    for i in range(3, 20, 4):
        s += i
    return s
)") == "55");
  CHECK(result_of(R"(def f():
    out: List[int] = []
    for i in range(10, 0, -3):
        out.append(i)
    return out
)") == "[10, 7, 4, 1]");
  CHECK(result_of(R"(def f():
    out: List[int] = []
    for i in range(5, 5):
        out.append(i)
    for i in range(-3):
        out.append(i)
    return out
)") == "[]");
  CHECK(result_of(R"(def f():
    for i, (a, b) in enumerate(zip([1, 2, 3], ["x", "y"])):
        print(i, a, b)
    return 0
)") == "0");
  CHECK(result_of(R"(def f():
    for i, a in enumerate([1, 2, 3], 5):
        print(i, a)
    for i, a in enumerate(["u", "v"], start=2):
        print(i, a)
    return 0
)") == "0");
  CHECK(result_of(R"(def f():
    for a, b, c in zip([1, 2], [1.5, 2.5], "ab"):
        print(a, b, c)
    return 0
)") == "0");
  CHECK(result_of(R"(def f():
    for c in "hello":
        print(c)
    for k in {"a": 1, "b": 2}:
        print(k)
    for k, v in {"a": 1, "b": 2}.items():
        print(k, v)
    return 0
)") == "0");
  CHECK(result_of(R"(def f():
    for x in (1, 2.5, "a"):
        print(x)
    return 0
)") == "0");
  CHECK(result_of(R"(def f():
    t = torch.arange(4)
    s = 0
    for x in t:
        s += int(x)
    return s
)") == "6");
  CHECK(result_of(R"(def f():
    x = 3
    for x in range(5):
        pass
    return x
)") == "4");
  CHECK(result_of(R"(def f():
    x = range(5)
    s = 0
    for i in x:
        s += i
    return s
)") == "10");
}

TEST_CASE("break, continue and return leave loops at any depth", "[jit]") {
  CHECK(result_of(R"(def f():
    while True:
        break
        x = 1
    return 2
)") == "2");
  CHECK(result_of(R"(def g(x: int):
    for i in range(10):
        if i == x:
            return i
        for j in range(10):
            if i * j == x:
                return j * 100
    return -1
def f():
    return g(0), g(5), g(21), g(49), g(1000)
)") == "(0, 500, 700, 700, -1)");
  CHECK(result_of(R"(def g(x: int):
    while x > 0:
        if x % 7 == 0:
            break
        if x % 2 == 0:
            x -= 3
            continue
        x -= 1
        if x == 10:
            return "ten"
    return str(x)
def f():
    return g(5), g(11), g(20), g(100), g(13)
)") == "(0, ten, 0, 84, 0)");
}

TEST_CASE("Branches that the compiler knows are compiled alone", "[jit]") {
  CHECK(result_of(R"(def f():
    if True:
        z = 3
    return z
)") == "3");
  CHECK(result_of(R"(def g(c: bool):
    if c:
        z = 3
    else:
        assert False
    return z
def f():
    return g(True)
)") == "3");
  CHECK(result_of(R"(def f():
    if True:
        x: int = 1
    else:
        x: int = 2
    return x
)") == "1");
  CHECK(result_of(R"(def f():
    x = 1
    if True:
        x: int = 2
    return x
)") == "2");
  CHECK(result_of(R"(def f():
    return 1
    return "a"
)") == "1");
}

TEST_CASE("Optionals, unions and Any are refined by tests", "[jit]") {
  CHECK(result_of(R"(def g(c: bool):
    if c:
        z = None
    else:
        z = 3
    return z
def f():
    return g(True)
)") == "None");
  CHECK(result_of(R"(def g(c: bool):
    return None if c else 3
def f():
    return g(True), g(False)
)") == "(None, 3)");
  CHECK(result_of(R"(def g(x: Optional[int]) -> int:
    if x is None:
        return -1
    return x + 1
def f():
    return g(None), g(4)
)") == "(-1, 5)");
  CHECK(result_of(R"(def g(x: Optional[int]) -> int:
    if x is not None:
        y = x + 1
    else:
        y = 0
    return y
def f():
    return g(None), g(4)
)") == "(0, 5)");
  CHECK(result_of(R"(def g(x: Optional[int], y: Optional[int]) -> int:
    if x is not None and y is not None:
        return x + y
    if x is None or y is None:
        return 0
    return x * y
def f():
    return g(None, 1), g(4, 5), g(3, None)
)") == "(0, 9, 0)");
  CHECK(result_of(R"(def g(x: Optional[int]) -> int:
    if not x is None:
        return x
    return 0
def f():
    return g(None), g(4)
)") == "(0, 4)");
  CHECK(result_of(R"(def g(x: Optional[int]) -> int:
    assert x is not None
    return x + 1
def f():
    return g(4)
)") == "5");
  CHECK(result_of(R"(def g(x: Optional[int]) -> int:
    y = x if x is not None else 7
    return y
def f():
    return g(None), g(4)
)") == "(7, 4)");
  CHECK(result_of(R"(def g(x: Optional[List[int]]) -> int:
    if x is None:
        x = []
    x.append(3)
    return len(x)
def f():
    return g(None), g([1])
)") == "(1, 2)");
  CHECK(result_of(R"(def g(x: Union[int, str, float]) -> str:
    if isinstance(x, int):
        return "int" + str(x + 1)
    elif isinstance(x, str):
        return x + "s"
    else:
        return str(x * 2.0)
def f():
    return g(1), g("a"), g(2.5)
)") == "(int2, as, 5.)");
  CHECK(result_of(R"(def g(x: Union[int, str, None]) -> str:
    if x is None:
        return "none"
    if isinstance(x, (int, float)):
        return "num"
    return x
def f():
    return g(1), g("a"), g(None)
)") == "(num, a, none)");
  CHECK(result_of(R"(def g(x: Union[List[int], Dict[str, int]]) -> int:
    if isinstance(x, List[int]):
        return len(x)
    return x["a"]
def f():
    return g([1, 2]), g({"a": 5})
)") == "(2, 5)");
  CHECK(result_of(R"(def g(x: Union[List[int], int]) -> int:
    if isinstance(x, list):
        return len(x)
    return x
def f():
    return g([1, 2]), g(7)
)") == "(2, 7)");
  CHECK(result_of(R"(def g(x: Any) -> int:
    if isinstance(x, int):
        return x
    if isinstance(x, str):
        return len(x)
    return -1
def f():
    return g(3), g("abc"), g(2.5), g([1])
)") == "(3, 3, -1, -1)");
  CHECK(result_of(R"(def g(x: Any):
    return x
def f():
    return g(3), g("abc"), g(2.5), g([1]), g(None), g({"a": 1}), g((1, 2))
)") == "(3, abc, 2.5, [1], None, {a: 1}, (1, 2))");
  CHECK(result_of(R"(def g(x: int | None) -> int:
    if x is None:
        return 0
    return x
def f():
    return g(3), g(None)
)") == "(3, 0)");
}

TEST_CASE("Assignments unpack tuples and lists", "[jit]") {
  CHECK(result_of(R"(def f():
    a = b = 3
    a += 1
    return a, b
)") == "(4, 3)");
  CHECK(result_of(R"(def f():
    a, *b = 1, 2, 3
    *c, d = (1, 2, 3)
    e, *g, h = (1, "x", 2.5, True)
    return a, b, c, d, e, g, h
)") == "(1, (2, 3), (1, 2), 3, 1, (x, 2.5), True)");
  CHECK(result_of(R"(def f():
    x = torch.ones(2, 3)
    a, b = x.shape
    n, m = x.size()
    return a, b, n, m
)") == "(2, 3, 2, 3)");
  CHECK(result_of(R"(def g(l: List[int]):
    l[0], l[1] = l[1], l[0]
    return l
def f():
    return g([1, 2, 3])
)") == "[2, 1, 3]");
  CHECK(result_of(R"(def f():
    l = [[1, 2], [3]]
    l[0][1] = 9
    l[1] += [4]
    l[0] = l[1]
    l[0].append(8)
    return l
)") == "[[3, 4, 8], [3, 4, 8]]");
}

TEST_CASE("Arguments are given by place, by name, by default and from tuples", "[jit]") {
  CHECK(result_of(R"(def g(a: int, b: int, c: int) -> int:
    return a * 100 + b * 10 + c
def f():
    t = (1, 2)
    return g(*t, 3), g(0, *t), g(*(7, 8, 9))
)") == "(123, 12, 789)");
  CHECK(result_of(R"(def g(a: int, b: int = 5, *, c: int = 7) -> int:
    return a * 100 + b * 10 + c
def f():
    return g(1), g(1, 2), g(1, c=3), g(b=1, a=2, c=3), g(1, b=4)
)") == "(157, 127, 153, 213, 147)");
  CHECK(
      result_of(
          R"(def g(a: List[int] = [1, 2], b: Optional[float] = None, c: str = "x", d: Tuple[int, float] = (1, 2.5), e: float = 1.0, h: bool = True, i: Dict[str, int] = {"a": 1}):
    return a, b, c, d, e, h, i
def f():
    return g()
)") == "([1, 2], None, x, (1, 2.5), 1., True, {a: 1})");
  CHECK(result_of(R"(def g(a: int = 2 + 3 * 4):
    return a
def f():
    return g()
)") == "14");
  CHECK(result_of(R"(def g(a: int = -1, b: float = -2.5):
    return a, b
def f():
    return g()
)") == "(-1, -2.5)");
  CHECK(result_of(R"(def g(x: List[int]):
    return x
def f():
    return g((1, 2)), g([])
)") == "([1, 2], [])");
  CHECK(result_of(R"(def g(x: Optional[List[int]] = None):
    return x
def f():
    return g(), g([1]), g(None), g((1, 2))
)") == "(None, [1], None, [1, 2])");
  CHECK(result_of(R"(def g(x: Tuple[int, float]):
    return x
def f():
    return g((1, 2.5))
)") == "(1, 2.5)");
  CHECK(result_of(R"(def g(x: Tuple[Optional[int], int]):
    return x
def f():
    return g((None, 2)), g((1, 2))
)") == "((None, 2), (1, 2))");
  CHECK(result_of(R"(def g(x: int) -> int:
    return x
def f():
    return g(g(g(1)))
)") == "1");
  CHECK(result_of(R"(def f(*):
    return 1
)") == "1");
}

TEST_CASE("Types stand in annotations or in a comment", "[jit]") {
  CHECK(result_of(R"(def g(x, y):
    # type: (int, List[int]) -> int
    return x + len(y)
def f():
    return g(3, [1])
)") == "4");
  CHECK(result_of(R"(def f():
    x: Optional[int] = 3
    x = None
    return x
)") == "None");
  CHECK(result_of(R"(def f() -> Tuple[int, str]:
    return 1, "a"
)") == "(1, a)");
  CHECK(result_of(R"(def f() -> List[int]:
    return []
)") == "[]");
  CHECK(result_of(R"(def f() -> Optional[int]:
    return 1
)") == "1");
  CHECK(result_of(R"(def f() -> Union[int, str]:
    return "a"
)") == "a");
  CHECK(result_of(R"(def f() -> Dict[str, int]:
    return {}
)") == "{}");
  CHECK(result_of(R"(def f():
    x = 1
    x: str = "a"
    return x
)") == "a");
  CHECK(result_of(R"(def f():
    x: Dict[str, Tuple[int, int]] = {"a": (1, 2)}
    a, b = x["a"]
    return a, b
)") == "(1, 2)");
  CHECK(result_of(R"(def f():
    x: List[Any] = [1, "a"]
    return x
)") == "[1, a]");
  CHECK(result_of(R"(def f():
    x: Dict[str, Any] = {"a": 1, "b": "c"}
    return x
)") == "{a: 1, b: c}");
  CHECK(result_of(R"(def f():
    x: List[Union[int, str]] = [1, "a"]
    return x
)") == "[1, a]");
  CHECK(result_of(R"(def f():
    x: Union[int, str] = 1
    x = "a"
    return x
)") == "a");
  CHECK(result_of(R"(def f():
    x: Any = 1
    x = "a"
    return x
)") == "a");
}

TEST_CASE("del removes elements and names", "[jit]") {
  CHECK(result_of(R"(def f():
    d = {"a": 1, "b": 2}
    d["c"] = 3
    del d["a"]
    d["b"] += 5
    return d, len(d), "a" in d, list(d.keys()), list(d.values())
)") == "({b: 7, c: 3}, 2, False, [b, c], [7, 3])");
  CHECK(result_of(R"(def f():
    x = [1, 2, 3]
    del x[0], x[0]
    return x
)") == "[3]");
  CHECK(result_of(R"(def f():
    x = [1, 2, 3]
    del x
    return 1
)") == "1");
}

TEST_CASE("Sources may be laid out in any way", "[jit]") {
  CHECK(result_of(R"(def f():
    return 'a' "b" 'c'
)") == "abc");
  CHECK(result_of(R"(def f():
    return """multi
line""", '''x'''
)") == "(multi\nline, x)");
  CHECK(result_of(R"(def f(): return 1
)") == "1");
  CHECK(result_of(R"(def f():
    """doc"""
    return 1
)") == "1");
  CHECK(result_of(R"(def f():
    # comment
    return 1  # more
# end
)") == "1");
  CHECK(result_of(R"(def f():

    x = 1

    # c

    return x
)") == "1");
  CHECK(result_of(R"(def f():
    x = [
        1,
        2,  # c
    ]
    y = (1 +
         2)
    return x, y
)") == "([1, 2], 3)");
  CHECK(result_of(R"(def f():
    x = 1 + \
        2
    return x
)") == "3");
  CHECK(result_of(R"(def f():
	x = 1
	return x
)") == "1");
  CHECK(result_of(R"(def f():
  x = 1
  if x:
      y = 2
  else:
    y = 3
  return y
)") == "2");
  CHECK(result_of(R"(def f(
    ):
    return 1
)") == "1");
  CHECK(result_of(R"(def  f ( ) :
    return 1
)") == "1");
  CHECK(result_of(R"(def f():
    _ = 1
    __ = 2
    a1 = 3
    A_b = 4
    return _ + __ + a1 + A_b
)") == "10");
}
