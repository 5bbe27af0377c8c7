#!/usr/bin/env python3
"""tools/dev/where prints the true places of all operators: test/tools/where_places.py BUILD_FOLDER"""

from __future__ import annotations

import functools
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
WHERE = ROOT / "tools" / "dev" / "where"
sys.path.insert(0, str(ROOT / "tools" / "codegen"))

from entries import SPARSE_KINDS, Entry, load_entries  # noqa: E402

# Operator, the schema to look at, and what must be printed for it: row -> words of the line that the place points to,
# or of the row itself where it names no line.
EXPECTED = {
    "sigmoid": ("sigmoid(", {  # a pointwise functor
        "entry": "- op: sigmoid(Tensor self)", "shape": "::build_pointwise(", "cpu": "struct Sigmoid", "cuda": "struct Sigmoid",
        "gradient": "sigmoid_backward", "inplace": "sigmoid_(", "out": "sigmoid.out("}),
    "add": ("add.Tensor(", {  # with a parameter
        "entry": "- op: add.Tensor(", "shape": "::build_pointwise(", "cpu": "struct ", "gradient": "self"}),
    "sum": ("sum.dim_IntList(", {  # a kernel with a shape function
        "entry": "- op: sum.dim_IntList(", "shape": "sum", "cpu": "sum_", "gradient": "sum_backward("}),
    "normal_": ("normal_(", {"entry": "- op: normal_(", "cpu": "normal_cpu(", "meta": "normal_meta("}),  # a raw kernel
    "transpose": ("transpose.int(", {"entry": "- op: transpose.int(", "explicit": "transpose", "gradient": "transpose"}),  # a view
    "matmul": ("matmul(", {"entry": "- op: matmul(", "composite": "matmul("}),  # made of other operators
    "absolute": ("absolute(", {"entry": "- op: absolute(", "alias": "abs (aten/ops/"}),  # a second name
    "rand": ("rand(", {"entry": "- op: rand(", "explicit": "rand("}),  # a factory
    "cat": ("cat(", {"entry": "- op: cat(", "shape": "cat", "cpu": "cat"}),  # a list of tensors
}
MOST_TESTS = 8  # rows of one operator: more hide the one that is looked for


def blocks(text: str) -> dict[str, list[tuple[str, str]]]:
    """Operator schema -> (row name, value)."""
    found = {}
    for block in text.strip("\n").split("\n\n"):
        schema, *rows = block.strip("\n").splitlines()
        found[schema] = [(line[2:15].strip(), line[15:]) for line in rows]
    return found


@functools.cache
def lines_of(path: str) -> list[str]:
    return (ROOT / path).read_text().splitlines()


def pointed_at(value: str) -> str:
    """The line of source at `path:line`, or the value itself."""
    match = re.fullmatch(r"([\w/.+-]+):(\d+)", value)
    return lines_of(match[1])[int(match[2]) - 1] if match else value


def problems(found: list[tuple[str, str]], wanted: dict[str, str]) -> list[str]:
    result = []
    for name, words in wanted.items():
        values = [value for row, value in found if row == name]
        if not any(words in pointed_at(value) for value in values):
            result.append(f"no row '{name}' leads to '{words}'; got {values}")
    return result


def not_defined_at(value: str, name: str) -> str:
    """Why `path:line` does not define the function or struct, or nothing."""
    match = re.fullmatch(r"([\w/.+-]+):(\d+)", value)
    if not match:
        return f"is no place of {name}: {value}"
    lines, number = lines_of(match[1]), int(match[2])
    head = "\n".join(lines[number - 1 : number + 40])
    if not re.match(rf"([A-Za-z][^\n=]*(?<!\w))?{re.escape(name)}\b", head):
        return f"{value} does not begin with {name}: {lines[number - 1]}"
    head = re.sub(r"\([^()]*\)", "", re.sub(r"=\s*\{\}|//.*", "", head))
    if not re.match(r"[^;{]*\{", re.sub(r"\([^()]*\)", "", head)):
        return f"{value} only declares {name}"
    opened = next((line for line in reversed(lines[: number - 1]) if line.startswith("namespace {") or line.endswith("} // namespace")), "")
    if opened.startswith("namespace {"):
        return f"{value} is in an unnamed namespace, so no entry can mean it"
    return ""


def not_in_room(value: str, backend: str) -> str:
    in_cuda = "/cuda/" in value
    if in_cuda == (backend == "cuda") or (backend == "cuda" and pointed_at(value).startswith("TORCH_API ")):
        return ""
    return f"{value} is no file of this backend"


def expected_definitions(entry: Entry) -> list[tuple[str, str]]:
    """(row, name) of every definition that `where` owes, in order."""
    result = [(key, entry.get(key)) for key in ("check", "out_check", "out_layout") if entry.get(key)]
    if entry.get("shape"):
        result.append(("shape", "TensorIteratorBase::build_pointwise" if entry.is_pointwise else entry.get("shape")))
    for key in ("composite", "explicit"):
        result += [(key, entry.get(form + key)) for form in ("", "inplace_", "out_") if entry.get(form + key)]
    for backend, ref in entry.kernels.items():
        if ref.kind == "pointwise":
            result += [(backend, ref.name), (backend, "cuda_pointwise" if backend == "cuda" else "cpu_pointwise")]
        elif ref.kind not in SPARSE_KINDS:
            result += [(backend, name) for name in (ref.name, *ref.others)]
    return result


def wrong_places(entry: Entry, found: list[tuple[str, str]]) -> list[str]:
    result = [f"row '{name}' says None" for name, value in found if value.endswith("None")]
    remaining = list(found)
    for row, name in expected_definitions(entry):
        place = next(((r, v) for r, v in remaining if r == row), None)
        if place is None:
            result.append(f"no row '{row}' for {name}")
            continue
        remaining.remove(place)
        reasons = [not_defined_at(place[1], name)]
        if row in ("cpu", "cuda", "meta", "sparse", "sparse_csr", "composite", "explicit") and "/pointwise/" not in place[1]:
            reasons.append(not_in_room(place[1], row))
        result += [f"row '{row}': {reason}" for reason in reasons if reason]
    for name, value in found:
        if name in ("generated", "test") and not (Path(value).is_absolute() or (ROOT / re.split(r"[: ]", value)[0]).exists()):
            result.append(f"row '{name}' names {value}, which is not there")
    if not any(name == "generated" and value.endswith(".cpp") for name, value in found):
        result.append("no generated source is named")
    if sum(name == "test" for name, _ in found) > MOST_TESTS:
        result.append(f"more than {MOST_TESTS} rows 'test'")
    return result


def main() -> int:
    if len(sys.argv) != 2:
        print(__doc__)
        return 2
    env = os.environ | {"BUILD_DIR": str(Path(sys.argv[1]).resolve())}
    ask = lambda *words: subprocess.run([sys.executable, WHERE, *words], capture_output=True, text=True, env=env)  # noqa: E731
    failures = []
    done = ask("--all")
    if done.returncode != 0:
        print(f"FAILED  exit code {done.returncode}: {done.stderr.strip()}")
        return 1
    places = blocks(done.stdout)
    entries = load_entries(sorted((ROOT / "aten" / "ops").glob("*.yaml")))
    for entry in entries:
        found = places.get(str(entry.schema))
        failures += [f"{entry.schema.full_name}: {p}" for p in (wrong_places(entry, found) if found else ["is not printed"])]
    for op, (start, wanted) in EXPECTED.items():
        found = next(rows for schema, rows in places.items() if schema.startswith(start))
        failures += [f"{op}: {problem}" for problem in problems(found, wanted)]
    one = blocks(ask("sigmoid").stdout)
    if one != {schema: rows for schema, rows in places.items() if schema.startswith("sigmoid(")}:
        failures.append(f"sigmoid: prints something else than --all does: {one}")
    unknown = ask("sigmoids")
    if unknown.returncode == 0 or "sigmoid" not in unknown.stderr:
        failures.append(f"sigmoids: exit code {unknown.returncode}, {unknown.stderr.strip()}")
    for failure in failures:
        print(f"FAILED  where {failure}")
    definitions = sum(len(expected_definitions(entry)) for entry in entries)
    print(f"{len(entries)} entries, {definitions} definitions, {len(failures)} problems")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
