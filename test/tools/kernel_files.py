#!/usr/bin/env python3
"""Kernels are found by their entry's family: test/tools/kernel_files.py [--list]

A kernel of an entry of aten/ops/FAMILY.yaml is in a file FAMILY.* or FAMILY_part.*, or in a folder of that name, on the
CPU and on CUDA alike. A few share a file with kernels of another family that hardly differ; --list prints them.
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools" / "codegen"))

from entries import load_entries  # noqa: E402
from sources import SourceIndex  # noqa: E402

LEAST = 0.95  # of the kernels of a backend


def main() -> int:
    sources = SourceIndex(ROOT)
    families: dict[tuple[str, str], set[str]] = {}  # of the entries that name a kernel, by backend and name
    for entry in load_entries(sorted((ROOT / "aten" / "ops").glob("*.yaml"))):
        for backend in ("cpu", "cuda"):
            ref = entry.kernels.get(backend)
            for name in (ref.name, *ref.others) if ref and ref.kind != "pointwise" else ():
                families.setdefault((backend, name), set()).add(entry.family)
    failed = False
    for backend in ("cpu", "cuda"):
        paths = {name: Path(sources.path_of(name, backend) or "") for of, name in families if of == backend}
        elsewhere = []
        for name, path in sorted(paths.items()):
            of = families[backend, name]
            if not any(f"{path.stem}_".startswith(f"{family}_") or path.parent.name == family for family in of):
                elsewhere.append(f"{path}: {name}, of {' and '.join(sorted(of))}.yaml")
        failed |= len(elsewhere) > (1 - LEAST) * len(paths)
        print(f"{backend}: {len(paths) - len(elsewhere)} of {len(paths)} kernels in a file of their family")
        if failed or "--list" in sys.argv:
            print("\n".join(elsewhere))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
