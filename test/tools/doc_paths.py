#!/usr/bin/env python3
"""Paths, files and notes that the documentation names exist: links, what stands in backquotes, `Note [Name]`."""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "tools/README.md", *sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "docs/design").glob("*.md"))]
LINK = re.compile(r"\]\(([\w./-]+\.(?:md|h|cpp|py)|[\w./-]+/[\w./-]*)(?:#[\w-]*)?\)")
# Families of the generator's output and placeholders (FAMILY, F) are no files of the tree.
PATH = re.compile(r"`((?:c10|aten|autograd|csrc|test|tools|docs)/[a-zA-Z0-9_./-]+\.(?:h|cpp|cu|cuh|py|cmake|md|txt))`")
BARE = re.compile(r"`([A-Za-z_0-9]+\.(?:h|cpp|cu|cuh|py))`")  # a file of the folder that the page is about
PLACEHOLDER = re.compile(r"(/|^)(F|FAMILY|NAME)\.|^docs/operators.md$")
NOTE = re.compile(r"Note \[([^]]+)\]")

notes = set()
names = {path.name for folder in ("c10", "aten", "autograd", "csrc", "test", "tools", "docs") for path in (ROOT / folder).rglob("*.*")}
names |= {line.split(" ")[0].rsplit("/", 1)[-1] for line in (ROOT / "csrc/api/headers.txt").read_text().splitlines()}  # written at configure time
for folder in ("c10", "aten", "autograd", "csrc", "test"):
    for path in (ROOT / folder).rglob("*.[hc]*"):
        if path.suffix in (".h", ".cpp", ".cu", ".cuh"):
            notes.update(NOTE.findall(path.read_text(errors="replace")))

missing = []
for page in PAGES:
    text = page.read_text()
    # A fence of code may hold anything that looks like a link: lambdas do.
    prose = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    missing += [f"{page.relative_to(ROOT)}: link to {link}" for link in LINK.findall(prose) if not (page.parent / link).exists()]
    missing += [f"{page.relative_to(ROOT)}: {path}" for path in PATH.findall(prose)
                if not PLACEHOLDER.search(path) and not (ROOT / path).exists()]
    missing += [f"{page.relative_to(ROOT)}: {name}" for name in BARE.findall(prose)
                if page.parent.name == "design" and name not in names and not PLACEHOLDER.search(name)]
    missing += [f"{page.relative_to(ROOT)}: Note [{note}]" for note in NOTE.findall(prose) if note not in notes]
print("\n".join(sorted(set(missing))))
sys.exit(1 if missing else 0)
