"""Each operator of the language with many arguments: programs of one expression, called with all that a few values can make."""

from __future__ import annotations

import itertools
import random

TEXTS = ["", "a", "aba", "Hello World", "a,b,,c", "  x\ty\n", "12", "-3", "ab12_", "Title Case", "x\r\ny\n"]
PARTS = ["", "a", "ab", ",", " ", "o W", "x"]
PLACES = [0, 1, 2, 3, 5, -1, -2, -20, 20]
INTS = [0, 1, 2, 3, 7, -1, -3, 64, 1000, -9223372036854775808, 9223372036854775807]
SMALL = [0, 1, 2, 3, -1, -2, 5]
FLOATS = [0.0, 1.0, -1.0, 0.5, 2.5, -2.5, 3.7, 1e10, 1e-7, 1e300, float("inf"), float("-inf"), float("nan"), -0.0, 100.0]
COMPLEX = [0j, 1 + 0j, 1j, 2.5 - 1j, -1 - 1j]
BOOLS = [True, False]
LISTS = [[], [1], [3, 1, 2], [1, 1, 2, 3, 5, 8], [-1, 0, 1]]
FLOAT_LISTS = [[], [1.0], [2.5, -1.0, 0.0]]
TEXT_LISTS = [[], ["a"], ["b", "a", "C", ""]]
BOOL_LISTS = [[], [True], [True, False]]
DICTS = [{}, {"a": 1}, {"b": 2, "a": 1, "": 0}]
STEPS = [1, 2, 3, -1, -2]

# Parameters: the type of each and the values it takes.
KINDS = {"s": ("str", TEXTS), "p": ("str", PARTS), "n": ("int", PLACES), "m": ("int", PLACES), "i": ("int", INTS), "j": ("int", INTS),
         "k": ("int", SMALL), "l": ("int", SMALL), "x": ("float", FLOATS), "y": ("float", FLOATS), "c": ("complex", COMPLEX),
         "z": ("complex", COMPLEX), "b": ("bool", BOOLS), "d": ("bool", BOOLS), "I": ("List[int]", LISTS), "J": ("List[int]", LISTS),
         "F": ("List[float]", FLOAT_LISTS), "S": ("List[str]", TEXT_LISTS), "B": ("List[bool]", BOOL_LISTS),
         "D": ("Dict[str, int]", DICTS), "t": ("int", STEPS)}

# Parameters, and expressions or statements that set `out`.
TABLES = [
    ("s", "s.upper()|s.lower()|s.capitalize()|s.title()|s.swapcase()|s.strip()|s.lstrip()|s.rstrip()|s.split()|s.splitlines()|"
          "s.splitlines(True)|s.isupper()|s.islower()|s.isdigit()|s.isspace()|s.isalnum()|s.isalpha()|s.isdecimal()|s.isnumeric()|"
          "s.isidentifier()|s.istitle()|s.isprintable()|len(s)|bool(s)|[c for c in s]|list(s)|hash(s) == hash(s)|s.expandtabs()|"
          "str(s)|int(s)|float(s)|ord(s)|'{}'.format(s)|'%s' % s|s + s|s[0]|s[-1]|s[::-1]|s[::2]|s[1:]|s[:-1]|not s|s.casefold()|"
          "s.encode()|'{:>10}'.format(s)|'%10s' % s|'%r' % s|complex(s)|int(s, 16)|[s]|(s, s)|{s: s}|str([s])|str({s: s})|str((s,))"),
    ("sp", "s.find(p)|s.rfind(p)|s.count(p)|p in s|p not in s|s.startswith(p)|s.endswith(p)|s.split(p)|s.rsplit(p)|s.strip(p)|"
           "s.lstrip(p)|s.rstrip(p)|s.partition(p)|s.rpartition(p)|s.join([p, p])|p.join(s)|s.replace(p, '--')|s.replace(p, '')|s < p|"
           "s <= p|s > p|s >= p|s == p|s != p|s + p|s.index(p)|s.rindex(p)|s.removeprefix(p)|s.removesuffix(p)|p.join(s.split())|"
           "'%s-%s' % (s, p)|'{1}{0}'.format(s, p)|f'{s}|{p}'"),
    ("spn", "s.find(p, n)|s.rfind(p, n)|s.count(p, n)|s.startswith(p, n)|s.endswith(p, n)|s.split(p, n)|s.rsplit(p, n)|s.replace(p, 'Z', n)|"
            "s.index(p, n)|s.rindex(p, n)"),
    ("spnm", "s.find(p, n, m)|s.rfind(p, n, m)|s.count(p, n, m)|s.startswith(p, n, m)|s.endswith(p, n, m)|s.index(p, n, m)|s.rindex(p, n, m)"),
    ("sn", "s[n]|s[n:]|s[:n]|s.center(n)|s.ljust(n)|s.rjust(n)|s.zfill(n)|s.center(n, '*')|s.ljust(n, '.')|s.rjust(n, '')|s.expandtabs(n)|"
           "s.split(None, n)|s.split(' ', n)|s * n|n * s|s.center(n, 'ab')|s + str(n)"),
    ("snm", "s[n:m]|s[n:m:2]|s[n:m:1]"),
    ("snmt", "s[n:m:t]"),
    ("i", "-i|+i|abs(i)|bool(i)|float(i)|int(i)|str(i)|hex(i)|oct(i)|bin(i)|chr(i)|round(i)|not i|~i|i ** 2|i * i|complex(i)|hash(i)|"
          "math.sqrt(i)|math.floor(i)|math.ceil(i)|math.exp(i)|math.log(i)|math.factorial(i)|math.sin(i)|math.fabs(i)|math.degrees(i)|"
          "math.isnan(i)|math.isinf(i)|math.isfinite(i)|math.gamma(i)|math.lgamma(i)|math.log10(i)|math.log1p(i)|math.erf(i)|math.frexp(i)|"
          "math.modf(i)|math.radians(i)|'%d' % i|'%5d' % i|'%x' % i|'%f' % i|'%e' % i|'%s' % i|'{}'.format(i)|i.bit_length()|i % 2 == 0|"
          "torch.tensor(i)|torch.tensor([i, i])|range(i)[0]|[i] * 2|(i, i) == (i, i)|str([i])|str((i, 2))|i == True|i / 3|i // 3|i % 3|i % -3"),
    ("ij", "i + j|i - j|i * j|i / j|i // j|i % j|i & j|i \\| j|i ^ j|i == j|i != j|i < j|i <= j|i > j|i >= j|i and j|min(i, j)|max(i, j)|"
           "divmod(i, j)|math.gcd(i, j)|math.pow(i, j)|math.fmod(i, j)|math.atan2(i, j)|math.copysign(i, j)|math.remainder(i, j)|float(i) / j|"
           "i is j|[i, j]|min([i, j])|max([i, j])|sum([i, j])|sorted([i, j])|math.hypot(i, j)|complex(i, j)|torch.tensor(i) + 1 if j > 0 else torch.tensor(j)"),
    ("kl", "k ** l|k << l|k >> l|float(k) ** l|k ** float(l)|math.ldexp(float(k), l)|list(range(k, l))|list(range(l))|round(k / 3, l)|"
           "[k] * l|math.comb(k, l)|pow(k, l)|math.isclose(k, l)|k if l else 7|(k and l) == 0"),
    ("klt", "list(range(k, l, t))|[a * t for a in range(k, l, t)]"),
    ("x", "-x|abs(x)|bool(x)|int(x)|float(x)|str(x)|round(x)|not x|x ** 2|x ** 0.5|x * x|x / 3|x // 2|x % 2|x % -2.5|complex(x)|hash(x)|"
          "math.sqrt(x)|math.floor(x)|math.ceil(x)|math.exp(x)|math.log(x)|math.sin(x)|math.cos(x)|math.tan(x)|math.asin(x)|math.acos(x)|"
          "math.atan(x)|math.sinh(x)|math.cosh(x)|math.tanh(x)|math.asinh(x)|math.acosh(x)|math.atanh(x)|math.expm1(x)|math.log1p(x)|"
          "math.log10(x)|math.erf(x)|math.erfc(x)|math.gamma(x)|math.lgamma(x)|math.fabs(x)|math.degrees(x)|math.radians(x)|math.isnan(x)|"
          "math.isinf(x)|math.isfinite(x)|math.frexp(x)|math.modf(x)|math.trunc(x)|math.log2(x)|math.log(x, 2)|'%d' % x|'%f' % x|'%.2f' % x|"
          "'%e' % x|'%g' % x|'%s' % x|'%5.1f' % x|'{}'.format(x)|f'{x}'|str([x])|str((x,))|torch.tensor(x)|torch.tensor([x])|round(x, 1)|"
          "round(x, 0)|x == x|x == int(3)|x.is_integer()|str({'a': x})|str(x * 2)|'%i' % x|'%c' % 'q'"),
    ("xy", "x + y|x - y|x * y|x / y|x // y|x % y|x ** y|x == y|x != y|x < y|x <= y|x > y|x >= y|min(x, y)|max(x, y)|divmod(x, y)|"
           "math.pow(x, y)|math.fmod(x, y)|math.atan2(x, y)|math.copysign(x, y)|math.hypot(x, y)|math.log(x, y)|sorted([x, y])|min([x, y])|"
           "max([x, y])|sum([x, y])|x or y|complex(x, y)|math.remainder(x, y)|math.isclose(x, y)|torch.tensor([x, y])"),
    ("xk", "x + k|x - k|x * k|x / k|x // k|x % k|x ** k|k + x|k - x|k * x|k / x|k // x|k % x|k ** x|x == k|x < k|x >= k|min(x, k)|max(k, x)|"
           "round(x, k)|math.ldexp(x, k)|math.pow(x, k)|math.pow(k, x)|math.fmod(k, x)|math.fmod(x, k)|math.atan2(k, x)|divmod(x, k)|divmod(k, x)|"
           "math.log(x, k)|math.log(k, x)|math.copysign(k, x)|[x, k]|'%d %f' % (k, x)"),
    ("bd", "b + d|b - d|b * d|b and d|b or d|not b|b == d|b != d|b & d|b \\| d|b ^ d|b < d|int(b) + d|float(b)|str(b)|b is d|[b, d]|any([b, d])|"
           "all([b, d])|min(b, d)|sum([b, d])|1 + b|1.5 * b|-b|~b|b / d|'%s' % b|sorted([b, d])|torch.tensor([b, d])|hash(b)"),
    ("cz", "c + z|c - z|c * z|c / z|c ** z|c == z|c != z|abs(c)|-c|bool(c)|str(c)|complex(c)|[c, z]|c < z|c.conjugate()|'{}'.format(c)|torch.tensor([c, z])"),
    ("ck", "c + k|k - c|c * k|c / k|k / c|c ** k|k ** c|c == k|c != k"),
    ("cx", "c + x|x - c|c * x|c / x|x / c|c ** x|x ** c|c == x|cmath.exp(c)"),
    ("c", "cmath.exp(c)|cmath.log(c)|cmath.sqrt(c)|cmath.sin(c)|cmath.cos(c)|cmath.tan(c)|cmath.phase(c)|cmath.polar(c)|cmath.sinh(c)|cmath.isnan(c)|"
          "cmath.acos(c)|cmath.asinh(c)|cmath.log10(c)|cmath.atan(c)|cmath.tanh(c)|cmath.isinf(c)|cmath.isfinite(c)"),
    ("I", "len(I)|sum(I)|min(I)|max(I)|sorted(I)|I[::-1]|I[0]|I[-1]|bool(len(I))|I.copy()|str(I)|list(I)|I == I|I + [1]|I * 2|2 * I|[a for a in I]|"
          "[a + 1 for a in I]|tuple(I)|torch.tensor(I)|any(I)|all(I)|I.pop()|I.sort()|I.reverse()|I.clear()|sorted(I, reverse=True)|"
          "[(a, b) for a, b in enumerate(I)]|{a: 1 for a in I}|I.sort(reverse=True)|torch.zeros(I)|I is I|not I|'%s' % I|f'{I}'|"
          "list(zip(I, I))|list(enumerate(I))|reversed(I)|[str(a) for a in I]|max(I[0], 3)|len(I[1:])|del I[0]|del I[-1]|I += [5]|I *= 2"),
    ("Ik", "I.index(k)|I.count(k)|k in I|k not in I|I[k]|I[k:]|I[:k]|I.pop(k)|I.insert(k, 9)|I.remove(k)|I.append(k)|I.extend([k, k])|I * k|"
           "I[k:k]|I[k] = 5|I[k] += 1|del I[k]|[a * k for a in I]|I + [k]|I.insert(0, k)"),
    ("Ikl", "I[k:l]|I[k:l:2]|I.insert(k, l)"),
    ("Iklt", "I[k:l:t]"),
    ("IJ", "I + J|I == J|I != J|I < J|I.extend(J)|I += J|[a + b for a, b in zip(I, J)]|[I, J]|sorted([I, J])|I is J|I in [J]|dict(zip(I, J))|"
           "I[len(J)]|min(I, J)|I + J + I|{1: I, 2: J}"),
    ("F", "len(F)|sum(F)|min(F)|max(F)|sorted(F)|F[::-1]|str(F)|F.sort()|F.copy()|torch.tensor(F)|any(F)|all(F)|F + [1.0]|F * 2|F.pop(0)|1.0 in F|F.index(1.0)|"
          "F.count(1.0)|[a * 2 for a in F]|F == F|F.remove(1.0)|F.sort(reverse=True)"),
    ("S", "len(S)|min(S)|max(S)|sorted(S)|str(S)|S.sort()|','.join(S)|S[::-1]|'a' in S|S.index('a')|S.count('a')|S + ['x']|S * 2|S == S|[a + '!' for a in S]|"
          "{a: len(a) for a in S}|S.remove('a')|S.pop()|sum([len(a) for a in S])|S.insert(1, 'q')|any(S)|list(S)|S.sort(reverse=True)"),
    ("B", "any(B)|all(B)|sum(B)|sorted(B)|str(B)|B + [True]|True in B|B.sort()|len(B)|B == [True]|torch.tensor(B)|[not a for a in B]|B.count(True)|B.index(False)"),
    ("D", "len(D)|list(D.keys())|list(D.values())|list(D.items())|list(D)|D.copy()|str(D)|D == D|D.clear()|D.popitem()|'a' in D|D['a']|D.get('a')|"
          "D.get('q')|D.get('q', 5)|D.pop('a')|D.pop('q', 7)|D.setdefault('a', 9)|D.setdefault('q', 9)|D.update({'a': 3, 'n': 4})|bool(len(D))|"
          "sorted(D)|sum(D.values())|[k for k in D]|[(k, v) for k, v in D.items()]|{v: k for k, v in D.items()}|del D['a']|D['z'] = 1|D['a'] += 1|"
          "sorted(D.keys())|max(D.values())|D is D|dict(D)|len(D.items())|D.keys()|D.values()|D.items()|'a' not in D|not D|D != {'a': 1}"),
]

STATEMENTS = ("del ", ".append(", ".extend(", ".insert(", ".sort(", ".reverse()", ".clear()", ".remove(", ".update(", " = 5", " += ", " *= ", " = 1")
MOST = 40


def table_programs():
    """Name, source and calls of each."""
    chosen = random.Random(7)
    for params, forms in TABLES:
        names = list(params)
        head = ", ".join(f"{n}: {KINDS[n][0]}" for n in names)
        combos = list(itertools.product(*(KINDS[n][1] for n in names)))
        for number, form in enumerate(forms.replace("\\|", "\0").replace("'{s}|{p}'", "'{s}\0{p}'").split("|")):
            form = form.replace("\0", "|")
            statement = any(part in form for part in STATEMENTS) and "[" + form[:1] != "[["
            if statement and ("==" in form or form.startswith("[")):
                statement = False
            result = ", ".join(n for n in names if KINDS[n][0][:4] in ("List", "Dict"))
            if statement:
                body = f"    {form}\n    return {result or names[0]}\n"
            elif result:
                body = f"    out = {form}\n    return out, {result}\n"
            else:
                body = f"    return {form}\n"
            calls = combos if len(combos) <= MOST else chosen.sample(combos, MOST)
            yield f"table_{params}_{number}", f"def f({head}):\n{body}", [tuple(each) for each in calls]
