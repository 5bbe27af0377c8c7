"""The operator reference page."""

from __future__ import annotations

from collections import defaultdict

from entries import Entry
from sources import SourceIndex


def reference_page(entries: list[Entry], sources: SourceIndex) -> str:
    families: dict[str, list[Entry]] = defaultdict(list)
    for entry in entries:
        families[entry.family].append(entry)
    count = sum(len(e.forms) for e in entries)
    lines = ["# Operator reference", "", f"{len(entries)} entries, {count} schemas with in-place and out forms. Generated from `aten/ops/*.yaml`.", ""]
    for family, members in families.items():
        lines += [f"## {family}", "", "| operator | forms | kernel | gradient |", "|---|---|---|---|"]
        for e in members:
            how = "composite" if e.is_composite else ", ".join(
                (["any backend"] if e.is_explicit else []) + [f"{b}: `{r.name or r.kind}`" for b, r in e.kernels.items()])
            doc = f"<br>{e.get('doc')}" if e.get("doc") else ""
            grads = ", ".join(e.get("grad")) if isinstance(e.get("grad"), dict) else "through its parts" if e.is_composite else ""
            schema = str(e.schema).replace("|", "\\|")
            lines.append(f"| `{schema}`{doc} | {', '.join(e.forms)} | {how} | {grads} |")
        lines.append("")
    return "\n".join(lines)
