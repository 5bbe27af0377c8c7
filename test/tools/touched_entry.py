#!/usr/bin/env python3
"""How many objects an edit of one operator entry rebuilds: test/tools/touched_entry.py BUILD_FOLDER

Compares what the generator makes of the entries after one edit with what it makes without, and asks ninja which objects
read the files that differ. Nothing is built. Exits with 77 (skipped) where the build folder
is not ninja's or has not been built.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools" / "codegen"))

from entries import Entry, load_entries  # noqa: E402
from generate import generated_files  # noqa: E402
from sources import SourceIndex  # noqa: E402

SKIPPED = 77

# An edit of an entry: its operator, what is edited, by a pattern inside the entry, and how many objects may be rebuilt
# (None: any, the new operator's header is part of <aten/Functions.h>).
EDITS = [
    # The rule of forward mode takes the formula too.
    ("sigmoid(Tensor self)", "gradient", r"(grad: \{self: \")", r"\g<1>1 * ", 2),
    ("sigmoid(Tensor self)", "dtypes", r"dtypes: .*", "dtypes: float | double", 8),
    ("sigmoid(Tensor self)", "dtype rule", r"result: float", "result: common", 4),
    ("sigmoid(Tensor self)", "doc line", r"doc: .*", "doc: The logistic function.", 1),
    ("sigmoid(Tensor self)", "reference", r"reference: .*", 'reference: "x"', 1),
    ("cumsum(Tensor self", "out form", r"  out_contiguous: true\n", "", 3),
    ("cumsum(Tensor self", "kernel", r"kernel: .*", "kernel: {cpu: cumprod_kernel}", 3),
    ("embedding(", "gradient", r"grad: .*", 'grad: {weight: "grad"}', 1),
    ("relu(", "new entry after it", r"\Z", "\n- op: relu_touched(Tensor self) -> Tensor\n  composite: relu6\n", None),
]


def edited(text: str, operator: str, pattern: str, replacement: str) -> str:
    """The YAML text with one substitution inside the operator's entry."""
    start = text.index(f"- op: {operator}")
    end = text.find("\n- op:", start)
    end = len(text) if end < 0 else end + 1
    entry = text[start:end].rstrip("\n") + "\n"
    changed, count = re.subn(pattern, replacement, entry, count=1)
    if count != 1 or changed == entry:
        raise SystemExit(f"{operator}: nothing in the entry matches {pattern}")
    return text[:start] + changed + "\n" + text[end:]


def family_with(text: str, name: str) -> list[Entry]:
    """The entries of one family's file with this text."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_text(text)
        return load_entries([path])


def dependents(build: Path) -> dict[str, set[str]]:
    """Objects that read a generated file, by the file's name under build/generated."""
    lines = subprocess.run(["ninja", "-t", "deps"], cwd=build, check=True, capture_output=True, text=True).stdout.splitlines()
    result: dict[str, set[str]] = {}
    target = ""
    marker = "generated/"
    for line in lines:
        if line and not line.startswith(" "):
            target = line.split(":")[0]
        elif marker in line:
            path = (build / line.strip()).resolve()
            if path.is_relative_to(build / "generated"):
                result.setdefault(str(path.relative_to(build / "generated")), set()).add(target)
    return result


def main() -> int:
    if len(sys.argv) != 2:
        print(__doc__)
        return 2
    build = Path(sys.argv[1]).resolve()
    readers = dependents(build) if (build / ".ninja_deps").exists() else {}
    if not readers:
        print(f"skipped: {build} is not a ninja build folder, or is not built")
        return SKIPPED
    families = {p.name: p.read_text() for p in sorted((ROOT / "aten" / "ops").glob("*.yaml"))}
    entries = {name: family_with(text, name) for name, text in families.items()}
    sources = SourceIndex(ROOT)
    before = generated_files(sum(entries.values(), []), sources)
    failed = 0
    for operator, what, pattern, replacement, allowed in EDITS:
        name = next(n for n, text in families.items() if f"- op: {operator}" in text)
        touched = entries | {name: family_with(edited(families[name], operator, pattern, replacement), name)}
        after = generated_files(sum(touched.values(), []), sources)
        changed = {f for f in before.keys() | after.keys() if before.get(f) != after.get(f)}
        objects = set().union(*(readers.get(f, set()) for f in changed))
        verdict = "ok" if changed and (allowed is None or len(objects) <= allowed) else "FAILED"
        failed += verdict != "ok"
        print(f"{verdict:<7} {operator.split('(')[0]}, {what}: {len(objects)} objects (at most {allowed or 'any'}), "
              f"files: {', '.join(sorted(changed)) or 'none: the edit changes nothing'}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
