"""The operator reference page."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from pathlib import Path

from derivatives import analyse
from entries import Entry
from sources import SourceIndex


FORM_NAMES = {"functional": "functional", "inplace": "in-place", "out": "out"}


def counts(entries: list[Entry], recorded: Path) -> list[str]:
    """How many operators there are of each form, and how many of those that the recorded calls in a folder use."""
    have = Counter(form for e in entries for form in e.forms)
    form_of = {schema.full_name: form for e in entries for form, schema in e.forms.items()}
    called: set[tuple[str, str]] = set()
    for path in sorted(recorded.glob("*.jsonl")):
        for line in path.read_text().splitlines():
            call = json.loads(line[: line.index(',"src"')] + "}")
            called.add((call["op"].removeprefix("aten::"), call["kind"]))
    missing = sorted({op for op, _ in called if op not in form_of})
    lines = ["| | operators | in recorded calls | missing there |", "|---|---|---|---|"]
    for form, name in FORM_NAMES.items():
        ops = {op for op, kind in called if form_of.get(op, {"inplace": "inplace", "out": "out"}.get(kind, "functional")) == form}
        lines.append(f"| {name} | {have[form]} | {len(ops)} | {sum(op in missing for op in ops)} |")
    absent = [f"Missing: {', '.join(f'`{op}`' for op in missing)}.", ""] if missing else []
    return lines + ["", *absent]


def _looped(entries: list[Entry], root: Path) -> list[str]:
    """Operators on strided tensors that vmap calls for each sample: neither their entry nor a kernel says how they are batched."""
    kernels: set[str] = set()
    for path in sorted((root / "aten" / "functorch").glob("*.cpp")):
        for block in path.read_text().split("TORCH_LIBRARY_IMPL(aten, FuncTorch")[1:]:
            kernels |= set(re.findall(r'"([\w.]+)"', block))
    found = []
    for entry in entries:
        strided = any(a.type.is_tensor_like for a in entry.schema.arguments) and not re.match("sparse|quantized|optimizer", entry.family)
        for schema in entry.forms.values():
            functional = re.sub(r"_(?=\.|$)", "", schema.full_name)  # whose kernel serves the form in place
            is_batched = {schema.full_name, functional} & kernels or entry.is_composite or entry.batch_rule not in (None, "loop")
            if strided and not schema.is_out and not is_batched:
                found.append(schema.full_name)
    return found


def _by_two_passes(entries: list[Entry]) -> list[str]:
    """Operators with a derivative whose tangents take two backward passes."""
    return [e.schema.full_name for e in entries
            if analyse(e) and not e.is_composite and not e.schema.is_view and e.get("result") != "bool" and e.get("jvp") is None and not e.is_pointwise]


def transforms(entries: list[Entry], root: Path) -> list[str]:
    """What of the operators is slow in transforms of functions."""
    looped, passes = _looped(entries, root), _by_two_passes(entries)
    called = sum(not schema.is_out for e in entries for schema in e.forms.values())
    return ["## Transforms of functions", "",
            f"`vmap` calls these for each sample, {len(looped)} of {called} ({100 * len(looped) / called:.1f} %): "
            + ", ".join(f"`{name}`" for name in looped) + ".", "",
            "Forward mode differentiates the gradient of these, by two backward passes: " + ", ".join(f"`{name}`" for name in passes) + ".", ""]


def reference_page(entries: list[Entry], sources: SourceIndex, recorded: Path) -> str:
    families: dict[str, list[Entry]] = defaultdict(list)
    for entry in entries:
        families[entry.family].append(entry)
    count = sum(len(e.forms) for e in entries)
    lines = ["# Operator reference", "", f"{len(entries)} entries, {count} schemas with in-place and out forms. Generated from `aten/ops/*.yaml`.", "",
             "`tools/peer/schema_coverage` compares them with those of an installed PyTorch. Recorded calls are in `test/conformance/data`.", ""]
    lines += counts(entries, recorded)
    lines += transforms(entries, sources.root)
    for family, members in families.items():
        lines += [f"## {family}", "", "| operator | forms | kernel | gradient |", "|---|---|---|---|"]
        for e in members:
            kernels = (["any backend"] if e.is_explicit else []) + [f"{b}: `{r.name or r.kind}`" for b, r in e.kernels.items()]
            if e.is_refused:
                how = f"refused: {e.get('refuse')}"
            elif e.derived_from:
                how = " ".join(e.derived_from)
            else:
                how = "composite" if e.is_composite else ", ".join(kernels)
            doc = f"<br>{e.get('doc')}" if e.get("doc") else ""
            grads = ", ".join(e.get("grad")) if isinstance(e.get("grad"), dict) else "through its parts" if e.is_composite and not e.is_refused else ""
            schema = str(e.schema).replace("|", "\\|")
            lines.append(f"| `{schema}`{doc} | {', '.join(e.forms)} | {how} | {grads} |")
        lines.append("")
    return "\n".join(lines)
