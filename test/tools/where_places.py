#!/usr/bin/env python3
"""tools/dev/where prints the true places of operators of each kind: test/tools/where_places.py BUILD_FOLDER"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
WHERE = ROOT / "tools" / "dev" / "where"

# Operator, the schema to look at, and what must be printed for it: row -> words of the line that the place points to,
# or of the row itself where it names no line.
EXPECTED = {
    "sigmoid": ("sigmoid(", {  # a pointwise functor
        "entry": "- op: sigmoid(Tensor self)", "shape": "build_pointwise", "cpu": "struct Sigmoid", "cuda": "struct Sigmoid",
        "gradient": "sigmoid_backward", "inplace": "sigmoid_(", "out": "sigmoid.out("}),
    "add": ("add.Tensor(", {  # with a parameter
        "entry": "- op: add.Tensor(", "shape": "build_pointwise", "cpu": "struct ", "gradient": "self"}),
    "sum": ("sum.dim_IntList(", {  # a kernel with a shape function
        "entry": "- op: sum.dim_IntList(", "shape": "sum", "cpu": "sum_", "gradient": "sum_backward("}),
    "normal_": ("normal_(", {"entry": "- op: normal_(", "cpu": "normal_cpu(", "meta": "normal_meta("}),  # a raw kernel
    "transpose": ("transpose.int(", {"entry": "- op: transpose.int(", "explicit": "transpose", "gradient": "transpose"}),  # a view
    "matmul": ("matmul(", {"entry": "- op: matmul(", "composite": "matmul("}),  # made of other operators
    "rand": ("rand(", {"entry": "- op: rand(", "explicit": "rand("}),  # a factory
    "cat": ("cat(", {"entry": "- op: cat(", "shape": "cat", "cpu": "cat"}),  # a list of tensors
}


def rows(text: str, schema: str) -> list[tuple[str, str]]:
    """(row name, value) of the block whose first line begins with the schema."""
    block = next(b for b in text.split("\n\n") if b.strip().startswith(schema))
    return [(line[2:15].strip(), line[15:]) for line in block.strip().splitlines()[1:]]


def pointed_at(value: str) -> str:
    """The line of source at `path:line`, or the value itself."""
    match = re.fullmatch(r"([\w/.+-]+):(\d+)", value)
    return (ROOT / match[1]).read_text().splitlines()[int(match[2]) - 1] if match else value


def problems(printed: str, schema: str, wanted: dict[str, str]) -> list[str]:
    found = rows(printed, schema)
    result = [f"row '{name}' says None" for name, value in found if value == "None"]
    for name, words in wanted.items():
        values = [value for row, value in found if row == name]
        if not any(words in pointed_at(value) for value in values):
            result.append(f"no row '{name}' leads to '{words}'; got {values}")
    for name, value in found:
        if name in ("generated", "test") and not (Path(value).is_absolute() or (ROOT / value.split()[0]).exists()):
            result.append(f"row '{name}' names {value}, which is not there")
    if not any(name == "generated" and value.endswith(".cpp") for name, value in found):
        result.append("no generated source is named")
    return result


def main() -> int:
    if len(sys.argv) != 2:
        print(__doc__)
        return 2
    env = os.environ | {"BUILD_DIR": str(Path(sys.argv[1]).resolve())}
    done = subprocess.run([sys.executable, WHERE, *EXPECTED], capture_output=True, text=True, env=env)
    if done.returncode != 0:
        print(f"FAILED  exit code {done.returncode}: {done.stderr.strip()}")
        return 1
    failed = 0
    for op, (schema, wanted) in EXPECTED.items():
        for problem in problems(done.stdout, schema, wanted):
            print(f"FAILED  where {op}: {problem}")
            failed += 1
    unknown = subprocess.run([sys.executable, WHERE, "sigmoids"], capture_output=True, text=True, env=env)
    if unknown.returncode == 0 or "sigmoid" not in unknown.stderr:
        print(f"FAILED  where sigmoids: exit code {unknown.returncode}, {unknown.stderr.strip()}")
        failed += 1
    print(f"{len(EXPECTED)} operators, {failed} problems")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
