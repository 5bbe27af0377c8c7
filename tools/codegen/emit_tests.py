"""Rows of the operator table (test/ops/op_table.h)."""

from __future__ import annotations

import math
import re
from typing import Any

from emit_api import cstring
from entries import NO_REFERENCE, SPARSE_BACKENDS, Entry
from schema import Argument

_SETS = {
    "bool": "kBool", "integral": "kIntegral", "unsigned": "kUnsigned", "reduced": "kReduced", "floating": "kFloating",
    "complex": "kComplex", "complex_half": "kComplexHalf", "all": "kAll",
    "byte": "dtype_bit(c10::ScalarType::Byte)", "long": "dtype_bit(c10::ScalarType::Long)", "float": "dtype_bit(c10::ScalarType::Float)",
    "double": "dtype_bit(c10::ScalarType::Double)", "half": "dtype_bit(c10::ScalarType::Half)",
    "bfloat16": "dtype_bit(c10::ScalarType::BFloat16)",
}
_LETTERS = "abcdefgh"


def _number(value: Any) -> str:
    value = float(value)
    if math.isnan(value):
        return "NAN"
    if math.isinf(value):
        return "INFINITY" if value > 0 else "-INFINITY"
    return repr(value)


def _reference(entry: Entry, kind: str, expression: str) -> str:
    """A lambda over one element's operands; the other arguments are read by name where the expression uses them."""
    cpp_type = {"real": "double", "complex": "std::complex<double>", "integer": "int64_t"}[kind]
    lines = []
    for i, _ in enumerate(entry.operands):
        for letter in (_LETTERS[i], "x" if i == 0 else ""):
            if letter and re.search(rf"\b{letter}\b", expression):
                lines.append(f"const {cpp_type} {letter} = v[{i}];")
    for arg in entry.schema.arguments:
        if arg.name in entry.operands or not re.search(rf"\b{arg.name}\b", expression):
            continue
        lines.append(_named(arg, kind))
    return f"[]([[maybe_unused]] const Operands<{cpp_type}>& v) -> {cpp_type} {{ {' '.join(lines)} return {expression}; }}"


def _named(arg: Argument, kind: str) -> str:
    if arg.type.base == "str":
        return f'const std::string {arg.name} = v.text("{arg.name}");'
    if kind == "complex" and arg.type.base == "Scalar":
        return f'const std::complex<double> {arg.name} = v.complex_number("{arg.name}");'
    kind_of = "const bool" if arg.type.base == "bool" else "const int64_t" if kind == "integer" else "const double"
    value = f'v.number("{arg.name}")'
    return f"{kind_of} {arg.name} = " + (f"static_cast<int64_t>({value});" if kind == "integer" and arg.type.base != "bool" else f"{value};" if arg.type.base != "bool" else f"{value} != 0;")


def _setting(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return f"std::string({cstring(value)})"
    if value is None:
        return "c10::IValue()"
    return f"static_cast<int64_t>({value})" if isinstance(value, int) else _number(value)


def _dtype_sets(entry: Entry) -> list[str]:
    return [s.strip() for s in re.split(r"[|,]", str(entry.get("dtypes", ""))) if s.strip()]


def _pointwise_fields(entry: Entry) -> list[str]:
    positions = {a.name: i for i, a in enumerate(entry.schema.arguments)}
    sets = _dtype_sets(entry)
    fields = [f".result = Result::{str(entry.get('result', 'common')).capitalize()}"]
    fields.append(".operands = {" + ", ".join(str(positions[n]) for n in entry.operands) + "}")
    masks = [str(positions[n]) for n in entry.operands if n not in entry.cast]
    if masks:
        fields.append(".masks = {" + ", ".join(masks) + "}")
    samples = entry.get("samples") or {}
    if "range" in samples:
        low, high = samples["range"]
        fields.append(f".low = {_number(low)}, .high = {_number(high)}")
    if "ranges" in samples:
        fields.append(".ranges = {" + ", ".join(f"{{{_number(a)}, {_number(b)}}}" for a, b in samples["ranges"]) + "}")
    if "constants" in samples:
        fields.append(".constants = {" + ", ".join(str(positions[n]) for n in samples["constants"]) + "}")
    if samples.get("extra"):
        fields.append(".extra = {" + ", ".join(_number(v) for v in samples["extra"]) + "}")
    if samples.get("settings"):
        rows = ["{" + ", ".join(f"{{{cstring(k)}, {_setting(v)}}}" for k, v in s.items()) + "}" for s in samples["settings"]]
        fields.append(".settings = {" + ", ".join(rows) + "}")
    if samples.get("tolerance"):
        fields.append(f".tolerance = {_number(samples['tolerance'])}")
    reference = entry.get("reference")
    if isinstance(reference, dict) and "none" in reference:
        return fields
    given = reference if isinstance(reference, dict) else {"real": reference}
    if not isinstance(reference, dict):
        if "complex" in sets or "all" in sets:
            given["complex"] = reference
        if not {"floating", "reduced", "float", "double", "half", "bfloat16", "all"} & set(sets):
            given = {}
        if {"integral", "bool", "all"} & set(sets) and entry.get("result", "common") in ("common", "bool"):
            given["integer"] = reference
    for kind in ("real", "complex", "integer"):
        if given.get(kind):
            fields.append(f".{kind} = {_reference(entry, kind, str(given[kind]))}")
    return fields


def row(entry: Entry) -> str:
    fields = [f".name = {cstring(entry.schema.full_name)}"]
    for form in ("inplace", "out"):
        if form in entry.forms and entry.forms[form] is not entry.schema:
            fields.append(f".{form} = {cstring(entry.forms[form].full_name)}")
    if entry.is_pointwise:
        fields.append(".pointwise = true")
    if sets := _dtype_sets(entry):
        fields.append(".dtypes = " + " | ".join(_SETS[s] for s in sets))
    if entry.is_pointwise:
        fields += _pointwise_fields(entry)
    elif isinstance(entry.get("reference"), str) and re.fullmatch(r"[\w.]+", entry.get("reference")):
        fields.append(f".reference = {cstring(entry.get('reference'))}")
    reference = entry.get("reference")
    if isinstance(reference, dict) and "none" in reference:
        fields.append(f".no_reference = {cstring(NO_REFERENCE.get(reference['none'], reference['none']))}")
    if entry.is_composite or isinstance(entry.get("grad"), dict):
        fields.append(".differentiable = true")
    kernels = {b: k for b, k in entry.kernels.items() if b not in SPARSE_BACKENDS}
    if kernels:
        fields.append(".has_kernel = true")
    if not entry.is_explicit and any(k.kind == "raw" for k in kernels.values()) and "meta" not in kernels:
        fields.append(".has_meta = false")
    errors = [f"{{[] {{ {e['call']}; }}, {cstring(e['says'])}}}" for e in entry.get("errors") or []]
    if errors:
        fields.append(".errors = {" + ", ".join(errors) + "}")
    if entry.get("doc"):
        fields.append(f".doc = {cstring(str(entry.get('doc')))}")
    return "  rows.push_back({" + ",\n      ".join(fields) + "});"


def rows_file(family: str, entries: list[Entry]) -> str:
    body = "\n".join(row(e) for e in entries if e.get("test") is not False and not e.is_refused)
    return f"""// Operator table rows of aten/ops/{family}.yaml.
#include "test/ops/op_table.h"
#include "test/support/special_reference.h"

#include <ATen/ATen.h>

#include <cmath>
#include <numeric>
#include <complex>
#include <string>

namespace test {{

void add_rows_of_{family}(std::vector<OpRow>& rows) {{
{body}
}}

}} // namespace test
"""


def table_file(families: list[str]) -> str:
    declared = "\n".join(f"void add_rows_of_{f}(std::vector<OpRow>& rows);" for f in families)
    calls = "\n".join(f"  add_rows_of_{f}(rows);" for f in families)
    return f"""// The operator table: the rows of all entry files.
#include "test/ops/op_table.h"

namespace test {{

{declared}

std::vector<OpRow> op_rows() {{
  std::vector<OpRow> rows;
{calls}
  return rows;
}}

}} // namespace test
"""
