"""Backend wrappers: shape function first, then output, then kernel; and the pointwise instantiation stubs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import cpp
from cpp import Param
from emit_api import cstring
from emit_derived import DerivedForms
from emit_shapes import ShapeFunctions, inputs, kernel_argument
from entries import SPARSE_BACKENDS, SPARSE_KINDS, Entry, KernelRef
from schema import Argument, Schema
from sources import SourceIndex

ISA_LEVELS = ("v2", "v3", "v4")
# Kernels for sparse tensors serve these devices.
SPARSE_KEYS = {key + "CPU": (key + "CPU", key + "CUDA") for key in ("Sparse", "SparseCsr")}
# Kernels for each functor and dtype take some 0.2 s of nvcc, the headers of a source 5 s.
CUDA_DTYPES_PER_SOURCE = 64


@dataclass(frozen=True)
class Wrapper:
    """One registered function: its definition and the row that registers it."""

    op: str
    key: str
    name: str
    text: str


def call_arguments(schema: Schema) -> list[str]:
    return [cpp.from_sym(a) for a in inputs(schema)]


class KernelEmitter:
    """Writes the wrappers of some entries for one backend (`cpu` or `cuda`) and the backend-free ones."""

    def __init__(self, entries: list[Entry], sources: SourceIndex):
        self.sources = sources
        self.shapes = ShapeFunctions(sources)
        self.derived = DerivedForms(entries)

    # ---- one wrapper -------------------------------------------------------
    def _define(self, schema: Schema, suffix: str, body: str) -> tuple[str, str]:
        name = f"{schema.unambiguous_name}{suffix}"
        params = ", ".join(p.declared(False) for p in cpp.dispatcher_params(schema))
        return name, f"{cpp.return_type(schema)} {name}({params}) {body}\n"

    def wrapper(self, schema: Schema, key: str, body: str) -> Wrapper:
        if key == "CUDA":  # failed calls of CUDA are to name the operator
            block = f"try {{\n{body}}} catch (...) {{\n  at::native::cuda::rethrow_from({cstring(schema.full_name)});\n}}"
        else:
            block = f"{{\n{body}}}"
        name, text = self._define(schema, f"_{key}", block)
        return Wrapper(schema.unambiguous_name, key, name, text)

    # ---- bodies ------------------------------------------------------------
    def _check(self, entry: Entry) -> str:
        check = entry.get("check")
        if not check:
            return ""
        args = ", ".join([cstring(entry.schema.name)] + call_arguments(entry.schema))
        return f"  at::shape::{check}({args});\n"

    @staticmethod
    def _expanded(entry: Entry, form: str) -> str:
        """What an in-place form does with a target whose elements share memory, where the entry has something for it."""
        if form != "inplace" or not entry.get("inplace_expanded"):
            return ""
        args = ", ".join(call_arguments(entry.forms[form]))
        return ("  if (C10_UNLIKELY(at::has_internal_overlap(self) == at::MemOverlap::Yes)) {\n"
                f"    return at::native::{entry.get('inplace_expanded')}({args});\n  }}\n")

    @staticmethod
    def _plain_operands(entry: Entry) -> str:
        """The operands, where PointwiseCall::set_up_plain takes such, else nothing."""
        types = {a.name: a.type for a in entry.schema.arguments}
        kinds = tuple("tensor" if types[name].is_tensor else "number" for name in entry.operands)
        known = kinds in (("tensor",), ("tensor",) * 2, ("tensor",) * 3, ("tensor", "number"))
        optional = any(types[name].optional for name in entry.operands)
        all_cast = set(entry.operands) <= set(entry.cast)
        return ", ".join(entry.operands) if known and all_cast and not optional else ""

    @staticmethod
    def _lay_out_result(entry: Entry) -> str:
        """The statement that gives a new result the strides that the entry asks for, if it names a function for that."""
        layout = entry.get("layout", {}).get("result")
        return f"  at::native::{layout}(result, {entry.operands[0]});\n" if layout else ""

    @staticmethod
    def _through_new_result(entry: Entry, form: str) -> str:
        """The statement for an out tensor that is filled from a new result: one that is resized and shall lie by rows, or of
        another dtype where the entry allows that."""
        schema = entry.forms[form]
        if form != "out":
            return ""
        out = schema.out_arguments[0].name
        tensor = next(a.name for a in entry.schema.arguments if a.type.is_tensor and a.name in entry.operands)
        conditions = []
        if entry.get("layout", {}).get("out") == "rows":
            conditions.append(f"!{out}.sizes().equals({tensor}.sizes())")
        if entry.get("out_dtype") == "cast":
            conditions.append(f"{out}.scalar_type() != {tensor}.scalar_type()")
        if not conditions:
            return ""
        call = f"at::_ops::{entry.name}::call({', '.join(a.name for a in entry.schema.arguments)})"
        return (f"  if (C10_UNLIKELY({out}.defined() && ({' || '.join(conditions)}))) {{\n"
                f"    at::native::copy_into_out({cstring(schema.full_name)}, {out}, {call});\n    return {out};\n  }}\n")

    def pointwise_body(self, entry: Entry, form: str, run: str, checked: bool = False, converts: bool = False) -> str:
        """`run` is the statement that fills the iterator's output; `checked`: the caller has done what checks there are;
        `converts`: the loop takes operands of any dtypes."""
        schema = entry.forms[form]
        rule = str(entry.get("result", "common")).capitalize()
        keep = sum(1 << i for i, name in enumerate(entry.operands) if name not in entry.cast)
        out = {"functional": "nullptr", "inplace": "&self"}.get(form, f"&{schema.out_arguments[0].name}" if schema.is_out else "")
        text = "" if checked else self._check(entry)
        if form != "functional" and entry.get("out_check"):
            target = "self" if form == "inplace" else schema.out_arguments[0].name
            args = ", ".join([cstring(entry.schema.name)] + call_arguments(entry.schema) + [target])
            text += f"  at::shape::{entry.get('out_check')}({args});\n"
        text += self._expanded(entry, form) + self._through_new_result(entry, form)
        text += "  at::TensorIterator iter;\n"
        text += (
            f"  iter.build_pointwise({out}, {{{', '.join(entry.operands)}}}, {{at::PointwiseRule::Result::{rule}, {keep}u{', true' if converts else ''}}}, "
            f"{'false' if form == 'inplace' else 'true'});\n"
        )
        text += run
        if form == "functional":
            by_rows = ".contiguous()" if entry.get("out_contiguous") else ""
            laid_out = self._lay_out_result(entry)
            if laid_out:
                return text + f"  at::Tensor result = iter.take_output();\n{laid_out}  return result;\n"
            return text + f"  return iter.take_output(){by_rows};\n"
        out_layout = entry.get("layout", {}).get("out", "rows")
        if form == "out" and out_layout != "rows":
            text = f"  const bool resized = {out[1:]}.defined() && !{out[1:]}.sizes().equals({entry.operands[0]}.sizes());\n" + text
            run_end = f"  iter.cast_outputs();\n  if (C10_UNLIKELY(resized)) {{\n    at::native::{out_layout}({out[1:]}, {entry.operands[0]});\n  }}\n"
            return text + run_end + f"  return {out[1:]};\n"
        return text + f"  iter.cast_outputs();\n  return {'self' if form == 'inplace' else schema.out_arguments[0].name};\n"

    def plain_wrapper(self, entry: Entry, schema: Schema, key: str, run: str) -> Wrapper | None:
        """A functional pointwise operator where most calls are plain ones: those go without iterator, and what the others need
        stands apart, so that it costs them nothing."""
        operands = self._plain_operands(entry)
        if not operands:
            return None
        rule = str(entry.get("result", "common")).capitalize()
        name, general = self._define(schema, f"_{key}_general", f"{{\n{self.pointwise_body(entry, 'functional', run, checked=True)}}}")
        args = ", ".join(p.name for p in cpp.dispatcher_params(schema))
        # Beside a number a plain call takes no strides that could differ.
        numbers = any(a.name in entry.operands and not a.type.is_tensor for a in entry.schema.arguments)
        laid_out = "" if numbers else self._lay_out_result(entry)
        body = self._check(entry) + (
            "  at::PointwiseCall call;\n"
            f"  c10::TensorImpl* const made = call.set_up_plain({operands}, at::PointwiseRule::Result::{rule});\n"
            f"  if (C10_UNLIKELY(made == nullptr)) {{\n    return {name}({args});\n  }}\n"
            "  return [&] {\n    at::Tensor result(made, c10::raw::DontIncreaseRefcount());\n"
            f"  {run.replace('(iter', '(call')}{laid_out}    return result;\n  }}();\n"
        )
        wrapper = self.wrapper(schema, key, body)
        return Wrapper(wrapper.op, key, wrapper.name, f"C10_NOINLINE {general}\nC10_ALWAYS_INLINE {wrapper.text}")

    def pointwise_arguments(self, entry: Entry) -> list[Argument]:
        """Arguments that are neither operands: they parametrise the functor."""
        return [a for a in entry.schema.arguments if a.name not in entry.operands and not (a.kwarg_only and a.is_written)]

    def shaped_body(self, entry: Entry, form: str, run: str) -> str:
        """`run` is a format string with `{outs}`, the outputs to fill."""
        schema = entry.forms[form]
        args = call_arguments(entry.schema)
        shape_args = ", ".join([cstring(entry.schema.name)] + args)
        count = len(entry.schema.returns)
        text = self._check(entry) + self._expanded(entry, form)
        targets = ["self"] if form == "inplace" else [a.name for a in schema.out_arguments]
        of_argument = entry.get("out_dtype") == "argument"
        if of_argument and targets:
            text += f"  if (!dtype && {targets[0]}.defined()) dtype = {targets[0]}.scalar_type();\n"
        laid_out = form == "out" and entry.get("out_layout")
        text += f"  {'' if laid_out else 'const '}auto spec = at::shape::{entry.get('shape')}({shape_args});\n"
        specs = ["spec"] if count == 1 else [f"spec[{i}]" for i in range(count)]
        if form == "functional":
            outs = [f"result{i}" for i in range(count)]
            text += "".join(f"  at::Tensor {o} = at::empty_spec({s});\n" for o, s in zip(outs, specs))
            text += run.format(outs=", ".join(outs))
            return text + (f"  return {outs[0]};\n" if count == 1 else f"  return {{{', '.join('std::move(' + o + ')' for o in outs)}}};\n")
        tensors = [f"&{a.name}" for a in inputs(entry.schema) if a.type.is_tensor and not a.type.optional]
        lists = [a.name for a in inputs(entry.schema) if a.type.base == "Tensor" and a.type.is_list and not a.type.elem_optional]
        restrides = entry.get("out_contiguous") == "restride"
        allowed = "Cast" if form == "inplace" and not of_argument else self._out_dtype(entry, "Exact")
        policy = ["true" if entry.get("out_contiguous") and not restrides else "false", f"at::native::OutDtype::{allowed}"]
        if restrides and form == "out":
            policy.append("true")
        if entry.get("out_check") and (form == "out" or entry.get("inplace_alias_ok")):
            text += f"  at::shape::{entry.get('out_check')}({shape_args}, {', '.join(targets)});\n"
        if laid_out:
            first = "&spec" if count == 1 else "spec.data()"
            text += f"  at::shape::{laid_out}({{{', '.join('&' + t for t in targets)}}}, {first});\n"
        if form == "inplace" and entry.get("inplace_alias_ok"):
            tensors = [t for t in tensors if t != "&self"]
        kind = "Inplace" if form == "inplace" else "Out"
        if len(targets) > 1:
            text += (
                f"  at::native::OutArgument::check({cstring(schema.name)}, {{{', '.join('&' + t for t in targets)}}}, spec, "
                f"{{at::native::OutArgument::Form::{kind}, {', '.join(policy)}}});\n"
            )
        for i, (target, spec) in enumerate(zip(targets, specs)):
            text += (
                f"  at::native::OutArgument out{i}_({cstring(schema.name)}, {target}, {spec}, "
                f"{{at::native::OutArgument::Form::{kind}, {', '.join(policy)}}}, {{{', '.join(tensors)}}}"
                + (f", {lists[0]}" if lists else "") + ");\n"
            )
        text += run.format(outs=", ".join(f"out{i}_.tensor()" for i in range(len(targets))))
        text += "".join(f"  out{i}_.commit();\n" for i in range(len(targets)))
        result = targets[0] if len(targets) == 1 else "{" + ", ".join(targets) + "}"
        return text + f"  return {result};\n"

    @staticmethod
    def _out_dtype(entry: Entry, otherwise: str) -> str:
        """Which dtypes outputs may have: an enumerator of OutDtype, `otherwise` where the entry does not say."""
        return {"exact": "Exact", "cast": "Cast", "any": "Any"}.get(str(entry.get("out_dtype")), otherwise)

    def copy_out_body(
        self, entry: Entry, form: str, function: str, sparse: bool = False, arguments: list[str] | None = None,
    ) -> str:
        """In-place and out forms of operators that exist as a function only: compute, then copy into place. Where there are
        fewer outputs than results, the first results."""
        schema = entry.forms[form]
        args = ", ".join(arguments or call_arguments(entry.schema))
        targets = ["self"] if form == "inplace" else [a.name for a in schema.out_arguments]
        # What the function returns has a history where an input has one: an out form is not recorded.
        refuses = form == "out" and entry.is_composite and entry.get("out_grad") != "unchecked"
        without_grad = lambda tensors: "".join(f"  at::native::check_out_without_grad({cstring(schema.name)}, {t});\n" for t in tensors if refuses)
        check = without_grad(targets)
        if form == "out" and entry.get("out_check"):
            check += f"  at::shape::{entry.get('out_check')}({', '.join([cstring(schema.name)] + call_arguments(entry.schema) + targets)});\n"
        allowed = self._out_dtype(entry, "Cast")
        exact = allowed == "Exact"
        unrecorded = exact and entry.get("out_grad") == "unchecked"
        given = f", at::native::OutDtype::{allowed}" if (unrecorded or allowed == "Any") and form == "out" and not sparse else ""
        call = "copy_into_self" if form == "inplace" else "write_exact_out" if exact and not unrecorded else "copy_into_out"
        if sparse:
            call = "write_sparse"
        if not schema.returns:
            made = f"{function}({args})" if len(entry.schema.returns) == 1 else f"std::get<0>({function}({args}))"
            return f"  at::native::write_list_out({cstring(schema.name)}, {targets[0]}, {made});\n"
        values = ["result"] if len(entry.schema.returns) == 1 else [f"::std::get<{i}>(result)" for i in range(len(targets))]
        text = check + f"  auto result = {function}({args});\n" + without_grad(values)
        if len(targets) > 1 and not sparse:
            # All of them, before the first is written.
            specs = ", ".join(f"at::TensorSpec::like({v}, {v}.sizes())" for v in values)
            text += (
                f"  at::native::OutArgument::check({cstring(schema.name)}, {{{', '.join('&' + t for t in targets)}}}, {{{specs}}}, "
                f"{{at::native::OutArgument::Form::Out, false, at::native::OutDtype::{allowed}}});\n"
            )
        for target, value in zip(targets, values):
            text += f"  at::native::{call}({cstring(schema.name)}, {target}, {value}{given});\n"
        return text + f"  return {targets[0] if len(targets) == 1 else '{' + ', '.join(targets) + '}'};\n"

    def _copy_of_call(self, entry: Entry, form: str) -> str:
        """An out form that copies what the functional operator gives."""
        return self.copy_out_body(entry, form, f"at::_ops::{entry.schema.unambiguous_name}::call", arguments=[a.name for a in inputs(entry.schema)])

    def foreach_body(self, entry: Entry, form: str) -> str:
        """The expression of the entry for each element of its lists; list names stand for the element in it."""
        if form == "out":
            return self._copy_of_call(entry, form)
        lists = [a for a in entry.schema.arguments if a.type.is_list and a.type.base in ("Tensor", "Scalar")]
        sizes = {base: ", ".join(f"{a.name}.size()" for a in lists if a.type.base == base) for base in ("Tensor", "Scalar")}
        params = ", ".join(f"const at::{a.type.base}& {a.name}" for a in lists)
        elements = ", ".join(f"{a.name}[i]" for a in lists)
        text = f"  const size_t count = at::native::foreach_count({{{sizes['Tensor']}}}, {{{sizes['Scalar']}}});\n"
        multi_tensor = self._multi_tensor_call(entry, form)
        if form == "inplace":
            call = f"[&]({params}) {{ {entry.get('foreach')['inplace']}; }}({elements});"
            others = {base: ", ".join(a.name for a in lists[1:] if a.type.base == base) for base in ("Tensor", "Scalar")}
            text = text.replace("const size_t count = ", "[[maybe_unused]] const size_t count = ")
            return text + multi_tensor + (
                f"  at::native::foreach_in_place({lists[0].name}, {{{others['Tensor']}}}, {{{others['Scalar']}}}, [&](size_t i) {{\n"
                f"    {call}\n  }});\n")
        call = f"[&]({params}) -> at::Tensor {{ return {entry.get('foreach')['function']}; }}({elements})"
        text += f"  std::vector<at::Tensor> result;\n  result.reserve(count);\n{multi_tensor}"
        return text + f"  for (size_t i = 0; i < count; ++i) {{\n    result.push_back({call});\n  }}\n  return result;\n"

    @staticmethod
    def _multi_tensor_call(entry: Entry, form: str) -> str:
        """The statement that does all tensors of the lists in one launch, where the entry names a function for that: of the
        lists of tensors, and of the scalars or the tensor beside them."""
        function = entry.get("foreach").get("multi_tensor")
        if not function:
            return ""
        arguments = inputs(entry.schema)
        lists = [a.name for a in arguments if a.type.base == "Tensor" and a.type.is_list]
        scalars = [a.name for a in arguments if a.type.base == "Scalar" or a.type.is_tensor] or ["{}"]
        results, left = ("nullptr", "") if form == "inplace" else ("&result", " result")
        return (
            f"  if (at::native::multi_tensor_foreach(at::native::ForeachFunction::{function}, {{{', '.join(lists)}}}, {scalars[0]}, {results})) "
            f"return{left};\n")

    # ---- all wrappers of an entry -------------------------------------------
    def backend(self, entry: Entry, backend: str) -> list[Wrapper]:
        """Wrappers for one backend."""
        ref = entry.kernels.get(backend)
        if ref is None:
            return []
        key = {"cpu": "CPU", "cuda": "CUDA", "sparse": "SparseCPU", "sparse_csr": "SparseCsrCPU"}[backend]
        guard = "  const at::native::cuda::OperatorGuard device_guard({}, at::native::device_of_arguments({}));\n"
        result = []
        for form, schema in entry.forms.items():
            prefix = ""
            if backend == "cuda":
                tensors = [a.name for a in schema.arguments if a.type.is_tensor and not a.type.optional]
                lists = [a.name for a in schema.arguments if a.type.base == "Tensor" and a.type.is_list and not a.type.elem_optional]
                lead = tensors[0] if tensors else f"{lists[0]}[0]" if lists else ""
                prefix = guard.format(cstring(schema.full_name), lead) if lead else ""
            if ref.kind == "pointwise" and backend == "cpu" and form == "functional":
                if plain := self.plain_wrapper(entry, schema, key, self._run_pointwise(entry, ref, backend)):
                    result.append(plain)
                    continue
            body = self._backend_body(entry, form, ref, backend)
            if body is not None:
                result.append(self.wrapper(schema, key, prefix + body))
        return result

    def _run_pointwise(self, entry: Entry, ref: KernelRef, backend: str) -> str:
        extra = "".join(f", {cpp.from_sym(a)}" for a in self.pointwise_arguments(entry))
        return f"  {self._invoke(entry, ref, backend, self.kernel_name(entry, ref))}(iter{extra});\n"

    def _backend_body(self, entry: Entry, form: str, ref: KernelRef, backend: str) -> str | None:
        if self._is_copied_pointwise(entry, form, ref):
            return self.copy_out_body(entry, form, f"at::_ops::{entry.name}::call")
        if ref.kind == "pointwise" and backend == "cuda":
            return self.pointwise_body(entry, form, self._cuda_pointwise(entry, ref), converts=True)
        if ref.kind in ("pointwise", "iter"):
            return self.pointwise_body(entry, form, self._run_pointwise(entry, ref, backend), converts=ref.manner == "converting")
        if ref.kind == "shaped":
            args = ", ".join(call_arguments(entry.schema) + ["{outs}"])
            return self.shaped_body(entry, form, f"  {self._invoke(entry, ref, backend, ref.name)}({args});\n")
        schema = entry.forms[form]
        if ref.kind == "refused":
            unused = "".join(f"  static_cast<void>({a.name});\n" for a in schema.arguments[1:])
            return f"{unused}  at::native::refuse_sparse({cstring(schema.full_name)}, {schema.arguments[0].name});\n"
        if ref.kind in ("values", "linear"):
            return self._on_values(entry, form, ref.kind)
        number = list(entry.forms).index(form)
        if number <= len(ref.others):
            args = ", ".join(cpp.from_sym(a) for a in schema.arguments)
            return f"  return at::native::{(ref.name, *ref.others)[number]}({args});\n"
        return self.copy_out_body(entry, form, f"at::native::{ref.name}", backend in SPARSE_BACKENDS)

    @staticmethod
    def _is_copied_pointwise(entry: Entry, form: str, ref: KernelRef) -> bool:
        """Is this the out form of a pointwise operator that takes the result's dtype alone? The loop would cast."""
        return form == "out" and ref.kind in ("pointwise", "iter") and entry.get("out_dtype") == "exact"

    def _on_values(self, entry: Entry, form: str, kind: str) -> str:
        """A sparse tensor's form of an operator that keeps zeros: the operator on the values, coalesced unless it is linear."""
        schema = entry.forms[form]
        rest = "".join(f", {a.name}" for a in inputs(schema)[1:])
        target = entry.forms["inplace" if form == "inplace" else self.primary(entry)].unambiguous_name
        form_of = {"inplace": "_in_place", "out": "_out"}.get(form, "")
        names = "self, out" if form == "out" else "self"
        head = "(at::Tensor& values) -> at::Tensor&" if form == "inplace" else "(const at::Tensor& values)"
        return (
            f"  return at::native::map_values{form_of}({cstring(schema.name)}, {names}, at::native::ValuesMap::{kind.capitalize()},\n"
            f"      [&]{head} {{ return at::_ops::{target}::call(values{rest}); }});\n"
        )

    def _cuda_pointwise(self, entry: Entry, ref: KernelRef) -> str:
        """The statement that runs a functor on the GPU; its kernels are shared by all entries that name it."""
        extra = "".join(f", {cpp.from_sym(a)}" for a in self.pointwise_arguments(entry))
        return (
            f"  at::native::cuda::run_pointwise({cstring(entry.schema.name)}, iter, "
            f"at::native::cuda::dtype_bits<{', '.join(entry.dtypes)}>,\n"
            f"      [&](const at::native::cuda::PointwisePlan& plan) {{ at::native::cuda::launch_{ref.name}(plan{extra}); }});\n"
        )

    def kernel_name(self, entry: Entry, ref: KernelRef) -> str:
        return f"{entry.schema.unambiguous_name}_pointwise" if ref.kind == "pointwise" else ref.name

    def is_isa(self, ref: KernelRef) -> bool:
        return ref.kind == "pointwise" or self.sources.is_isa_kernel(ref.name)

    def _invoke(self, entry: Entry, ref: KernelRef, backend: str, function: str) -> str:
        if backend == "cuda":
            return f"at::native::cuda::{function}"
        return f"{function}_table[at::native::cpu_isa_level()]" if self.is_isa(ref) else f"at::native::{function}"

    def primary(self, entry: Entry) -> str:
        return next(iter(entry.forms))

    def generic(self, entry: Entry) -> list[Wrapper]:
        """Meta, composite and any-backend wrappers."""
        result: list[Wrapper] = []
        kinds = {r.kind for b, r in entry.kernels.items() if b not in SPARSE_BACKENDS}
        for form, schema in entry.forms.items():
            if entry.is_composite or entry.is_explicit:
                result.append(self._whole(entry, form, schema))
            elif "meta" in entry.kernels:
                call = f"at::native::{entry.kernels['meta'].name}({', '.join(cpp.from_sym(a) for a in schema.arguments)})"
                plain = all(r.type.is_tensor and r.alias is None for r in schema.returns) and schema.returns
                body = f"  return at::native::on_meta({cstring(schema.name)}, {call});\n" if plain else f"  return {call};\n"
                if form != self.primary(entry):
                    body = self.copy_out_body(entry, form, f"at::native::{entry.kernels['meta'].name}")
                result.append(self.wrapper(schema, "Meta", body))
            elif kinds & {"pointwise", "iter"}:
                copied = any(self._is_copied_pointwise(entry, form, r) for r in entry.kernels.values())
                body = self.copy_out_body(entry, form, f"at::_ops::{entry.name}::call") if copied else self.pointwise_body(entry, form, "")
                result.append(self.wrapper(schema, "Meta", body))
            elif "shaped" in kinds:
                expect_meta = f"  at::native::expect_meta({cstring(schema.name)}, {{{{{{outs}}}}}});\n"
                result.append(self.wrapper(schema, "Meta", self.shaped_body(entry, form, expect_meta)))
            if entry.kernels and self._needs_backend_select(schema):
                result.append(self._backend_select(schema))
            if kinds & {"pointwise", "iter", "shaped"} and "out" in entry.forms and form != "out":
                result.append(self._through_out(entry, form, schema))
        return result

    @staticmethod
    def _needs_backend_select(schema: Schema) -> bool:
        """Factories: no tensor says where to go, the options do."""
        return cpp.options_span(schema) is not None and not any(a.type.is_tensor_like for a in schema.arguments)

    def _backend_select(self, schema: Schema) -> Wrapper:
        args = "".join(f", {a.name}" for a in schema.arguments)
        body = (
            f"  return at::_ops::{schema.unambiguous_name}::redispatch("
            f"at::native::backend_of_options(dtype, layout, device){args});\n"
        )
        return self.wrapper(schema, "BackendSelect", body)

    def _through_out(self, entry: Entry, form: str, schema: Schema) -> Wrapper:
        """Functional and in-place forms for a backend that registers the out form alone."""
        out = entry.forms["out"]
        args = ", ".join(a.name for a in inputs(entry.schema))
        if overload_name := entry.get("tensor_overload"):
            name, overload = str(overload_name).split(".")
            target = f"{name}{'_' if form == 'inplace' else ''}_{overload}"
            numbers = [f"at::native::wrapped_scalar_tensor({a.name})" if a.name in entry.operands and not a.type.is_tensor
                       else a.name for a in inputs(entry.schema)]
            body = f"  return at::_ops::{target}::call({', '.join(numbers)});\n"
            return self.wrapper(schema, "CompositeExplicitAutogradNonFunctional", body)
        call = f"  at::_ops::{out.unambiguous_name}::call({args}, {{}});\n"
        if entry.is_pointwise:
            body = self.pointwise_body(entry, form, "  at::Tensor out = iter.output();\n" + call.format("out"))
        elif form == "inplace":
            body = self.shaped_body(entry, form, "  at::Tensor target = {outs};\n" + call.format("target"))
        else:
            body = self.shaped_body(entry, form, call.format("{outs}"))
        return self.wrapper(schema, "CompositeExplicitAutogradNonFunctional", body)

    def _whole(self, entry: Entry, form: str, schema: Schema) -> Wrapper:
        if "foreach" in entry.raw:
            return self.wrapper(schema, "CompositeImplicitAutograd", self.foreach_body(entry, form))
        if entry.derived_from:
            body = self._copy_of_call(entry, form) if self.derived.calls_itself(entry, form) else self.derived.body(entry, form)
            return self.wrapper(schema, "CompositeImplicitAutograd", body)
        if entry.is_refused:
            return self._refused(entry, schema)
        word = "composite" if entry.is_composite else "explicit"
        key = "CompositeImplicitAutograd" if entry.is_composite else "CompositeExplicitAutograd"
        function = entry.get(word) if form == self.primary(entry) else entry.get(f"{form}_{word}")
        if function:
            body = f"  return at::native::{function}({', '.join(cpp.from_sym(a) for a in schema.arguments)});\n"
        else:
            body = self.copy_out_body(entry, form, f"at::native::{entry.get(word)}")
        return self.wrapper(schema, key, body)

    @staticmethod
    def _refused(entry: Entry, schema: Schema) -> Wrapper:
        name = f"{schema.unambiguous_name}_CompositeImplicitAutograd"
        types = ", ".join(p.type for p in cpp.dispatcher_params(schema))
        call = f"at::native::refuse({cstring(schema.full_name)}, {cstring(entry.get('refuse'))});"
        text = f"{cpp.return_type(schema)} {name}({types}) {{\n  {call}\n}}\n"
        return Wrapper(schema.unambiguous_name, "CompositeImplicitAutograd", name, text)

    # ---- declarations of what wrappers call ----------------------------------
    def declarations(self, entries: list[Entry], backend: str | None) -> str:
        """Prototypes of kernels (`backend` given) or of composite and explicit functions."""
        native: dict[str, None] = {}
        isa: dict[str, None] = {}
        cuda: dict[str, None] = {}
        tables: dict[str, None] = {}
        for entry in entries:
            if backend is None:
                self._declare_whole(entry, native)
            backends = SPARSE_BACKENDS if backend == "sparse" else [backend or "meta"]
            refs = [entry.kernels[b] for b in backends if b in entry.kernels]
            for ref in refs:
                if ref.kind in SPARSE_KINDS:
                    continue
                if ref.kind == "raw":
                    for name, form in zip((ref.name, *ref.others), entry.forms.values()):
                        native[self._prototype(form, name)] = None
                    continue
                name, params = self._kernel_prototype(entry, ref)
                if backend == "cuda" and ref.kind == "pointwise":
                    cuda[f"void launch_{ref.name}({', '.join(self._launch_parameters(entry))});"] = None
                elif backend == "cuda":
                    cuda[f"void {name}({params});"] = None
                elif self.is_isa(ref):
                    isa[f"void {name}({params});"] = None
                    pointers = ", ".join(f"at::native::{v}::{name}" for v in ISA_LEVELS)
                    tables[f"constexpr void (*{name}_table[])({params}) = {{{pointers}}};"] = None
                else:
                    native[f"void {name}({params});"] = None
        text = ""
        if native:
            text += "namespace at::native {\n" + "\n".join(native) + "\n} // namespace at::native\n"
        if cuda:
            text += "namespace at::native::cuda {\n" + "\n".join(cuda) + "\n} // namespace at::native::cuda\n"
        if isa:
            for level in ISA_LEVELS:
                text += f"namespace at::native::{level} {{\n" + "\n".join(isa) + f"\n}} // namespace at::native::{level}\n"
        if tables:
            text += "namespace {\n" + "\n".join(tables) + "\n} // namespace\n"
        return text

    def _prototype(self, schema: Schema, name: str) -> str:
        return f"{cpp.return_type(schema)} {name}({', '.join(p.type for p in cpp.kernel_params(schema))});"

    def _declare_whole(self, entry: Entry, native: dict[str, None]) -> None:
        for word in ("composite", "explicit"):
            if word not in entry.raw:
                continue
            native[self._prototype(entry.forms[self.primary(entry)], entry.get(word))] = None
            for form in ("inplace", "out"):
                name = entry.get(f"{form}_{word}")
                if name and form in entry.forms:
                    native[self._prototype(entry.forms[form], name)] = None

    def _kernel_prototype(self, entry: Entry, ref: KernelRef) -> tuple[str, str]:
        if ref.kind == "shaped":
            params = [kernel_argument(a) for a in inputs(entry.schema)]
            params += ["const at::TensorBase&"] * len(entry.schema.returns)
            return ref.name, ", ".join(params)
        params = ["at::PointwiseCall&" if ref.kind == "pointwise" else "at::TensorIteratorBase&"] + [
            cpp.argument_type(a.type, symint=False) for a in self.pointwise_arguments(entry)
        ]
        return self.kernel_name(entry, ref), ", ".join(params)

    # ---- files ----------------------------------------------------------------
    def file(self, entries: list[Entry], backend: str | None) -> str:
        """One source with the wrappers of `entries`: of a backend ("sparse": of all sparse layouts), or the backend-free ones
        when None."""
        if backend == "cuda":
            entries = [e for e in entries if "cuda" in e.kernels]
        if backend == "sparse":
            entries = [e for e in entries if e.kernels.keys() & set(SPARSE_BACKENDS)]
        backends = SPARSE_BACKENDS if backend == "sparse" else (backend,)
        wrappers = [w for e in entries for b in backends for w in (self.backend(e, b) if b else self.generic(e))]
        if not wrappers:
            return ""
        if backend == "sparse":
            wrappers.sort(key=lambda w: w.op)  # rows for one operator stand together
        headers, shapes = self.shapes.declarations(entries)
        if backend is None:
            headers += self.derived.headers(entries)
        if any(e.get("tensor_overload") for e in entries):
            headers.append("aten/core/ScalarOps.h")
        includes = "".join(f"#include <{h}>\n" for h in headers)
        bases = sorted({s.name for e in entries for s in e.forms.values()})
        ops = "".join(f"#include <aten/ops/{b}_ops.h>\n" for b in bases)
        if any(s.is_out and not s.returns for e in entries for s in e.forms.values()):
            ops += "#include <aten/native/composite/list_out.h>\n"
        if any(e.is_refused for e in entries):
            ops += "#include <aten/native/support/refuse.h>\n"
        if any("foreach" in e.raw for e in entries):
            ops += "#include <aten/Functions.h>\n#include <aten/native/explicit/foreach.h>\n"
        definitions = "\n".join(w.text for w in wrappers)
        origins = {s.unambiguous_name: e.where for e in entries for s in e.forms.values()}
        rows = "\n".join(
            f"    {{at::_ops::{w.op}::name, at::_ops::{w.op}::overload_name, c10::DispatchKey::{key}, "
            f"c10::impl::builtin_kernel<&{w.name}>(), {cstring(origins[w.op])}}},"
            for w in wrappers for key in SPARSE_KEYS.get(w.key, (w.key,))
        )
        if backend == "sparse":
            ops += "#include <aten/native/sparse/values.h>\n"
        if any(e.get("inplace_expanded") for e in entries):
            ops += "#include <aten/iterator/MemoryOverlap.h>\n#include <aten/native/support/expanded_targets.h>\n"
        if any(self._lay_out_result(e) for e in entries):
            ops += "#include <aten/native/support/result_layout.h>\n"
        table = {"cpu": "kCpuKernels", "cuda": "kCudaKernels", "sparse": "kSparseKernels", None: "kGenericKernels"}[backend]
        table += f"_{wrappers[0].op}"
        own_headers = "#include <aten/native/support/cpu_isa.h>"
        if backend == "cuda":
            own_headers = "\n".join(f"#include <aten/native/cuda/{name}.h>" for name in ("operator_errors", "operator_guard", "pointwise_run"))
        what = {"cpu": "CPU kernels", "cuda": "CUDA kernels", "sparse": "Kernels for sparse tensors", None: "Meta, composite and any-backend kernels"}[backend]
        return f"""// {what} of the operators in {", ".join(sorted({e.path.name for e in entries}))}.
{self._kernel_paths(entries, backend)}
{ops}{includes}
#include <aten/core/dispatch/BuiltinRegistration.h>
#include <aten/core/symint_conversions.h>
#include <aten/core/ScalarOps.h>
#include <aten/native/support/OutArgument.h>
#include <aten/native/support/backend_select.h>
#include <aten/native/composite/exact_out.h>
#include <aten/iterator/TensorIterator.h>
{own_headers}
#include <c10/core/DeviceGuard.h>

{shapes}{self.declarations(entries, backend)}
namespace {{

{definitions}
constinit const c10::impl::BuiltinKernelRow {table}[] = {{
{rows}
}};
const c10::impl::BuiltinKernels {table}Registered({table});

}} // namespace
"""


    def _kernel_paths(self, entries: list[Entry], backend: str | None) -> str:
        lines = []
        for entry in entries:
            path = self._kernel_path(entry, backend or "meta")
            lines.append(f"//   {entry.schema.full_name}: {entry.where}" + (f", {path}" if path else ""))
        return "\n".join(lines)

    def _kernel_path(self, entry: Entry, backend: str) -> str | None:
        ref = entry.kernels.get(backend)
        if ref is None:
            return None
        return self.sources.functor_header(ref.name, entry) if ref.kind == "pointwise" else self.sources.path_of(ref.name, backend)

    def pointwise_stubs(self, entries: list[Entry]) -> str:
        """A source compiled once per instruction set that instantiates the functors of `entries`."""
        chosen = [e for e in entries if e.kernels.get("cpu") and e.kernels["cpu"].kind == "pointwise"]
        if not chosen:
            return ""
        headers = sorted({self.sources.functor_header(e.kernels["cpu"].name, e) for e in chosen})
        includes = "\n".join(f"#include <{h}>" for h in headers)
        bodies = []
        for entry in chosen:
            ref = entry.kernels["cpu"]
            args = self.pointwise_arguments(entry)
            params = "".join(f", {cpp.argument_type(a.type, symint=False)} {a.name}" for a in args)
            names = "".join(f", {a.name}" for a in args)
            bodies.append(
                f"// {entry.schema.full_name}: {entry.where}\n"
                f"void {self.kernel_name(entry, ref)}(PointwiseCall& call{params}) {{\n"
                f"  cpu_pointwise<{ref.name}>({cstring(entry.schema.name)}, call, TypeList<{', '.join(entry.dtypes)}>{{}}{names});\n}}"
            )
        text = "\n\n".join(bodies)
        return f"""// Pointwise kernels of {", ".join(sorted({e.path.name for e in entries}))}; compiled once for each instruction set.
{includes}

#include <aten/native/cpu/pointwise_loop.h>

namespace at::native {{
inline namespace CPU_CAPABILITY {{

{text}

}} // namespace CPU_CAPABILITY
}} // namespace at::native
"""

    # ---- pointwise kernels of the CUDA plugin ------------------------------------
    def _launch_parameters(self, entry: Entry) -> list[str]:
        return ["const PointwisePlan&"] + [cpp.argument_type(a.type, symint=False) for a in self.pointwise_arguments(entry)]

    def cuda_pointwise_sources(self, entries: list[Entry]) -> dict[str, str]:
        """Sources, by name, that instantiate each functor once for the dtypes of all entries that name it."""
        users: dict[str, list[Entry]] = {}
        for entry in entries:
            ref = entry.kernels.get("cuda")
            if ref is not None and ref.kind == "pointwise":
                users.setdefault(ref.name, []).append(entry)
        headers: dict[str, list[str]] = {}
        for functor, members in users.items():
            if len({tuple(self._launch_parameters(e)) for e in members}) != 1:
                raise members[-1].fail("kernel", f"'{functor}' is named by entries with other arguments")
            headers.setdefault(self.sources.functor_header(functor, members[0]), []).append(functor)
        result: dict[str, str] = {}
        for header, functors in headers.items():
            parts: list[list[str]] = [[]]
            weight = 0
            for functor in functors:
                cost = len(self._union(users[functor]))
                if parts[-1] and weight + cost > CUDA_DTYPES_PER_SOURCE:
                    parts.append([])
                    weight = 0
                parts[-1].append(functor)
                weight += cost
            for i, part in enumerate(parts):
                result[f"pointwise_{Path(header).stem}_{i}"] = self._cuda_pointwise_source(header, part, users)
        return result

    @staticmethod
    def _union(entries: list[Entry]) -> list[str]:
        return list(dict.fromkeys(t for e in entries for t in e.dtypes))

    @staticmethod
    def _may_convert(entry: Entry) -> bool:
        """May operands have other dtypes than the functor's? One tensor that gives one of its own dtype may not."""
        return len(entry.operands) > 1 or entry.get("result", "common") != "common"

    def _cuda_pointwise_source(self, header: str, functors: list[str], users: dict[str, list[Entry]]) -> str:
        bodies = []
        for functor in functors:
            members = users[functor]
            args = self.pointwise_arguments(members[0])
            params = "".join(f", {cpp.argument_type(a.type, symint=False)} {a.name}" for a in args)
            names = "".join(f", {a.name}" for a in args)
            kernels = "Long" if any(e.kernels["cuda"].manner == "long" for e in members) else "Mixed" if any(map(self._may_convert, members)) else "Uniform"
            chosen = functor if kernels == "Mixed" else f"{functor}, Kernels::{kernels}"
            bodies.append(
                f"// {', '.join(e.schema.full_name for e in members)}\n"
                f"void launch_{functor}(const PointwisePlan& plan{params}) {{\n"
                f"  cuda_pointwise<{chosen}>(plan, TypeList<{', '.join(self._union(members))}>{{}}{names});\n}}"
            )
        text = "\n\n".join(bodies)
        return f"""// CUDA kernels of functors in {header}.
#include <{header}>

#include <aten/native/cuda/pointwise_loop.cuh>

namespace at::native::cuda {{

{text}

}} // namespace at::native::cuda
"""
