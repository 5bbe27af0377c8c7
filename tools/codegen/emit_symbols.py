"""Names of operators and of their arguments as constants: c10::aten::tanh, c10::attr::alpha."""

from __future__ import annotations

import re
from pathlib import Path

from emit_api import cstring
from entries import Entry

# What C++ has for itself, or <cmath> and <cstdio> as macros.
_RESERVED = {"and", "auto", "bool", "char", "default", "delete", "double", "float", "int", "long", "new", "not", "or", "short",
             "stderr", "stdin", "stdout", "this", "union", "xor"}


# Nodes, attributes and operators of PyTorch's graphs that are none here: programs compare with them.
_OTHERS = {
    "aten": """_grad_sum_to_size _ncf_unsqueeze _size_if_not_equal adaptive_avg_pool2d_backward fill_diagonal grad lshift
        requires_grad rshift""",
    "attr": """addends allow_stack_outputs allowzero axes df_input_captured_inputs df_input_captured_outputs df_input_vjps
        df_output_vjps direction dual ends f_real_outputs idx input_as_shape is_zero keepdims module new_axis
        node_stack_idx num_none num_present output_layouts overload_name primal profiled_type qScale qZeros seen_none
        split striding_inputs_desc striding_outputs_desc tangent transA transB warn_id""",
    "prim": """AutogradAllZero BroadcastMKLDNNTensors BroadcastingChunk ChunkSizes ConstantMKLDNNTensor CudaFusionGuard
        EmptyListLiteral Expand GradOf LegacyTypedConstructor MKLDNNClamp MKLDNNGroup MKLDNNHardSigmoid MKLDNNHardSwish
        MKLDNNHardTanh MakeTestTensor PackPadded PadPacked Reverse Starred StaticRuntimeCopyOuts StaticSubgraph TimePoint
        TracedAttr TracedFork TracedModuleForward abs add_optional dict expand_as_copy expand_copy flatten_copy list
        oneDNNFusionGroup oneDNNFusionGuard permute_copy reshape_copy squeeze_copy t_copy transpose_copy
        unsqueeze_copy view_copy""",
}


def _known(root: Path, domain: str) -> set[str]:
    """The names that <aten/core/known_symbols.h> lists by hand."""
    text = (root / "aten" / "core" / "known_symbols.h").read_text()
    macro = re.search(rf"#define C10_FORALL_{domain.upper()}_SYMBOLS\(_\)((?:.*\\\n)*.*\n)", text)
    assert macro, f"known_symbols.h has no list for {domain}"
    return set(re.findall(r"_\((\w+)\)", macro.group(1)))


def _names(entries: list[Entry], root: Path) -> list[tuple[str, str]]:
    """Namespace and name of each constant, as the qualified names are sorted."""
    schemas = [schema for entry in entries for schema in entry.forms.values()]
    names = {"aten": {schema.name for schema in schemas},
             "attr": {argument.name for schema in schemas for argument in schema.arguments}}
    return sorted((domain, name) for domain, others in _OTHERS.items()
                  for name in (names.get(domain, set()) | set(others.split())) - _known(root, domain) - _RESERVED)


def operator_symbols(entries: list[Entry], root: Path) -> dict[str, str]:
    """The header with the constants, and the source with the names that their numbers stand for."""
    names = _names(entries, root)
    constants = {domain: "".join(f"constexpr Symbol {name}(detail::kFirstOperatorSymbol + {i});\n"
                                 for i, (of, name) in enumerate(names) if of == domain) for domain in _OTHERS}
    rows = "".join(f"    {cstring(f'{domain}::{name}')},\n" for domain, name in names)
    return {
        "include/aten/core/operator_symbols.h": f"""// The names of operators and of their arguments as constants; those that the library itself compares with are in
// <aten/core/known_symbols.h>.
#pragma once

#include <aten/core/known_symbols.h>

namespace c10 {{
namespace aten {{
{constants["aten"]}}} // namespace aten
namespace attr {{
{constants["attr"]}}} // namespace attr
namespace prim {{
{constants["prim"]}}} // namespace prim
}} // namespace c10
""",
        "src/operator_symbols.cpp": f"""// The names that the constants of <aten/core/operator_symbols.h> stand for, in their order.
#include <aten/core/known_symbols.h>

namespace c10::detail {{

namespace {{

constexpr const char* kNames[] = {{
{rows}}};

}} // namespace

ArrayRef<const char*> operator_symbol_names() {{
  return kNames;
}}

}} // namespace c10::detail
"""}
