"""Autograd nodes and the kernels of the Autograd and ADInplaceOrView keys."""

from __future__ import annotations

import re

import cpp
from derivatives import REFUSED, Derivative, Saved, analyse, node_name, refused, result_names
from emit_api import cstring
from entries import Entry
from schema import Argument, Schema
from sources import SourceIndex


def needs_autograd(entry: Entry) -> bool:
    """Composite operators differentiate through what they call; operators without tensors have nothing to do."""
    if entry.is_composite or entry.get("grad") == "none" and not entry.schema.is_view:
        return False
    return any(a.type.is_tensor_like for a in entry.schema.arguments)


def differentiable_outputs(entry: Entry) -> list[bool]:
    given = entry.get("output_differentiability")
    return list(given) if given else [True] * len(entry.schema.returns)


def tensor_arguments(schema: Schema) -> list[Argument]:
    return [a for a in schema.arguments if a.type.is_tensor_like and not (a.kwarg_only and a.is_written)]


class AutogradEmitter:
    """Writes nodes and kernels of some entries. An entry's place among those of one name names its node, unless `node` does."""

    def __init__(self, entries: list[Entry], sources: SourceIndex):
        self.sources = sources
        self.operators = {s.name for e in entries for s in e.forms.values()}
        self.views = {e.schema.name for e in entries if e.schema.is_view}
        # What nodes say they are called, and their classes: the same, but for a name with a namespace, and for an in-place
        # operator with a formula of its own that shares the name of the functional one.
        self.node: dict[str, str] = {}
        self.node_class: dict[str, str] = {}
        count: dict[str, int] = {}
        recorded = [e for e in entries if isinstance(e.get("grad"), dict)]
        for entry in recorded:
            base = entry.schema.name.strip("_")
            usual = node_name(entry.schema, count.get(base, 0))
            count[base] = count.get(base, 0) + 1
            self.node[entry.name] = entry.get("node") or usual
            self.node_class[entry.name] = usual if "::" in self.node[entry.name] else self.node[entry.name]
        functional = {self.node[e.name] for e in recorded if not e.schema.is_inplace}
        for entry in recorded:
            if entry.schema.is_inplace and self.node[entry.name] in functional:
                self.node_class[entry.name] += "_inplace"

    # ---- nodes -----------------------------------------------------------------
    def declare_node(self, entry: Entry) -> str:
        members = {s.member: s for d in analyse(entry) for s in d.saved}
        lines = []
        releases = []
        for saved in members.values():
            lines.append(f"  {saved.type} {saved.member}{{}};" if saved.type not in ("at::Device",) else f"  at::Device {saved.member}{{at::kCPU}};")
            if saved.is_variable:
                releases.append(saved.release)
                if "vector" in saved.type:
                    lines.append(f"  bool {saved.member}released_ = false;")
        for arg in tensor_arguments(entry.schema):
            if arg.type.is_list:
                lines.append(f"  size_t {arg.name}_size_ = 0;")
        release = ""
        if releases:
            body = "\n    ".join(releases)
            release = f"  void release_variables() override {{\n    std::lock_guard<std::mutex> lock(mutex_);\n    {body}\n  }}\n"
        name = self.node_class[entry.name]
        inplace = entry.get("inplace_node")
        return (
            f"/// Backward of aten::{entry.schema.full_name}, {entry.where}.\n"
            f"struct {name}{'' if inplace else ' final'} : public TraceableFunction {{\n"
            f"  using TraceableFunction::TraceableFunction;\n"
            f"  variable_list apply(variable_list&& grads) override;\n"
            f"  std::string name() const override {{ return \"{self.node[entry.name]}\"; }}\n{release}"
            + ("\n".join(lines) + "\n" if lines else "") + "};\n"
            + (f"/// The same after the in-place operator.\nstruct {inplace} final : public {name} {{\n"
               f"  using {name}::{name};\n"
               f"  std::string name() const override {{ return \"{inplace}\"; }}\n}};\n" if inplace else "")
        )

    def define_apply(self, entry: Entry) -> str:
        schema = entry.schema
        derivatives = analyse(entry)
        lines = [f"variable_list {self.node_class[entry.name]}::apply(variable_list&& grads) {{"]
        members = {s.member: s for d in derivatives for s in d.saved}
        if any(s.is_variable for s in members.values()):
            lines.append("  std::lock_guard<std::mutex> lock(mutex_);")
        lines.append("  IndexRangeGenerator gen;")
        for arg in self._graph_inputs(entry):
            span = f"{arg.name}_size_" if arg.type.is_list else "1"
            lines.append(f"  [[maybe_unused]] const auto {arg.name}_ix = gen.range({span});")
        lines.append("  variable_list grad_inputs(gen.size());")
        outputs = result_names(schema)
        diff = differentiable_outputs(entry)
        text = " ".join(d.expression for d in derivatives)
        position = 0
        named: list[str] = []
        for i, out in enumerate(outputs):
            if not diff[i]:
                continue
            alias = f"grad_{out}" if len(outputs) > 1 else "grad"
            if schema.returns[i].type.is_list:
                position += 1
                continue
            for name in {alias, "grad" if position == 0 else alias}:
                if re.search(rf"\b{name}\b", text):
                    named.append(f"  [[maybe_unused]] const at::Tensor& {name} = grads[{position}];")
            position += 1
        lines += named
        lines.append("  const bool any_grad_defined = any_variable_defined(grads);")
        for derivative in derivatives:
            lines += self._one_derivative(entry, derivative)
        lines.append("  return grad_inputs;\n}\n")
        return "\n".join(lines)

    def _graph_inputs(self, entry: Entry) -> list[Argument]:
        covered = {n for d in analyse(entry) for n in d.inputs}
        return [a for a in tensor_arguments(entry.schema) if a.name in covered]

    def _one_derivative(self, entry: Entry, d: Derivative) -> list[str]:
        ranges = ", ".join(f"{n}_ix" for n in d.inputs)
        lines = [f"  if (task_should_compute_output({{ {ranges} }})) {{"]
        for saved in d.saved:
            if saved.is_variable and "vector" in saved.type:
                lines.append(f"    TORCH_CHECK(!{saved.member}released_, ERR_BACKWARD_TWICE);")
            if saved.read:
                lines.append(f"    {saved.read}")
        expression = d.expression
        if "grad_input_mask" in expression:
            inner = ", ".join(f"task_should_compute_output({{ {n}_ix }})" for n in d.inputs)
            lines.append(f"    const std::array<bool, {len(d.inputs)}> grad_input_mask{{{inner}}};")
        by_name = {a.name: a for a in entry.schema.arguments}
        if len(d.inputs) == 1:
            if by_name[d.inputs[0]].type.is_list:
                lines.append(f"    if (any_grad_defined) copy_range(grad_inputs, {d.inputs[0]}_ix, {expression});")
            else:
                lines.append(
                    f"    copy_range(grad_inputs, {d.inputs[0]}_ix, any_grad_defined ? at::Tensor({expression}) : at::Tensor());")
        else:
            lines.append(f"    if (any_grad_defined) {{\n      auto grad_result = {expression};")
            for i, name in enumerate(d.inputs):
                lines.append(
                    f"      if (task_should_compute_output({{ {name}_ix }})) copy_range(grad_inputs, {name}_ix, std::move(std::get<{i}>(grad_result)));")
            lines.append("    }")
        lines.append("  }")
        return lines

    def changes_geometry_alone(self, schema: Schema) -> bool:
        """In-place forms of view operators: no element changes, but the sizes and strides of the tensor itself."""
        return schema.is_inplace and schema.name.removesuffix("_") in self.views

    # ---- Autograd kernels ---------------------------------------------------------
    def kernel(self, entry: Entry, form: str) -> str:
        schema = entry.forms[form]
        head = self._head(schema, "Autograd")
        args = "".join(f", {a.name}" for a in schema.arguments)
        below = f"at::_ops::{schema.unambiguous_name}::redispatch(ks & c10::after_autograd_keyset{args})"
        if schema.is_out:
            return head + self._out_body(entry, schema, below) + "}\n"
        if entry.get("grad") == REFUSED:
            target = next(a.name for a in schema.arguments if a.is_written)
            return head + f"  check_may_resize({target}, {cstring(schema.name)});\n  at::AutoDispatchBelowAutograd guard;\n  return {below};\n}}\n"
        covered = self._covered(entry, form)
        inplace = schema.is_inplace or any(a.is_written for a in schema.arguments)
        guard_kind = "AutoDispatchBelowAutograd" if inplace or schema.is_view else "AutoDispatchBelowADInplaceOrView"
        guard = f"at::{guard_kind} guard;"
        written = [a for a in schema.arguments if a.is_written]
        text = head
        if not covered:
            return text + f"  {guard}\n  return {below};\n}}\n"
        for name in refused(entry):
            text += f"  check_no_requires_grad({name}, {cstring(name)}, {cstring(schema.name)});\n"
        text += f"  const bool any_requires_grad = compute_requires_grad({', '.join(covered)});\n"
        for arg in written:
            text += f"  check_inplace({arg.name}, any_requires_grad);\n"
        text += f"  if (C10_LIKELY(!any_requires_grad)) {{\n    {guard}\n    return {below};\n  }}\n"
        if not isinstance(entry.get("grad"), dict):
            return text + self._not_implemented(entry, schema, covered, guard, below, inplace) + "}\n"
        recorded = self._recorded(entry, form, covered, guard, below, inplace)
        if not inplace and len(schema.returns) == 1:
            # A function of its own, whose one result is made where the caller wants it.
            recorded = "  return [&] {\n" + "".join(f"  {line}\n" for line in recorded.splitlines()) + "  }();\n"
        return text + recorded + "}\n"

    def _covered(self, entry: Entry, form: str) -> list[str]:
        """The arguments that make a call one to be recorded."""
        if entry.get("grad") == "none" or (entry.get("result") == "bool" and form == "functional"):
            return []
        if isinstance(entry.get("grad"), dict):
            return [a.name for a in self._graph_inputs(entry)]
        return [a.name for a in tensor_arguments(entry.forms[form])]

    @staticmethod
    def checks_outputs(entry: Entry) -> bool:
        """Has the out form anything to do with gradients? What it writes may have none: truth values, places, counts."""
        return entry.get("result") != "bool" and any(differentiable_outputs(entry))

    def _out_body(self, entry: Entry, schema: Schema, below: str) -> str:
        """An out form is not recorded: its outputs, and inputs that have a derivative, must not require grad. Operators without
        derivatives, and those whose out form is `unchecked`, take any but a leaf to write to; backward refuses what comes out."""
        outs = [a.name for a, ok in zip(schema.out_arguments, differentiable_outputs(entry)) if ok]
        follows = isinstance(entry.get("grad"), dict) and entry.get("out_grad") != "unchecked"
        covered = [a.name for a in (self._graph_inputs(entry) if follows else tensor_arguments(schema))]
        text = (
            f"  if (C10_UNLIKELY(compute_requires_grad({', '.join(covered + outs)}))) {{\n"
            f"    throw_error_out_requires_grad({cstring(schema.name)});\n  }}\n") if follows else ""
        guard = "at::AutoDispatchBelowAutograd guard;"
        plain = f"  {guard}\n  return {below};\n"
        if follows:
            return text + plain
        covered = covered + [o for o in outs if o not in covered]
        text += f"  if (C10_UNLIKELY(compute_requires_grad({', '.join(covered)}))) {{\n"
        text += "".join(f"    check_inplace({o}, /*requires_grad=*/true);\n" for o in outs)
        renewed = [f"if (isDifferentiableType({o}.scalar_type())) rebase_history({o}, grad_fn);" for o in outs]
        unfollowed = self._not_implemented_in_place(schema, covered, guard, below, renewed)
        return text + "".join(f"  {line}\n" for line in unfollowed.splitlines()) + "  }\n" + plain

    @staticmethod
    def _not_implemented_node(schema: Schema, covered: list[str]) -> str:
        return (f"  auto grad_fn = make_node<NotImplemented>({cstring(schema.name)});\n"
                f"  record_edges(*grad_fn, {', '.join(covered)});\n")

    def _not_implemented_in_place(self, schema: Schema, covered: list[str], guard: str, below: str, renewed: list[str]) -> str:
        """`renewed` are the statements that give what was written its history."""
        targets = [a.name for a in schema.arguments if a.is_written]
        text = self._not_implemented_node(schema, covered)
        text += f"  {{\n    {guard}\n    {below};\n  }}\n" + "".join(f"  {line}\n" for line in renewed)
        if not schema.returns:
            return text
        return text + f"  return {targets[0] if len(schema.returns) == 1 else '{' + ', '.join(targets) + '}'};\n"

    def _not_implemented(self, entry: Entry, schema: Schema, covered: list[str], guard: str, below: str, inplace: bool) -> str:
        if inplace:
            renewed = [f"rebase_history({a.name}, grad_fn);" for a in schema.arguments if a.is_written]
            return self._not_implemented_in_place(schema, covered, guard, below, renewed)
        text = self._not_implemented_node(schema, covered)
        text += f"  auto results = [&] {{\n    {guard}\n    return {below};\n  }}();\n"
        if len(schema.returns) == 1:
            return text + "  set_history(results, grad_fn);\n  return results;\n"
        for i, ok in enumerate(differentiable_outputs(entry)):
            if ok and schema.returns[i].type.base == "Tensor":
                text += f"  set_history(std::get<{i}>(results), grad_fn);\n"
        return text + "  return results;\n"

    def _recorded(self, entry: Entry, form: str, covered: list[str], guard: str, below: str, inplace: bool) -> str:
        schema = entry.forms[form]
        derivatives = analyse(entry)
        node = entry.get("inplace_node") if inplace and "inplace_node" in entry.raw else self.node_class[entry.name]
        text = f"  auto grad_fn = make_node<{node}>();\n"
        text += f"  record_edges(*grad_fn, {', '.join(covered)});\n"
        users: dict[str, list[int]] = {}
        members: dict[str, Saved] = {}
        for i, d in enumerate(derivatives):
            for s in d.saved:
                members[s.member] = s
                users.setdefault(s.member, []).append(i)
        after: list[Saved] = []
        for saved in members.values():
            if saved.is_output:
                after.append(saved)
                continue
            store = saved.store
            if inplace and saved.is_variable and saved.member == "self_":
                store = "torch::autograd::SavedVariable(self.clone(), false)"
            line = f"grad_fn->{saved.member} = {store};"
            only = users[saved.member]
            single = len(only) == 1 and saved.is_variable and len(derivatives) > 1
            if single and not self._has_list(entry):
                wanted = " || ".join(f"grad_fn->should_compute_output({covered.index(n)})" for n in derivatives[only[0]].inputs)
                line = f"if ({wanted}) {{\n    {line}\n  }}"
            text += f"  {line}\n"
        for arg in tensor_arguments(entry.schema):
            if arg.type.is_list:
                text += f"  grad_fn->{arg.name}_size_ = {arg.name}.size();\n"
        names = result_names(entry.schema)
        if inplace:
            target = next(a.name for a in schema.arguments if a.is_written)
            renew = "set_history_in_place" if self.changes_geometry_alone(schema) else "rebase_history"
            text += f"  {{\n    {guard}\n    {below};\n  }}\n  {renew}({target}, grad_fn);\n"
            for saved in after:
                text += "  " + self._store_output(saved, {names[0]: target}) + "\n"
            return text + f"  return {target};\n"
        many = len(schema.returns) > 1
        text += f"  {'auto [' + ', '.join(names) + ']' if many else 'auto ' + names[0]} = [&] {{\n    {guard}\n    return {below};\n  }}();\n"
        outputs = [names[i] for i, ok in enumerate(differentiable_outputs(entry)) if ok and schema.returns[i].type.base == "Tensor"]
        for name in outputs:
            text += f"  set_history({name}, {'std::move(grad_fn)' if name == outputs[-1] and not after else 'grad_fn'});\n"
        for saved in after:
            text += "  " + self._store_output(saved, {n: n for n in names}) + "\n"
        if many:
            return text + f"  return {{{', '.join('std::move(' + n + ')' for n in names)}}};\n"
        return text + f"  return {names[0]};\n"

    @staticmethod
    def _store_output(saved: Saved, values: dict[str, str]) -> str:
        store = saved.store
        for name, value in values.items():
            store = re.sub(rf"\b{name}\b", value, store)
        return f"grad_fn->{saved.member} = {store};"

    @staticmethod
    def _has_list(entry: Entry) -> bool:
        return any(a.type.is_list for a in tensor_arguments(entry.schema))

    # ---- ADInplaceOrView kernels -----------------------------------------------------
    def inplace_or_view(self, entry: Entry, form: str) -> str | None:
        body = self._tracked(
            entry, form, "at::AutoDispatchBelowADInplaceOrView guard;", "ks & c10::after_ADInplaceOrView_keyset")
        return body and self._head(entry.forms[form], "ADInplaceOrView") + body

    @staticmethod
    def _head(schema: Schema, kernel: str) -> str:
        params = "".join(f", {p.declared(False)}" for p in cpp.dispatcher_params(schema))
        return f"{cpp.return_type(schema)} {schema.unambiguous_name}_{kernel}(c10::DispatchKeySet ks{params}) {{\n"

    def _tracked(self, entry: Entry, form: str, guard: str, keys: str) -> str | None:
        """The rest of a kernel that ties views to their bases and raises versions, and goes on with `keys` under `guard`."""
        schema = entry.forms[form]
        if entry.is_composite:
            return None
        args = "".join(f", {a.name}" for a in schema.arguments)
        below = f"at::_ops::{schema.unambiguous_name}::redispatch({keys}{args})"
        written = [a for a in schema.arguments if a.is_written]
        if entry.get("grad") == REFUSED:
            target = written[0].name
            return (
                f"  const c10::DimVector sizes({target}.sizes().begin(), {target}.sizes().end());\n"
                f"  {{\n    {guard}\n    {below};\n  }}\n"
                f"  if ({target}.sizes() != c10::IntArrayRef(sizes)) {{\n    increment_version({target});\n  }}\n  return {target};\n}}\n")
        if written:
            text = f"  {{\n    {guard}\n    {below};\n  }}\n"
            for arg in written:
                text += f"  increment_version({arg.name});\n"
            if not schema.returns:
                return text + "}\n"
            names = [a.name for a in written]
            return text + f"  return {names[0] if len(schema.returns) == 1 else '{' + ', '.join(names) + '}'};\n}}\n"
        if not schema.is_view:
            return None
        base = next(a.name for a in schema.arguments if a.alias is not None)
        differentiable = "false" if entry.get("grad") == "none" else "true"
        text = f"  auto result = [&] {{\n    {guard}\n    return {below};\n  }}();\n"
        if schema.returns[0].type.is_list:
            return text + f"  return as_view({base}, std::move(result), {differentiable}, false, view_creation_meta(true));\n}}\n"
        return text + f"  return as_view({base}, result, {differentiable}, false, nullptr, view_creation_meta());\n}}\n"

    def usual(self, entry: Entry, form: str) -> str | None:
        """The kernels of Autograd and ADInplaceOrView in one, see Note [Usual forms] in OperatorEntry.cpp."""
        schema = entry.forms[form]
        guard = "const c10::impl::ExcludeFromDefaultGuard guard(c10::autograd_dispatch_keyset_with_ADInplaceOrView);"
        body = self._tracked(entry, form, guard, "c10::DispatchKeySet(c10::DispatchKey::CPU)")
        if body is None or schema.is_out or entry.get("grad") == REFUSED or refused(entry):
            return None
        text = self._head(schema, "Usual")
        if covered := self._covered(entry, form):
            args = "".join(f", {a.name}" for a in schema.arguments)
            text += (f"  if (C10_UNLIKELY(compute_requires_grad({', '.join(covered)}))) {{\n"
                     f"    return {schema.unambiguous_name}_Autograd(ks{args});\n  }}\n")
        return text + body

    # ---- files ---------------------------------------------------------------------------
    def formula_calls(self, entries: list[Entry]) -> tuple[list[str], str]:
        """What the formulas call: headers of the operators, and no others, and declarations of the helpers, which are copied
        from their definitions."""
        called = sorted({name for e in entries for d in analyse(e) for name in re.findall(r"(?<![.>])\b(\w+)\(", d.expression)})
        helpers = [found.prototype for name in called for found in self.sources.formulas(name)]
        operators = [f"aten/ops/{name}.h" for name in called if name in self.operators]
        if not helpers:
            return operators, ""
        lines = "\n".join(helpers)
        return operators + ["autograd/formulas/types.h"], (
            f"namespace torch::autograd::formulas {{\n{lines}\n}} // namespace torch::autograd::formulas\n")

    def file(self, entries: list[Entry], shared: str) -> str:
        nodes = [e for e in entries if isinstance(e.get("grad"), dict)]
        kernels, rows = [], []
        for entry in entries:
            for form, schema in entry.forms.items():
                op = schema.unambiguous_name
                if needs_autograd(entry) and (not schema.is_out or self.checks_outputs(entry)):
                    kernels.append(self.kernel(entry, form))
                    rows.append(self._row(entry, op, "Autograd"))
                    if usual := self.usual(entry, form):
                        kernels.append(usual)
                        rows.append(self._row(entry, op, "Autograd", "Usual"))
                view = self.inplace_or_view(entry, form)
                if view:
                    kernels.append(view)
                    rows.append(self._row(entry, op, "ADInplaceOrView"))
        if not rows:
            return ""
        bases = sorted({s.name for e in entries for s in e.forms.values()})
        ops = "".join(f"#include <aten/ops/{b}_ops.h>\n" for b in bases)
        headers, formulas = self.formula_calls(entries)
        extra = "".join(f"#include <{h}>\n" for h in headers)
        if any(f"{name}(" in k for k in kernels for name in ("check_may_resize", "set_history_in_place")):
            extra = "#include <autograd/inplace_views.h>\n" + extra
        helpers = "using namespace torch::autograd::formulas;\n" if formulas else ""
        declared = "\n".join(self.declare_node(e) for e in nodes)
        applied = "\n".join(self.define_apply(e) for e in nodes)
        nl = "\n"
        table = f"kKernels_{entries[0].schema.unambiguous_name}"
        return f"""// Autograd nodes and kernels of the operators in {", ".join(sorted({e.path.name for e in entries}))}.
{ops}
#include <aten/core/LegacyTypeDispatch.h>
#include <aten/core/TensorOperators.h>
#include <aten/core/dispatch/BuiltinRegistration.h>
#include <aten/core/symint_conversions.h>
#include <aten/iterator/ExpandUtils.h>
#include <autograd/VariableTypeUtils.h>
{extra}
{formulas}{shared}
namespace torch::autograd::generated {{

using at::Scalar;
using at::ScalarType;
using at::Tensor;
using at::TensorList;
{helpers}
{declared}
{applied}
}} // namespace torch::autograd::generated

namespace {{

using namespace torch::autograd;
using namespace torch::autograd::generated;

{nl.join(kernels)}
constinit const c10::impl::BuiltinKernelRow {table}[] = {{
{nl.join(rows)}
}};
const c10::impl::BuiltinKernels {table}Registered({table});

}} // namespace
"""

    @staticmethod
    def _row(entry: Entry, op: str, key: str, kernel: str = "") -> str:
        return (
            f"    {{at::_ops::{op}::name, at::_ops::{op}::overload_name, c10::DispatchKey::{key}, "
            f"c10::impl::builtin_kernel<&{op}_{kernel or key}>(), {cstring(entry.where)}}},"
        )
