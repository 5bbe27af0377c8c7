"""Random TorchScript programs: functions of typed statements and expressions, and calls of them."""

from __future__ import annotations

import random

import torch

INT, FLOAT, BOOL, STR = "int", "float", "bool", "str"
INTS, FLOATS, STRS = "List[int]", "List[float]", "List[str]"
COUNTS, PAIR, MAYBE, TENSOR = "Dict[str, int]", "Tuple[int, float]", "Optional[int]", "Tensor"
TYPES = [INT, FLOAT, BOOL, STR, INTS, FLOATS, STRS, COUNTS, PAIR, MAYBE, TENSOR]
WORDS = ["a", "b", "key", "x y", "Hello", "", "42", "é", "Zz_9", "  pad "]


class Writer:
    """Writes one function."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.names = 0
        self.helpers: list[tuple[str, list[str], str]] = []

    # ---- expressions ------------------------------------------------------------------------------------------------

    def expression(self, kind: str, scope: dict[str, str], depth: int) -> str:
        known = [name for name, type in scope.items() if type == kind]
        if known and self.random.random() < (0.8 if depth <= 0 else 0.35):
            return self.random.choice(known)
        if depth <= 0:
            return self.literal(kind)
        if self.random.random() < 0.08 and kind != MAYBE:
            return (f"({self.expression(kind, scope, depth - 1)} if {self.expression(BOOL, scope, depth - 1)} "
                    f"else {self.expression(kind, scope, depth - 1)})")
        helpers = [h for h in self.helpers if h[2] == kind]
        if helpers and self.random.random() < 0.2:
            name, params, _ = self.random.choice(helpers)
            return f"{name}({', '.join(self.expression(p, scope, depth - 1) for p in params)})"
        forms = FORMS[kind]
        form = self.random.choice(forms)
        return self.fill(form, scope, depth - 1)

    def fill(self, form: str, scope: dict[str, str], depth: int) -> str:
        """Replaces {i}, {f}, ... by expressions; {n} is a small number, {w} a literal string, {k} a fresh name."""
        out, i = "", 0
        fresh = self.fresh()
        while i < len(form):
            if form[i] == "{" and form[i + 1] in KEYS and form[i + 2] == "}":
                key = form[i + 1]
                if key == "n":
                    out += str(self.random.randint(1, 4))
                elif key == "w":
                    out += repr(self.random.choice(WORDS))
                elif key == "k":
                    out += fresh
                else:
                    out += self.expression(KEYS[key], scope, depth)
                i += 3
            else:
                out += form[i]
                i += 1
        return out

    def literal(self, kind: str) -> str:
        r = self.random
        if kind == INT:
            return str(r.choice([0, 1, 2, 3, 5, 7, 10, -1, -3, 100]))
        if kind == FLOAT:
            return r.choice(["0.0", "1.0", "0.5", "-2.5", "3.25", "1e3", "0.1", "-0.75"])
        if kind == BOOL:
            return r.choice(["True", "False"])
        if kind == STR:
            return repr(r.choice(WORDS))
        if kind == INTS:
            return "[" + ", ".join(self.literal(INT) for _ in range(r.randint(1, 4))) + "]"
        if kind == FLOATS:
            return "[" + ", ".join(self.literal(FLOAT) for _ in range(r.randint(1, 3))) + "]"
        if kind == STRS:
            return "[" + ", ".join(self.literal(STR) for _ in range(r.randint(1, 3))) + "]"
        if kind == COUNTS:
            return "{" + ", ".join(f"{w!r}: {self.literal(INT)}" for w in r.sample(WORDS, r.randint(1, 3))) + "}"
        if kind == PAIR:
            return f"({self.literal(INT)}, {self.literal(FLOAT)})"
        if kind == MAYBE:
            return self.literal(INT)
        return r.choice(["torch.ones([3])", "torch.arange(3).to(torch.float)", "torch.tensor([1.5, -2.0, 0.25])"])

    def fresh(self) -> str:
        self.names += 1
        return f"v{self.names}"

    # ---- statements -------------------------------------------------------------------------------------------------

    def block(self, scope: dict[str, str], indent: int, budget: int, *, in_loop: bool, returns: str | None) -> None:
        scope = dict(scope)
        for _ in range(self.random.randint(1, budget)):
            self.statement(scope, indent, budget, in_loop=in_loop, returns=returns)

    def emit(self, indent: int, text: str) -> None:
        self.lines.append("    " * indent + text)

    def statement(self, scope: dict, indent: int, budget: int, *, in_loop: bool, returns: str | None) -> None:
        r = self.random
        writable = {n: t for n, t in scope.items() if not n.startswith("i_")}
        choice = r.random()
        if choice < 0.22 or not writable:
            kind = r.choice(TYPES)
            name = self.fresh()
            value = self.expression(kind, scope, 2)
            self.emit(indent, f"{name}: {kind} = {value}")
            scope[name] = kind
        elif choice < 0.40:
            name, kind = r.choice(list(writable.items()))
            # What a loop assigns must not grow without end.
            end = {STR: "[0:40]", INTS: "[0:9]", FLOATS: "[0:9]", STRS: "[0:9]"}.get(kind, "")
            value = self.expression(kind, scope, 3)
            self.emit(indent, f"{name} = ({value}){end}" if end else f"{name} = {value}")
        elif choice < 0.52:
            self.change(writable, scope, indent)
        elif choice < 0.68 and budget > 1:
            self.emit(indent, f"if {self.expression(BOOL, scope, 2)}:")
            self.block(scope, indent + 1, budget - 1, in_loop=in_loop, returns=returns)
            if r.random() < 0.25:
                self.emit(indent, f"elif {self.expression(BOOL, scope, 2)}:")
                self.block(scope, indent + 1, budget - 1, in_loop=in_loop, returns=returns)
            if r.random() < 0.6:
                self.emit(indent, "else:")
                self.block(scope, indent + 1, budget - 1, in_loop=in_loop, returns=returns)
        elif choice < 0.82 and budget > 1:
            self.loop(scope, indent, budget, returns)
        elif choice < 0.87 and in_loop:
            self.emit(indent, f"if {self.expression(BOOL, scope, 1)}:")
            self.emit(indent + 1, r.choice(["break", "continue"]))
        elif choice < 0.90 and returns is not None and indent > 1:
            self.emit(indent, f"if {self.expression(BOOL, scope, 1)}:")
            self.emit(indent + 1, f"return {self.expression(returns, scope, 2)}")
        elif choice < 0.92:
            self.emit(indent, f"assert {self.expression(BOOL, scope, 1)} or {self.expression(BOOL, scope, 1)}, 'was ' + str("
                      f"{self.expression(INT, scope, 1)})")
        elif choice < 0.94:
            self.emit(indent, f"if {self.expression(BOOL, scope, 1)} and {self.expression(BOOL, scope, 1)}:")
            self.emit(indent + 1, f"raise ValueError('bad ' + {self.expression(STR, scope, 1)})")
        elif choice < 0.97:
            kind = r.choice([INT, FLOAT, STR, BOOL, INTS, STRS, PAIR, COUNTS])
            self.emit(indent, f"print({self.expression(kind, scope, 2)}, {self.expression(STR, scope, 1)})")
        else:
            maybe = [n for n, t in scope.items() if t == MAYBE]
            if maybe:
                name = r.choice(maybe)
                self.emit(indent, f"if {name} is not None:")
                self.block(scope | {name: INT}, indent + 1, 1, in_loop=in_loop, returns=returns)
            else:
                self.emit(indent, "pass")

    def change(self, writable: dict, scope: dict, indent: int) -> None:
        name, kind = self.random.choice(list(writable.items()))
        forms = {
            INT: ["{x} += {i}", "{x} -= {i}", "{x} *= {n}", "{x} = {x} % 1000"],
            FLOAT: ["{x} += {f}", "{x} *= {f}", "{x} /= {f}", "{x} -= {i}"],
            BOOL: ["{x} = not {x}"],
            STR: ["{x} += {w}", "{x} = {x}[0:20] + {s}[0:20]"],
            INTS: ["{x}.append({i})", "{x}[0] = {i}", "{x}.sort()", "{x}.reverse()", "{x}.extend({I}[0:3])", "{x} += [{i}]",
                   "{x}.insert({n}, {i})", "{x}.pop()", "{x}[-1] += {i}", "{x} = {x}[0:8]", "del {x}[0]"],
            FLOATS: ["{x}.append({f})", "{x}[0] *= {f}", "{x}.sort()", "{x} = {x}[0:8]"],
            STRS: ["{x}.append({s}[0:20])", "{x}.sort()", "{x} = {x}[0:8]", "{x}[0] = {s}[0:20]"],
            COUNTS: ["{x}[{s}[0:20]] = {i}", "{x}[{w}] = len({x})", "{x}.update({C})", "{x}.pop({w}, 0)",
                     "{x}.setdefault({w}, {i})"],
            PAIR: ["{x} = ({x}[0] + 1, {x}[1])"],
            MAYBE: ["{x} = None", "{x} = {i}"],
            TENSOR: ["{x} += {f}", "{x} = {x} * {f}", "{x}.add_({i})", "{x}[0] = {f}", "{x} = {x}[0:3]"],
        }[kind]
        text = self.random.choice(forms).replace("{x}", name)
        self.emit(indent, self.fill(text, scope, 1))

    def loop(self, scope: dict, indent: int, budget: int, returns: str | None) -> None:
        r = self.random
        name = "i_" + self.fresh()
        form = r.choice(["range", "ints", "str", "while", "enumerate", "zip", "dict", "reversed"])
        inner = dict(scope)
        if form == "range":
            self.emit(indent, f"for {name} in range({r.choice(['4', '1, 6, 2', '5, 0, -1', 'abs(' + self.expression(INT, scope, 1) + ') % 6'])}):")
            inner[name] = INT
        elif form == "ints":
            self.emit(indent, f"for {name} in {self.expression(INTS, scope, 2)}[0:6]:")
            inner[name] = INT
        elif form == "str":
            self.emit(indent, f"for {name} in {self.expression(STR, scope, 1)}[0:6]:")
            inner[name] = STR
        elif form == "while":
            self.emit(indent, f"{name} = 0")
            self.emit(indent, f"while {name} < {r.randint(2, 6)} and {self.expression(BOOL, scope, 1)}:")
            self.emit(indent + 1, f"{name} += 1")
            inner[name] = INT
        elif form == "enumerate":
            other = "i_" + self.fresh()
            self.emit(indent, f"for {name}, {other} in enumerate({self.expression(STRS, scope, 2)}):")
            inner |= {name: INT, other: STR}
        elif form == "zip":
            other = "i_" + self.fresh()
            self.emit(indent, f"for {name}, {other} in zip({self.expression(INTS, scope, 1)}, {self.expression(FLOATS, scope, 1)}):")
            inner |= {name: INT, other: FLOAT}
        elif form == "dict":
            other = "i_" + self.fresh()
            self.emit(indent, f"for {name}, {other} in {self.expression(COUNTS, scope, 1)}.items():")
            inner |= {name: STR, other: INT}
        else:
            self.emit(indent, f"for {name} in [{self.fill('{i}, {i}, {n}', scope, 1)}][::-1]:")
            inner[name] = INT
        self.block(inner, indent + 1, budget - 1, in_loop=True, returns=returns)

    # ---- functions --------------------------------------------------------------------------------------------------

    def helper(self, number: int) -> None:
        params = [self.random.choice(TYPES) for _ in range(self.random.randint(1, 2))]
        result = self.random.choice([INT, FLOAT, BOOL, STR, INTS])
        self.function(f"helper{number}", params, result, 2)
        self.helpers.append((f"helper{number}", params, result))

    def function(self, name: str, params: list[str], result: str, size: int) -> None:
        scope = {f"p{i}": kind for i, kind in enumerate(params)}
        self.emit(0, f"def {name}({', '.join(f'{n}: {t}' for n, t in scope.items())}) -> {result}:")
        for _ in range(size):
            self.statement(scope, 1, 3, in_loop=False, returns=result if not result.startswith("Tuple[") else None)
        if name == "f":
            self.emit(1, f"return {', '.join(scope)}")
        else:
            self.emit(1, f"return {self.expression(result, scope, 2)}")

    def program(self) -> list[str]:
        for number in range(self.random.randint(0, 2)):
            self.helper(number)
        params = [self.random.choice(TYPES) for _ in range(self.random.randint(2, 4))]
        start = len(self.lines)
        self.function("f", params, "Tuple[()]", self.random.randint(3, 8))
        self.lines[start] = self.lines[start].replace(" -> Tuple[()]", "")
        return params

    def argument(self, kind: str) -> object:
        if kind == TENSOR:
            generator = torch.Generator().manual_seed(self.random.randint(0, 99))
            return torch.randn(self.random.choice([[3], [2, 3]]), generator=generator)
        if kind == MAYBE:
            return self.random.choice([None, 4, -2])
        return eval(self.literal(kind))  # noqa: S307: a literal written above


KEYS = {"i": INT, "f": FLOAT, "b": BOOL, "s": STR, "I": INTS, "F": FLOATS, "S": STRS, "C": COUNTS, "P": PAIR, "T": TENSOR,
        "n": "", "w": "", "k": ""}

FORMS = {
    INT: ["({i} + {i})", "({i} - {i})", "({i} * {n})", "({i} // {n})", "({i} % {n})", "({i} // {i})", "-{i}", "len({I})",
          "len({s})", "len({C})", "abs({i})", "min({i}, {i})", "max({i}, {i})", "int({f})", "{I}[0]", "{I}[-1]", "sum({I})",
          "{C}.get({w}, {i})", "int({b})", "({i} & {i})", "({i} | {n})", "({i} ^ {i})", "({n} << {n})", "({i} >> {n})",
          "{P}[0]", "math.floor({f})", "math.ceil({f})", "{s}.find({w})", "{I}.count({i})", "{T}.size(0)", "{T}.dim()",
          "{s}.count({w})", "min({I})", "max({I})", "ord({s}[0])", "{C}[{w}]", "{I}.index({i})", "math.gcd({i}, {i})",
          "int({T}.sum().item())", "(~{i})", "divmod({i}, {n})[1]"],
    FLOAT: ["({f} + {f})", "({f} - {i})", "({f} * {f})", "({f} / {f})", "({i} / {n})", "float({i})", "abs({f})",
            "math.sqrt(abs({f}))", "math.exp(min({f}, 5.0))", "round({f})", "{F}[0]", "sum({F})", "min({f}, {f})",
            "max({F})", "{P}[1]", "({f} // {n})", "({f} % {n})", "({f} ** 2)", "math.sin({f})", "math.atan2({f}, {f})",
            "float({b})", "math.pow({f}, {n})", "math.fmod({f}, 2.5)", "{T}.mean().item()", "math.log1p(abs({f}))",
            "math.copysign({f}, {f})", "math.tanh({f})", "({n} ** {n})*0.5", "math.hypot({f}, {f})"],
    BOOL: ["{i} < {i}", "{i} == {i}", "{f} >= {f}", "({b} and {b})", "({b} or {b})", "(not {b})", "{s} == {s}", "{s} < {s}",
           "{w} in {C}", "{i} in {I}", "{I} == {I}", "{s}.startswith({w})", "bool({i})", "{w} in {s}", "{s}.isdigit()",
           "len({S}) > {n}", "any([{b}, {b}])", "all([{b}, {b}])", "0 < {i} <= {n}", "{i} != {i}", "{s}.endswith({w})",
           "bool({T}.sum() > {f})", "({P} == {P})", "{w} not in {S}", "bool({s})", "isinstance({i}, int)", "{s}.islower()"],
    STR: ["({s} + {w})", "str({i})", "str({f})", "{s}.upper()", "{s}.strip()", "{s}.replace({w}, '-')", "{w}.join({S})",
          "{s}[{n}:]", "{s}[::-1]", "'{}:{}'.format({i}, {s})", "({s} * {n})", "{S}[0]", "str({b})",
          "{s}.lower()", "{s}[0:{n}]", "'%d-%s' % ({i}, {s})", "{s}.title()", "{s}.center({n})", "str({I})", "str({P})",
          "{s}.split({w} + ' ')[0]", "{s}.zfill({n})", "{s}.ljust(6)", "{s}.capitalize()", "hex({i})", "chr(65 + abs({i}) % 20)",
          "{s}.rjust({n})", "bin({i})", "{s}.swapcase()", "str({S})", "str({C})", "{s}.lstrip()", "str({F})"],
    INTS: ["[{k} * {n} for {k} in {I}]", "[{k} for {k} in {I} if {k} > {i}]", "{I}[{n}:]", "({I} + {I})", "sorted({I})",
           "list(range({n}))", "[{i}, {i}]", "{I}[::-1]", "[len({k}) for {k} in {S}]", "[0] * {n}", "{I}.copy()",
           "list({C}.values())", "[{k} + {i} for {k} in range({n})]", "{I}[:-1]", "{I}[::{n}]", "{T}.size()",
           "[ord({k}) for {k} in {s}]", "torch.jit.annotate(List[int], [])"],
    FLOATS: ["[{k} + {f} for {k} in {F}]", "{F}[0:{n}]", "[float({k}) for {k} in {I}]", "({F} + [{f}])", "sorted({F})",
             "[{f}] * {n}"],
    STRS: ["{s}.split({w} + ',')", "[str({k}) for {k} in {I}]", "{S}[0:{n}]", "list({C}.keys())", "sorted({S})", "list({s})",
           "({S} + [{s}])", "{s}.split()", "[{k}.upper() for {k} in {S}]", "{s}.splitlines()"],
    COUNTS: ["{{w}: {i}, {w}: {i}}", "{{k}: len({k}) for {k} in {S}}", "{C}.copy()", "dict([({w}, {i})])",
             "{str({k}): {k} for {k} in {I}}"],
    PAIR: ["({i}, {f})", "({P}[0], {f})", "(len({s}), float({i}))"],
    MAYBE: ["{i}"],
    TENSOR: ["({T} + {f})", "({T} * {T}.sum())", "torch.relu({T})", "({T} - {i})", "torch.cat([{T}.reshape([-1]), {T}.reshape([-1])])[0:3]",
             "{T}.neg()", "torch.tensor([{f}, {f}, {f}])", "torch.where({T} > 0, {T}, {T} * {f})", "{T}.clone()", "{T}.sum(0)",
             "torch.full([3], {f})", "{T}.abs().sqrt()", "torch.stack([{T}, {T}])[0]", "{T}.clamp(-1.0, {f})", "{T}.sigmoid()",
             "(2 / ({T} + 4.5))", "{T}.cumsum(0)", "torch.tensor({F})", "torch.zeros([{n}])", "{T}.t() if {T}.dim() == 2 else {T}"],
}


def random_source(seed: int) -> tuple[str, list[tuple]]:
    """A source whose function is `f`, and arguments of three calls."""
    writer = Writer(seed)
    params = writer.program()
    calls = [tuple(writer.argument(kind) for kind in params) for _ in range(3)]
    return "\n".join(writer.lines) + "\n", calls
