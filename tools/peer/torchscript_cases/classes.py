"""Script classes, named tuples, enumerations, interfaces."""
from enum import Enum
from typing import Any, Dict, List, NamedTuple, Optional, Tuple, Union

import torch
from torch import Tensor

from torchscript_cases.support import calls


@torch.jit.script
class Vec:
    def __init__(self, x: float, y: float):
        self.x = x
        self.y = y

    def __add__(self, other: "Vec") -> "Vec":
        return Vec(self.x + other.x, self.y + other.y)

    def __sub__(self, other: "Vec") -> "Vec":
        return Vec(self.x - other.x, self.y - other.y)

    def __mul__(self, k: float) -> "Vec":
        return Vec(self.x * k, self.y * k)

    def __truediv__(self, k: float) -> "Vec":
        return Vec(self.x / k, self.y / k)

    def __eq__(self, other: "Vec") -> bool:
        return self.x == other.x and self.y == other.y

    def __ne__(self, other: "Vec") -> bool:
        return not (self.x == other.x and self.y == other.y)

    def __lt__(self, other: "Vec") -> bool:
        return self.x < other.x

    def __le__(self, other: "Vec") -> bool:
        return self.x <= other.x

    def __neg__(self) -> "Vec":
        return Vec(-self.x, -self.y)

    def __str__(self) -> str:
        return "<" + str(self.x) + "," + str(self.y) + ">"

    def dot(self, other: "Vec") -> float:
        return self.x * other.x + self.y * other.y


@torch.jit.script
class Bag:
    def __init__(self, items: List[int], name: str = "bag"):
        self.items = items
        self.name = name
        self.seen: Dict[int, int] = {}

    def __len__(self) -> int:
        return len(self.items)

    def __getitem__(self, i: int) -> int:
        return self.items[i]

    def __setitem__(self, i: int, v: int) -> None:
        self.items[i] = v

    def __contains__(self, v: int) -> bool:
        return v in self.items

    def __bool__(self) -> bool:
        return len(self.items) > 0

    def add(self, v: int, times: int = 1):
        for _ in range(times):
            self.items.append(v)
        if v in self.seen:
            self.seen[v] += times
        else:
            self.seen[v] = times
        return self

    @property
    def total(self) -> int:
        return sum(self.items)

    @staticmethod
    def of(n: int) -> "Bag":
        return Bag(list(range(n)))


@torch.jit.script
class Node:
    def __init__(self, value: int):
        self.value = value
        self.next = torch.jit.annotate(Optional[Tensor], None)
        self.count: int = 0

    def bump(self) -> int:
        self.count += 1
        return self.count


@torch.jit.script
class Counter(object):
    total: int

    def __init__(self):
        self.total = 0

    def __call__(self, x: int) -> int:
        self.total += x
        return self.total


@calls((1.0, 2.0), (0.0, -1.5))
def class_operators(a: float, b: float):
    u = Vec(a, b)
    v = Vec(b, a)
    s = (u + v * 2.0 - u / 4.0)
    return s.x, s.y, u == v, u != v, u < v, u <= v, (-u).x, u.dot(v), str(u)


@calls(([3, 1, 2],), ([],))
def class_container_methods(xs: List[int]):
    b = Bag(xs, "mine")
    b.add(5).add(6, times=2)
    b[0] = 9
    return len(b), b[1], 5 in b, 77 in b, b.total, b.name, b.seen, bool(b), b.items


@calls((4,))
def class_static_factory(n: int):
    b = Bag.of(n)
    return b.items, b.total


@calls((3,))
def class_call_method(n: int):
    c = Counter()
    for i in range(n):
        c(i)
    return c(10), c.total


@calls((3,))
def class_identity(n: int):
    a = Node(n)
    b = a
    b.bump()
    c = Node(n)
    return a is b, a is c, a is not c, a.count, c.count


@calls(([3.0, 1.0, 2.0],))
def class_sorting(xs: List[float]):
    vs: List[Vec] = []
    for x in xs:
        vs.append(Vec(x, -x))
    vs.sort()
    w = sorted(vs)
    return [v.x for v in vs], w[0].y


@calls((2,))
def class_in_containers(n: int):
    d: Dict[str, Node] = {"a": Node(1), "b": Node(2)}
    t = (Node(5), n)
    d["a"].bump()
    t[0].bump()
    t[0].value += n
    items: List[int] = []
    for k in d.keys():
        items.append(d[k].value)
    return d["a"].count, t[0].value, items, len(d)


@calls((True,), (False,))
def class_through_if(b: bool):
    if b:
        n = Node(1)
    else:
        n = Node(2)
    n.bump()
    return n.value, n.count


@calls((3,))
def class_optional_tensor_attr(n: int):
    a = Node(n)
    x = a.next
    if x is None:
        a.next = torch.ones(n)
    y = a.next
    assert y is not None
    return y.sum()


class Shape(NamedTuple):
    w: int
    h: int = 7
    label: str = "none"


class Pair(NamedTuple):
    a: Tensor
    b: Optional[Tensor]


class Nested(NamedTuple):
    shape: Shape
    items: List[int]


@calls((3,), (0,))
def tuple_named_defaults(n: int):
    a = Shape(n)
    b = Shape(n, 2)
    c = Shape(w=n, label="c")
    return a, b, c, a.w + b.h, c.label, c[1]


@calls((torch.ones(2),))
def tuple_named_tensors(x: Tensor) -> Pair:
    p = Pair(x, None)
    if p.b is None:
        p = Pair(p.a * 2, x)
    return p


@calls((Shape(1, 2, "z"),), (Shape(4),))
def tuple_named_arg(s: Shape):
    w, h, label = s
    return s.w * s.h, label, (w, h), s


@calls((5,))
def tuple_named_nested(n: int):
    x = Nested(Shape(n), [1, 2])
    x.items.append(n)
    return x, x.shape.w, x.items


@calls(((1, 2.0, "s"),))
def tuple_ops(t: Tuple[int, float, str]):
    a, b, c = t
    u = t + (True,)
    return u, len(t), t[0], t[-1], t[1:], (a, (b, c))


class Color(Enum):
    RED = 1
    GREEN = 2
    BLUE = 3


class Mode(Enum):
    FAST = "fast"
    SLOW = "slow"


class Level(Enum):
    LOW = 0.5
    HIGH = 2.5


@calls((1,), (2,), (9,))
def enum_values(n: int):
    c = Color.RED
    if n == 2:
        c = Color.BLUE
    return c.name, c.value, c == Color.RED, c is Color.BLUE, c != Color.GREEN


@calls((True,), (False,))
def enum_return(b: bool):
    if b:
        return Mode.FAST
    return Mode.SLOW


@calls((Color.GREEN,), (Color.RED,))
def enum_arg(c: Color):
    if c == Color.GREEN:
        return "green " + c.name
    return "other " + str(c.value)


@calls((3,))
def enum_in_containers(n: int):
    xs = [Color.RED, Color.BLUE]
    d = {"a": Mode.FAST}
    out: List[str] = []
    for x in xs:
        out.append(x.name)
    return out, d["a"].value, xs[0] == xs[1], Level.HIGH.value * n


@calls()
def enum_iterate_nothing() -> int:
    return 1


@calls((0,))
def enum_iterate(n: int):
    names: List[str] = []
    for c in Color:
        n += c.value
        names.append(c.name)
    return n, names


@torch.jit.interface
class Area(object):
    def area(self, k: float) -> float:
        pass


@torch.jit.script
class Sq(object):
    def __init__(self, s: float):
        self.s = s

    def area(self, k: float) -> float:
        return self.s * self.s * k


@torch.jit.script
class Rect(object):
    def __init__(self, a: float, b: float):
        self.a = a
        self.b = b

    def area(self, k: float) -> float:
        return self.a * self.b * k


@torch.jit.script
def area_sum(shapes: List[Area]) -> float:
    total = 0.0
    for s in shapes:
        total += s.area(2.0)
    return total


@calls((1.5,))
def interface_list(x: float) -> float:
    shapes: List[Area] = []
    shapes.append(Sq(x))
    shapes.append(Rect(x, 2.0))
    return area_sum(shapes)


@calls((1,), ("s",), (2.5,), ([1, 2],), (None,))
def any_isinstance(x: Any) -> str:
    if isinstance(x, int):
        return "int " + str(x + 1)
    if isinstance(x, (float, bool)):
        return "float or bool"
    if isinstance(x, str):
        return "str " + x
    if isinstance(x, List[int]):
        return "ints " + str(len(x))
    return "other"


@calls((1,), ("s",), ([1.5],), (None,))
def union_refine(x: Union[int, str, List[float], None]) -> Union[int, str]:
    if x is None:
        return "none"
    elif isinstance(x, int):
        return x + 1
    elif isinstance(x, str):
        return x + "!"
    else:
        return len(x)


@calls((True,), (False,))
def union_join(b: bool):
    x: Union[int, List[int]] = 3
    if b:
        x = [1, 2]
    if isinstance(x, int):
        return x
    return x[0] + 10


@calls((None, 3), (4, None), (None, None))
def optional_and_or(a: Optional[int], b: Optional[int]):
    c = 0
    if a is not None and a > 2:
        c += a
    if b is None or b > 100:
        c += 1
    else:
        c += b
    d = a if a is not None else -1
    return c, d


@calls(([1, None, 3],))
def optional_list(xs: List[Optional[int]]):
    total = 0
    for x in xs:
        if x is not None:
            total += x
    y = torch.jit._unwrap_optional(xs[0])
    return total, y


@calls(({"a": [1]},), ({},))
def optional_dict_get(d: Dict[str, List[int]]):
    v = d.get("a")
    if v is None:
        return 0
    v.append(5)
    return len(v)
