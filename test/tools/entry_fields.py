#!/usr/bin/env python3
"""docs/adding-an-operator.md explains every field that entries may have, and no other: test/tools/entry_fields.py"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "adding-an-operator.md"
sys.path.insert(0, str(ROOT / "tools" / "codegen"))

from entries import DTYPE_SETS, FIELDS, NO_REFERENCE, RESULTS, VARIANTS, load_entries  # noqa: E402


def explained(page: str) -> set[str]:
    """The names in the first column of the tables of fields."""
    tables = re.findall(r"\| field \| meaning \|\n\|---\|---\|\n((?:\|.*\n)+)", page)
    return {name for table in tables for row in table.splitlines() for name in re.findall(r"`(\w+)`", row.split("|")[1])}


def main() -> int:
    page = PAGE.read_text()
    found = explained(page)
    problems = [f"field '{name}' is not explained" for name in sorted(FIELDS - found)]
    problems += [f"field '{name}' is explained, but no entry may have it" for name in sorted(found - FIELDS)]
    for what, names in {"variant": VARIANTS, "result": RESULTS, "set of dtypes": DTYPE_SETS}.items():
        problems += [f"{what} '{name}' is not explained" for name in names if f"`{name}`" not in page]
    problems += [f"reason '{name}' is not explained" for name in NO_REFERENCE if f"{{none: {name}}}" not in page]
    used = {key for entry in load_entries(sorted((ROOT / "aten" / "ops").glob("*.yaml"))) for key in entry.raw}
    problems += [f"field '{name}' has no use" for name in sorted(FIELDS - used)]
    for problem in problems:
        print(f"FAILED  {problem}")
    print(f"{len(FIELDS)} fields, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
