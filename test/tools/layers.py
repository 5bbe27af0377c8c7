#!/usr/bin/env python3
"""Who may include whom: test/tools/layers.py

Layers know only those below, headers for programs are included by programs alone, and nothing lies on top of aten or
aten/native, where a reader would have to guess what it is. Also, each entry of csrc/api/headers.txt leads to a header.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools" / "codegen"))

from api_headers import LIST, read_list  # noqa: E402
from emit_forwards import LIST as NAMESPACES  # noqa: E402

LAYERS = ["c10", "aten", "autograd", "csrc"]
COMPAT = "csrc/compat/"
# Folders, and those that build on them.
BELOW = {"c10/util/": "c10/core/", "csrc/serialize/": ("csrc/nn/", "csrc/optim/"), "aten/detail/": "aten/native/"}
ROOMS = ["aten", "aten/native"]  # hold folders, no files
GENERATED = ("ATen/ops/", "aten/", "autograd/")  # some headers of these folders are the generator's
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.MULTILINE)


def faults_of(path: str, includes: list[str], public: set[str]) -> list[str]:
    layer = LAYERS.index(path.partition("/")[0])
    faults = []
    for name in includes:
        top = name.partition("/")[0]
        if top in LAYERS and LAYERS.index(top) > layer:
            faults.append(f"{path} includes {name}, of a layer above")
        if any(path.startswith(room) and name.startswith(users) for room, users in BELOW.items()):
            faults.append(f"{path} includes {name}, which is built on it")
        if name.startswith(COMPAT) and not path.startswith(COMPAT):
            faults.append(f"{path} includes {name}, which is for programs alone")
        if name in public or name.startswith("ATen/"):
            faults.append(f"{path} includes {name}: inside, headers go by their path in the tree")
    return faults


def main() -> int:
    headers = read_list((ROOT / LIST).read_text())
    loose = [path for room in ROOMS for path in (ROOT / room).iterdir() if path.is_file()]
    faults = [f"{path.relative_to(ROOT)} is in no folder of its own" for path in loose]
    for layer in LAYERS:
        for path in sorted((ROOT / layer).rglob("*")):
            if path.suffix in (".h", ".cuh", ".cpp", ".cu", ".inc"):
                faults += faults_of(str(path.relative_to(ROOT)), INCLUDE.findall(path.read_text()), set(headers))
    written = {f"csrc/{namespace}.h" for namespace in read_list((ROOT / NAMESPACES).read_text())}  # by the generator
    for name, (_, includes) in headers.items():
        for include in includes:
            known = include in headers or "/" not in include or include.startswith(GENERATED) or include in written
            if not known and not (ROOT / include).is_file():
                faults.append(f"{LIST}: {name} includes {include}, which does not exist")
    print("\n".join(faults) or f"{len(headers)} headers for programs; every include keeps to its layer")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
