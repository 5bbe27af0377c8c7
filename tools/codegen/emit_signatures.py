"""Templates of the dispatcher that depend on a C++ signature alone: compiled once, not in each source with such operators."""

from __future__ import annotations

import zlib
from collections import defaultdict

import cpp
from entries import Entry
from schema import Schema

SOURCES = 8


def instantiations(schema: Schema) -> list[str]:
    """The boxed form of kernels, the way out of a plain call, and the call of a boxed kernel, without `template`."""
    ret = cpp.return_type(schema)
    types = [p.type for p in cpp.dispatcher_params(schema)]
    params = ", ".join(types)
    return [
        f"struct c10::impl::boxed_by_signature<{ret}, c10::guts::typelist::typelist<{params}>>;",
        f"{ret} c10::TypedOperatorHandle<{ret} ({params})>::callUsual({params}) const;",
        f"{ret} c10::KernelFunction::call_boxing<{', '.join([ret] + types)}>("
        f"{', '.join(['const c10::OperatorHandle&', 'c10::DispatchKeySet'] + types)}) const;",
    ]


class SharedSignatures:
    """Signatures that occur in more than one of the `chunks` of entries."""

    def __init__(self, chunks: dict[str, list[Entry]]):
        users: dict[str, set[str]] = defaultdict(set)
        self._schemas: dict[str, Schema] = {}
        for chunk, members in chunks.items():
            for schema in self._forms(members):
                users[cpp.signature(schema)].add(chunk)
                self._schemas.setdefault(cpp.signature(schema), schema)
        self._shared = sorted(signature for signature, found in users.items() if len(found) > 1)

    @staticmethod
    def _forms(members: list[Entry]) -> list[Schema]:
        return [schema for entry in members for schema in entry.forms.values()]

    def declarations(self, members: list[Entry]) -> str:
        """For a source with these entries: what it finds in the sources below."""
        used = {cpp.signature(schema) for schema in self._forms(members)}
        return "".join(
            f"extern template {line}\n"
            for signature in self._shared if signature in used
            for line in instantiations(self._schemas[signature]))

    def sources(self) -> dict[str, str]:
        """The sources that hold them, by checksum: a new signature changes one."""
        lines: list[list[str]] = [[] for _ in range(SOURCES)]
        for signature in self._shared:
            lines[zlib.crc32(signature.encode()) % SOURCES] += instantiations(self._schemas[signature])
        return {
            f"src/signatures_{i}.cpp":
                "// Templates of signatures that several sources use.\n#include <aten/core/dispatch/BuiltinRegistration.h>\n"
                "#include <aten/core/op_types.h>\n\n" + "".join(f"template {line}\n" for line in lines[i])
            for i in range(SOURCES)
        }
