"""Templates of the dispatcher that depend on a C++ signature alone: compiled once, not in each source with such operators."""

from __future__ import annotations

import zlib

import cpp
from entries import Entry
from schema import Schema

SOURCES = 8


def instantiations(schema: Schema) -> list[str]:
    """The boxed form of kernels, and the long ways of calls, without `template`."""
    ret = cpp.return_type(schema)
    types = [p.type for p in cpp.dispatcher_params(schema)]
    params = ", ".join(types)
    return [
        f"struct c10::impl::boxed_by_signature<{ret}, c10::guts::typelist::typelist<{params}>>;",
        f"{ret} c10::TypedOperatorHandle<{ret} ({params})>::callAny({', '.join(['c10::impl::OperatorEntry*'] + types)});",
        f"{ret} c10::TypedOperatorHandle<{ret} ({params})>::redispatchAny("
        f"{', '.join(['c10::impl::OperatorEntry*', 'c10::DispatchKeySet'] + types)});",
    ]


class Signatures:
    """All signatures of the operators."""

    def __init__(self, entries: list[Entry]):
        self._schemas = {cpp.signature(schema): schema for schema in self._forms(entries)}

    @staticmethod
    def _forms(members: list[Entry]) -> list[Schema]:
        return [schema for entry in members for schema in entry.forms.values()]

    def declarations(self, members: list[Entry]) -> str:
        """For a source with these entries: what it finds in the sources below."""
        used = sorted({cpp.signature(schema) for schema in self._forms(members)})
        return "".join(f"extern template {line}\n" for signature in used for line in instantiations(self._schemas[signature]))

    def sources(self) -> dict[str, str]:
        """The sources that hold them, by checksum: a new signature changes one."""
        lines: list[list[str]] = [[] for _ in range(SOURCES)]
        for signature in sorted(self._schemas):
            lines[zlib.crc32(signature.encode()) % SOURCES] += instantiations(self._schemas[signature])
        return {
            f"src/signatures_{i}.cpp":
                "// Templates of signatures.\n#include <aten/core/dispatch/BuiltinRegistration.h>\n"
                "#include <aten/core/op_types.h>\n\n" + "".join(f"template {line}\n" for line in lines[i])
            for i in range(SOURCES)
        }
