#!/usr/bin/env python3
"""One name, one class: test/tools/one_definition.py

Two classes of one name in one namespace share their inline functions in a library, silently: the linker keeps the functions of
either. Neither the compiler nor the linker says so where no file includes both.
"""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SUFFIXES = (".h", ".hpp", ".cpp", ".cuh", ".cu")
OPENED = re.compile(r"^(?:inline )?namespace(?: ([\w:]+))? \{")
CLOSED = re.compile(r"^\} // (?:inline )?namespace")
# At the left margin and with a body; specializations have their arguments behind the name.
CLASS = re.compile(r"^(?:template <.*> )?(?:class|struct|union) (?:[A-Z0-9]+_API |alignas\(\w+\) |\[\[.*?\]\] )*(\w+)(?: final)?(?: :[^:].*)? ?\{")


def classes_of(text: str) -> list[tuple[str, int]]:
    """Names with their namespaces, and lines; without those that no other file can see."""
    spaces: list[str] = []
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        if match := OPENED.match(line):
            if "}" not in line:
                spaces.append(match[1] or "")
        elif CLOSED.match(line) and spaces:
            spaces.pop()
        elif (match := CLASS.match(line)) and "" not in spaces:
            found.append(("::".join([*spaces, match[1]]), number))
    return found


def main() -> int:
    definitions: dict[str, dict[str, int]] = defaultdict(dict)
    for layer in ("c10", "aten", "autograd", "csrc"):
        for path in sorted((ROOT / layer).rglob("*")):
            if path.suffix in SUFFIXES:
                for name, line in classes_of(path.read_text()):
                    definitions[name].setdefault(str(path.relative_to(ROOT)), line)
    faults = []
    for name, places in sorted(definitions.items()):
        if len(places) > 1:
            faults.append(f"{name} is defined in " + " and in ".join(f"{path}:{line}" for path, line in places.items()))
    print("\n".join(faults) or f"{len(definitions)} classes, each defined in one place")
    return 1 if faults or len(definitions) < 1000 else 0


if __name__ == "__main__":
    sys.exit(main())
