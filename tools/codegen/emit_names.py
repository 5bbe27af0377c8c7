"""The rules by which operators name the dimensions of their results."""

from __future__ import annotations

from emit_api import cstring
from entries import Entry


def names_rules(entries: list[Entry]) -> str:
    """What at::names::operator_rules() gives, sorted as it is searched."""
    # A tensor that is changed in place would keep names that no longer fit.
    rules = sorted((f"aten::{schema.name}", schema.overload, entry.names_rule)
                   for entry in entries if entry.names_rule for schema in entry.forms.values()
                   if not (schema.is_inplace and entry.names_rule == "none"))
    rows = "".join(f"    {{{cstring(name)}, {cstring(overload)}, Rule::{rule}}},\n" for name, overload, rule in rules)
    return f"""// How operators name their results, from the field `names` of the entries.
#include <aten/names/names_rules.h>

namespace at::names {{

namespace {{

constexpr OperatorRule kRules[] = {{
{rows}}};

}} // namespace

c10::ArrayRef<OperatorRule> operator_rules() {{
  return kRules;
}}

}} // namespace at::names
"""
