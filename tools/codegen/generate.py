"""What the generator makes of the entries: the text of each file, nothing written."""

from __future__ import annotations

import re
import zlib

from emit_api import by_base_name, definitions, functions_header, keyed_headers, methods_header, op_declarations, op_header, ops_header, variable_factories
from emit_autograd import AutogradEmitter
from emit_batch import batch_rules
from emit_docs import reference_page
from emit_forward import forward_rules
from emit_forwards import forwards
from emit_kernels import KernelEmitter
from emit_names import names_rules
from emit_signatures import Signatures
from emit_symbols import operator_symbols
from emit_tests import rows_file, table_file
from entries import SPARSE_KINDS, Entry
from sources import SourceIndex

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


_STD = re.compile(r"(?<![\w:])std::(?!(?:call|redispatch|schema)\b)")


def _names_std(name: str) -> bool:
    """Files inside at::_ops, which has a member named std, the operator."""
    return name.endswith("_ops.h") or name.startswith("src/ops_")


def generated_files(entries: list[Entry], sources: SourceIndex) -> dict[str, str]:
    """The text of every file of the operator layer, by its name in the output folder."""
    for entry in entries:
        for key in ("fast_path", "composite", "explicit", "inplace_composite", "out_composite", "inplace_explicit", "out_explicit"):
            if entry.get(key):
                sources.require(entry.get(key), entry, key, "cpu" if key == "fast_path" else key.split("_")[-1])
        for backend, ref in entry.kernels.items():
            if ref.kind not in ("pointwise", *SPARSE_KINDS):
                for name in (ref.name, *ref.others):
                    sources.require(name, entry, "kernel", backend)
    files: dict[str, str] = {}
    groups = by_base_name(entries)
    declarations = {base: op_declarations(members) for base, members in groups.items()}
    for base, members in groups.items():
        files[f"include/aten/ops/{base}.h"] = op_header(base, members, declarations[base])
        files[f"include/aten/ops/{base}_ops.h"] = ops_header(base, members)
        files[f"include/ATen/ops/{base}.h"] = f"#pragma once\n#include <aten/ops/{base}.h>\n"
        files[f"include/ATen/ops/{base}_ops.h"] = f"#pragma once\n#include <aten/ops/{base}_ops.h>\n"
    bases = sorted(groups)
    files["include/aten/Functions.h"] = functions_header(declarations)
    files["include/aten/Operators.h"] = "// All of at::_ops.\n#pragma once\n\n" + "".join(f"#include <aten/ops/{b}_ops.h>\n" for b in bases)
    files |= keyed_headers(entries)
    factory_declarations, factory_definitions = variable_factories(entries)
    files["include/autograd/variable_factories.inc"] = factory_declarations
    files["src/variable_factories.cpp"] = factory_definitions
    files |= forwards(entries, sources.root)
    files["include/aten/core/tensor_methods.inc"] = methods_header(entries)
    kernels = KernelEmitter(entries, sources)
    files["include/aten/shape/functions.h"] = kernels.shapes.header(entries)
    autograd = AutogradEmitter(entries, sources)
    runs = chunks(entries)
    signatures = Signatures(entries)
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
                files[name] = text
    files |= signatures.sources()
    files["src/batch_rules.cpp"] = batch_rules(entries)
    files["src/names_rules.cpp"] = names_rules(entries)
    files |= operator_symbols(entries, sources.root)
    files["src/forward_rules.cpp"] = forward_rules(entries, sources)
    for name, text in kernels.cuda_pointwise_sources(entries).items():
        files[f"cuda/{name}.cu"] = text
    families: dict[str, list[Entry]] = {}
    for entry in entries:
        families.setdefault(entry.family, []).append(entry)
    for family, members in families.items():
        files[f"test/op_rows_{family}.cpp"] = rows_file(family, members)
        if text := kernels.file(members, "sparse"):
            files[f"src/sparse_{family}.cpp"] = text
    files["test/op_rows.cpp"] = table_file(list(families))
    files["docs/operators.md"] = reference_page(entries, sources, sources.root / "test" / "conformance" / "data")
    return {name: _STD.sub("::std::", text) if _names_std(name) else text for name, text in files.items()}
