"""Control flow, numbers, strings, lists and dicts."""
import math
from typing import Dict, List, Optional, Tuple

import torch
from torch import Tensor

from torchscript_cases.support import calls


@calls(("Hello World", "o"), ("", "x"), ("aXbXc", "X"))
def str_search(s: str, q: str):
    return (s.find(q), s.find(q, 5), s.rfind(q), s.count(q), q in s, s.startswith(q), s.endswith(q), s.find(q, 2, 6))


@calls(("hello wOrld 12",), ("",), ("ABC",), ("éa",), ("  \t ",), ("A1",), ("Title Case",))
def str_predicates(s: str):
    return (s.isupper(), s.islower(), s.isdigit(), s.isspace(), s.isalnum(), s.isalpha(), s.isdecimal(), s.isnumeric(),
            s.isidentifier(), s.istitle(), s.isprintable())


@calls(("hello wOrld",), ("",), ("a-b c_d 1e",))
def str_cases(s: str):
    return s.upper(), s.lower(), s.capitalize(), s.title(), s.swapcase()


@calls(("a,b,,c", ","), ("x", ","), ("", ","), (" a  b ", " "))
def str_split_join(s: str, sep: str):
    p = s.split(sep)
    return p, s.split(sep, 1), s.rsplit(sep, 1), sep.join(p), s.partition(sep), s.rpartition(sep), s.split()


@calls(("xxabcxx", "x"), ("  abc ", " "), ("abc", "abc"))
def str_strip_all(s: str, c: str):
    return s.strip(), s.strip(c), s.lstrip(c), s.rstrip(c), s.replace(c, "__"), s.replace(c, "", 1)


@calls(("ab", 6), ("abcdefg", 3), ("-7", 5))
def str_padding(s: str, n: int):
    return s.center(n), s.center(n, "*"), s.ljust(n, "."), s.rjust(n, "."), s.zfill(n), s.expandtabs(n)


@calls(("abcdef",), ("x",))
def str_slices(s: str):
    return s[0], s[-1], s[1:3], s[:2], s[::2], s[::-1], s[4:1:-1], s[-3:], s[10:]


@calls(("IndexMe", 99), ("a", -2))
def str_index_error(s: str, i: int):
    return s[i]


@calls((3, 2.5, "s", True))
def str_formatting(i: int, f: float, s: str, b: bool):
    return ("{} {} {} {}".format(i, f, s, b), f"{i}-{f}-{s}-{b}", "%d %s %f %i" % (i, s, f, i), "{0} {1} {0}".format(i, s),
            "%s %s %s" % (i, f, b), "100%% %s" % s, "{{}} {}".format(s))


@calls((1.0,), (1e20,), (1.5e-7,), (float("inf"),), (float("nan"),), (-0.0,), (123456789.125,), (0.1,), (1e16,), (100000.0,))
def str_floats(x: float):
    return str(x), f"{x}", "{}".format(x), "%s" % x


@calls((1.5, 3))
def str_conversions(x: float, n: int):
    return int("12"), float("2.5"), str(n), int(x), float(n), bool(n), str([1, 2]), str([1.5]), str(["a"]), str((1, "b")), int("-7")


@calls(("zz",), ("3.x",))
def str_bad_float(s: str):
    return float(s)


@calls(("a\tb\n",), ("q'\"\\",), ("\x07é",))
def str_escapes(s: str):
    return s + "\t\\\n'\"" + 'x"y' + "\x41\101", len(s), """multi
line"""


@calls((7, 2), (-7, 2), (7, -2), (0, 5), (5, 0))
def num_division(a: int, b: int):
    return a // b, a % b, a / b, divmod(a, b)


@calls((7.5, 2.0), (-7.5, 2.0), (7.5, -2.0), (1.0, 0.0))
def num_float_division(a: float, b: float):
    return a / b, a // b, a % b


@calls((2, 10), (2, -1), (0, 0), (-3, 3))
def num_power(a: int, b: int):
    return a ** b, math.pow(a, b), float(a) ** b, a ** 0.5 if a > 0 else 0.0


@calls((5, 3), (-5, 1), (0, 0))
def num_bits(a: int, b: int):
    return a & b, a | b, a ^ b, a << b, a >> b, (a & 1) == 1


@calls((2.5,), (-2.5,), (3.5,), (0.49999,), (1e10,))
def num_rounding(x: float):
    return round(x), math.floor(x), math.ceil(x), int(x), abs(x), math.fabs(x)


@calls((0.5,), (1.0,), (0.0,))
def num_math_all(x: float):
    return [math.sin(x), math.cos(x), math.tan(x), math.asin(x), math.acos(x), math.atan(x), math.sinh(x), math.cosh(x),
            math.tanh(x), math.exp(x), math.expm1(x), math.log1p(x), math.sqrt(x), math.erf(x), math.erfc(x), math.gamma(x + 1),
            math.lgamma(x + 1), math.asinh(x), math.acosh(x + 1), math.degrees(x), math.radians(x), math.log(x + 1),
            math.log10(x + 1), math.ldexp(x, 3), math.copysign(x, -1.0), math.pi, math.e, math.inf]


@calls((12, 18), (0, 0), (-4, 6))
def num_gcd(a: int, b: int):
    return math.gcd(a, b), max(a, b), min(a, b), max([a, b, 3]), min(float(a), 2.5), abs(a - b)


@calls((1, 2, 3), (3, 2, 1), (2, 2, 2))
def num_chained(a: int, b: int, c: int):
    return a < b < c, a <= b <= c, a == b == c, a < b > c, not a < b, a != b != c


@calls((3, 2.5, True))
def num_mixing(i: int, f: float, b: bool):
    return i + f, i * f, i / 2, i - f, i > f, i == 3.0, int(b) + i, float(i) / f, b and i > 2, b == True


@calls((1 + 2j, 3.0), (0j, -1.0))
def num_complex(c: complex, f: float):
    return c + f, c * c, abs(c), c == c, c - 1, -c, complex(f, 1.0)


@calls((9223372036854775807,), (-9223372036854775808,))
def num_wrap(a: int):
    return a + 1, a - 1, -a, a * 2


@calls((5,), (0,))
def ctl_loop_else_vars(n: int):
    found = -1
    i = 0
    for i in range(n):
        if i * i > 10:
            found = i
            break
    return found, i


@calls((10,))
def ctl_nested_break(n: int):
    out: List[Tuple[int, int]] = []
    for i in range(n):
        if i % 2 == 0:
            continue
        for j in range(i):
            if j > 3:
                break
            if (i + j) % 3 == 0:
                continue
            out.append((i, j))
        else_v = i
        if else_v > 7:
            break
    return out


@calls((3,), (20,))
def ctl_while_true(n: int):
    k = 0
    while True:
        k += 1
        if k > n:
            break
        if k == 10:
            return -1
    return k


@calls((0,), (1,), (2,), (3,))
def ctl_early_returns(n: int) -> str:
    if n == 0:
        return "zero"
    for i in range(3):
        while i > 0:
            if n == 1:
                return "one " + str(i)
            i -= 1
    if n == 2:
        return "two"
    else:
        if n == 3:
            return "three"
    return "many"


@calls(([1, 2, 3], ["a", "b"]), ([], []))
def ctl_enumerate_zip(xs: List[int], ss: List[str]):
    out: List[str] = []
    for i, x in enumerate(xs):
        out.append(str(i) + str(x))
    for x, s in zip(xs, ss):
        out.append(s + str(x))
    for i, (x, s) in enumerate(zip(xs, ss)):
        out.append(s + str(i + x))
    for i, x in enumerate(xs, 5):
        out.append(str(i))
    return out


@calls(([1, 2, 3, 4],))
def ctl_reversed(xs: List[int]):
    out: List[int] = []
    for x in xs[::-1]:
        out.append(x)
    for i in range(len(xs) - 1, -1, -2):
        out.append(xs[i])
    ys = xs.copy()
    ys.reverse()
    return out, ys


@calls((torch.arange(6.0).view(2, 3),))
def ctl_tensor_loop(x: Tensor):
    total = torch.zeros(3)
    for row in x:
        total = total + row
    n = 0
    for row in x:
        for v in row:
            if v > 2:
                n += int(v)
    return total, n


@calls((3, True), (3, False))
def ctl_var_types(n: int, b: bool):
    x: Optional[int] = None
    if b:
        x = n
    y = 1 if x is None else x * 2
    z = [i for i in range(n)] if b else [0]
    return x, y, z


@calls((3,))
def ctl_del_and_scope(n: int):
    a = [n, n + 1]
    b = a
    del a[0]
    c = {"k": n, "l": 2}
    del c["k"]
    x = 5
    del x
    return b, c


@calls((4,))
def ctl_star_assign(n: int):
    a, *b = (n, 2, 3)
    (c, d), e = (1, n), 5
    f = g = n
    f += 1
    return a, b, c, d, e, f, g


@calls((4,))
def ctl_print(n: int) -> None:
    print("n is", n, 2.0, [n], {"a": n}, (n, "x"), True, None)
    print()
    print("tensor", torch.ones(2))


@calls((4,), (0,), (-1,))
def err_kinds(n: int):
    if n == 4:
        raise ValueError("four " + str(n))
    assert n != 0
    assert n > 0, f"negative {n}"
    return n


@calls(([1, 2],), ([],))
def err_in_loop(xs: List[int]):
    for i in range(2):
        if xs[i] > 1:
            raise RuntimeError("big")
    return 1


@calls(([3, 1, 2],), ([],))
def list_methods(xs: List[int]):
    ys = xs.copy()
    ys.append(4)
    ys.extend([5, 6])
    ys.insert(1, 10)
    ys.insert(-1, 11)
    ys.insert(100, 12)
    z = ys.pop()
    w = ys.pop(0)
    if 10 in ys:
        ys.remove(10)
    i = ys.index(5)
    c = ys.count(5)
    ys.sort(reverse=True)
    ys.reverse()
    return ys, z, w, i, c, len(ys), xs


@calls(([3, 1, 2],))
def list_clear_remove(xs: List[int]):
    a = xs + [1]
    a.remove(1)
    b = list(a)
    b.clear()
    return a, b, a == [3, 2, 1], a != xs, [1] * 3


@calls(([1], 5))
def list_remove_missing(xs: List[int], n: int):
    xs.remove(n)
    return xs


@calls(([1, 2, 3, 4, 5],), ([],))
def list_slicing(xs: List[int]):
    ys = xs.copy()
    return xs[1:], xs[:-1], xs[::2], xs[::-1], xs[-2:], xs[4:1:-1], xs[10:], ys


@calls(([[1, 2], [3]], 2))
def list_nested(xs: List[List[int]], n: int):
    xs[0].append(n)
    ys = [x for x in xs]
    ys[1][0] = 7
    flat = [[v * n for v in x] for x in xs]
    return xs, flat, ys is xs, sum([len(x) for x in xs])


@calls((["b", "a", "C"], [2.5, -1.0], [True, False]))
def list_sorting(ss: List[str], fs: List[float], bs: List[bool]):
    return sorted(ss), sorted(fs), sorted(bs), min(fs), max(fs), sum(fs), any(bs), all(bs)


@calls(([1, 2, 3],))
def list_comprehensions(xs: List[int]):
    a = [x * 2 for x in xs]
    b = [x for x in xs[1:]]
    c = [(x, str(x)) for x in xs]
    d = [i for i in range(3)]
    e = [p + q for p, q in zip(xs, xs)]
    return a, b, c, d, e


@calls(([1, 2, 3],))
def list_unpack(xs: List[int]):
    a, b, c = xs
    return a + b * c, [a, b, c]


@calls(({"a": 1, "b": 2},), ({},))
def dict_methods(d: Dict[str, int]):
    e = d.copy()
    e["z"] = 26
    x = e.pop("z")
    y = e.get("a", -1)
    w = e.get("nope", -2)
    v = e.setdefault("n", 5)
    e.update({"b": 20, "c": 30})
    keys = list(e.keys())
    vals = list(e.values())
    items = list(e.items())
    has = "a" in e
    n = len(e)
    e.clear()
    return x, y, w, v, keys, vals, items, has, n, len(e)


@calls(({1: 1.5, 2: 2.5}, {1.5: "x"}, {True: 1}))
def dict_key_types(a: Dict[int, float], b: Dict[float, str], c: Dict[bool, int]):
    total = 0.0
    for k in a:
        total += k * a[k]
    return total, b[1.5], c[True], a, {k: v for k, v in a.items()}, {x: x * 2 for x in range(3)}


@calls(({"a": 1}, "q"))
def dict_missing(d: Dict[str, int], k: str):
    return d[k]


@calls(({"a": [1], "b": [2, 3]},))
def dict_of_lists(d: Dict[str, List[int]]):
    for k, v in d.items():
        v.append(len(k))
    d["c"] = [0]
    return d, sum([len(v) for v in d.values()])


@calls((3,))
def func_defaults(n: int, m: int = 4, s: str = "d", f: float = 0.5, b: bool = True, o: Optional[int] = None):
    return n + m, s, f, b, o


def _helper(a: int, b: int = 2, c: int = 3) -> int:
    return a * 100 + b * 10 + c


@calls((1,))
def func_keywords(n: int):
    return _helper(n), _helper(n, 5), _helper(b=7, a=n), _helper(n, c=9)


@torch.jit.ignore
def _ignored(x: int) -> int:
    return x + 1


def _fact(n: int) -> int:
    out = 1
    while n > 1:
        out *= n
        n -= 1
    return out


@calls((5,), (0,))
def func_helpers(n: int):
    return _fact(n), [_fact(i) for i in range(n)], _fact(_fact(3))


@calls((3,))
def func_annotate(n: int):
    a = torch.jit.annotate(List[Tensor], [])
    b = torch.jit.annotate(Dict[str, Tensor], {})
    c: Dict[int, List[str]] = {}
    for i in range(n):
        a.append(torch.ones(i))
        b[str(i)] = torch.zeros(i)
        c[i] = [str(i)]
    return len(a), len(b), c


@calls((3,))
def func_type_comment(n, m=2):
    # type: (int, int) -> Tuple[int, int]
    return n + m, n * m


@calls((2, [1, 2]))
def func_nested_types(n: int, xs: List[int]) -> Dict[str, Tuple[int, List[int]]]:
    return {"a": (n, xs), "b": (n + 1, [n])}


@calls((torch.ones(3), 2))
def func_fork(x: Tensor, n: int):
    futs: List[torch.jit.Future[Tensor]] = []
    for i in range(n):
        futs.append(torch.jit.fork(_work, x, i))
    out = torch.zeros(3)
    for f in futs:
        out += torch.jit.wait(f)
    return out


def _work(x: Tensor, k: int) -> Tensor:
    return x * k + 1
