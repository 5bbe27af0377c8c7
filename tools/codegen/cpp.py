"""Schema types and defaults in C++: the dispatcher's signatures and the public ones."""

from __future__ import annotations

import re
from dataclasses import dataclass

from schema import Argument, Schema, Type

OPTIONS = ("dtype", "layout", "device", "pin_memory")

_BY_VALUE = {
    "int": "int64_t",
    "SymInt": "c10::SymInt",
    "float": "double",
    "bool": "bool",
    "str": "std::string_view",
    "ScalarType": "at::ScalarType",
    "Layout": "at::Layout",
    "Device": "at::Device",
    "MemoryFormat": "at::MemoryFormat",
    "Generator": "at::Generator",
    "Storage": "at::Storage",
    "Stream": "at::Stream",
    "QScheme": "at::QScheme",
    "Dimname": "at::Dimname",
}


def argument_type(t: Type, *, symint: bool, written: bool = False) -> str:
    """C++ type of a parameter. `symint` keeps SymInt; otherwise it becomes int64_t."""
    base = "int" if t.base == "SymInt" and not symint else t.base
    if base == "Tensor":
        if t.is_list:
            return "const c10::List<std::optional<at::Tensor>>&" if t.elem_optional else "at::TensorList"
        if t.optional:
            return "const std::optional<at::Tensor>&"
        return "at::Tensor&" if written else "const at::Tensor&"
    if base == "Scalar":
        if t.is_list:
            return "at::ArrayRef<at::Scalar>"
        return "const std::optional<at::Scalar>&" if t.optional else "const at::Scalar&"
    if base not in _BY_VALUE:
        raise ValueError(f"type {t} has no C++ form; known: Tensor, Scalar, {', '.join(_BY_VALUE)}")
    if t.is_list:
        if base == "bool" and t.size is not None:
            return f"std::array<bool, {t.size}>"
        lists = {"int": "at::IntArrayRef", "SymInt": "c10::SymIntArrayRef", "float": "at::ArrayRef<double>",
                 "Dimname": "at::DimnameList"}
        optional_lists = {
            "int": "at::OptionalIntArrayRef",
            "SymInt": "at::OptionalSymIntArrayRef",
            "float": "std::optional<at::ArrayRef<double>>",
            "Dimname": "std::optional<at::DimnameList>",
        }
        if base in lists:
            return optional_lists[base] if t.optional else lists[base]
        return f"at::ArrayRef<{_BY_VALUE[base]}>"
    return f"std::optional<{_BY_VALUE[base]}>" if t.optional else _BY_VALUE[base]


def api_type(t: Type, *, symint: bool, written: bool = False) -> str:
    """C++ type of a parameter of an API function: `{}` stands for options there, never for names."""
    is_names = t.base == "Dimname" and t.is_list and t.optional
    return "at::OptionalDimnames" if is_names else argument_type(t, symint=symint, written=written)


def inside_at(text: str) -> str:
    """`text` as it is written in namespace at, which sees c10: shorter to read and to compile."""
    return re.sub(r"\b(?:at|c10)::(?=[A-Z]|k[A-Z])", "", text)


def return_type(schema: Schema) -> str:
    """C++ return type; written tensors are returned by reference."""

    def one(ret: Argument) -> str:
        if ret.type.base == "Tensor":
            if ret.type.is_list:
                return "std::vector<at::Tensor>"
            return "at::Tensor&" if ret.is_written else "at::Tensor"
        if ret.type.base == "Scalar":
            return "at::Scalar"
        return _BY_VALUE["int" if ret.type.base == "SymInt" else ret.type.base]

    if not schema.returns:
        return "void"
    if len(schema.returns) == 1:
        return one(schema.returns[0])
    return f"std::tuple<{', '.join(one(r) for r in schema.returns)}>"


_DEFAULTS = {
    "None": "std::nullopt",
    "True": "true",
    "False": "false",
    "Mean": "at::Reduction::Mean",
    "contiguous_format": "c10::MemoryFormat::Contiguous",
    "long": "at::kLong",
    "float": "at::kFloat",
}


def default_value(arg: Argument) -> str | None:
    """The C++ spelling of a schema default."""
    if arg.default is None:
        return None
    text = arg.default
    if text == "None" and arg.type.base == "Tensor" and not arg.type.is_list:
        return "{}"
    if text in _DEFAULTS:
        return _DEFAULTS[text]
    if text.startswith("[") and text.endswith("]"):
        body = text[1:-1]
        if arg.type.base == "bool":
            return "{{" + body.lower() + "}}"
        return "{" + body + "}"
    if text.startswith(("'", '"')):
        return '"' + text[1:-1] + '"'
    # One value for a list of fixed length: the kernels repeat it.
    return "{" + text + "}" if arg.type.is_list else text


@dataclass(frozen=True)
class Param:
    """One C++ parameter."""

    type: str
    name: str
    default: str | None = None

    def declared(self, with_default: bool) -> str:
        return f"{self.type} {self.name}{self._suffix() if with_default else ''}"

    def unnamed(self) -> str:
        return f"{self.type}{self._suffix()}"

    def _suffix(self) -> str:
        return f" = {self.default}" if self.default is not None else ""


def dispatcher_params(schema: Schema) -> list[Param]:
    """Exactly the schema's arguments in order, SymInt kept: the dispatcher's calling convention."""
    return [Param(argument_type(a.type, symint=True, written=a.is_written), a.name) for a in schema.arguments]


def kernel_params(schema: Schema) -> list[Param]:
    """The same with SymInt as int64_t: what kernels and composites take."""
    return [Param(argument_type(a.type, symint=False, written=a.is_written), a.name) for a in schema.arguments]


def signature(schema: Schema) -> str:
    return f"{return_type(schema)} ({', '.join(p.type for p in dispatcher_params(schema))})"


def has_symint(schema: Schema) -> bool:
    return any(a.type.base == "SymInt" for a in schema.arguments)


def to_sym(arg: Argument) -> str:
    """Expression that turns the int64_t form of `arg` into the dispatcher's."""
    if arg.type.base != "SymInt":
        return arg.name
    if arg.type.is_list:
        return f"c10::fromIntArrayRefSlow({arg.name})" if not arg.type.optional else f"at::detail::to_sym({arg.name})"
    return arg.name if not arg.type.optional else f"at::detail::to_sym({arg.name})"


def from_sym(arg: Argument) -> str:
    """Expression that turns the dispatcher's form of `arg` into the int64_t one; throws if symbolic."""
    if arg.type.base != "SymInt":
        return arg.name
    return f"at::detail::from_sym({arg.name})"


def options_span(schema: Schema) -> tuple[int, int] | None:
    """Where dtype, layout, device, pin_memory stand side by side, to be gathered into TensorOptions."""
    names = [a.name for a in schema.arguments]
    for i in range(len(names) - 3):
        if tuple(names[i : i + 4]) == OPTIONS:
            return i, i + 4
    return None
