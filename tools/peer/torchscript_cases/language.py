"""Constructs of the language that the other files leave out."""
import math
from enum import Enum, IntEnum
from typing import Any, Callable, Dict, Final, List, NamedTuple, Optional, Tuple, Union

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from torchscript_cases.support import Call, calls

X = torch.arange(6.0).view(2, 3)


@torch.jit.script
class Money:
    """A class with many of the methods that operators call."""

    def __init__(self, units: int, unit: str = "c"):
        self.units = units
        self.unit = unit

    def __gt__(self, other: "Money") -> bool:
        return self.units > other.units

    def __ge__(self, other: "Money") -> bool:
        return self.units >= other.units

    def __lt__(self, other: "Money") -> bool:
        return self.units < other.units

    def __mod__(self, k: int) -> "Money":
        return Money(self.units % k, self.unit)

    def __floordiv__(self, k: int) -> "Money":
        return Money(self.units // k, self.unit)

    def __and__(self, other: "Money") -> bool:
        return self.units > 0 and other.units > 0

    def __or__(self, other: "Money") -> int:
        return self.units | other.units

    def __xor__(self, other: "Money") -> int:
        return self.units ^ other.units

    def __lshift__(self, k: int) -> int:
        return self.units << k

    def __rshift__(self, k: int) -> int:
        return self.units >> k

    def __pow__(self, k: int) -> float:
        return float(self.units) ** k

    def __iadd__(self, other: int) -> "Money":
        self.units += other
        return self

    def __isub__(self, other: int) -> "Money":
        self.units -= other
        return self

    def __int__(self) -> int:
        return self.units

    def __float__(self) -> float:
        return self.units / 100

    def __str__(self) -> str:
        return str(self.units) + self.unit

    def __repr__(self) -> str:
        return "Money(" + str(self.units) + ")"

    def __hash__(self) -> int:
        return self.units

    def __invert__(self) -> int:
        return -self.units - 1



@calls((7, 3), (0, 5), (-4, 1))
def lang_class_compare(a: int, b: int):
    x, y = Money(a), Money(b, "q")
    return x > y, x >= y, x < y, (x % 3).units, x & y, x | y, x ^ y, x << 2, x >> 1, x ** 2


@calls((7, 3),)
def lang_class_augmented(a: int, b: int):
    x = Money(a)
    y = x
    x += b
    x -= 1
    return x.units, y.units, x is y, str(x), float(x), int(x)


@torch.jit.script
class Stack:
    def __init__(self):
        self.items: List[int] = []

    def push(self, x: int) -> None:
        self.items.append(x)

    def pop(self) -> int:
        if len(self.items) == 0:
            raise IndexError("pop from empty stack")
        return self.items.pop()

    def __len__(self) -> int:
        return len(self.items)

    def __delitem__(self, i: int) -> None:
        del self.items[i]

    def __getitem__(self, i: int) -> int:
        return self.items[i]


@calls(("1 2 + 3 *",), ("1 +",), ("4 2 - 2 *",))
def lang_class_stack(text: str) -> int:
    s = Stack()
    for t in text.split(" "):
        if t == "+":
            s.push(s.pop() + s.pop())
        elif t == "*":
            s.push(s.pop() * s.pop())
        elif t == "-":
            b = s.pop()
            s.push(s.pop() - b)
        else:
            s.push(int(t))
    return s.pop()


@torch.jit.script
class Linked:
    def __init__(self, names: List[str]):
        self.names = names
        self.index: Dict[str, int] = {}
        for i in range(len(names)):
            self.index[names[i]] = i

    @property
    def size(self) -> int:
        return len(self.names)

    @size.setter
    def size(self, n: int):
        self.names = self.names[:n]

    @staticmethod
    def empty() -> "Linked":
        return Linked(torch.jit.annotate(List[str], []))

    def find(self, name: str) -> Optional[int]:
        if name in self.index:
            return self.index[name]
        return None


@calls((["a", "b", "c"], "b"), (["a"], "z"), ([], "q"))
def lang_class_property(names: List[str], name: str):
    l = Linked(names)
    n = l.size
    l.size = 1
    found = l.find(name)
    if found is None:
        return -1, n, l.size, Linked.empty().size
    return found, n, l.size, len(l.names)


@torch.jit.script
class Holder:
    def __init__(self, t: Tensor):
        self.t = t
        self.history: List[Tensor] = []
        self.meta: Tuple[int, str] = (0, "x")

    def __enter__(self):
        self.history.append(self.t.clone())

    def __exit__(self, type: Any, value: Any, tb: Any) -> None:
        self.history.append(self.t * 10)


@calls((X,))
def lang_with_class(x: Tensor):
    h = Holder(x)
    with h:
        h.t = h.t + 1
    return h.history, h.meta


@calls((X,))
def lang_with_two(x: Tensor):
    a, b = Holder(x), Holder(x * 2)
    with a, b:
        a.t = b.t - 1
    with torch.no_grad():
        y = a.t * 2
    return a.history, b.history, y.requires_grad


@calls((X, 1), (X, -1))
def lang_with_raise(x: Tensor, n: int):
    h = Holder(x)
    with h:
        if n < 0:
            raise RuntimeError("in with " + str(n))
        h.t = h.t * n
    return h.history


class Grade(Enum):
    A = "a"
    B = "b"


class Flag(Enum):
    OFF = 0
    ON = 1


@calls((0,), (1,), (2,))
def lang_enum_dispatch(n: int) -> str:
    f = Flag.ON if n > 0 else Flag.OFF
    if f == Flag.ON:
        return "on" + f.name + str(f.value)
    elif f is Flag.OFF:
        return "off"
    return "?"


@calls((3,))
def lang_enum_keys(n: int):
    d: Dict[str, Grade] = {"x": Grade.A}
    d["y"] = Grade.B
    g = d["y"]
    xs = [Grade.A for _ in range(n)]
    t = (Grade.A, n)
    return g.value, len(xs), t[0].name, [x.value for x in xs], g == xs[0]


@calls((Flag.ON, Grade.A), (Flag.OFF, Grade.B))
def lang_enum_args(f: Flag, g: Grade) -> Tuple[Flag, Dict[str, Grade]]:
    return f, {g.name: g}


@calls((1,))
def lang_enum_print(n: int):
    print(Flag.ON, [Grade.A], {"k": Flag.OFF})
    return str(Flag.ON), f"{Grade.B}"


class Point(NamedTuple):
    """With a documentation."""

    x: float
    y: float = 0.5


class Line(NamedTuple):
    a: Point
    b: Point
    tags: List[str]
    extra: Optional[Tensor] = None


@calls((1.0,), (-2.0,))
def lang_named_nested(v: float):
    l = Line(Point(v), Point(v, v), ["t"])
    m = Line(a=l.b, b=l.a, tags=l.tags + ["u"], extra=torch.ones(1))
    p, q, tags, extra = m
    assert extra is not None
    return l, m, p.x + q.y, tags, extra, m[0].y, l.extra is None


@calls((3,))
def lang_named_list(n: int):
    ps: List[Point] = []
    for i in range(n):
        ps.append(Point(float(i), y=i * 2.0))
    d = {"a": Point(1.0)}
    total = 0.0
    for p in ps:
        total += p.x * p.y
    return ps, d, total, d["a"].y


@calls((1,), (None,))
def lang_optional_chain(a: Optional[int]):
    x = -1
    if a is None:
        x = 0
    else:
        x = a + 1
    y = a if a is not None else 5
    z = 1 if a is None or a > 3 else a
    for i in range(3):
        if a is not None:
            a = a + i
    if not (a is None):
        x += a
    return x, y, z, a


@calls((None, [1]), ([2], None))
def lang_optional_lists(a: Optional[List[int]], b: Optional[List[int]]) -> List[int]:
    if a is not None and b is not None:
        return a + b
    if a is None:
        a = []
    if b is None:
        b = []
    a.append(len(b))
    return a


@calls((None,), (X,))
def lang_optional_assert(x: Optional[Tensor]) -> Tensor:
    assert x is not None, "x is missing"
    return x + 1


@calls(({"a": None, "b": 2},))
def lang_optional_values(d: Dict[str, Optional[int]]):
    n = 0
    for k, v in d.items():
        if v is not None:
            n += v
        else:
            n -= 1
    d["c"] = None
    d["d"] = 4
    return n, d


@calls((1,), (2.5,), ("s",), ([1],), ({"a": 1},))
def lang_union_five(x: Union[int, float, str, List[int], Dict[str, int]]) -> str:
    if isinstance(x, (int, float)):
        return "number"
    if isinstance(x, str):
        return x * 1 if False else x + "?"
    elif isinstance(x, list):
        return "list" + str(len(x))
    else:
        return "dict"


@calls((5,), ("s",), (X,), ((1, "a"),))
def lang_any_passing(x: Any):
    if isinstance(x, Tensor):
        return x.sum()
    if torch.jit.isinstance(x, Tuple[int, str]):
        return torch.tensor(x[0])
    if isinstance(x, int):
        return torch.tensor(x)
    return torch.zeros(0)


@calls(([1, 2],), ([1.5],), (["a"],))
def lang_jit_isinstance(x: Any) -> str:
    if torch.jit.isinstance(x, List[int]):
        return "ints" + str(x[0])
    if torch.jit.isinstance(x, List[float]):
        return "floats" + str(x[0])
    return "no"


def add_one(x: int) -> int:
    return x + 1


def twice(x: int) -> int:
    return add_one(add_one(x))


@calls((1,), (2,))
def lang_calls_deep(n: int):
    return twice(n), twice(x=n)


def with_defaults(a: int, b: float = 1.5, c: str = "z", d: Optional[Tensor] = None, e: bool = False, g: Tuple[int, int] = (3, 4)):
    if d is None:
        d = torch.zeros(1)
    return a, b, c, d + 1, e, g[1]


@calls((1,))
def lang_defaults(n: int):
    return with_defaults(n), with_defaults(n, c="q"), with_defaults(a=n, e=True, b=2.0), with_defaults(n, 0.5, "k", torch.ones(2))


@calls((1, 2))
def lang_keyword_only(a: int, b: int):
    return keyword_only(a, k=b), keyword_only(k=a, x=b)


def keyword_only(x: int, *, k: int) -> int:
    return x * 10 + k


@calls(([1, 2, 3], {"a": 1}))
def lang_builtin_types(a: list[int], d: dict[str, int]) -> tuple[list[int], int]:
    b: list[str] = [str(x) for x in a]
    c: dict[int, tuple[int, str]] = {}
    for i, s in enumerate(b):
        c[i] = (i, s)
    return a + [len(c)], d["a"]


@calls((4,))
def lang_comprehensions(n: int):
    a = [i * i for i in range(n)]
    b = [[j for j in range(i)] for i in range(n)]
    c = {i: str(i) for i in range(n)}
    d = [x + y for x, y in [(1, 2), (3, 4)]]
    e = {k: v + 1 for k, v in {"a": 1, "b": 2}.items()}
    g = [c[k] for k in c]
    h = [x if x > 2 else -x for x in a]
    t = [float(v) for v in a]
    return a, b, c, d, e, g, h, t


@calls((torch.arange(4.0),))
def lang_comprehension_tensors(x: Tensor):
    return [v * 2 for v in x], [int(v) for v in x], torch.stack([v + 1 for v in x]), [y.sum() for y in x.view(2, 2)]


@calls((3,), (0,), (-2,))
def lang_while_forms(n: int):
    total = 0
    i = 0
    while i < 10:
        i += 1
        if i == n:
            continue
        if i > 7:
            break
        j = 0
        while True:
            j += 1
            if j > i:
                break
            if j % 2:
                continue
            total += j
    while n > 0:
        n -= 1
    return total, i, n


@calls((3,), (5,), (0,))
def lang_return_in_loop(n: int) -> int:
    for i in range(10):
        for j in range(10):
            if i * j == n + 1:
                return i * 10 + j
            elif j > 8:
                break
        else_count = i
        if else_count > 6:
            return -else_count
    return -1


@calls((True, 1), (False, 2))
def lang_maybe_undefined(b: bool, n: int):
    if b:
        x = n
        y = [n]
    else:
        x = -n
        y = [0]
    if n > 100:
        raise ValueError("large")
    else:
        z = x
    return x, y, z


@calls((torch.tensor(True), torch.tensor([0.0])), (torch.tensor(False), torch.tensor([2.0])))
def lang_tensor_conditions(b: Tensor, x: Tensor):
    n = 0
    if b:
        n += 1
    if x:
        n += 2
    while x > 0:
        x = x - 1
        n += 4
    y = 1 if x else 2
    return n, y, bool(b) and bool(x), not b, x > 0 or b


@calls((1, 2, 3), (3, 3, 3))
def lang_boolean_chains(a: int, b: int, c: int):
    return (a < b and b < c or a == c, not (a < b), a < b < c < 10, a == b and not c > 5, (a or b) > 2 if False else a > 2,
            a != b or b != c, (a > b) == (b > c), (a, b) == (b, c) if False else True)


@calls((5, 2.0))
def lang_numeric_literals(n: int, x: float):
    return n + 0x1F + 0b11 + 0o17 + 1_000, x + 1e-3 + .5 + 5. + 1.5E2, 3j, 1 + 2j, -0.0, 10 ** 3, 2 ** -1 if False else 0


@calls(("x", 3))
def lang_string_literals(s: str, n: int):
    return 'a"b', "a'b", "tab\t", r"raw\n", """three
lines""", "con" "cat", 'it''s', "\u00e9", "\x41", "nul\\0", f"{s}{n}", f"{{{s}}}", f"{n + 1} {s.upper()}"


@calls((3, 2.5, "s"))
def lang_format_forms(i: int, x: float, s: str):
    return ("%d" % i, "%s %s" % (s, i), "%.3f|%5d|%-5d|" % (x, i, i) if False else "%f %d" % (x, i), "{0}{1}{0}".format(i, s), "{}{}".format(x, [i]),
            "{} {}".format((i, s), {"a": i}), "%s" % [i, i], "a%%b %s" % s, "{}".format(None), "{} {}".format(True, torch.float32 if False else i))


@calls((7,))
def lang_print_forms(n: int) -> int:
    print("a", n, [1.5, 2.0], (1, "b", None), {"k": [1]}, True, 2.0, 1e-10, "q" + str(n))
    print(f"n={n}", "x" if n > 3 else "y")
    print([("a", 1), ("b", 2)], [["x"], []] if False else [["x"]], torch.tensor(3))
    print(3 + 4j, [True, False], -0.0, 1e100, 123456789012)
    return n


@calls((X, 2))
def lang_slices_assign(x: Tensor, n: int):
    y = x.clone()
    y[0, 1:] = 9
    y[:, 0] = torch.tensor([5.0, 6.0])
    y[1:][0, -1] = 7
    y[..., -2:] += 1
    y[None, :, 0] *= 2
    y[y > 10] = -1
    i = torch.tensor([1])
    y[i] = y[i] * 3
    y[n - 1, n] = 100
    z = [1, 2, 3]
    z[-1] = 5
    z[0] += 4
    z[1] *= n
    return y, z, x


@calls((X,))
def lang_tensor_slices(x: Tensor):
    n = 1
    return (x[n:], x[:n, ::2], x[-1], x[..., n], x[None, ..., None].shape, x[0][1], x[[1, 0]], x[torch.tensor([0, 0]), :2], x[:, [0, 2]], x[x > 2],
            x[n, torch.tensor([0, 1])], x[:, torch.tensor([True, False, True])], x[0, 0].item(), x[:n * 5], x[1:1].numel(), x[:, -2:-1])


@calls(((1, "a", 2.5),))
def lang_tuple_forms(t: Tuple[int, str, float]):
    a, (b, c) = t[0], (t[1], t[2])
    d = (a,)
    e = d + (b, c)
    x, *y = e
    *u, v = (1, 2, 3)
    return e, len(e), d, x, y, u, v, e[1:], e[-1], (1, (2, (3,))), ()


@calls((2,))
def lang_swap_chain(n: int):
    a = b = n
    a, b = b + 1, a
    xs = [1, 2, 3]
    xs[0], xs[2] = xs[2], xs[0]
    (p, q), r = (a, b), xs
    a += 1
    return a, b, xs, p, q, r


@calls((3,), (1,))
def lang_del_forms(n: int):
    xs = [1, 2, 3, 4]
    del xs[0]
    del xs[n - 1]
    d = {"a": 1, "b": 2}
    del d["a"]
    y = n
    del y
    return xs, d


@calls((2,), (0,), (-1,))
def lang_raise_forms(n: int) -> int:
    if n == 0:
        raise Exception
    if n < 0:
        raise NotImplementedError("negative: {}".format(n))
    try_n = n
    assert try_n < 10, "too " + "large"
    return n


class CustomError(Exception):
    def __init__(self, msg: str):
        super().__init__(msg)


@calls((1,), (-1,))
def lang_raise_custom(n: int) -> int:
    if n < 0:
        raise CustomError("custom " + str(n))
    return n


@calls((X, 3))
def lang_fork_nested(x: Tensor, n: int):
    futures: List[torch.jit.Future[Tensor]] = []
    for i in range(n):
        futures.append(torch.jit.fork(fork_outer, x, i))
    results = [torch.jit.wait(f) for f in futures]
    single = torch.jit.fork(fork_leaf, x, k=2.0)
    return torch.stack(results), single.wait()


def fork_leaf(x: Tensor, k: float = 1.0) -> Tensor:
    return x * k


def fork_outer(x: Tensor, i: int) -> Tensor:
    f = torch.jit.fork(fork_leaf, x, float(i))
    return torch.jit.wait(f) + i


@calls((X,), (X * 0 + 50,))
def lang_fork_raise(x: Tensor):
    f = torch.jit.fork(fork_bad, x)
    return torch.jit.wait(f)


def fork_bad(x: Tensor) -> Tensor:
    if bool(x.sum() > 100):
        raise ValueError("fork failed")
    return x


@calls((X,))
def lang_tensor_scripts(x: Tensor):
    return (torch.jit.is_scripting(), len(x), x.shape[0] * x.size(1), x.numel() // 2, list(x.size()), x.dim() + x.ndim,
            isinstance(x, torch.Tensor), x.is_floating_point(), str(x.dtype) == "6", x.device.type, x.dtype == torch.float32, torch.get_default_dtype() == x.dtype if False else True)


@calls((3, "abc", [1, 2], {"k": 1}, (1, 2)))
def lang_builtins(n: int, s: str, xs: List[int], d: Dict[str, int], t: Tuple[int, int]):
    return (len(s), len(xs), len(d), len(t), min(xs), max(xs), sum(xs), sorted(xs), abs(-n), round(2.5), list(s), list(d), list(range(n)),
            ord("a"), chr(97), hex(n), oct(n), bin(n), str(n), int("5"), float("2.5"), bool(n), divmod(n, 2), pow(n, 2), any([n > 1]), all([n > 5]),
            [i for i in reversed([1, 2])] if False else xs[::-1], [p for p in zip(xs, s)] if False else 1, isinstance(n, int), hash(n) == hash(n))


@calls((X, "sum"), (X, "mean"), (X, "bad"))
def lang_mode_strings(x: Tensor, mode: str) -> Tensor:
    if mode not in ["sum", "mean"]:
        raise ValueError("unknown mode: " + mode)
    if mode in ("sum", "total"):
        return x.sum()
    return x.mean()


@calls(([3, 1, 2],))
def lang_sorting(xs: List[int]):
    ts = [(x, str(x)) for x in xs]
    ts.sort()
    us = sorted([(1.5, "b"), (1.5, "a"), (0.5, "z")])
    ys = xs.copy()
    ys.sort(reverse=True)
    return ts, us, ys, sorted(["b", "a"]), sorted([[2], [1, 5]]) if False else 0


@calls(([[1, 2], [3]], {"a": [1], "b": []}, [("x", 1)]))
def lang_nested_containers(a: List[List[int]], b: Dict[str, List[int]], c: List[Tuple[str, int]]):
    a[0].append(9)
    a.append([7, 8])
    b["a"].extend([2, 3])
    b["c"] = [i for i in range(2)]
    c += [("y", 2)]
    total = 0
    for row in a:
        for v in row:
            total += v
    for k, vs in b.items():
        total += len(k) * len(vs)
    for name, n in c:
        total += n
    return a, b, c, total, [len(r) for r in a], {k: len(v) for k, v in b.items()}


class Child(nn.Module):
    factor: Final[int]

    def __init__(self, factor: int):
        super().__init__()
        self.factor = factor
        self.calls: int = 0
        self.w = nn.Parameter(torch.ones(3) * factor)

    def forward(self, x: Tensor, k: int = 1) -> Tensor:
        self.calls += 1
        return x * self.w * k

    @torch.jit.export
    def reset(self) -> int:
        n = self.calls
        self.calls = 0
        return n


@calls((X,), Call(X, cont=True), Call(m="total", cont=True), Call(m="clear", cont=True), Call(m="total", cont=True))
class lang_module_tree(nn.Module):
    def __init__(self):
        super().__init__()
        self.children_list = nn.ModuleList([Child(i + 1) for i in range(3)])
        self.by_name = nn.ModuleDict({"a": Child(5), "b": Child(7)})
        self.alias = self.children_list[0]

    def forward(self, x: Tensor) -> Tensor:
        for i, c in enumerate(self.children_list):
            x = c(x, k=i + 1)
        for name, c in self.by_name.items():
            if name == "a":
                x = c(x)
        x = self.alias(x, 2)
        for c in self.children_list[:2]:
            x = c.forward(x)
        return self.by_name["b"](x)

    @torch.jit.export
    def total(self) -> List[int]:
        out: List[int] = []
        for c in self.children_list:
            out.append(c.calls)
        out.append(self.by_name["b"].calls)
        return out

    @torch.jit.export
    def clear(self) -> int:
        n = 0
        for c in self.children_list:
            n += c.reset()
        return n


@calls((X,), Call(X, m="other"))
class lang_method_defaults(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale: float = 2.0
        self.name: Final[str] = "m"

    def forward(self, x: Tensor, scale: Optional[float] = None, names: Optional[List[str]] = None) -> Tuple[Tensor, int]:
        s = self.scale if scale is None else scale
        return x * s, 0 if names is None else len(names)

    @torch.jit.export
    def other(self, x: Tensor):
        a, n = self.forward(x, None, names=["p"])
        b, _ = self.forward(x, 3.0, None)
        return a + b, n, self.name


@torch.jit.interface
class Op(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        pass

    def name(self) -> str:
        pass


class AddOp(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x + 1

    @torch.jit.export
    def name(self) -> str:
        return "add"


class MulOp(nn.Module):
    def __init__(self):
        super().__init__()
        self.k = nn.Parameter(torch.tensor([3.0]))

    def forward(self, x: Tensor) -> Tensor:
        return x * self.k

    @torch.jit.export
    def name(self) -> str:
        return "mul"


@calls((X, 0), (X, 1))
class lang_module_interface(nn.Module):
    first: Op
    second: Op

    def __init__(self):
        super().__init__()
        self.first = AddOp()
        self.second = MulOp()

    def forward(self, x: Tensor, which: int):
        if which == 1:
            return self.second.forward(x), self.second.name()
        return self.first.forward(x), self.first.name()


@calls((X,))
class lang_copied_methods(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("mean", torch.ones(3), persistent=False)
        self.register_buffer("none", None)
        self.register_parameter("bias", None)
        self.sizes = torch.Size([2, 3])
        self.device = torch.device("cpu")
        self.fn = F.relu
        self.act = torch.tanh

    def forward(self, x: Tensor):
        y = self.fn(x - self.mean)
        if self.bias is not None:
            y = y + 1
        if self.none is None:
            y = self.act(y)
        return y.to(self.device), list(self.sizes)


@calls((X,))
class lang_ignored(nn.Module):
    def __init__(self):
        super().__init__()
        self.use = False

    @torch.jit.ignore
    def py_only(self, x: Tensor) -> Tensor:
        return x * 100

    @torch.jit.unused
    def not_used(self, x: Tensor) -> Tensor:
        return x * 100

    def forward(self, x: Tensor) -> Tensor:
        if self.use:
            return self.not_used(x)
        if torch.jit.is_scripting():
            return x + 1
        else:
            return self.py_only(x)


@calls((X, 1), (X, -1))
class lang_unused_called(nn.Module):
    @torch.jit.unused
    def bad(self, x: Tensor) -> Tensor:
        return x

    def forward(self, x: Tensor, n: int) -> Tensor:
        if n < 0:
            return self.bad(x)
        return x


@calls((X,), Call(X, m="extra"))
class lang_hooks(nn.Module):
    class Inner(nn.Module):
        def forward(self, x: Tensor, k: int) -> Tensor:
            return x * k

    def __init__(self):
        super().__init__()
        self.inner = lang_hooks.Inner()

        def pre(self, input: Tuple[Tensor, int]) -> Tuple[Tensor, int]:
            return input[0] + 1, input[1] + 1

        def pre_none(self, input: Tuple[Tensor, int]) -> None:
            print("pre", input[1])

        def post(self, input: Tuple[Tensor, int], output: Tensor) -> Tensor:
            return output + input[1]

        self.inner.register_forward_pre_hook(pre)
        self.inner.register_forward_pre_hook(pre_none)
        self.inner.register_forward_hook(post)

    def forward(self, x: Tensor) -> Tensor:
        return self.inner(x, 2)

    @torch.jit.export
    def extra(self, x: Tensor) -> Tensor:
        return self.inner.forward(x, 2)


@calls((X, [0, 2]))
class lang_dict_state(nn.Module):
    cache: Dict[int, Tensor]
    log: List[Tuple[str, float]]
    best: Optional[float]

    def __init__(self):
        super().__init__()
        self.cache: Dict[int, Tensor] = {}
        self.log: List[Tuple[str, float]] = []
        self.best: Optional[float] = None
        self.nested: Dict[str, Dict[str, int]] = {"a": {"b": 1}}

    def forward(self, x: Tensor, ids: List[int]):
        for i in ids:
            if i not in self.cache:
                self.cache[i] = x[:, i].sum()
            v = float(self.cache[i])
            best = self.best
            if best is None or v > best:
                self.best = v
            self.log.append(("id" + str(i), v))
        self.nested["c"] = {"d": len(ids)}
        return self.cache, self.log, self.best, self.nested


@calls((3,), (4,))
def lang_globals(n: int):
    return n * math.pi, math.inf > n, torch.float32 == torch.float32, math.e


@calls((X, 1), (X, 3))
def lang_script_if_tracing(x: Tensor, n: int):
    return traced_branch(x, n)


@torch.jit.script_if_tracing
def traced_branch(x: Tensor, n: int):
    if n > 2:
        return x * n
    return x


@torch.jit._overload
def over(x: int) -> int: ...  # noqa: E704, F811


@torch.jit._overload
def over(x: str) -> str: ...  # noqa: E704, F811


def over(x):  # noqa: F811
    return x + x


@calls((2, "s"))
def lang_overload(a: int, b: str):
    return over(a), over(b)


@calls((X, X.t().contiguous()), (X, X))
def lang_error_tensor(x: Tensor, y: Tensor):
    z = x @ y
    return helper_reshape(z)


def helper_reshape(x: Tensor) -> Tensor:
    return x.view(2, 2)


@calls(([1, 2, 3], 1), ([], 0))
def lang_error_list(xs: List[int], i: int):
    return xs[i], xs[i + 1], max(xs)


@calls(({"a": [1]}, "a"), ({"a": [1]}, "b"))
def lang_error_dict(d: Dict[str, List[int]], k: str):
    d[k].append(2)
    return d[k]


@calls((0,), (2,))
def lang_error_division(n: int):
    return 10 // n, 10 % n, 1.0 / n


@calls((10,))
def lang_long_chain(n: int):
    x = n
    for i in range(3):
        if i == 0:
            x = x + 1
        elif i == 1:
            x = x * 2
        elif i == 2:
            x = x - 3
        else:
            x = 0
    y = "a" if x < 0 else "b" if x < 10 else "c" if x < 20 else "d"
    return x, y


@calls((X,))
def lang_inplace_views(x: Tensor):
    y = x.clone()
    row = y[0]
    row.add_(10)
    y[1].copy_(row)
    z = y.view(-1)
    z[0] = -1
    col = y[:, 0]
    col *= 2
    y.t()[2].zero_()
    return y, row, col, z


@calls((X, torch.tensor([1, 0])))
def lang_scatter(x: Tensor, i: Tensor):
    y = torch.zeros(2, 3)
    y.scatter_(1, i[:, None], 5.0)
    y.index_fill_(1, torch.tensor([2]), 7.0)
    z = x.index_select(0, i).gather(1, i[:, None])
    return y, z, x.masked_select(x > 2), torch.where(x > 2, x, torch.zeros(1)), x.take(i), torch.bincount(i), x.index_put((i,), torch.ones(3))


@calls((3,))
def lang_dtype_values(n: int):
    d = torch.float64
    x = torch.zeros(n, dtype=d)
    y = torch.ones([n], dtype=torch.int32, device="cpu")
    return x, y, x.dtype == d, y.to(torch.bool), torch.arange(n, dtype=x.dtype), (x + y).dtype == torch.float64, torch.tensor([1, 2], dtype=torch.float16)


@calls((X,))
def lang_kwargs_tensor(x: Tensor):
    return (x.sum(dim=1, keepdim=True), torch.cat(tensors=[x, x], dim=1), x.transpose(dim0=0, dim1=1), torch.clamp(x, min=1, max=3), x.mean(dim=(0, 1)),
            torch.full(size=(2,), fill_value=1.5), x.std(dim=0, unbiased=False), x.permute(dims=(1, 0)), x.reshape(shape=(3, 2)), x.sum(0, dtype=torch.float64))
