#!/usr/bin/env python3
"""Wrong entries stop the generator with file, line, field and what is wrong: test/tools/entry_errors.py"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools" / "codegen"))

from entries import EntryError, load_entries  # noqa: E402
from generate import generated_files  # noqa: E402
from sources import SourceIndex, definitions_in  # noqa: E402

# What is wrong, the entry, and words of the message.
ENTRIES = [
    ("an unknown field", "- op: f(Tensor self) -> Tensor\n  composite: relu6\n  tags: [x]\n", ["field 'tags'", "unknown field; allowed: alias"]),
    ("two ways to run", "- op: f(Tensor self) -> Tensor\n  composite: relu6\n  alias: relu\n", ["exactly one of kernel, composite", "'alias'"]),
    ("a function that nobody defines", "- op: f(Tensor self) -> Tensor\n  composite: no_such_function\n", ["no function 'no_such_function'"]),
    ("a kernel of another backend", "- op: f(Tensor self) -> Tensor\n  kernel: {cpu: raw repeat_interleave_cuda}\n  reference: {none: x}\n",
     ["field 'kernel'", "'repeat_interleave_cuda' is defined for cpu"]),
    ("an alias of nothing", "- op: f(Tensor self) -> Tensor\n  alias: no_such\n", ["field 'alias'", "no operator 'no_such'"]),
    ("an alias with other arguments", "- op: g(Tensor self) -> Tensor\n  composite: relu6\n- op: f(Tensor self, int n) -> Tensor\n  alias: g\n",
     ["field 'alias'", "has other arguments"]),
    ("an alias of a form that is missing", "- op: g(Tensor self) -> Tensor\n  composite: relu6\n- op: f(Tensor self) -> Tensor\n  variants: [out]\n  alias: g\n",
     ["has no form 'out'"]),
    ("a shape function with other parameters",
     "- op: f(Tensor self, float p) -> Tensor\n  shape: flip\n  kernel: {cpu: flip_kernel}\n  reference: {none: x}\n",
     ["field 'shape'", "no flip(const char*, const TensorBase&, double)", "aten/shape/"]),
    ("a shape function with another result",
     "- op: f(Tensor self, int[] dims) -> (Tensor, Tensor)\n  shape: flip\n  kernel: {cpu: flip_kernel}\n  reference: {none: x}\n",
     ["returns TensorSpec; expected std::array<at::TensorSpec, 2>"]),
    ("no reference", "- op: f(Tensor self, int[] dims) -> Tensor\n  shape: flip\n  kernel: {cpu: flip_kernel}\n", ["field 'reference'", "{none: REASON}"]),
    ("a layout that is a word", "- op: f(Tensor self) -> Tensor\n  composite: relu6\n  layout: rows\n", ["field 'layout'", "{result: FUNCTION"]),
    ("a forward without a namespace", "- op: f(Tensor self) -> Tensor\n  composite: relu6\n  forward: [function]\n",
     ["field 'forward'", "begins with no namespace", "fft, linalg, special"]),
    ("a forward of no form", "- op: fft_f(Tensor self) -> Tensor\n  composite: relu6\n  forward: [out]\n",
     ["field 'forward'", "'variants' has no such form"]),
    ("a forward with another argument", "- op: fft_f(Tensor self) -> Tensor\n  composite: relu6\n  forward: [\"f(Tensor x) -> Tensor\"]\n",
     ["field 'forward'", "'x' is no parameter of the operator; parameters: self"]),
    ("a forward that leaves out too much", "- op: fft_f(Tensor self, int n) -> Tensor\n  composite: relu6\n  forward: [\"f(Tensor self) -> Tensor\"]\n",
     ["field 'forward'", "leaves 'n' out, which has no default"]),
    ("a mark of CUDA on the CPU",
     "- op: f(Tensor self) -> Tensor\n  shape: pointwise\n  dtypes: float\n  kernel: {cpu: long pointwise<Sigmoid>}\n  reference: x\n", ["only cuda tells long ones apart"]),
]
SOURCE = """
namespace at::native {
namespace {
void hidden(int a) { if (a) {} }
} // namespace
static void own_file(int a) {}
void declared(int a);
struct Options { int n = 0; };
template <class T> void any(const T& t) { "}"; }
// void in_a_comment() {}
TORCH_API std::tuple<Tensor, Tensor> found(const Tensor& self,
    IntArrayRef dims = {}, const char* text = "a{b") {
  const char c = '{';
}
inline namespace CPU_CAPABILITY {
void kernel(const TensorBase& self) {}
} // namespace CPU_CAPABILITY
} // namespace at::native
"""


def message_of(text: str, sources: SourceIndex) -> str:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "wrong.yaml"
        path.write_text(text)
        try:
            generated_files(load_entries([path]), sources)
        except EntryError as error:
            return str(error)
    return "no error"


def main() -> int:
    failures = []
    sources = SourceIndex(ROOT)
    for what, text, words in ENTRIES:
        message = message_of(text, sources)
        missing = [w for w in ["wrong.yaml:", *words] if w not in message]
        if missing:
            failures.append(f"{what}: the message lacks {missing}: {message}")
    found = {d.name: d for d in definitions_in(SOURCE, "a.cpp")}
    if set(found) != {"Options", "any", "found", "kernel"}:
        failures.append(f"definitions found: {sorted(found)}")
    elif (found["found"].parameters, found["found"].result, found["found"].line) != (
            ["constTensor&", "IntArrayRef", "constchar*"], "tuple<Tensor,Tensor>", 11):
        failures.append(f"the definition of found: {found['found']}, {found['found'].parameters}, {found['found'].result}")
    elif found["kernel"].namespace != "at::native::CPU_CAPABILITY":
        failures.append(f"the namespace of kernel: {found['kernel'].namespace}")
    for failure in failures:
        print(f"FAILED  {failure}")
    print(f"{len(ENTRIES)} wrong entries, {len(failures)} problems")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
