"""The public face: per-operator headers, Tensor methods, at::_ops, and the definitions behind them."""

from __future__ import annotations

from collections import defaultdict

import cpp
from cpp import Param
from entries import Entry
from schema import Schema


def op_struct(schema: Schema) -> str:
    """`at::_ops::add_Tensor`: schema access and the two ways to call."""
    params = ", ".join(p.declared(False) for p in cpp.dispatcher_params(schema))
    ret = cpp.return_type(schema)
    name = schema.unambiguous_name
    tail = f", {params}" if params else ""
    return f"""struct TORCH_API {name} {{
  using schema = {cpp.signature(schema)};
  using ptr_schema = schema*;
  static constexpr const char* name = "aten::{schema.name}";
  static constexpr const char* overload_name = "{schema.overload}";
  static constexpr const char* schema_str = {cstring(str(schema))};
  static {ret} call({params});
  static {ret} redispatch(c10::DispatchKeySet dispatchKeySet{tail});
}};
"""


def cstring(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


class Signature:
    """One C++ overload of a public function: its parameters and how they become the dispatcher's arguments."""

    def __init__(self, schema: Schema, *, symint: bool, gathered: bool, no_default: list[str], faithful_out: bool):
        self.schema = schema
        self.params: list[Param] = []
        self.arguments: dict[str, str] = {}
        span = cpp.options_span(schema) if gathered else None
        for i, arg in enumerate(schema.arguments):
            if span and span[0] < i < span[1]:
                continue
            if span and i == span[0]:
                all_default = all(a.default is not None for a in schema.arguments[span[0] : span[1]])
                dtype = next(a for a in schema.arguments if a.name == "dtype")
                default = "at::kLong" if dtype.default == "long" else "{}"
                self.params.append(Param("at::TensorOptions", "options", default if all_default else None))
                self.arguments |= {
                    "dtype": "options.scalar_type_opt()",
                    "layout": "options.layout_opt()",
                    "device": "options.device_opt()",
                    "pin_memory": "options.pinned_memory_opt()",
                }
                continue
            default = None if arg.name in no_default else cpp.default_value(arg)
            if not gathered and cpp.options_span(schema):
                default = None
            self.params.append(Param(cpp.api_type(arg.type, symint=symint, written=arg.is_written), arg.name, default))
            self.arguments[arg.name] = arg.name if symint else cpp.to_sym(arg)
            if span and arg.type.base == "MemoryFormat":
                # Given beside the options or inside of them.
                self.arguments[arg.name] = f"c10::impl::check_tensor_options_and_extract_memory_format(options, {arg.name})"
        if schema.is_out and not faithful_out:
            outs = {a.name for a in schema.out_arguments}
            first = [p for p in self.params if p.name in outs]
            self.params = first + [p for p in self.params if p.name not in outs]
        elif schema.is_out:
            self.params = [Param(p.type, p.name) for p in self.params]

    def call(self) -> str:
        return ", ".join(self.arguments[a.name] for a in self.schema.arguments)

    def key(self) -> tuple[str, ...]:
        return tuple(p.type for p in self.params)


def signatures(schema: Schema, no_default: list[str]) -> list[tuple[str, Signature]]:
    """(function name, signature) of every C++ overload a schema gives."""
    result: list[tuple[str, Signature]] = []
    seen: set[tuple[str, tuple[str, ...]]] = set()
    for symint in (False, True) if cpp.has_symint(schema) else (False,):
        suffix = "_symint" if symint else ""
        for gathered in (True, False) if cpp.options_span(schema) else (False,):
            for faithful in (False, True) if schema.is_out else (False,):
                name = schema.name + suffix
                if schema.is_out:
                    name += "_outf" if faithful else "_out"
                sig = Signature(schema, symint=symint, gathered=gathered, no_default=no_default, faithful_out=faithful)
                if (name, sig.key()) not in seen:
                    seen.add((name, sig.key()))
                    result.append((name, sig))
    return result


def is_method(entry: Entry, form: str) -> bool:
    schema = entry.forms[form]
    has_self = any(a.name == "self" and a.type.is_tensor for a in schema.arguments)
    return form in ("functional", "inplace") and "method" in entry.get("variants", ["function"]) and has_self


def is_function(entry: Entry, form: str) -> bool:
    variants = entry.get("variants", ["function"])
    if form == "functional" or (form == "inplace" and entry.forms[form] is entry.schema):
        return "function" in variants
    return form != "inplace" or "inplace" in variants


def takes_bool_for_dim(entry: Entry, form: str) -> bool:
    """Schemas like `std(Tensor self, bool unbiased)`. C++ would take `std(x, 0)` for a call of it: an int is nearer to a
    bool than to the list of dimensions that it means. Overloads for a plain int go beside such functions."""
    arguments = [(str(a.type), a.name) for a in entry.forms[form].arguments]
    return form == "functional" and arguments == [("Tensor", "self"), ("bool", "unbiased")]


DIM_AS_LIST = "const int64_t list[] = {dim}; return"


API_INCLUDES = "#include <aten/core/Tensor.h>\n#include <aten/core/op_types.h>\n"


def op_declarations(schemas: list[tuple[Entry, str, Schema]]) -> str:
    """The functions of one operator name, inside namespace at."""
    body = []
    declared: set[tuple[str, tuple[str, ...]]] = set()
    for entry, form, schema in schemas:
        if not is_function(entry, form):
            continue
        lines = []
        for name, sig in signatures(schema, entry.get("cpp_no_default_args", [])):
            if (name, sig.key()) in declared:
                continue
            declared.add((name, sig.key()))
            # Parameters are named once: the compiler keeps 24 bytes of location for each that has a name.
            repeats = name.endswith("_outf") or "_symint" in name
            params = ", ".join(p.unnamed() if repeats else p.declared(True) for p in sig.params)
            lines.append(f"{cpp.return_type(schema)} {name}({params});")
        if takes_bool_for_dim(entry, form):
            lines.append(
                f"/// Along one dimension.\ninline {cpp.return_type(schema)} {schema.name}(const at::Tensor& self, int dim) "
                f"{{ {DIM_AS_LIST} {schema.name}(self, at::IntArrayRef(list, 1)); }}"
            )
        # The entry's doc line is in docs/operators.md alone: a better wording should not rebuild what includes this.
        body.append(f"/// aten::{schema}\n" + cpp.inside_at("\n".join(lines)))
    return "\n\n".join(body)


def in_visible_at(text: str) -> str:
    """Visible as a whole namespace: an attribute on each function costs more than its name."""
    return f"""namespace at __attribute__((visibility("default"))) {{

{text}

}} // namespace at
"""


def guarded(base: str, text: str) -> str:
    """`text`, left out by the second of <aten/ops/NAME.h> and <aten/Functions.h> to be included."""
    return f"#ifndef ATEN_OPS_{base}\n#define ATEN_OPS_{base}\n{text}#endif\n"


def op_header(base: str, schemas: list[tuple[Entry, str, Schema]], declarations: str) -> str:
    """<aten/ops/NAME.h>"""
    return f"""// Operator {base}, from {", ".join(sorted({e.where for e, _, _ in schemas}))}.
#pragma once

{API_INCLUDES}
{guarded(base, in_visible_at(declarations))}"""


def functions_header(declarations: dict[str, str]) -> str:
    """<aten/Functions.h>: one text in one namespace, because opening a file or a namespace for each operator is a good part
    of what it costs."""
    text = "\n".join(guarded(base, f"{declarations[base]}\n") for base in sorted(declarations))
    return f"""// All at:: functions, and the C++ operators.
#pragma once

#include <aten/core/TensorOperators.h>
{API_INCLUDES}
{in_visible_at(text)}"""


def ops_header(base: str, schemas: list[tuple[Entry, str, Schema]]) -> str:
    """<aten/ops/NAME_ops.h>: at::_ops of one operator name."""
    structs = "\n".join(op_struct(s) for _, _, s in schemas)
    return f"""// at::_ops of {base}, from {", ".join(sorted({e.where for e, _, _ in schemas}))}.
#pragma once

#include <aten/core/op_types.h>

namespace at::_ops {{

{structs}
}} // namespace at::_ops
"""


def keyed_functions(
    entries: list[Entry], namespace: str, note: str, parameter: str, keys: str, include: str = "", tensors: str = "",
) -> str:
    """Inline functions `NAME(parameter, ...)` in at::NAMESPACE that go straight to the kernels of the key set `keys`. The
    function `tensors` of the header `include`, if given, is called on tensor arguments of operators that change none."""
    functions: dict[tuple[str, tuple[str, ...]], str] = {}
    for base, members in sorted(by_base_name(entries).items()):
        for entry, form, schema in members:
            for name, sig in signatures(schema, entry.get("cpp_no_default_args", [])):
                params = ", ".join([parameter] * bool(parameter) + [p.declared(True) for p in sig.params])
                if tensors and not any(p.type.endswith("Tensor&") and not p.type.startswith("const") for p in sig.params):
                    for p in sig.params:
                        if "Tensor" in p.type and p.name in sig.arguments:
                            sig.arguments[p.name] = f"{tensors}({sig.arguments[p.name]})"
                call = ", ".join([keys] + [sig.call()] * bool(sig.arguments))
                functions.setdefault(
                    (name, sig.key()),
                    f"inline {cpp.return_type(schema)} {name}({params}) {{\n"
                    f"  return at::_ops::{schema.unambiguous_name}::redispatch({call});\n}}")
    text = "\n".join(functions.values())
    return f"""// {note}
#pragma once

#include <aten/Operators.h>
#include <aten/core/Tensor.h>
#include <aten/core/op_types.h>
#include <aten/core/symint_conversions.h>
#include <c10/core/impl/checked_memory_format.h>
{include}
namespace at::{namespace} {{

{text}

}} // namespace at::{namespace}
"""


def keyed_headers(entries: list[Entry]) -> dict[str, str]:
    """<aten/RedispatchFunctions.h>, and <aten/CPUFunctions.h> and <aten/MetaFunctions.h> for operators with CPU kernels, whose
    shape functions serve both keys."""
    kernels = [e for e in entries if "cpu" in e.kernels]
    return {
        "include/aten/RedispatchFunctions.h": keyed_functions(
            entries, "redispatch", "at::redispatch::NAME(keys, ...): a kernel's way on to the operator's kernel for other keys.",
            "c10::DispatchKeySet dispatchKeySet", "dispatchKeySet"),
        "include/aten/CPUFunctions.h": keyed_functions(
            kernels, "cpu", "at::cpu::NAME: the CPU kernels, without autograd and all other keys above.",
            "", "c10::DispatchKeySet(c10::DispatchKey::CPU)"),
        "include/aten/MetaFunctions.h": keyed_functions(
            kernels, "meta", "at::meta::NAME: tensors without data, of the shape and dtype that the operator would give.",
            "", "c10::DispatchKeySet(c10::DispatchKey::Meta)", "#include <aten/native/support/without_data.h>\n",
            "at::native::without_data"),
    }


def method_signatures(entry: Entry, form: str) -> list[tuple[str, Signature]]:
    schema = entry.forms[form]
    return signatures(schema, entry.get("cpp_no_default_args", []))


def methods_header(entries: list[Entry]) -> str:
    """Declarations inside class at::Tensor."""
    lines: list[str] = []
    seen: set[tuple[str, tuple[str, ...]]] = set()
    for entry in entries:
        for form, schema in entry.forms.items():
            if not is_method(entry, form):
                continue
            for name, sig in method_signatures(entry, form):
                params = [p for p in sig.params if p.name != "self"]
                key = (name, tuple(p.type for p in params))
                if key in seen:
                    continue
                seen.add(key)
                lines.append(
                    f"{cpp.return_type(schema)} {name}({', '.join(p.declared(True) for p in params)}) const;"
                )
            if takes_bool_for_dim(entry, form):
                lines.append(
                    f"{cpp.return_type(schema)} {schema.name}(int dim) const "
                    f"{{ {DIM_AS_LIST} {schema.name}(at::IntArrayRef(list, 1)); }}"
                )
    text = cpp.inside_at("\n".join(lines))
    return f"// Methods of at::Tensor, one for each operator form that is a method. Included inside the class.\n{text}\n"


def call_of(entry: Entry, form: str) -> str:
    """The kind of call, up to its arguments: see Note [Fast path of calls]."""
    schema = entry.forms[form]
    signature = f"{schema.unambiguous_name}::schema"
    tensors = any(a.type.is_tensor_like for a in schema.arguments)
    if entry.kernels and not tensors and cpp.options_span(schema):
        return f"callFactory<{signature}>(dtype, layout, device, "
    recorded = tensors and not entry.is_composite and entry.get("grad") != "none"
    if recorded and not schema.is_view and not any(a.is_written for a in schema.arguments):
        return f"callFastPath<{signature}>("
    return f"call<{signature}>("


def plain_declarations(entry: Entry) -> str:
    """What plain_factory() names."""
    if not entry.get("fast_path"):
        return ""
    params = ", ".join(p.declared(False) for p in cpp.dispatcher_params(entry.schema))
    return (
        f"#include <aten/core/dispatch/KnownKernel.h>\n#include <aten/native/support/{entry.get('fast_path')}.h>\n"
        f"namespace {{\n{cpp.return_type(entry.schema)} {entry.schema.unambiguous_name}_CPU({params});\n}} // namespace\n"
    )


def plain_factory(entry: Entry, form: str, function: str, signature: Signature) -> tuple[str, str]:
    """The short ways of the usual overload of a factory with the field `fast_path`, for the function and for one that it calls
    else. The function of the field gives a tensor or null, and stands for the CPU kernel where nobody could tell the
    difference. What it does at once needs no frame, so the function has no other call than that of the second, which
    remembers the kernel for it."""
    usual = function == entry.schema.name and any(p.name == "options" for p in signature.params)
    if not entry.get("fast_path") or form != "functional" or not usual:
        return "", ""
    name = entry.schema.unambiguous_name
    args = ", ".join(p.name for p in signature.params)

    def way(condition: str, made: str) -> str:
        return (
            f"  if (C10_LIKELY({condition})) {{\n"
            f"    if (c10::TensorImpl* const made = native::{made}({args}); C10_LIKELY(made != nullptr)) {{\n"
            "      return at::Tensor(made, c10::raw::DontIncreaseRefcount());\n    }\n  }\n"
        )

    params = ", ".join(p.declared(False) for p in signature.params)
    plain_kernel = f"{name}_slot.entry->knownPlainKernel()"
    second = (
        f"namespace {{\nconstinit c10::impl::KnownKernel {name}_known;\n\n"
        f"C10_NOINLINE {cpp.return_type(entry.schema)} {name}_usual({params}) {{\n"
        f"  const bool leads = {name}_slot.leadsTo<&{name}_CPU>();\n"
        f"  if (leads) {{\n    {name}_known.remember({plain_kernel});\n  }}\n"
        f"{way('leads', entry.get('fast_path'))}"
        f"  return _ops::{name}::call({signature.call()});\n}}\n}} // namespace\n"
    )
    nobody_asks = f"c10::impl::is_default(c10::impl::raw_local_dispatch_key_set) && {name}_known.is({plain_kernel})"
    return second, way(nobody_asks, f"{entry.get('fast_path')}_inline") + f"  return {name}_usual({args});"


def definitions(entries: list[Entry], shared: str) -> str:
    """at::_ops::X::call/redispatch, at:: functions and Tensor methods of some entries, and their definition rows. `shared`:
    declarations of templates that stand elsewhere."""
    headers = sorted({s.name for e in entries for s in e.forms.values()})
    includes = "\n".join(f"#include <aten/ops/{h}.h>\n#include <aten/ops/{h}_ops.h>" for h in headers)
    shared += "".join(plain_declarations(entry) for entry in entries)
    slots, rows, ops, functions = [], [], [], []
    for entry in entries:
        for form, schema in entry.forms.items():
            name = schema.unambiguous_name
            ret = cpp.return_type(schema)
            params = cpp.dispatcher_params(schema)
            declared = ", ".join(p.declared(False) for p in params)
            names = "".join(f", {p.name}" for p in params)
            slots.append(f"c10::impl::BuiltinSlot {name}_slot;")
            rows.append(
                f"    {{at::_ops::{name}::name, at::_ops::{name}::overload_name, at::_ops::{name}::schema_str, "
                f"{cstring(entry.where)}, &{name}_slot}},"
            )
            ops.append(
                f"{ret} {name}::call({declared}) {{\n"
                f"  return {name}_slot.{call_of(entry, form)}{names[2:]});\n}}\n"
                f"{ret} {name}::redispatch(c10::DispatchKeySet dispatchKeySet{', ' + declared if declared else ''}) {{\n"
                f"  return {name}_slot.redispatch<{name}::schema>(dispatchKeySet{names});\n}}"
            )
            if is_function(entry, form):
                for fname, sig in signatures(schema, []):
                    before, short = plain_factory(entry, form, fname, sig)
                    functions.append(
                        (f"{before}{ret} {fname}({', '.join(p.declared(False) for p in sig.params)})",
                         short or f"  return _ops::{name}::call({sig.call()});"))
            if is_method(entry, form):
                for fname, sig in method_signatures(entry, form):
                    changed = any(a.name == "self" and a.is_written for a in schema.arguments)
                    this = "const_cast<Tensor&>(*this)" if changed else "*this"
                    args = _replace_self(sig, this)
                    mparams = ", ".join(p.declared(False) for p in sig.params if p.name != "self")
                    functions.append(
                        (f"{ret} Tensor::{fname}({mparams}) const", f"  return _ops::{name}::call({args});"))
    unique: dict[str, str] = {}
    for head, body in functions:
        unique.setdefault(head, body)
    function_text = "\n".join(f"{head} {{\n{body}\n}}" for head, body in unique.items())
    nl = "\n"
    if "check_tensor_options" in function_text:
        includes += "\n#include <c10/core/impl/checked_memory_format.h>"
    table = f"kDefinitions_{entries[0].schema.unambiguous_name}"
    return f"""// Calls of the operators in {", ".join(sorted({e.path.name for e in entries}))}: at::_ops, at:: functions, Tensor methods.
{includes}

#include <aten/core/dispatch/BuiltinRegistration.h>
#include <aten/core/symint_conversions.h>

{shared}
namespace {{

{nl.join(slots)}

constinit const c10::impl::BuiltinDefinition {table}[] = {{
{nl.join(rows)}
}};
const c10::impl::BuiltinDefinitions {table}Registered({table});

}} // namespace

namespace at::_ops {{

{nl.join(ops)}

}} // namespace at::_ops

namespace at {{

{function_text}

}} // namespace at
"""


def _replace_self(sig: Signature, this: str) -> str:
    values = dict(sig.arguments)
    values["self"] = this
    return ", ".join(values[a.name] for a in sig.schema.arguments)


def variable_factories(entries: list[Entry]) -> tuple[str, str]:
    """torch:: forms of the factories, which honour options.requires_grad(): declarations and definitions."""
    declarations: list[str] = []
    bodies: list[str] = []
    for entry in entries:
        for form, schema in entry.forms.items():
            if form != "functional" or not is_function(entry, form) or not cpp.options_span(schema) or schema.name in ("to", "_to_copy"):
                continue
            for name, sig in signatures(schema, entry.get("cpp_no_default_args", [])):
                if all(p.name != "options" for p in sig.params):
                    continue
                args = ", ".join(
                    "at::TensorOptions(options).requires_grad(std::nullopt)" if p.name == "options" else p.name
                    for p in sig.params)
                declarations.append(f"TORCH_API at::Tensor {name}({', '.join(p.declared(True) for p in sig.params)});")
                bodies.append(
                    f"at::Tensor {name}({', '.join(p.declared(False) for p in sig.params)}) {{\n"
                    f"  return detail::as_variable([&] {{ return at::{name}({args}); }}, options.requires_grad());\n}}")
    nl = "\n"
    return (
        f"// torch:: factories, included inside namespace torch.\n{nl.join(declarations)}\n",
        f"""// torch:: factories.
#include <autograd/variable_factories.h>

namespace torch {{

{nl.join(bodies)}

}} // namespace torch
""")


def by_base_name(entries: list[Entry]) -> dict[str, list[tuple[Entry, str, Schema]]]:
    groups: dict[str, list[tuple[Entry, str, Schema]]] = defaultdict(list)
    for entry in entries:
        for form, schema in entry.forms.items():
            groups[schema.name].append((entry, form, schema))
    return groups
