"""Functions of torch::fft, torch::linalg and torch::special, which forward to operators: csrc/api/namespaces.txt."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass, replace
from pathlib import Path

import cpp
from api_headers import read_list
from emit_api import Signature
from entries import Entry, EntryError
from schema import Schema, SchemaError, parse_schema

LIST = Path("csrc") / "api" / "namespaces.txt"
FORMS = {"function": "functional", "out": "out"}


@dataclass(frozen=True)
class Forward:
    """One function: what is declared, and the call that it makes."""

    name: str
    result: str
    signature: Signature
    call: str
    doc: str

    def declaration(self) -> str:
        return f"{self.result} {self.name}({', '.join(p.declared(True) for p in self.signature.params)});"

    def definition(self) -> str:
        params = ", ".join(p.declared(False) for p in self.signature.params)
        return f"{self.result} {self.name}({params}) {{\n  return {self.call};\n}}"


def forwards_of(entry: Entry, namespace: str, forms: list[str]) -> list[Forward]:
    """The functions of one entry. What the field `forward` lists is a form, which is declared as at::NAME is, or the schema of
    a function of another name, order or with fewer arguments."""
    given = entry.get("forward", [form for form in forms if FORMS[form] in entry.forms])
    if not isinstance(given, list):
        raise entry.fail("forward", f"'{given}'; must be a list of {', '.join(FORMS)} or schemas")
    result = []
    for item in given:
        if "(" in str(item):
            try:
                schema = parse_schema(item)
            except SchemaError as error:
                raise entry.fail("forward", str(error)) from None
            form = "out" if any(a.is_written for a in schema.arguments) else "functional"
        elif item in FORMS:
            form, schema = FORMS[item], None
        else:
            raise entry.fail("forward", f"'{item}'; allowed: {', '.join(FORMS)} or a schema")
        if form not in entry.forms:
            raise entry.fail("forward", f"'{item}', but 'variants' has no such form")
        result.append(_forward(entry, namespace, form, schema))
    return result


def _forward(entry: Entry, namespace: str, form: str, written: Schema | None) -> Forward:
    operator = entry.forms[form]
    schema = written or operator
    symint = written is not None and cpp.has_symint(written)
    no_default = entry.get("cpp_no_default_args", []) if written is None else []
    signature = Signature(schema, symint=symint, gathered=True, no_default=no_default, faithful_out=False)
    target = Signature(operator, symint=symint, gathered=True, no_default=[], faithful_out=False)
    known = [p.name for p in target.params]
    for p in signature.params:
        if p.name not in known:
            raise entry.fail("forward", f"'{p.name}' is no parameter of the operator; parameters: {', '.join(known)}")
    names = {p.name for p in signature.params}
    for p in target.params:
        if p.name not in names and p.default is None:
            raise entry.fail("forward", f"'{schema}' leaves '{p.name}' out, which has no default")
    arguments = ", ".join(p.name if p.name in names else str(p.default) for p in target.params)
    suffix = "_symint" * symint + "_out" * (form == "out")
    name = schema.name if written else operator.name.removeprefix(f"{namespace}_") + "_out" * (form == "out")
    # As libtorch declares options here, which takes them by value in namespace at.
    signature.params = [replace(p, type=f"const {p.type}&") if p.type == "at::TensorOptions" else p for p in signature.params]
    doc = entry.get("doc", "") if form == "functional" else "The same, into tensors that are given."
    return Forward(name, cpp.return_type(schema), signature, f"at::{operator.name}{suffix}({arguments})", doc)


def _comment(doc: str) -> str:
    return "".join(f"/// {line}\n" for line in textwrap.wrap(" ".join(doc.split()), 116))


def _header(namespace: str, comment: list[str], functions: list[Forward]) -> str:
    text = cpp.inside_at("\n".join(_comment(f.doc) + f.declaration() for f in functions))
    # Visible as a whole namespace: an attribute on each function costs more than its name.
    return f"""// torch::{namespace}: {" ".join(comment)}
#pragma once

#include <csrc/types.h>

namespace torch {{
namespace {namespace} __attribute__((visibility("default"))) {{

{text}

}} // namespace {namespace}
}} // namespace torch
"""


def _source(namespaces: dict[str, list[Forward]]) -> str:
    includes = "".join(f"#include <csrc/{namespace}.h>\n" for namespace in namespaces)
    bodies = "\n".join(
        f"namespace torch::{namespace} {{\n\n" + "\n".join(f.definition() for f in functions) + f"\n\n}} // namespace torch::{namespace}\n"
        for namespace, functions in namespaces.items())
    return f"// Functions of namespaces of torch:: that forward to operators.\n{includes}\n{bodies}"


def forwards(entries: list[Entry], root: Path) -> dict[str, str]:
    """<csrc/NAMESPACE.h> for each namespace of the list, and their source."""
    listed = read_list((root / LIST).read_text())
    for namespace, (_, forms) in listed.items():
        if not set(forms) <= set(FORMS):
            raise EntryError(f"{LIST}: {namespace} -> {' '.join(forms)}; allowed: {', '.join(FORMS)}")
    functions: dict[str, list[Forward]] = {namespace: [] for namespace in listed}
    for entry in entries:
        namespace = next((n for n in listed if entry.schema.name.startswith(f"{n}_")), None)
        if namespace:
            functions[namespace] += forwards_of(entry, namespace, listed[namespace][1])
        elif entry.get("forward"):
            raise entry.fail("forward", f"the operator's name begins with no namespace of {LIST}: {', '.join(listed)}")
    files = {f"include/csrc/{n}.h": _header(n, listed[n][0], members) for n, members in functions.items()}
    return files | {"src/forwards.cpp": _source(functions)}
