"""Generates the operator layer from aten/ops/*.yaml.

    python3 tools/codegen --root . --out build/generated [--list]

Files are rewritten only when their text changes, so that an edit of one entry
rebuilds a handful of sources. `--list` prints the names of all sources that a
run would write, by kind, for the build system.
"""

from __future__ import annotations

import argparse
import re
import sys
import zlib
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from emit_api import by_base_name, definitions, functions_header, methods_header, op_header, ops_header, variable_factories  # noqa: E402
from emit_autograd import AutogradEmitter  # noqa: E402
from emit_docs import reference_page  # noqa: E402
from emit_kernels import KernelEmitter  # noqa: E402
from emit_signatures import SharedSignatures  # noqa: E402
from emit_tests import rows_file, table_file  # noqa: E402
from entries import SPARSE_KINDS, Entry, EntryError, load_entries  # noqa: E402
from sources import SourceIndex  # noqa: E402

# What one generated source holds. Runs end where the checksum of a name says so, not after a count: an entry that is
# added changes the run it stands in and leaves the others, and their names, as they are.
SHORTEST_RUN, LONGEST_RUN, ENDS_ONE_IN = 28, 64, 16


def chunks(entries: list[Entry]) -> dict[str, list[Entry]]:
    """Runs of entries of one family, named by family and first operator."""
    families: dict[str, list[Entry]] = {}
    for entry in entries:
        families.setdefault(entry.family, []).append(entry)
    result: dict[str, list[Entry]] = {}
    for family, members in families.items():
        run: list[Entry] = []
        for entry in members:
            run = run or result.setdefault(f"{family}_{entry.name}", [])
            run.append(entry)
            ends = zlib.crc32(entry.name.encode()) % ENDS_ONE_IN == 0
            if len(run) >= (SHORTEST_RUN if ends else LONGEST_RUN):
                run = []
    return result


class Writer:
    """Writes files that changed and removes files that are no longer made."""

    def __init__(self, out: Path):
        self.out = out
        self.made: set[Path] = set()

    def write(self, name: str, text: str) -> None:
        path = self.out / name
        self.made.add(path)
        if name.endswith("_ops.h") or name.startswith("src/ops_"):
            # at::_ops has a member named std, the operator.
            text = re.sub(r"(?<![\w:])std::(?!(?:call|redispatch|schema)\b)", "::std::", text)
        if path.exists() and path.read_text() == text:
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def prune(self) -> None:
        for path in self.out.rglob("*"):
            if path.is_file() and path not in self.made and path.suffix in (".h", ".cpp", ".inc", ".md", ".cu"):
                path.unlink()


def generate(root: Path, out: Path) -> None:
    entries = load_entries(sorted((root / "aten" / "ops").glob("*.yaml")))
    sources = SourceIndex(root)
    for entry in entries:
        for key in ("plain", "composite", "explicit", "inplace_composite", "out_composite", "inplace_explicit", "out_explicit"):
            if entry.get(key):
                sources.require(entry.get(key), entry, key)
        for ref in entry.kernels.values():
            if ref.kind not in ("pointwise", *SPARSE_KINDS):
                for name in (ref.name, *ref.others):
                    sources.require(name, entry, "kernel")
    writer = Writer(out)
    groups = by_base_name(entries)
    for base, members in groups.items():
        writer.write(f"include/aten/ops/{base}.h", op_header(base, members))
        writer.write(f"include/aten/ops/{base}_ops.h", ops_header(base, members))
        writer.write(f"include/ATen/ops/{base}.h", f"#pragma once\n#include <aten/ops/{base}.h>\n")
        writer.write(f"include/ATen/ops/{base}_ops.h", f"#pragma once\n#include <aten/ops/{base}_ops.h>\n")
    bases = sorted(groups)
    writer.write("include/aten/Functions.h", functions_header(groups))
    writer.write("include/aten/Operators.h", "// All of at::_ops.\n#pragma once\n\n" + "".join(f"#include <aten/ops/{b}_ops.h>\n" for b in bases))
    factory_declarations, factory_definitions = variable_factories(entries)
    writer.write("include/autograd/variable_factories.inc", factory_declarations)
    writer.write("src/variable_factories.cpp", factory_definitions)
    writer.write("include/aten/core/tensor_methods.inc", methods_header(entries))
    kernels = KernelEmitter(sources)
    autograd = AutogradEmitter(entries, sources)
    runs = chunks(entries)
    signatures = SharedSignatures(runs)
    for chunk, members in runs.items():
        shared = signatures.declarations(members)
        # One source, because what they include costs as much to compile as what they hold.
        calls = [definitions(members, shared), kernels.file(members, None), kernels.file(members, "cpu")]
        for name, text in {
            f"src/ops_{chunk}.cpp": "\n".join(filter(None, calls)),
            f"src/autograd_{chunk}.cpp": autograd.file(members, shared),
            f"isa/pointwise_{chunk}.cpp": kernels.pointwise_stubs(members),
            f"cuda/cuda_{chunk}.cpp": kernels.file(members, "cuda"),
        }.items():
            if text:
                writer.write(name, text)
    for name, text in signatures.sources().items():
        writer.write(name, text)
    for name, text in kernels.cuda_pointwise_sources(entries).items():
        writer.write(f"cuda/{name}.cu", text)
    families: dict[str, list[Entry]] = {}
    for entry in entries:
        families.setdefault(entry.family, []).append(entry)
    for family, members in families.items():
        writer.write(f"test/op_rows_{family}.cpp", rows_file(family, members))
        if text := kernels.file(members, "sparse"):
            writer.write(f"src/sparse_{family}.cpp", text)
    writer.write("test/op_rows.cpp", table_file(list(families)))
    writer.write("docs/operators.md", reference_page(entries, sources, root / "test" / "conformance" / "data"))
    writer.prune()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=Path, required=True, help="the source tree")
    parser.add_argument("--out", type=Path, required=True, help="where generated files go")
    args = parser.parse_args()
    try:
        generate(args.root, args.out)
    except EntryError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
