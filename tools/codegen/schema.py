"""Operator schemas: a typed parser for the part of the grammar that entries use."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace


class SchemaError(ValueError):
    """A schema string that does not follow the grammar."""


@dataclass(frozen=True)
class Type:
    """A schema type: `base`, optionally a list (`size` given for int[2]), optionally optional.

    `elem_optional` is the inner `?` of `Tensor?[]`.
    """

    base: str
    is_list: bool = False
    size: int | None = None
    optional: bool = False
    elem_optional: bool = False

    def __str__(self) -> str:
        text = self.base + ("?" if self.elem_optional else "")
        if self.is_list:
            text += f"[{self.size if self.size is not None else ''}]"
        return text + ("?" if self.optional else "")

    @property
    def is_tensor_like(self) -> bool:
        return self.base == "Tensor"

    @property
    def is_tensor(self) -> bool:
        return self.base == "Tensor" and not self.is_list


@dataclass(frozen=True)
class Alias:
    """`(a)`, `(a!)` or `(a -> *)`."""

    name: str
    write: bool = False
    wildcard: bool = False

    def __str__(self) -> str:
        return f"({self.name}{'!' if self.write else ''}{' -> *' if self.wildcard else ''})"


@dataclass(frozen=True)
class Argument:
    type: Type
    name: str
    default: str | None = None
    kwarg_only: bool = False
    alias: Alias | None = None

    def __str__(self) -> str:
        text = str(self.type)
        if self.alias:
            text = text.replace(self.type.base, self.type.base + str(self.alias), 1)
        if self.name:
            text += " " + self.name
        return text if self.default is None else f"{text}={self.default}"

    @property
    def is_written(self) -> bool:
        return self.alias is not None and self.alias.write


@dataclass(frozen=True)
class Schema:
    name: str
    overload: str
    arguments: tuple[Argument, ...]
    returns: tuple[Argument, ...]

    def __str__(self) -> str:
        parts: list[str] = []
        seen_star = False
        for arg in self.arguments:
            if arg.kwarg_only and not seen_star:
                parts.append("*")
                seen_star = True
            parts.append(str(arg))
        rets = ", ".join(str(r) for r in self.returns)
        if len(self.returns) != 1 or self.returns[0].name:
            rets = f"({rets})"
        return f"{self.full_name}({', '.join(parts)}) -> {rets}"

    @property
    def full_name(self) -> str:
        return f"{self.name}.{self.overload}" if self.overload else self.name

    @property
    def unambiguous_name(self) -> str:
        """The C++ identifier of this overload: `add.Tensor` -> `add_Tensor`."""
        return f"{self.name}_{self.overload}" if self.overload else self.name

    @property
    def out_arguments(self) -> tuple[Argument, ...]:
        return tuple(a for a in self.arguments if a.kwarg_only and a.is_written)

    @property
    def is_out(self) -> bool:
        return bool(self.out_arguments)

    @property
    def is_inplace(self) -> bool:
        return self.name.endswith("_") and not self.name.endswith("__") or (
            bool(re.fullmatch(r"__i\w+__", self.name))
        )

    @property
    def is_view(self) -> bool:
        """A return aliases an input that is not written to."""
        return any(r.alias is not None and not r.alias.write for r in self.returns)

    def with_name(self, name: str, overload: str | None = None) -> Schema:
        return replace(self, name=name, overload=self.overload if overload is None else overload)


_TYPE = re.compile(
    r"(?P<base>[A-Za-z]\w*)"
    r"(?P<alias>\((?:[a-z])(?:!)?(?:\s*->\s*\*)?\))?"
    r"(?P<inner_opt>\?)?"
    r"(?P<list>\[(?P<size>\d*)\])?"
    r"(?P<opt>\?)?"
)


def _parse_type(text: str, where: str) -> tuple[Type, Alias | None, str]:
    match = _TYPE.match(text)
    if not match:
        raise SchemaError(f"{where}: no type at '{text}'")
    inner, is_list, outer = match["inner_opt"], match["list"], match["opt"]
    kind = Type(
        base=match["base"],
        is_list=is_list is not None,
        size=int(match["size"]) if match["size"] else None,
        optional=bool(outer) or (bool(inner) and not is_list),
        elem_optional=bool(inner) and is_list is not None,
    )
    alias = None
    if match["alias"]:
        body = match["alias"][1:-1]
        alias = Alias(body[0], "!" in body, "->" in body)
    return kind, alias, text[match.end() :].strip()


def _split_commas(text: str) -> list[str]:
    """Split at commas outside brackets and quotes."""
    parts, depth, quote, start = [], 0, "", 0
    for i, c in enumerate(text):
        if quote:
            quote = "" if c == quote else quote
        elif c in "\"'":
            quote = c
        elif c in "([":
            depth += 1
        elif c in ")]":
            depth -= 1
        elif c == "," and depth == 0:
            parts.append(text[start:i].strip())
            start = i + 1
    last = text[start:].strip()
    return parts + [last] if last else parts


def parse_schema(text: str) -> Schema:
    """Parse `name.overload(args) -> returns`; raises SchemaError."""
    head = re.match(r"\s*(\w+)(?:\.(\w+))?\(", text)
    arrow = text.rfind(") -> ")
    if not head or arrow < 0:
        raise SchemaError(f"'{text}' is not of the form name.overload(arguments) -> returns")
    arguments: list[Argument] = []
    kwarg_only = False
    for part in _split_commas(text[head.end() : arrow]):
        if part == "*":
            kwarg_only = True
            continue
        kind, alias, rest = _parse_type(part, text)
        name, eq, default = rest.partition("=")
        if not re.fullmatch(r"\w+", name.strip()):
            raise SchemaError(f"'{text}': argument '{part}' has no name")
        arguments.append(Argument(kind, name.strip(), default.strip() if eq else None, kwarg_only, alias))
    rets = text[arrow + 5 :].strip()
    if rets.startswith("(") and rets.endswith(")"):
        rets = rets[1:-1]
    returns = []
    for part in _split_commas(rets):
        kind, alias, rest = _parse_type(part, text)
        returns.append(Argument(kind, rest, None, False, alias))
    return Schema(head[1], head[2] or "", tuple(arguments), tuple(returns))
