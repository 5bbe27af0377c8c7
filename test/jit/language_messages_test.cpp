// What the compiler says of wrong sources, word for word and with the marked place, as PyTorch does.
#include <catch2/catch.hpp>

#include <csrc/jit/api/compilation_unit.h>

#include <sstream>
#include <string>

using namespace torch::jit;

namespace {

struct Message {
  const char* source;
  const char* text;
};

constexpr Message kMessages[] = {
    {R"(def f():
    x = 1 +
)",
     R"(expected ident but found 'newline' here:
  File "<string>", line 3
def f():
    x = 1 +)"},
    {R"(def f():
    x = (1, 2
)",
     R"(expected ) but found 'eof' here:
  File "<string>", line 3
def f():
    x = (1, 2)"},
    {R"(def f():
    x = 'abc
)",
     R"(expected a valid token but found ' ' here:
  File "<string>", line 2
def f():
    x = 'abc
        ~ <--- HERE)"},
    {R"(def f():
    x = f(**k)
)",
     R"(expected ident but found 'pow operator' here:
  File "<string>", line 2
def f():
    x = f(**k)
          ~~ <--- HERE)"},
    {R"(def f():
    x ==
)",
     R"(expected ident but found 'newline' here:
  File "<string>", line 3
def f():
    x ==)"},
    {R"(def f():
    if x:
)",
     R"(expected indent but found 'newline' here:
  File "<string>", line 3
def f():
    if x:)"},
    {R"(def f():
    raise
)",
     R"(expected ident but found 'newline' here:
  File "<string>", line 3
def f():
    raise)"},
    {R"(def f():
    assert x,
)",
     R"(expected ident but found 'newline' here:
  File "<string>", line 3
def f():
    assert x,)"},
    {R"(def f():
    del 1
)",
     R"(del statements are only supported for deleting list and dict items and variables:
  File "<string>", line 2
def f():
    del 1
        ~ <--- HERE)"},
    {R"(def f():
    x: int
)",
     R"(For an assignment, expected an expression on the right-hand side:
  File "<string>", line 2
def f():
    x: int
    ~~~~~~ <--- HERE)"},
    {R"(def f():
    1 = x
)",
     R"(unexpected expression on left-hand side of assignment:
  File "<string>", line 2
def f():
    1 = x
    ~ <--- HERE)"},
    {R"(def f():
    [1,2] = x
)",
     R"(unexpected expression on left-hand side of assignment:
  File "<string>", line 2
def f():
    [1,2] = x
    ~~~~ <--- HERE)"},
    {R"(def f():
    a, b += 1, 2
)",
     R"(augmented assignment can only have one LHS expression:
  File "<string>", line 2
def f():
    a, b += 1, 2
    ~~~~ <--- HERE)"},
    {R"(def f():
    with x as 1:
        pass
)",
     R"(expected ident but found 'number' here:
  File "<string>", line 2
def f():
    with x as 1:
              ~ <--- HERE
        pass)"},
    {R"(def f():
    try:
        pass
    except:
        pass
)",
     R"(expected ident but found 'indent' here:
  File "<string>", line 3
def f():
    try:
        pass
    except:
        pass)"},
    {R"(def f():
    x = []; y = {}
)",
     R"(expected a valid token but found ';' here:
  File "<string>", line 2
def f():
    x = []; y = {}
          ~ <--- HERE)"},
    {R"(def f():
    x = ...
)",
     R"(Cannot emit expr for: (dots)
:
  File "<string>", line 2
def f():
    x = ...
        ~~~ <--- HERE)"},
    {R"(def f():
    return [1][:::2]
)",
     R"(expected ident but found ':' here:
  File "<string>", line 2
def f():
    return [1][:::2]
                 ~ <--- HERE)"},
    {R"(def f(x: List[int]):
    return x[, 1]
)",
     R"(expected ident but found ',' here:
  File "<string>", line 2
def f(x: List[int]):
    return x[, 1]
             ~ <--- HERE)"},
    {R"(def f():
    return (1, :)
)",
     R"(expected ident but found ':' here:
  File "<string>", line 2
def f():
    return (1, :)
               ~ <--- HERE)"},
    {R"(def f(x: int):
    return 1 if x if x else 2
)",
     R"(expected else but found 'newline' here:
  File "<string>", line 3
def f(x: int):
    return 1 if x if x else 2)"},
    {R"(def f():
    v: Dict[str, int] += 1
)",
     R"(undefined value v:
  File "<string>", line 2
def f():
    v: Dict[str, int] += 1
    ~ <--- HERE)"},
    {R"(def f(x: Tensor):
    v: float = x.item()
)",
     R"(Variable 'v' is annotated with type float but is being assigned to a value of type number:
  File "<string>", line 2
def f(x: Tensor):
    v: float = x.item()
    ~ <--- HERE)"},
    {R"(def f():
    v: float in 2
)",
     R"(For an assignment, expected an expression on the right-hand side:
  File "<string>", line 2
def f():
    v: float in 2
    ~~~~~~~~~~~~~ <--- HERE)"},
    {R"(def f():
    global v in 2
)",
     R"(expected newline but found 'in' here:
  File "<string>", line 2
def f():
    global v in 2
             ~~ <--- HERE)"},
    {R"(def f():
    return [ not in 2]
)",
     R"(expected ident but found 'not in' here:
  File "<string>", line 2
def f():
    return [ not in 2]
             ~~~~~~ <--- HERE)"},
    {R"(def f():
    return isinstance + 1
)",
     R"(isinstance cannot be used as a value:
  File "<string>", line 2
def f():
    return isinstance + 1
           ~~~~~~~~~~ <--- HERE)"},
    {R"(def g(x: List[int]):
    return x
def f():
    x = []
    return g(x)
)",
     R"(g(int[] x) -> int[]:
Expected a value of type 'List[int]' for argument 'x' but instead found type 'List[Tensor]'.
Empty lists default to List[Tensor]. Add a variable annotation to the assignment to create an empty list of another type (torch.jit.annotate(List[T, []]) where T is the type of elements in the list for Python 2)
:
  File "<string>", line 5
def f():
    x = []
    return g(x)
           ~ <--- HERE)"},
    {R"(def f():
    return 1
   return 2
)",
     R"(invalid indent level 3:
  File "<string>", line 3
def f():
    return 1
   return 2)"},
    {R"(def f(n: int) -> int:
    if n > 1 and (False and True):
        return undefined
    return missing
)",
     R"(undefined value missing:
  File "<string>", line 4
    if n > 1 and (False and True):
        return undefined
    return missing
           ~~~~~~~ <--- HERE)"},
    {R"(def f():
    x = 1
      y = 2
)",
     R"(expected newline but found 'indent' here:
  File "<string>", line 3
def f():
    x = 1
      y = 2)"},
    {R"(def f():
    if True:
    pass
)",
     R"(expected indent but found 'newline' here:
  File "<string>", line 3
def f():
    if True:
    pass)"},
    {R"(def f():
    if True:
        x = 1
       y = 2
)",
     R"(invalid indent level 7:
  File "<string>", line 4
    if True:
        x = 1
       y = 2)"},
    {R"(def f():
    x = {1: 2, 'a': 3}
)",
     R"(Dict keys must contain only a single type. Expected: int but found str instead:
  File "<string>", line 2
def f():
    x = {1: 2, 'a': 3}
               ~~~ <--- HERE)"},
    {R"(def f():
    x = (1, 2)
    x[0] = 3
)",
     R"(Tuple[int, int] does not support subscripted assignment:
  File "<string>", line 3
def f():
    x = (1, 2)
    x[0] = 3
    ~~~~ <--- HERE)"},
    {R"(def f():
    x = (1, 'a')
    y = 1
    x[y]
)",
     R"(Cannot index into a Tuple[int, str] with a non-integer literal because we cannot resolve the output type:
  File "<string>", line 4
    x = (1, 'a')
    y = 1
    x[y]
    ~~~~ <--- HERE)"},
    {R"(def f():
    x = (1, 2)
    x['a']
)",
     R"(tuple index must be an integer:
  File "<string>", line 3
def f():
    x = (1, 2)
    x['a']
    ~~~~~~ <--- HERE)"},
    {R"(def f():
    for i in range(1, 2, 3, 4):
        pass
)",
     R"(range expected at most 3 arguments, got 4:
  File "<string>", line 2
def f():
    for i in range(1, 2, 3, 4):
             ~~~~~~~~~~~~~~~~ <--- HERE
        pass)"},
    {R"(def f():
    for i in range('a'):
        pass
)",
     R"(all inputs of range must be ints, found str in argument 0:
  File "<string>", line 2
def f():
    for i in range('a'):
             ~~~~~~~~~ <--- HERE
        pass)"},
    {R"(def f():
    for i, j in range(3):
        pass
)",
     R"(int cannot be used as a tuple:
  File "<string>", line 2
def f():
    for i, j in range(3):
    ~~~~~~~~~~~~~~~~~~~~~
        pass
        ~~~~ <--- HERE)"},
    {R"(def f():
    for i, j in [(1, 2, 3)]:
        pass
)",
     R"(too many values to unpack: need 2 but found 3:
  File "<string>", line 2
def f():
    for i, j in [(1, 2, 3)]:
    ~~~~~~~~~~~~~~~~~~~~~~~~
        pass
        ~~~~ <--- HERE)"},
    {R"(def f():
    for i in enumerate():
        pass
)",
     R"(enumerate expected at least 1 arguments, got 0:
  File "<string>", line 2
def f():
    for i in enumerate():
             ~~~~~~~~~~ <--- HERE
        pass)"},
    {R"(def f():
    for i in zip():
        pass
)",
     R"(zip expected at least 1 arguments, got 0:
  File "<string>", line 2
def f():
    for i in zip():
             ~~~~ <--- HERE
        pass)"},
    {R"(def f():
    x = dict(1)
)",
     R"('int' object is not iterable:
  File "<string>", line 2
def f():
    x = dict(1)
        ~~~~~~ <--- HERE)"},
    {R"(def f():
    x = isinstance(1)
)",
     R"(isinstance expected exactly 2 arguments but found 1:
  File "<string>", line 2
def f():
    x = isinstance(1)
        ~~~~~~~~~~~~ <--- HERE)"},
    {R"(def f():
    x = getattr()
)",
     R"(getattr expected to have number of arguments between 2 and 3 but found 0:
  File "<string>", line 2
def f():
    x = getattr()
        ~~~~~~~~ <--- HERE)"},
    {R"(def f():
    x = hasattr(1, 'a')
)",
     R"(hasattr's first argument must be an object or NamedTuple, got int instead:
  File "<string>", line 2
def f():
    x = hasattr(1, 'a')
                ~ <--- HERE)"},
    {R"(def f():
    x = hasattr(1, 2)
)",
     R"(hasattr's second argument must be a string literal:
  File "<string>", line 2
def f():
    x = hasattr(1, 2)
                   ~ <--- HERE)"},
    {R"(def f():
    raise ValueError(1)
)",
     R"(undefined value ValueError:
  File "<string>", line 2
def f():
    raise ValueError(1)
          ~~~~~~~~~~ <--- HERE)"},
    {R"(def f():
    x: Dict[int] = {1: 2}
)",
     R"( expected exactly 2 element types but found 1:
  File "<string>", line 2
def f():
    x: Dict[int] = {1: 2}
       ~~~~~~~~~ <--- HERE)"},
    {R"(def f():
    x: Dict[int, str] = {1: 2}
)",
     R"(Type annotation was inferred to be `Dict[int, str]`, but the type of values given by the dict literal is int:
  File "<string>", line 2
def f():
    x: Dict[int, str] = {1: 2}
                         ~~~~ <--- HERE)"},
    {R"(def f():
    x: (int, int) = 1
)",
     R"(Expression of type tuple-literal cannot be used in a type expression:
  File "<string>", line 2
def f():
    x: (int, int) = 1
        ~~~~~~~~ <--- HERE)"},
    {R"(def f():
    x: [int] = 1
)",
     R"(Expression of type list-literal cannot be used in a type expression:
  File "<string>", line 2
def f():
    x: [int] = 1
       ~~~~ <--- HERE)"},
    {R"(def f():
    x: dict[str, int] = {1: 1}
)",
     R"(Type annotation was inferred to be Dict[str, int]but the type of keys given by the dict literal is int:
  File "<string>", line 2
def f():
    x: dict[str, int] = {1: 1}
                         ~~~~ <--- HERE)"},
    {R"(def f():
    def g():
        return 1
    return g(1)
)",
     R"(cannot call a closure:
  File "<string>", line 4
    def g():
        return 1
    return g(1)
           ~ <--- HERE)"},
    {R"(def f():
    x = torch.ones(2)
    x.y = 1
)",
     R"(Tried to set an attribute: y on a non-class: Tensor:
  File "<string>", line 3
def f():
    x = torch.ones(2)
    x.y = 1
    ~~~~~~~ <--- HERE)"},
    {R"(def f():
    x = (1, 2)
    a, b, c = x
)",
     R"(need 3 values to unpack but found only 2:
  File "<string>", line 3
def f():
    x = (1, 2)
    a, b, c = x
    ~~~~~~~ <--- HERE)"},
    {R"(def f():
    x = (1, 2)
    a = x[1.5]
)",
     R"(tuple index must be an integer:
  File "<string>", line 3
def f():
    x = (1, 2)
    a = x[1.5]
        ~~~~~~ <--- HERE)"},
    {R"(def f():
    x = [1, 2]
    x[0:1] = 'a'
)",
     R"(Sliced expression not yet supported for subscripted assignment. File a bug if you want this:
  File "<string>", line 3
def f():
    x = [1, 2]
    x[0:1] = 'a'
     ~~~~ <--- HERE)"},
    {R"(def f():
    x = [1, 2]
    x[0, 1]
)",
     R"(Unsupported operation: attempted to use multidimensional indexing on a non-tensor type:
  File "<string>", line 3
def f():
    x = [1, 2]
    x[0, 1]
    ~~~~~~~ <--- HERE)"},
    {R"(def f(x: int) -> int:
    pass
)",
     R"(Function was not annotated as having type None, but does not return along all paths:
  File "<string>", line 1
def f(x: int) -> int:
    ~~~~~~~~~~~~~~~~~
    pass
    ~~~~ <--- HERE)"},
    {R"(def f(x):
return x
)",
     R"(expected ident but found 'newline' here:
  File "<string>", line 2
def f(x):
return x)"},
    {R"(def f():
    g.x = 1
def g():
    return 1
)",
     R"(attribute assignment is not defined on function:
  File "<string>", line 2
def f():
    g.x = 1
    ~~~~~~~ <--- HERE
def g():
    return 1)"},
    {R"(def f(x):
    x.a, x.b = 1, 2
)",
     R"(Tried to set an attribute: a on a non-class: Tensor (inferred):
  File "<string>", line 2
def f(x):
    x.a, x.b = 1, 2
               ~~~~ <--- HERE)"},
    {R"(def f(x):
    return x[
)",
     R"(expected ident but found 'eof' here:
  File "<string>", line 3
def f(x):
    return x[)"},
    {R"(def f(x):
    return {1:
)",
     R"(expected ident but found 'eof' here:
  File "<string>", line 3
def f(x):
    return {1:)"},
    {R"(def f(x):
    return [y for y in 1]
)",
     R"('int' object is not iterable:
  File "<string>", line 2
def f(x):
    return [y for y in 1]
            ~~~~~~~~~~~~ <--- HERE)"},
    {R"(def f(x):
    return 'a
b'
)",
     R"(expected a valid token but found ' ' here:
  File "<string>", line 2
def f(x):
    return 'a
           ~ <--- HERE
b')"},
    {R"(def f(x: int):
    return g()
def g():
    return y
)",
     R"(undefined value y:
  File "<string>", line 4
    return g()
def g():
    return y
           ~ <--- HERE
'g' is being compiled since it was called from 'f'
  File "<string>", line 2
def f(x: int):
    return g()
           ~~ <--- HERE
def g():
    return y)"},
    {R"(def f(bool: int):
    if True:
        return 1
    return 2
)",
     R"(Could not cast value of type bool to bool:
  File "<string>", line 2
def f(bool: int):
    if True:
       ~~~~ <--- HERE
        return 1
    return 2)"},
    {R"(def f(x: int):
    return (bool)[0:9]
)",
     R"(__bool__ cannot be used as a value:
  File "<string>", line 2
def f(x: int):
    return (bool)[0:9]
            ~~~~ <--- HERE)"},
    {R"(def f(x: int):
    return False if * else True
)",
     R"(expected ident but found 'else' here:
  File "<string>", line 2
def f(x: int):
    return False if * else True
                      ~~~~ <--- HERE)"},
};

// Without empty lines around it and without spaces at the ends of lines.
std::string trimmed(const std::string& text) {
  std::istringstream lines(text);
  std::string out;
  for (std::string line; std::getline(lines, line);) {
    out += line.substr(0, line.find_last_not_of(' ') + 1) + '\n';
  }
  const size_t begin = out.find_first_not_of('\n');
  return begin == std::string::npos ? "" : out.substr(begin, out.find_last_not_of('\n') + 1 - begin);
}

std::string message_of(const char* source) {
  try {
    compile(source);
  } catch (const c10::Error& error) {
    return trimmed(error.what_without_backtrace());
  }
  return "compiled";
}

} // namespace

TEST_CASE("Errors of sources have PyTorch's words and mark its places", "[jit][language]") {
  for (const Message& message : kMessages) {
    CAPTURE(message.source);
    CHECK(message_of(message.source) == message.text);
  }
}

TEST_CASE("A source that is indented as a whole compiles", "[jit][language]") {
  const auto unit = compile(R"(
    def first(n: int) -> int:
        if n > 2:
            return n
        return 2 * n

    # between

    def second(n: int) -> int:
        return first(n) + 1
  )");
  CHECK(unit->run_method("second", 2).toInt() == 5);
  CHECK(unit->run_method("second", 3).toInt() == 4);
  CHECK_THROWS_WITH(
      compile("    def f(n: int):\n        return n\n  def g(n: int):\n    return n\n"),
      Catch::Matchers::Contains("invalid indent level 2"));
}

TEST_CASE("The object of a method does not count as an argument that is too much", "[jit][language]") {
  using Catch::Matchers::Contains;
  CHECK_THROWS_WITH(
      compile("def f(d: Dict[str, int]):\n    return d.get('a', 1, 2)\n"),
      Contains("Expected at most 1 arguments but found 3 positional arguments.") &&
          Contains("Expected at most 2 arguments but found 3 positional arguments."));
  CHECK_THROWS_WITH(
      compile("def f(x: Tensor):\n    return torch.relu(x, 2)\n"),
      Contains("Expected at most 1 arguments but found 2 positional arguments."));
}
