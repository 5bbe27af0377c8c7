"""Wrappers of operators that are made of another one: second names, copies of views, functional forms of in-place operators."""

from __future__ import annotations

import cpp
from entries import Entry
from schema import Schema


class DerivedForms:
    """Bodies of entries with the fields `alias`, `copy_of` and `functional_of`."""

    def __init__(self, entries: list[Entry]):
        self._entry_of = {schema.full_name: entry for entry in entries for schema in entry.forms.values()}

    def source(self, entry: Entry) -> Entry:
        """The entry of the operator that is named."""
        key, name = self._named(entry)
        if name not in self._entry_of:
            raise entry.fail(key, f"there is no operator '{name}'")
        return self._entry_of[name]

    def operator(self, entry: Entry, form: str) -> Schema:
        """What a form of the entry calls: of an alias the same form of the other operator."""
        key, name = self._named(entry)
        source = self.source(entry)
        found = source.forms.get(form) if key == "alias" else next(s for s in source.forms.values() if s.full_name == name)
        if found is None:
            raise entry.fail(key, f"'{name}' has no form '{form}'")
        if [a.type for a in found.arguments] != [a.type for a in entry.forms[form].arguments]:
            raise entry.fail(key, f"'{found}' has other arguments")
        return found

    @staticmethod
    def _named(entry: Entry) -> tuple[str, str]:
        named = entry.derived_from
        assert named is not None
        return named

    def body(self, entry: Entry, form: str) -> str:
        """The statements of a form that calls the other operator itself."""
        key, _ = self._named(entry)
        operator = self.operator(entry, form)
        names = [a.name for a in entry.forms[form].arguments]
        call = f"at::_ops::{operator.unambiguous_name}::call"
        if key == "alias":
            return f"  return {call}({', '.join(names)});\n"
        if key == "copy_of":
            return f"  return at::native::dense_copy({call}({', '.join(names)}));\n"
        written = [a.name for a in operator.arguments if a.is_written]
        results = entry.schema.returns
        if len(written) != len(results):
            raise entry.fail(key, f"'{operator.full_name}' writes {', '.join(written)}, but there are {len(results)} results")
        # A tensor on its own keeps its history; lists and states that are updated together have none.
        copy = "{}.clone()" if len(written) == 1 and not results[0].type.is_list else "at::native::detached_copy({})"
        text = "".join(f"  auto {name}_copy = {copy.format(name)};\n" for name in written)
        text += f"  {call}({', '.join(name + '_copy' if name in written else name for name in names)});\n"
        copies = [f"{name}_copy" for name in written]
        return text + (f"  return {copies[0]};\n" if len(copies) == 1 else f"  return {{{', '.join(f'std::move({c})' for c in copies)}}};\n")

    def calls_itself(self, entry: Entry, form: str) -> bool:
        """Does a form copy from the functional one, instead of calling a form of the other operator?"""
        if self._named(entry)[0] == "alias":
            return form == "out" and entry.get("out_dtype") == "exact"
        return form != next(iter(entry.forms))

    def headers(self, entries: list[Entry]) -> list[str]:
        found = {f"aten/ops/{self.source(e).schema.name}_ops.h" for e in entries if e.derived_from}
        found |= {f"aten/ops/{self.operator(e, f).name}_ops.h" for e in entries if e.derived_from for f in e.forms if not self.calls_itself(e, f)}
        if any(e.derived_from and e.derived_from[0] != "alias" for e in entries):
            found.add("aten/native/support/copies.h")
        return sorted(found)
