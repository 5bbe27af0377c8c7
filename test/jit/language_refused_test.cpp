// Sources that are refused, and why; the words are PyTorch's.
#include <catch2/catch.hpp>

#include <csrc/jit/api/compilation_unit.h>

using namespace torch::jit;
using Catch::Matchers::Contains;

namespace {

struct Refused {
  const char* source;
  const char* why;
};

constexpr Refused kRefused[] = {
    {R"(def f():
    x = 0
    while True:
        x += 1
        if x % 2 == 0:
            continue
        if x > 7:
            break
        print(x)
    else:
        x = 100
    return x
)",
     "expected ident but found 'else' here:"},
    {R"(def f():
    x = 0
    for i in range(10):
        if i == 3:
            continue
        for j in range(i):
            if j == 2:
                break
            if (i + j) % 3 == 0:
                continue
            x += i * j
        else:
            x += 1
    return x
)",
     "expected ident but found 'else' here:"},
    {R"(def f():
    for y in range(5):
        pass
    return y
)",
     "undefined value y:"},
    {R"(def g(c: bool):
    if c:
        z = 3
    return z
def f():
    return g(True)
)",
     "z is not defined in the false branch:"},
    {R"(def g(c: bool):
    if c:
        z = 3
    else:
        z = "a"
    return z
def f():
    return g(True)
)",
     "Type mismatch: z is set to type int in the true branch and type str in the false branch:"},
    {R"(def g(c: bool):
    if c:
        z = 3
    else:
        z = 2.5
    print(z)
    return 1
def f():
    return g(True)
)",
     "Type mismatch: z is set to type int in the true branch and type float in the false branch:"},
    {R"(def g(c: bool):
    if c:
        z = 3
    else:
        raise "x"
    return z
def f():
    return g(True)
)",
     "exceptions must derive from BaseException:"},
    {R"(def g(c: bool):
    return 1 if c else 3.5
def f():
    return g(True), g(False)
)",
     "if-expression's true branch has type int but false branch has type float:"},
    {R"(def g(c: bool):
    return 1 if c else "a"
def f():
    return g(True), g(False)
)",
     "if-expression's true branch has type int but false branch has type str:"},
    {R"(def g(x: Optional[int]) -> int:
    if x:
        return x
    return 0
def f():
    return g(None), g(4)
)",
     "Could not cast value of type Optional[int] to bool:"},
    {R"(def g(x: Optional[int]) -> int:
    while x is None:
        x = 3
    return x
def f():
    return g(None), g(4)
)",
     "Return value was annotated as having type int but is actually of type Optional[int]:"},
    {R"(def g(x: "int", y: 'List[str]') -> "int":
    return x + len(y)
def f():
    return g(3, ["a"])
)",
     "Unknown type name 'int':"},
    {R"(def g(x, y):
    # type: (int, int) -> Tuple[int, int]
    z = (y, x)  # type: Tuple[int, int]
    w = []  # type: List[int]
    w.append(3)
    return z
def f():
    return g(3, 4)
)",
     "expected newline but found 'type comment' here:"},
    {R"(def f():
    x: Optional[int] = None
    y: int = 3
    z: float = 3
    return x, y
)",
     "Variable 'z' is annotated with type float but is being assigned to a value of type int:"},
    {R"(def f():
    x: int = "a"
    return x
)",
     "Variable 'x' is annotated with type int but is being assigned to a value of type str:"},
    {R"(def f():
    x = []
    x.append(1)
    return x
)",
     "aten::append.t(t[](a!) self, t(c -> *) el) -> t[](a!):"},
    {R"(def f():
    a, b = 1, 2
    a, b = b, a
    (c, d), e = (a, b), 3
    [g, h] = [5, 6]
    return a, b, c, d, e, g, h
)",
     "unexpected expression on left-hand side of assignment:"},
    {R"(def f():
    a, *b = [1, 2, 3]
    return a, b
)",
     "cannot statically infer the expected size of a list in this context:"},
    {R"(def f():
    a, b = 1, 2, 3
    return a
)",
     "too many values to unpack: need 2 but found 3:"},
    {R"(def f():
    a, *b, *c = 1, 2, 3
    return a
)",
     "Only one starred expression is allowed on the lhs:"},
    {R"(def g(a: int, b: int = 5, *, c: int = 7) -> int:
    return a * 100 + b * 10 + c
def f():
    return g(1, 2, 3)
)",
     "g(int a, int b=5, *, int c=7) -> int:"},
    {R"(def g(a: int, *, c: int) -> int:
    return a * 100 + c
def f():
    return g(1)
)",
     "g(int a, *, int c) -> int:"},
    {R"(def g(a: int) -> int:
    return a
def f():
    return g(1, a=2)
)",
     "g(int a) -> int:"},
    {R"(def g(a: int) -> int:
    return a
def f():
    return g(b=2)
)",
     "g(int a) -> int:"},
    {R"(def g(a: int, *args):
    return a
def f():
    return g(1)
)",
     "expected ) but found 'ident' here:"},
    {R"(def g(a = torch.ones(2)):
    return a
def f():
    return g()
)",
     "Keyword arguments with defaults need to be type-hinted (TorchScript C++ frontend):"},
    {R"(def f():
    x = (1, "a", 2.5, True)
    return x[4]
)",
     "Tuple index out of range. Tuple is length 4 and index is 4:"},
    {R"(def f():
    x = torch.zeros(2, 3)
    x[0] += 1
    x[:, 1] *= 3
    x[1, 2] -= 4.5
    x[torch.tensor([0]), torch.tensor([1])] += 7
    x /= 2
    x **= 2
    x //= 1
    x %= 3
    return x
)",
     "expected ident but found '=' here:"},
    {R"(def f():
    x = torch.zeros(4)
    x[True] = 3
    return x
)",
     "Unsupported operation: indexing tensor with unsupported index type 'bool'. Only ints, slices, lists and tensors "
     "are supported:"},
    {R"(def f():
    x = torch.arange(6)
    return x[True], x[False], x[None, ..., None], x[...]
)",
     "Unsupported operation: indexing tensor with unsupported index type 'bool'. Only ints, slices, lists and tensors "
     "are supported:"},
    {R"(def f():
    x = torch.arange(6)
    return x[1.5]
)",
     "Unsupported operation: indexing tensor with unsupported index type 'float'. Only ints, slices, lists and tensors "
     "are supported:"},
    {R"(def f():
    x = torch.arange(6)
    return x["a"]
)",
     "Unsupported operation: indexing tensor with unsupported index type 'str'. Only ints, slices, lists and tensors "
     "are supported:"},
    {R"(def f():
    d = {1: "x", 2: "y"}
    d2 = {k: v + "!" for k, v in d.items()}
    l = [k for k in d2]
    return d2, l
)",
     "expected in but found ',' here:"},
    {R"(def f():
    return [i for i in range(5) if i % 2 == 0]
)",
     "expected else but found ']' here:"},
    {R"(def f():
    return [a + b for a, b in zip([1, 2], [3, 4])], [i * x for i, x in enumerate([5, 6])]
)",
     "expected in but found ',' here:"},
    {R"(def f():
    return {"a": 1, 2: 3}
)",
     "Dict keys must contain only a single type. Expected: str but found int instead:"},
    {R"(def f():
    return "{a}".format(a=1)
)",
     "aten::format(str self, ...) -> str:"},
    {R"(def f():
    print("a", sep="-")
    return 0
)",
     "print doesn't accept any keyword arguments:"},
    {R"(def f():
    return tuple([1, 2])
)",
     "cannot statically infer the expected size of a list in this context:"},
    {R"(def f():
    return reversed([1, 2])
)",
     "undefined value reversed:"},
    {R"(def f():
    x = [1, 2, 3]
    for i in reversed(x):
        print(i)
    return 0
)",
     "undefined value reversed:"},
    {R"(def f():
    for i in reversed(range(3)):
        print(i)
    return 0
)",
     "undefined value reversed:"},
    {R"(def f():
    x = range(5)
    return x[2]
)",
     "range cannot be used as a value:"},
    {R"(def f():
    return len(range(5)), len(range(2, 10, 3))
)",
     "range cannot be used as a value:"},
    {R"(def f():
    x = zip([1], [2])
    return x
)",
     "iterabletree cannot be used as a value:"},
    {R"(def f():
    assert (1 == 2, "always true")
    return 1
)",
     "Could not cast value of type Tuple[bool, str] to bool:"},
    {R"(def f():
    raise RuntimeError("boom")
)",
     "undefined value RuntimeError:"},
    {R"(def f():
    with torch.no_grad():
        x = 1
    return x
)",
     "Unknown builtin op: aten::no_grad."},
    {R"(def f():
    global x
    return 1
)",
     "Unrecognized statement kind global:"},
    {R"(def f():
    import math
    return 1
)",
     "expected ident but found 'import' here:"},
    {R"(def f():
    class A:
        pass
    return 1
)",
     "expected ident but found 'class' here:"},
    {R"(class A:
    def __init__(self):
        self.x = 1
def f():
    return A().x
)",
     "expected def but found 'class' here:"},
    {R"(async def f():
    return 1
)",
     "expected def but found 'ident' here:"},
    {R"(def f():
    return await g()
)",
     "expected newline but found 'ident' here:"},
    {R"(def f():
    x = (y := 3)
    return x
)",
     "expected ) but found ':' here:"},
    {R"(def f():
    return f"a{1}"
)",
     "expected newline but found 'string_literal' here:"},
    {R"(def f():
    return r"a\n"
)",
     "expected newline but found 'string_literal' here:"},
    {R"(def f():
    return b"a"
)",
     "expected newline but found 'string_literal' here:"},
    {R"(def f():
    return u"a"
)",
     "expected newline but found 'string_literal' here:"},
    {R"(def f():
    return "\x41\u0042\101\n\t\\\"\'"
)",
     "unsupported hex specifier:"},
    {R"(def f():
    return "\N{DIGIT ONE}"
)",
     "ill formed octal specifier:"},
    {R"(def f():
    return "\q"
)",
     "ill formed octal specifier:"},
    {R"(def f():
    return 0x1F, 0b101, 0o17
)",
     "expected newline but found 'ident' here:"},
    {R"(def f():
    return 0b101
)",
     "expected newline but found 'ident' here:"},
    {R"(def f():
    return 0o17
)",
     "expected newline but found 'ident' here:"},
    {R"(def f():
    return 1_000
)",
     "expected newline but found 'ident' here:"},
    {R"(def f():
    return 9223372036854775808
)",
     "Integral constant out of range (must fit in a signed 64 bit integer):"},
    {R"(def f():
    return 99999999999999999999999
)",
     "Integral constant out of range (must fit in a signed 64 bit integer):"},
    {R"(def f():
    return 12a
)",
     "expected newline but found 'ident' here:"},
    {R"(def f():
    return 1.2.3
)",
     "expected newline but found 'number' here:"},
    {R"(def f():
    if 1 > 2: return 1
    else: return 2
)",
     "expected indent but found 'return' here:"},
    {R"(def f():
    x = 1
	y = 2
    return x
)",
     "invalid indent level 1:"},
    {R"(def f() -> None:
    return 1
)",
     "Return value was annotated as having type NoneType but is actually of type int:"},
    {R"(def f() -> int:
    return
)",
     "Return value was annotated as having type int but is actually of type NoneType:"},
    {R"(def f() -> int:
    pass
)",
     "Function was not annotated as having type None, but does not return along all paths:"},
    {R"(def f() -> int:
    while True:
        return 1
)",
     "Function was not annotated as having type None, but does not return along all paths:"},
    {R"(def f() -> int:
    for i in range(3):
        return i
)",
     "Function was not annotated as having type None, but does not return along all paths:"},
    {R"(def f() -> Tuple[int, str]:
    return "a", 1
)",
     "Return value was annotated as having type Tuple[int, str] but is actually of type Tuple[str, int]:"},
    {R"(def f() -> List[float]:
    return [1, 2]
)",
     "List type annotation `List[float]` did not match the types of the given list elements, which were unified to "
     "int:"},
    {R"(def f() -> float:
    return 1
)",
     "Return value was annotated as having type float but is actually of type int:"},
    {R"(def f() -> Optional[int]:
    pass
)",
     "Function was not annotated as having type None, but does not return along all paths:"},
    {R"(def f() -> Foo:
    return 1
)",
     "Unknown type name 'Foo':"},
    {R"(def f(x: List):
    return 1
)",
     "Unknown type name 'List':"},
    {R"(def f(x: List[]):
    return 1
)",
     "expected exactly one element type but found 0:"},
    {R"(def f(x: Optional[int, str]):
    return 1
)",
     "expected exactly one element type but found 2:"},
    {R"(def f(x: Dict[List[int], int]):
    return 1
)",
     "Cannot create dict for key type 'int[]', only int, float, complex, Tensor, device and string keys are supported"},
    {R"(def f(x: Callable[[int], int]):
    return 1
)",
     "Unknown type constructor Callable:"},
    {R"(def f(x: torch.Tensor, y: torch.device, z: torch.dtype):
    return 1
)",
     "Unknown type name 'torch.device':"},
    {R"(def f(x: int[]):
    return 1
)",
     "Unknown type constructor int:"},
    {R"(def f(x: "List["):
    return 1
)",
     "Unknown type name 'List[':"},
    {R"(def f(x: Future[int], y: Set[int]):
    return 1
)",
     "Unknown type constructor Set:"},
    {R"(def f(x):
    return x
def f(x):
    return x
)",
     "method 'f' already defined."},
    {R"(def f(x: int) -> int:
    return g(x)
def g(x: int) -> int:
    return f(x)
)",
     " function 'f' is called recursively. Recursive calls are not supported:"},
    {R"(def f():
    return g()
)",
     "undefined value g:"},
    {R"(def f():
    return undefined_name
)",
     "undefined value undefined_name:"},
    {R"(def f():
    return torch.foo(1)
)",
     "Unknown builtin op: aten::foo."},
    {R"(def f():
    return torch.ones
)",
     "builtin cannot be used as a value:"},
    {R"(def f():
    return torch
)",
     "builtin module cannot be used as a value:"},
    {R"(def f():
    x = torch.ones(2)
    return x.foo()
)",
     "'Tensor' object has no attribute or method 'foo'.:"},
    {R"(def f():
    x = torch.ones(2)
    return x.foo
)",
     "'Tensor' object has no attribute or method 'foo'.:"},
    {R"(def f():
    return (1).foo
)",
     "'int' object has no attribute or method 'foo'.:"},
    {R"(def f():
    return "a".foo()
)",
     "'str' object has no attribute or method 'foo'.:"},
    {R"(def f():
    x = 1
    return x()
)",
     "cannot call a value of type 'int':"},
    {R"(def f():
    x = 1
    x.y = 3
    return x
)",
     "Tried to set an attribute: y on a non-class: int:"},
    {R"(def f():
    x += 1
    return x
)",
     "undefined value x:"},
    {R"(def f():
    x = 1
    if x > 0:
        x = 2.5
    return x
)",
     "Variable 'x' previously had type int but is now being assigned to a value of type float"},
    {R"(def f():
    x = 1
    while x < 5:
        x = x * 1.5
    return x
)",
     "Variable 'x' previously had type int but is now being assigned to a value of type float"},
    {R"(def f():
    x = [1, 2]
    x += [3]
    x *= 2
    y = "a"
    y += "b"
    y *= 2
    z = 5
    z //= 2
    z **= 2
    return x, y
)",
     "expected ident but found '=' here:"},
    {R"(def f():
    break
)",
     "SyntaxError: 'break' outside loop:"},
    {R"(def f():
    continue
)",
     "SyntaxError: 'continue' outside loop:"},
    {R"(def f():
    x = torch.ones(2, 3)
    a, b = x
    c, d = torch.max(x, 1)
    v, i = x.sort()
    return a, c, d
)",
     "Tensor cannot be used as a tuple:"},
    {R"(def f():
    x = torch.ones(2)
    return x.tolist()
)",
     "Expected type hint for result of tolist():"},
    {R"(def g(x: float):
    return x
def f():
    return g(3)
)",
     "g(float x) -> float:"},
    {R"(def g(x: Tensor):
    return x
def f():
    return g(3)
)",
     "g(Tensor x) -> Tensor:"},
    {R"(def g(x):
    return x
def f():
    return g(3)
)",
     "g(Tensor x) -> Tensor:"},
    {R"(def g(x: List[float]):
    return x
def f():
    return g((1.5, 2))
)",
     "g(float[] x) -> float[]:"},
    {R"(def g(x: Tuple[int, float]):
    return x
def f():
    return g((1, 2))
)",
     "g((int, float) x) -> ((int, float)):"},
    {R"(def g(x: List[Optional[int]]):
    return x
def f():
    return g([1, 2])
)",
     "g(int?[] x) -> int?[]:"},
    {R"(def g(x: List[Optional[int]]):
    return x
def f():
    y = [1, 2]
    return g(y)
)",
     "g(int?[] x) -> int?[]:"},
    {R"(def f():
    if None:
        return 1
    return 2
)",
     "Could not cast value of type NoneType to bool:"},
    {R"(def f():
    x = 3
    return isinstance(x, int), isinstance(x, str), isinstance(x, (int, str)), isinstance(x, (float, str)), isinstance([1], list), isinstance([1], List[int]), isinstance((1, 2), tuple), isinstance({"a": 1}, dict), isinstance(None, int), isinstance(torch.ones(1), Tensor), isinstance(1.5, float), isinstance(True, bool), isinstance(True, int)
)",
     "Unknown type name 'dict':"},
    {R"(def f():
    return type(1)
)",
     "undefined value type:"},
    {R"(def f():
    return inf
)",
     "undefined value inf:"},
    {R"(def f():
    return torch.float32
)",
     "builtin cannot be used as a value:"},
    {R"(def f():
    return math.pi
)",
     "undefined value math:"},
    {R"(def f():
    return torch.pi
)",
     "builtin cannot be used as a value:"},
    {R"(def f():
    return ops.aten.relu(torch.ones(1))
)",
     "undefined value ops:"},
    {R"(def f():
    x = torch.arange(6.0)
    return x.to(torch.ones(1, dtype=6)), x.to(3), x.float(), x.double(), x.int(), x.long(), x.bool(), x.half(), x.cpu(), x.to("cpu"), x.type_as(torch.ones(1)), x.byte()
)",
     "'Tensor' object has no attribute or method 'bool'.:"},
    {R"(def f():
    return torch.is_grad_enabled(), torch.get_default_dtype(), torch.is_tensor(torch.ones(1)), torch.numel(torch.ones(3)), torch.is_floating_point(torch.ones(1))
)",
     "Unknown builtin op: aten::get_default_dtype."},
    {R"(def f():
    return torch.squeeze(torch.ones(1, 2)), torch.unsqueeze(torch.ones(2), 0), torch.flatten(torch.ones(2, 2)), torch.transpose(torch.ones(1, 2), 0, 1), torch.t(torch.ones(1, 2)), torch.narrow(torch.arange(5), 0, 1, 2), torch.gather(torch.arange(4), 0, torch.tensor([1])), torch.index_select(torch.arange(4), 0, torch.tensor([1])), torch.masked_select(torch.arange(3), torch.tensor([True, False, True])), torch.cumsum(torch.arange(3), 0), torch.tril(torch.ones(2, 2)), torch.flip(torch.arange(3), [0]), torch.roll(torch.arange(3), 1), torch.nonzero(torch.arange(3)), torch.unique(torch.tensor([1, 1, 2]))
)",
     "Unknown builtin op: aten::unique."},
    {R"(def f():
    x = torch.ones(2, 2)
    x.t_()
    x[0].zero_()
    x.unsqueeze_(0)
    return x, x.stride(), x.is_contiguous(), x.storage_offset(), x.data_ptr() == x.data_ptr(), x.contiguous(), x.clone(), x.detach(), x.element_size()
)",
     "'Tensor' object has no attribute or method 'data_ptr'.:"},
    {R"(def f():
    l = [1, 2, 3]
    l[0] += 5
    l[-1] *= 4
    l[1] -= 1
    l[1] //= 1
    return l
)",
     "expected ident but found '=' here:"},
    {R"(def f():
    return 1 +
)",
     "expected ident but found 'newline' here:"},
    {R"(def f():
    return 1)
)",
     "expected newline but found ')' here:"},
    {R"(def f():
    x = = 1
    return x
)",
     "expected ident but found '=' here:"},
    {R"(def f():
    return 1
  x = 2
)",
     "invalid indent level 2:"},
    {R"(def f():
    return a.b.c
)",
     "undefined value a:"},
    {R"(def f():
    return ,
)",
     "expected ident but found ',' here:"},
    {R"(def f():
    while:
        pass
)",
     "expected ident but found ':' here:"},
    {R"(def f():
    else:
        pass
)",
     "expected ident but found 'else' here:"},
    {R"(def
)",
     "expected ident but found 'newline' here:"},
    {R"(x = 1
)",
     "expected def but found 'ident' here:"},
    {R"(return 1
)",
     "expected def but found 'return' here:"},
    {R"(def f(x=1, y):
    return x
)",
     "Keyword arguments with defaults need to be type-hinted (TorchScript C++ frontend):"},
    {R"(def f(x:):
    return x
)",
     "expected ident but found ')' here:"},
    {R"(def f(,):
    return 1
)",
     "expected ident but found ',' here:"},
    {R"(def f(1):
    return 1
)",
     "expected ident but found 'number' here:"},
    {R"(def f(x: int, /):
    return x
)",
     "expected ident but found '/' here:"},
    {R"(def f() -> :
    return 1
)",
     "expected ident but found ':' here:"},
    {R"(def if():
    return 1
)",
     "expected ident but found 'if' here:"},
    {R"(def f():
    if = 1
    return 1
)",
     "expected ident but found '=' here:"},
    {R"(def f():
    return [1][0](2)
)",
     "cannot call a value of type 'int':"},
    {R"(def f():
    return torch.ones(*[2, 3])
)",
     "cannot statically infer the expected size of a list in this context:"},
    {R"(def f():
    return ",".join([1])
)",
     "aten::join(str self, str[] values) -> str:"},
    {R"(def f():
    return not None
)",
     "Could not cast value of type NoneType to bool:"},
    {R"(def f():
    x: Final[int] = 3
    return x
)",
     "Unknown type constructor Final:"},
    {R"(def f():
    x: Tuple[int, List[str]] = (1, [])
    return x
)",
     "Variable 'x' is annotated with type Tuple[int, List[str]] but is being assigned to a value of type Tuple[int, "
     "List[Tensor]]:"},
    {R"(def f():
    x: List[Tuple[int, str]] = [(1, "a")]
    for a, b in x:
        print(a, b)
    return [b for a, b in x]
)",
     "expected in but found ',' here:"},
    {R"(def f():
    x: List[List[int]] = [[], [1]]
    return x
)",
     "List type annotation `List[List[int]]` did not match the types of the given list elements, which were unified to "
     "Union[List[Tensor], List[int]]:"},
    {R"(def f():
    x: List[float] = [1, 2.5]
    return x
)",
     "List type annotation `List[float]` did not match the types of the given list elements, which were unified to "
     "Union[float, int]:"},
    {R"(def f():
    x: List[int] = [1.5]
    return x
)",
     "List type annotation `List[int]` did not match the types of the given list elements, which were unified to "
     "float:"},
    {R"(def f():
    x: Tuple[float, int] = (1, 2)
    return x
)",
     "Variable 'x' is annotated with type Tuple[float, int] but is being assigned to a value of type Tuple[int, int]:"},
    {R"(def f():
    x: Optional[float] = 1
    return x
)",
     "Variable 'x' is annotated with type Optional[float] but is being assigned to a value of type int:"},
    {R"(def f(a: List[int], b: Optional[int]):
    a.append(b)
)",
     "Expected a value of type 't' for argument 'el' but instead found type 'Optional[int]'."},
    {R"(def f(a: List[float], t: Tensor):
    return a + [t.item()]
)",
     "Expected a value of type 'List[t]' for argument 'b' but instead found type 'List[number]'."},
    {R"(def f(s: str):
    return [1, i for i in s, 2]
)",
     "expected a single list comprehension within '[' , ']'"},
};

} // namespace

TEST_CASE("Sources that break the rules of the language are refused with the reason", "[jit]") {
  for (const Refused& refused : kRefused) {
    CAPTURE(refused.source);
    CHECK_THROWS_WITH(compile(refused.source), Contains(refused.why));
  }
}

TEST_CASE("Sources that nest without end are refused", "[jit]") {
  const auto repeated = [](const std::string& text, size_t times) {
    std::string all;
    for (size_t i = 0; i < times; ++i) {
      all += text;
    }
    return all;
  };
  const std::string head = "def f(x):\n    return ";
  CHECK_THROWS_AS(compile(head + repeated("(", 100000) + "x" + repeated(")", 100000)), c10::Error);
  CHECK_THROWS_AS(compile(head + repeated("[", 100000)), c10::Error);
  CHECK_THROWS_AS(compile(head + repeated("-", 100000) + "1"), c10::Error);
  CHECK_THROWS_AS(compile(head + "1" + repeated(" + 1", 200000)), c10::Error);
  CHECK_THROWS_AS(compile(head + "x" + repeated(".t()", 100000)), c10::Error);
  CHECK_THROWS_AS(compile("def f(x: a" + repeated(".a", 100000) + "):\n    return x"), c10::Error);
  CHECK_THROWS_AS(compile(head + "'" + repeated("a", 100000)), c10::Error);
  CHECK_THROWS_AS(compile(head + repeated("9", 100000)), c10::Error);
}
