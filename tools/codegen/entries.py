"""Operator entries: reads aten/ops/*.yaml, checks every field, derives the forms of each operator."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import yaml

from schema import Alias, Argument, Schema, SchemaError, parse_schema

FIELDS = {
    "op", "alias", "copy_of", "functional_of", "variants", "out", "inplace", "shape", "dtypes", "result", "cast", "operands", "check", "kernel",
    "composite", "foreach", "inplace_composite", "out_composite", "explicit", "inplace_explicit", "out_explicit", "grad",
    "output_differentiability", "reference", "samples", "errors", "doc", "out_contiguous", "inplace_alias_ok",
    "layout", "out_dtype", "out_check", "out_grad", "out_layout", "inplace_expanded", "cpp_no_default_args", "test", "tensor_overload", "fast_path",
    "node", "inplace_node", "refuse", "names", "forward", "jvp", "batch",
}
# Rules for tangents that are no formula.
JVP_WAYS = ("linear", "products", "elements", "reduction")
SPARSE_BACKENDS = ("sparse", "sparse_csr")  # kernels for the keys SparseCPU and SparseCUDA, SparseCsrCPU and SparseCsrCUDA
# What runs an entry: exactly one of these.
WAYS = ("kernel", "composite", "explicit", "foreach", "alias", "copy_of", "functional_of", "refuse")
# Entries that are made of another operator, which they name.
DERIVED = ("alias", "copy_of", "functional_of")
SPARSE_KINDS = ("values", "linear", "refused")
VARIANTS = ("function", "method", "inplace", "inplace_method", "out")
RESULTS = ("common", "float", "bool", "real")
# How results are named, see aten/names/names_rules.h.
NAMES_RULES = (
    "pointwise", "self", "reduce", "drop_dim", "transpose", "squeeze", "expand", "diagonal", "cat",
    "distances", "product", "added_product", "equal", "none",
)
# How operators are batched, see aten/functorch/batch_rules.h. The last one goes with the rank of tensors of samples.
BATCH_RULES = ("pointwise", "dims", "map", "reduce", "leading", "loss", "sizes", "inplace", "decompose", "dynamic", "loop", "samples")
DTYPE_SETS = {
    "bool": ["bool"],
    "integral": ["uint8_t", "int8_t", "int16_t", "int32_t", "int64_t"],
    "unsigned": ["uint16_t", "uint32_t", "uint64_t"],
    "reduced": ["c10::Half", "c10::BFloat16"],
    "floating": ["c10::Half", "c10::BFloat16", "float", "double"],
    "byte": ["uint8_t"],
    "long": ["int64_t"],
    "float": ["float"],
    "double": ["double"],
    "half": ["c10::Half"],
    "bfloat16": ["c10::BFloat16"],
    "complex": ["c10::complex<float>", "c10::complex<double>"],
    "complex_half": ["c10::complex<c10::Half>"],
    "all": ["bool", "uint8_t", "int8_t", "int16_t", "int32_t", "int64_t", "c10::Half", "c10::BFloat16", "float",
            "double", "c10::complex<float>", "c10::complex<double>"],
}


class EntryError(ValueError):
    """A bad entry: names file, line, field and what is allowed."""


@dataclass(frozen=True)
class KernelRef:
    """`pointwise<F>`, `iter f`, `raw f`, a plain kernel name, or a way for sparse tensors: `values`, `linear` or `refused`."""

    kind: str
    name: str
    others: tuple[str, ...] = ()  # of the forms after the first, where they have a function of their own
    manner: str = ""  # what kernels of a GPU are to know: `long` code of a functor, a `converting` loop

    @staticmethod
    def parse(text: str) -> KernelRef:
        if match := re.fullmatch(r"(?:(long)\s+)?pointwise<\s*(\w+)\s*>", text):
            return KernelRef("pointwise", match[2], manner=match[1] or "")
        if match := re.fullmatch(r"(?:(converting)\s+)?iter\s+(\w+)", text):
            return KernelRef("iter", match[2], manner=match[1] or "")
        if match := re.fullmatch(r"raw\s+(\w+)", text):
            return KernelRef("raw", match[1])
        if match := re.fullmatch(r"raw((?:\s+\w+){2,})", text):
            first, *others = match[1].split()
            return KernelRef("raw", first, tuple(others))
        if text in SPARSE_KINDS:
            return KernelRef(text, "")
        if re.fullmatch(r"\w+", text):
            return KernelRef("shaped", text)
        raise ValueError("expected pointwise<Functor>, 'iter name', 'raw name' or a kernel name")


@dataclass(eq=False)
class Entry:
    """One YAML entry and the schemas of its forms."""

    path: Path
    line: int
    family: str
    raw: dict[str, Any]
    schema: Schema
    forms: dict[str, Schema] = field(default_factory=dict)
    kernels: dict[str, KernelRef] = field(default_factory=dict)

    def fail(self, key: str, why: str) -> EntryError:
        return EntryError(f"{self.path}:{self.line}: {self.raw.get('op', '?')}: field '{key}': {why}")

    def get(self, key: str, default: Any = None) -> Any:
        return self.raw.get(key, default)

    @property
    def name(self) -> str:
        return self.schema.unambiguous_name

    @property
    def where(self) -> str:
        """The entry's file. Not its line: that would change every generated file when a line is added above."""
        return f"aten/ops/{self.path.name}"

    @property
    def is_composite(self) -> bool:
        return any(way in self.raw for way in ("composite", "foreach", "refuse", *DERIVED))

    @property
    def derived_from(self) -> tuple[str, str] | None:
        """(field, operator) of an entry that is made of another one."""
        return next(((key, str(self.get(key))) for key in DERIVED if key in self.raw), None)

    @property
    def is_refused(self) -> bool:
        return "refuse" in self.raw

    @property
    def is_explicit(self) -> bool:
        return "explicit" in self.raw

    @property
    def is_pointwise(self) -> bool:
        return self.get("shape") == "pointwise"

    @property
    def names_rule(self) -> str | None:
        """How the names of results follow from those of operands; None where named tensors are refused, or reach the parts."""
        return self.get("names") or ("pointwise" if self.is_pointwise else None)

    @property
    def batch_rule(self) -> str | None:
        """How vmap batches it; None where its parts are batched, a kernel for FuncTorchBatched does it, or a loop."""
        return self.get("batch") or ("pointwise" if self.is_pointwise else None)

    @property
    def operands(self) -> list[str]:
        """Arguments of a pointwise operator that the iterator runs over."""
        given = self.get("operands")
        return given if given else [a.name for a in self.schema.arguments if a.type.is_tensor]

    @property
    def cast(self) -> list[str]:
        return self.get("cast") or self.operands

    @property
    def dtypes(self) -> list[str]:
        """C++ types the kernel is instantiated for."""
        result: list[str] = []
        for part in re.split(r"[|,]", str(self.get("dtypes", ""))):
            name = part.strip()
            if not name:
                continue
            if name not in DTYPE_SETS:
                raise self.fail("dtypes", f"'{name}' is not a dtype set; allowed: {', '.join(DTYPE_SETS)}")
            result += [t for t in DTYPE_SETS[name] if t not in result]
        return result


def _inplace_schema(entry: Entry) -> Schema:
    given = entry.get("inplace")
    if given:
        return parse_schema(given)
    s = entry.schema
    alias = Alias("a", True)
    args = tuple(replace(a, alias=alias) if i == 0 else a for i, a in enumerate(s.arguments))
    name = re.sub(r"^__(\w+)__$", r"__i\1__", s.name) if s.name.startswith("__") else s.name + "_"
    if s.returns[0].type.is_list:
        return Schema(name, s.overload, args, ())
    return Schema(name, s.overload, args, (replace(s.returns[0], alias=alias, name=""),))


def _out_schema(entry: Entry) -> Schema:
    given = entry.get("out")
    if given and "(" in given:
        return parse_schema(given)
    s = entry.schema
    overload = given or ("out" if s.overload in ("", "Tensor") else f"{s.overload}_out")
    outs = []
    for i, ret in enumerate(s.returns):
        name = "out" if ret.type.is_list else ret.name or ("out" if len(s.returns) == 1 else f"out{i}")
        outs.append(Argument(ret.type, name, None, True, Alias(chr(ord("a") + i), True)))
    args = tuple(replace(a, alias=None) if a.alias else a for a in s.arguments)
    args = tuple(a for a in args if a.name not in ("layout", "device", "pin_memory") or not _is_factory(s))
    if _is_factory(s):
        args = tuple(a for a in args if a.name != "dtype")
    rets = tuple(replace(r, alias=o.alias) for r, o in zip(s.returns, outs) if not r.type.is_list)
    return Schema(s.name, overload, args + tuple(outs), rets)


def _is_factory(s: Schema) -> bool:
    names = {a.name for a in s.arguments}
    return {"dtype", "layout", "device", "pin_memory"} <= names


def _check(entry: Entry) -> None:
    for key in entry.raw:
        if key not in FIELDS:
            raise entry.fail(key, f"unknown field; allowed: {', '.join(sorted(FIELDS))}")
    for variant in entry.get("variants", ["function"]):
        if variant not in VARIANTS:
            raise entry.fail("variants", f"'{variant}'; allowed: {', '.join(VARIANTS)}")
    ways = [k for k in WAYS if k in entry.raw]
    if sorted(ways) == ["explicit", "kernel"] and set(entry.get("kernel")) <= {"cuda", *SPARSE_BACKENDS}:
        ways = ["explicit"]  # one backend does better than the function for all, or that is for strided tensors
    if len(ways) != 1:
        raise entry.fail("kernel", f"exactly one of {', '.join(WAYS)} must be given; got {ways or 'none'}")
    if "foreach" in entry.raw and "function" not in entry.get("foreach"):
        raise entry.fail("foreach", "must be {function: EXPRESSION, inplace: EXPRESSION, multi_tensor: FUNCTION}; the second only with that variant")
    if entry.get("result", "common") not in RESULTS:
        raise entry.fail("result", f"'{entry.get('result')}'; allowed: {', '.join(RESULTS)}")
    if entry.get("names") not in (None, *NAMES_RULES):
        raise entry.fail("names", f"'{entry.get('names')}'; allowed: {', '.join(NAMES_RULES)}")
    if "names" in entry.raw and entry.is_composite:
        raise entry.fail("names", "names reach the operators that a composite one is made of")
    if "jvp" in entry.raw and not isinstance(entry.get("grad"), dict):
        raise entry.fail("jvp", "batch", f"'{entry.get('jvp')}' is for operators with a derivative: give 'grad'")
    for key in ("node", "inplace_node"):
        if key in entry.raw and not re.fullmatch(r"(\w+::)*\w*Backward\w+", entry.get(key)):
            raise entry.fail(key, f"'{entry.get(key)}' is no name of a node, such as PowBackward1")
        if key in entry.raw and not isinstance(entry.get("grad"), dict) and entry.get("result") != "bool":
            raise entry.fail(key, "names a node, but there is none without a derivative: give 'grad'")
    if "inplace_node" in entry.raw and not {"inplace", "inplace_method"} & set(entry.get("variants", [])):
        raise entry.fail("inplace_node", "names the node of an in-place form, but 'variants' has none")
    if entry.get("out_grad", "unchecked") != "unchecked":
        raise entry.fail("out_grad", f"'{entry.get('out_grad')}'; allowed: unchecked")
    layout = entry.get("layout", {})
    if not isinstance(layout, dict) or not set(layout) <= {"result", "out"}:
        raise entry.fail("layout", f"'{layout}'; allowed: {{result: FUNCTION, out: FUNCTION or rows}}")
    names = [a.name for a in entry.schema.arguments]
    for key in ("cast", "operands"):
        for arg in entry.get(key) or []:
            if arg not in names:
                raise entry.fail(key, f"'{arg}' is not an argument; arguments: {', '.join(names)}")
    for backend, text in (entry.get("kernel") or {}).items():
        if backend not in ("cpu", "cuda", "meta", *SPARSE_BACKENDS):
            raise entry.fail("kernel", f"backend '{backend}'; allowed: cpu, cuda, meta, {', '.join(SPARSE_BACKENDS)}")
        try:
            entry.kernels[backend] = KernelRef.parse(text)
        except ValueError as error:
            raise entry.fail("kernel", f"'{text}': {error}") from None
        if entry.kernels[backend].manner and backend != "cuda":
            raise entry.fail("kernel", f"'{text}': only cuda tells {entry.kernels[backend].manner} ones apart")
        if backend in SPARSE_BACKENDS and entry.kernels[backend].kind not in ("raw", *SPARSE_KINDS):
            raise entry.fail("kernel", f"'{text}': sparse tensors take 'raw name', {', '.join(SPARSE_KINDS)}")
    kinds = {k.kind for b, k in entry.kernels.items() if b not in SPARSE_BACKENDS}
    if ("pointwise" in kinds or "iter" in kinds) and not entry.is_pointwise:
        raise entry.fail("shape", "must be 'pointwise' for a pointwise or iter kernel")
    if "shaped" in kinds and "shape" not in entry.raw:
        raise entry.fail("shape", "a kernel that fills sized outputs needs a shape function")
    _require_reference(entry)
    if "pointwise" in kinds and not entry.dtypes:
        raise entry.fail("dtypes", f"needed for a pointwise kernel; sets: {', '.join(DTYPE_SETS)}")


# Why an operator with a kernel may have no reference to be compared with, beside a text of one's own.
NO_REFERENCE = {
    "recorded": "values recorded from PyTorch, see test/conformance",
    "random": "stored streams in test/aten",
    "gradient": "the gradients of its operator are compared with differences",
}


def _require_reference(entry: Entry) -> None:
    """A kernel is compared with a reference, or its entry says what holds it instead."""
    reference = entry.get("reference")
    if isinstance(reference, dict) and not set(reference) <= {"real", "complex", "integer"} and set(reference) != {"none"}:
        raise entry.fail("reference", "must be an expression, {real: .., complex: .., integer: ..}, the name of a function, or {none: REASON}")
    kernels = set(entry.kernels) - set(SPARSE_BACKENDS)
    if kernels and reference is None:
        raise entry.fail("reference", f"missing; without one say {{none: REASON}}: {', '.join(NO_REFERENCE)} or a text")


class _LineLoader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """Keeps the line of each mapping."""


def _mapping(loader: Any, node: Any) -> dict[str, Any]:
    result = loader.construct_mapping(node, deep=True)
    result["__line__"] = node.start_mark.line + 1
    return result


_LineLoader.add_constructor("tag:yaml.org,2002:map", _mapping)


def _strip_lines(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _strip_lines(v) for k, v in value.items() if k != "__line__"}
    return [_strip_lines(v) for v in value] if isinstance(value, list) else value


def load_entries(paths: list[Path]) -> list[Entry]:
    """All entries of the given files in order; raises EntryError at the first bad one."""
    entries: list[Entry] = []
    seen: dict[str, str] = {}
    for path in sorted(paths):
        try:
            rows = yaml.load(path.read_text(), Loader=_LineLoader) or []
        except yaml.YAMLError as error:
            raise EntryError(f"{path}: not valid YAML: {error}") from None
        for raw in rows:
            line = raw.get("__line__", 0)
            raw = _strip_lines(raw)
            if "op" not in raw:
                raise EntryError(f"{path}:{line}: field 'op' is missing")
            try:
                schema = parse_schema(raw["op"])
            except SchemaError as error:
                raise EntryError(f"{path}:{line}: field 'op': {error}") from None
            entry = Entry(path, line, path.stem, raw, schema)
            _check(entry)
            if entry.is_pointwise and entry.get("result") == "bool" and "grad" not in raw:
                # Written over a floating self, a comparison is constant almost everywhere.
                raw["grad"] = {a.name: f"at::zeros({a.name}.sizes(), grads[0].options())"
                               for a in schema.arguments if a.type.is_tensor}
            variants = entry.get("variants", ["function"])
            primary = "out" if schema.is_out else "inplace" if schema.is_inplace else "functional"
            entry.forms[primary] = schema
            try:
                if {"inplace", "inplace_method"} & set(variants) and primary == "functional":
                    entry.forms["inplace"] = _inplace_schema(entry)
                if "out" in variants and primary != "out":
                    entry.forms["out"] = _out_schema(entry)
            except SchemaError as error:
                raise EntryError(f"{path}:{line}: {error}") from None
            for form in entry.forms.values():
                if form.full_name in seen:
                    raise entry.fail("op", f"{form.full_name} is already defined at {seen[form.full_name]}")
                seen[form.full_name] = f"{path}:{line}"
            entries.append(entry)
    return entries
