"""The rules by which vmap batches operators."""

from __future__ import annotations

from emit_api import cstring
from entries import Entry


def batch_rules(entries: list[Entry]) -> str:
    """What at::functorch::operator_rules() gives, sorted as it is searched. Out forms are not batched."""
    rules = sorted((f"aten::{schema.name}", schema.overload, *_rule_and_rank(entry.batch_rule))
                   for entry in entries if entry.batch_rule for schema in entry.forms.values() if not schema.is_out)
    rows = "".join(f"    {{{cstring(name)}, {cstring(overload)}, Rule::{rule}, {rank}}},\n" for name, overload, rule, rank in rules)
    return f"""// How operators are batched, from the field `batch` of the entries.
#include <aten/functorch/batch_rules.h>

namespace at::functorch {{

namespace {{

constexpr OperatorRule kRules[] = {{
{rows}}};

}} // namespace

c10::ArrayRef<OperatorRule> operator_rules() {{
  return kRules;
}}

}} // namespace at::functorch
"""


def _rule_and_rank(text: str) -> tuple[str, str]:
    rule, _, rank = text.partition(" ")
    return rule, rank or "0"
