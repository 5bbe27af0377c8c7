"""Finds where kernels, functors, shape functions and derivative helpers are defined in the source tree."""

from __future__ import annotations

import re
from pathlib import Path

from entries import Entry

_FUNCTION = re.compile(r"^(?:[\w:<>,&\s\*]+?)\s[&\*]?(\w+)\(", re.MULTILINE)
_STRUCT = re.compile(r"^(?:struct|class)\s+(\w+)", re.MULTILINE)


class SourceIndex:
    """Where functions and structs are defined, by name: under aten/, and the helpers of autograd/formulas."""

    def __init__(self, root: Path):
        self.root = root
        self.functions: dict[str, str] = {}
        self.shapes: dict[str, str] = {}
        self.functors: dict[str, str] = {}
        native = root / "aten" / "native"
        for path in sorted(native.rglob("*.cpp")) + sorted(native.rglob("*.cu")):
            rel = str(path.relative_to(root))
            for match in _FUNCTION.finditer(path.read_text()):
                if path.suffix == ".cpp" or match[1] not in self.functions:
                    self.functions.setdefault(match[1], rel)
        for path in sorted((root / "aten" / "shape").glob("*.h")):
            for match in _FUNCTION.finditer(path.read_text()):
                self.shapes.setdefault(match[1], str(path.relative_to(root)))
        self.formulas: dict[str, str] = {}
        for path in sorted((root / "autograd" / "formulas").glob("*.h")):
            for match in _FUNCTION.finditer(path.read_text()):
                self.formulas.setdefault(match[1], str(path.relative_to(root)))
        for path in sorted((native / "pointwise").glob("*.h")):
            for match in _STRUCT.finditer(path.read_text()):
                self.functors.setdefault(match[1], str(path.relative_to(root)))

    def path_of(self, name: str) -> str | None:
        return self.functions.get(name)

    def require(self, name: str, entry: Entry, key: str) -> None:
        """A name that no source defines would only show up as a link error far from the entry."""
        if name not in self.functions:
            raise entry.fail(key, f"no function '{name}' is defined in aten/native (its name must stand on the line of its return type)")

    def is_isa_kernel(self, name: str) -> bool:
        """Kernels directly in aten/native/cpu are compiled once per instruction set."""
        path = self.functions.get(name)
        return path is not None and Path(path).parent == Path("aten/native/cpu")

    def shape_header(self, name: str, entry: Entry) -> str:
        if name not in self.shapes:
            raise entry.fail("shape", f"no function '{name}' is declared in aten/shape/*.h")
        return self.shapes[name]

    def functor_header(self, name: str, entry: Entry) -> str:
        if name not in self.functors:
            raise entry.fail("kernel", f"no struct '{name}' is defined in aten/native/pointwise/*.h")
        return self.functors[name]
