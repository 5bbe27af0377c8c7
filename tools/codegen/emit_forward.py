"""The rules by which results of operators get tangents, see autograd/forward/rules.h."""

from __future__ import annotations

import re

from derivatives import REFUSED, analyse, result_names
from emit_api import cstring
from emit_autograd import differentiable_outputs, needs_autograd
from entries import JVP_WAYS, Entry
from schema import Argument, Schema, Type
from sources import SourceIndex

_READ = {
    "int": ("int64_t", "toInt"), "SymInt": ("int64_t", "toInt"), "bool": ("bool", "toBool"), "float": ("double", "toDouble"),
    "Scalar": ("at::Scalar", "toScalar"), "ScalarType": ("at::ScalarType", "toScalarType"), "str": ("std::string", "toStringRef"),
    "MemoryFormat": ("at::MemoryFormat", "toMemoryFormat"),
}


def _kind(entry: Entry, form: str) -> str | None:
    """The enumerator of RuleKind; None where the schema tells the rule, or nothing is known that is better than two passes."""
    jvp = entry.get("jvp")
    if jvp is not None:
        return f"k{jvp.title()}" if jvp in JVP_WAYS else "kFormula"
    schema = entry.forms[form]
    if form == "functional" and (not needs_autograd(entry) or entry.get("result") == "bool"):
        return "kNone"
    if not isinstance(entry.get("grad"), dict) or len(schema.returns) != 1 or entry.get("result") == "bool":
        return None
    return "kElements" if entry.is_pointwise else None


def _mask(entry: Entry) -> int:
    """Bit i for argument i with a derivative."""
    names = {name for d in analyse(entry) for name in d.inputs}
    return sum(1 << i for i, a in enumerate(entry.schema.arguments) if a.name in names)


def _value(kind: Type, i: int) -> tuple[str, str]:
    if kind.is_list and kind.base == "bool" and kind.size:
        return f"std::array<bool, {kind.size}>", f"call.flags<{kind.size}>({i})"
    if kind.is_list:
        element = "double" if kind.base == "float" else "int64_t"
        if kind.base not in ("int", "SymInt", "float"):
            raise ValueError(kind)
        vector = f"std::vector<{element}>"
        if kind.optional:
            return f"std::optional<{vector}>", f"call.value({i}).toOptional<{vector}>()"
        return vector, f"call.value({i}).to{'Double' if kind.base == 'float' else 'Int'}Vector()"
    name, read = _READ[kind.base]
    if kind.optional:
        return f"std::optional<{name}>", f"call.value({i}).toOptional<{name}>()"
    return name, f"call.value({i}).{read}()"


def _uses(name: str, text: str) -> bool:
    return re.search(rf"(?<![\w.>:]){name}(?!\w)", text) is not None


def _declared(entry: Entry, argument: Argument, i: int, text: str) -> list[str]:
    lines = []
    if argument.type.is_tensor_like:
        many = "s" if argument.type.is_list else ""
        optional = "optional_" if argument.type.optional else ""
        if _uses(argument.name, text):
            lines.append(f"  const auto {argument.name} = call.{optional}tensor{many}({i});")
        if _uses(f"{argument.name}_t", text):
            lines.append(f"  const auto {argument.name}_t = call.tangent{many}({i});")
    elif _uses(argument.name, text):
        try:
            kind, value = _value(argument.type, i)
        except (KeyError, ValueError):
            raise entry.fail("jvp", f"'{argument.name}' is of type {argument.type}, which formulas for tangents cannot read") from None
        lines.append(f"  const {kind} {argument.name} = {value};")
    return lines


def _formula_text(entry: Entry) -> str:
    return " ".join(_expressions(entry))


def _expressions(entry: Entry) -> list[str]:
    jvp = entry.get("jvp")
    return [str(e) for e in jvp] if isinstance(jvp, list) else [str(jvp)]


def _formula(entry: Entry) -> str:
    """The function that computes the tangents of an operator's results, one for each result that has a derivative."""
    text = _formula_text(entry)
    lines = []
    for i, argument in enumerate(entry.schema.arguments):
        lines += _declared(entry, argument, i, text)
    for i, name in enumerate(result_names(entry.schema)):
        if _uses(name, text):
            lines.append(f"  const auto {name} = call.result({i});")
    body = "\n".join(lines)
    parameter = "const FormulaCall& call" if lines else "const FormulaCall&"
    return (f"// {entry.where}\nvariable_list formula_of_{entry.name}({parameter}) {{\n{body}\n"
            f"  return {_tangents(entry)};\n}}\n")


def _tangents(entry: Entry) -> str:
    """The list of tangents: one expression gives that of a result, or all of them where several have a derivative."""
    expressions = _expressions(entry)
    differentiable = differentiable_outputs(entry)
    if isinstance(entry.get("jvp"), str) and sum(differentiable) > 1:
        return expressions[0]
    values = iter(expressions)
    outputs = [next(values, "at::Tensor()") if ok else "at::Tensor()" for ok in differentiable]
    return f"{{{', '.join(outputs)}}}"


def _gradient_terms(entry: Entry) -> dict[str, str] | None:
    """The gradients' expressions by argument, of an operator that works element by element; None where one of them needs more than
    the gradient, arguments and the result."""
    if len(entry.schema.returns) != 1 or not isinstance(entry.get("grad"), dict):
        return None
    tensors = {a.name for a in entry.schema.arguments if a.type.is_tensor and not a.type.optional}
    terms = {str(name): str(e) for name, e in entry.get("grad").items() if e != REFUSED}
    needs_more = re.search(r"\bgrads\[|\bgrad_input_mask\b|\bnot_implemented\(|\bthis->", " ".join(terms.values()))
    return None if needs_more or not terms.keys() <= tensors else terms


def _elements_formula(entry: Entry, terms: dict[str, str]) -> str:
    """The function that computes the tangent of real numbers: the gradients' expressions, of tangents in the place of `grad`."""
    text = " ".join(terms.values())
    lines = []
    for i, argument in enumerate(entry.schema.arguments):
        lines += _declared(entry, argument, i, text)
    lines.append("  const auto result = call.result(0);\n  at::Tensor sum;")
    for name, expression in terms.items():
        position = next(i for i, a in enumerate(entry.schema.arguments) if a.name == name)
        lines.append(f"  if (const auto grad = call.tangent({position}, result.scalar_type()); grad.defined()) {{\n"
                     f"    sum = sum_of(sum, {expression});\n  }}")
    body = "\n".join(lines)
    return f"// {entry.where}\nvariable_list formula_of_{entry.name}(const FormulaCall& call) {{\n{body}\n  return {{sum}};\n}}\n"


def _row(entry: Entry, schema: Schema, kind: str) -> tuple[str, str, str]:
    terms = _gradient_terms(entry) if kind == "kElements" else None
    formula = f"&formula_of_{entry.name}" if kind == "kFormula" or terms else "nullptr"
    mask = _mask(entry) if kind in ("kLinear", "kProducts") else 0
    # A formula that reads what is overwritten needs a copy of it.
    text = " ".join(terms.values()) if terms else _formula_text(entry)
    if formula != "nullptr" and schema.is_inplace and _uses(schema.arguments[0].name, text):
        mask = 1
    return f"aten::{schema.name}", schema.overload, f"{{RuleKind::{kind}, {mask}, {formula}}}"


def _function_of(entry: Entry) -> tuple[str, str] | None:
    """The function that computes an operator's tangents, and the expressions in it."""
    if entry.is_composite or entry.get("grad") == REFUSED:
        return None
    if entry.get("jvp") is not None and entry.get("jvp") not in JVP_WAYS:
        return _formula(entry), _formula_text(entry)
    if "kElements" in [_kind(entry, form) for form, schema in entry.forms.items() if not schema.is_out] and (terms := _gradient_terms(entry)):
        return _elements_formula(entry, terms), " ".join(terms.values())
    return None


def forward_rules(entries: list[Entry], sources: SourceIndex) -> str:
    """What operator_rules() gives, sorted as it is searched."""
    rows, formulas, called = [], [], set()
    for entry in entries:
        for form, schema in entry.forms.items():
            if entry.is_composite or schema.is_out or entry.get("grad") == REFUSED:
                continue
            if kind := _kind(entry, form):
                rows.append(_row(entry, schema, kind))
        if found := _function_of(entry):
            formulas.append(found[0])
            called |= set(re.findall(r"(?<![.>])\b(\w+)\(", found[1]))
    operators = {s.name for e in entries for s in e.forms.values()}
    helpers = [found.prototype for name in sorted(called) for found in sources.formulas(name)]
    headers = "".join(f"#include <aten/ops/{name}.h>\n" for name in sorted(called & operators))
    declared = "\n".join(helpers)
    body = "".join(f"    {{{cstring(name)}, {cstring(overload)}, {rest}}},\n" for name, overload, rest in sorted(rows))
    return f"""// Rules for tangents of operators' results, from the fields `grad` and `jvp` of the entries.
#include <aten/core/TensorOperators.h>
#include <autograd/formulas/shared.h>
#include <autograd/forward/rules.h>
{headers}
namespace torch::autograd::formulas {{
{declared}
}} // namespace torch::autograd::formulas

namespace torch::autograd::forward_ad {{

namespace {{

using namespace torch::autograd::formulas;

{"".join(formulas)}
constexpr OperatorRule kRules[] = {{
{body}}};

}} // namespace

c10::ArrayRef<OperatorRule> operator_rules() {{
  return kRules;
}}

}} // namespace torch::autograd::forward_ad
"""
