"""Derivative formulas: which values a formula needs, how a node keeps them and gives them back."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass, field

import cpp
from entries import Entry
from schema import Argument, Schema

# Sparse tensors have none.
_STRIDES = "({0}.layout() == at::kStrided ? {0}.strides().vec() : std::vector<int64_t>())"
# What may be asked of a tensor without keeping it: method -> (suffix, stored type, expression to store).
_PROPERTIES = {
    "sizes": ("sizes", "std::vector<int64_t>", "{0}.sizes().vec()"),
    "sym_sizes": ("sizes", "std::vector<int64_t>", "{0}.sizes().vec()"),
    "strides": ("strides", "std::vector<int64_t>", _STRIDES),
    "sym_strides": ("strides", "std::vector<int64_t>", _STRIDES),
    "options": ("options", "at::TensorOptions", "{0}.options()"),
    "scalar_type": ("scalar_type", "at::ScalarType", "{0}.scalar_type()"),
    "dim": ("dim", "int64_t", "{0}.dim()"),
    "numel": ("numel", "int64_t", "{0}.numel()"),
    "sym_numel": ("numel", "int64_t", "{0}.numel()"),
    "device": ("device", "at::Device", "{0}.device()"),
    "layout": ("layout", "at::Layout", "{0}.layout()"),
    "is_complex": ("is_complex", "bool", "{0}.is_complex()"),
    "storage_offset": ("storage_offset", "int64_t", "{0}.storage_offset()"),
    "sym_storage_offset": ("storage_offset", "int64_t", "{0}.storage_offset()"),
    "suggest_memory_format": ("memory_format", "at::MemoryFormat", "{0}.suggest_memory_format()"),
}
_LIST_PROPERTIES = {
    "to_args_sizes": ("args_sizes", "std::vector<std::vector<int64_t>>"),
    "to_args_sizes_sym": ("args_sizes", "std::vector<std::vector<int64_t>>"),
    "to_args_scalartypes": ("args_scalartypes", "std::vector<at::ScalarType>"),
}


REFUSED = "refused"


@dataclass(frozen=True)
class Saved:
    """A member of a node: how it is declared, set in the forward pass, and read in the backward pass."""

    member: str
    type: str
    store: str            # expression, in terms of the forward's arguments
    read: str             # declaration in apply(), empty when the member is used by its own name
    is_output: bool = False
    is_variable: bool = False
    release: str = ""


@dataclass
class Derivative:
    """The gradient of some arguments: a C++ expression over saved values."""

    inputs: list[str]
    expression: str
    saved: list[Saved] = field(default_factory=list)


def node_name(schema: Schema, index: int) -> str:
    """PyTorch's convention: camel case, the word Backward in the place of Forward, and the overload's position."""
    base = schema.name.strip("_")
    camel = "".join(part.title() for part in base.split("_") if part)
    return f"{camel.removesuffix('Forward')}Backward{index}"


def _storage_type(arg: Argument) -> str:
    t = arg.type
    if t.is_list:
        if t.base in ("int", "SymInt"):
            return "std::optional<std::vector<int64_t>>" if t.optional else "std::vector<int64_t>"
        if t.base == "float":
            return "std::optional<std::vector<double>>" if t.optional else "std::vector<double>"
        if t.base == "Scalar":
            return "std::vector<at::Scalar>"
        return cpp.argument_type(t, symint=False)
    if t.base == "str":
        return "std::optional<std::string>" if t.optional else "std::string"
    return cpp.argument_type(t, symint=False).replace("const ", "").rstrip("&")


def _plain_value(arg: Argument) -> Saved:
    """An argument that is no tensor, kept by value."""
    t, name = arg.type, arg.name
    kind = _storage_type(arg)
    store = cpp.from_sym(arg)
    if t.is_list and t.base in ("int", "SymInt", "float", "Scalar"):
        store = f"torch::autograd::optional_vector({store})" if t.optional else f"{store}.vec()"
    if t.base == "str":
        store = f"torch::autograd::optional_string({name})" if t.optional else f"std::string({name})"
    read = ""
    if t.is_list and t.optional and t.base in ("int", "SymInt"):
        read = f"const at::OptionalIntArrayRef {name} = torch::autograd::optional_ref(this->{name});"
    return Saved(name, kind, store, read)


def _tensor_value(arg: Argument, output: bool, store: str) -> Saved:
    name = arg.name
    if arg.type.is_list:
        unpack = "unpack_opt_list" if arg.type.elem_optional else "unpack_list"
        return Saved(f"{name}_", "std::vector<torch::autograd::SavedVariable>",
                     f"torch::autograd::make_saved_variable_list({store}, {str(output).lower()})",
                     f"const auto {name} = torch::autograd::{unpack}({name}_" + (", shared_from_this());" if output else ");"),
                     output, True, f"{name}_.clear(); {name}_released_ = true;")
    owner = "*this" if output else ""
    return Saved(f"{name}_", "torch::autograd::SavedVariable",
                 f"torch::autograd::SavedVariable({store}, {str(output).lower()})",
                 f"const auto {name} = {name}_.unpack({owner});", output, True, f"{name}_.reset_data();")


def result_names(schema: Schema) -> list[str]:
    if len(schema.returns) == 1:
        return ["result"]
    return [r.name or f"result{i}" for i, r in enumerate(schema.returns)]


def refused(entry: Entry) -> list[str]:
    """Arguments that may be floating but have no derivative: they must not require grad."""
    grads = entry.get("grad")
    names = [key for key, formula in grads.items() if formula == REFUSED] if isinstance(grads, dict) else []
    return [n.strip() for key in names for n in str(key).split(",")]


@functools.cache
def analyse(entry: Entry) -> list[Derivative]:
    """The derivatives of an entry with the values each of them needs."""
    grads = entry.get("grad")
    if not isinstance(grads, dict):
        return []
    schema = entry.schema
    by_name = {a.name: a for a in schema.arguments}
    result: list[Derivative] = []
    for key, formula in grads.items():
        names = [n.strip() for n in str(key).split(",")]
        for name in names:
            if name not in by_name or not by_name[name].type.is_tensor_like:
                raise entry.fail("grad", f"'{name}' is not a tensor argument; arguments: {', '.join(by_name)}")
        if formula == REFUSED:
            continue
        result.append(_derivative(entry, names, str(formula), by_name))
    return result


def _derivative(entry: Entry, names: list[str], formula: str, by_name: dict[str, Argument]) -> Derivative:
    saved: dict[str, Saved] = {}
    text = re.sub(r"\bthis->", "", formula)
    outputs = result_names(entry.schema)
    values: dict[str, tuple[Argument, bool]] = {a.name: (a, False) for a in by_name.values()}
    for i, out in enumerate(outputs):
        ret = entry.schema.returns[i]
        values[out] = (Argument(ret.type, out), True)
        values.setdefault(f"result{i}", (Argument(ret.type, out), True))
    for name, (arg, output) in values.items():
        source = arg.name
        if arg.type.is_tensor:
            def property_member(match: re.Match[str], name: str = name, source: str = source, optional: bool = arg.type.optional) -> str:
                suffix, kind, store = _PROPERTIES[match[1]]
                member = f"{source}_{suffix}"
                value = store.format(f"torch::autograd::defined_or_empty({source})" if optional else source)
                saved[member] = Saved(member, kind, value, "", output)
                return member
            text = re.sub(rf"(?<![\w.>]){name}\.({'|'.join(_PROPERTIES)})\(\)", property_member, text)
            def geometry_member(match: re.Match[str], source: str = source) -> str:
                member = f"{source}_geometry"
                saved[member] = Saved(member, "at::TensorGeometry", f"at::TensorGeometry({source})", "", output)
                return member
            text = re.sub(rf"\b(?:at::)?TensorGeometry\({name}\)", geometry_member, text)
            def size_member(match: re.Match[str], source: str = source) -> str:
                member = f"{source}_sizes"
                saved[member] = Saved(member, "std::vector<int64_t>", f"{source}.sizes().vec()", "", output)
                return f"torch::autograd::size_of({member}, {match[1]})"
            text = re.sub(rf"(?<![\w.>]){name}\.(?:sym_)?size\(([^()]*)\)", size_member, text)
        elif arg.type.base == "Tensor":
            def list_member(match: re.Match[str], source: str = source) -> str:
                suffix, kind = _LIST_PROPERTIES[match[1]]
                member = f"{source}_{suffix}"
                saved[member] = Saved(member, kind, f"torch::autograd::{match[1].replace('_sym', '')}({source})", "", output)
                return member
            text = re.sub(rf"\b({'|'.join(_LIST_PROPERTIES)})\({name}\)", list_member, text)
            def list_size(match: re.Match[str], source: str = source) -> str:
                member = f"{source}_size"
                saved[member] = Saved(member, "int64_t", f"static_cast<int64_t>({source}.size())", "", output)
                return member
            text = re.sub(rf"(?<![\w.>]){name}\.size\(\)", list_size, text)
        if re.search(rf"(?<![\w.>:]){name}(?!\w)", text):
            if arg.type.base == "Tensor":
                item = _tensor_value(arg, output, source)
                if name != source:
                    text = re.sub(rf"(?<![\w.>:]){name}(?!\w)", source, text)
            else:
                item = _plain_value(arg)
            saved[item.member] = item
    return Derivative(names, text, list(saved.values()))
