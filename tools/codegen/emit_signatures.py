"""Templates of the dispatcher that depend on a C++ signature alone: compiled once, not in each source with such operators."""

from __future__ import annotations

import zlib

import cpp
from entries import Entry
from schema import Schema

SOURCES = 8


def boxed(schema: Schema) -> str:
    """The boxed form of kernels, without `template`."""
    types = ", ".join(p.type for p in cpp.dispatcher_params(schema))
    return f"struct c10::impl::boxed_by_signature<{cpp.return_type(schema)}, c10::guts::typelist::typelist<{types}>>;"


def calls(schema: Schema) -> list[str]:
    """The long ways of calls, without `template`."""
    ret = cpp.return_type(schema)
    types = [p.type for p in cpp.dispatcher_params(schema)]
    handle = f"{ret} c10::TypedOperatorHandle<{ret} ({', '.join(types)})>"
    return [
        f"{handle}::callAny({', '.join(['c10::impl::OperatorEntry*'] + types)});",
        f"{handle}::redispatchAny({', '.join(['c10::impl::OperatorEntry*', 'c10::DispatchKeySet'] + types)});",
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
        schemas = [self._schemas[signature] for signature in used]
        return "".join(f"extern template {line}\n" for schema in schemas for line in [boxed(schema)] + calls(schema))

    def sources(self) -> dict[str, str]:
        """The sources that hold them, by checksum: a new signature changes one of each kind. Boxed forms stand apart, because
        they are compiled for size."""
        kinds: dict[str, list[list[str]]] = {kind: [[] for _ in range(SOURCES)] for kind in ("boxed", "signatures")}
        for signature in sorted(self._schemas):
            place = zlib.crc32(signature.encode()) % SOURCES
            kinds["boxed"][place].append(boxed(self._schemas[signature]))
            kinds["signatures"][place] += calls(self._schemas[signature])
        return {
            f"src/{kind}_{i}.cpp":
                "// Templates of signatures.\n#include <aten/core/dispatch/BuiltinRegistration.h>\n"
                "#include <aten/core/op_types.h>\n\n" + "".join(f"template {line}\n" for line in lines)
            for kind, members in kinds.items() for i, lines in enumerate(members)
        }
