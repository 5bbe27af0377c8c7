"""Declarations of the shape functions that entries name, made from their schemas."""

from __future__ import annotations

import cpp
from entries import Entry
from schema import Argument, Schema
from sources import SourceIndex

# Fields that name functions of aten/shape.
FIELDS = ("shape", "check", "out_check", "out_layout")


def kernel_argument(arg: Argument) -> str:
    """How a kernel or shape function declares this argument."""
    if arg.type.is_tensor and not arg.type.optional:
        return "const at::TensorBase&"
    return cpp.argument_type(arg.type, symint=False)


def inputs(schema: Schema) -> list[Argument]:
    return [a for a in schema.arguments if not (a.kwarg_only and a.is_written)]


def shape_parameters(entry: Entry, key: str) -> list[str]:
    """The types of the parameters that the function of a field has."""
    if key == "out_layout":
        return ["std::initializer_list<const at::TensorBase*>", "at::TensorSpec*"]
    outputs = ["const at::TensorBase&"] * (len(entry.schema.returns) if key == "out_check" else 0)
    return ["const char*"] + [kernel_argument(a) for a in inputs(entry.schema)] + outputs


def _result(entry: Entry, key: str) -> str:
    if key != "shape":
        return "void"
    count = len(entry.schema.returns)
    return "at::TensorSpec" if count == 1 else f"std::array<at::TensorSpec, {count}>"


class ShapeFunctions:
    """Which functions there are, and how entries declare them."""

    def __init__(self, sources: SourceIndex):
        self.sources = sources

    def declarations(self, entries: list[Entry]) -> tuple[list[str], str]:
        """(headers of those that are templates, prototypes of the others) of the functions of some entries."""
        headers: dict[str, None] = {}
        prototypes: dict[str, None] = {}
        for entry in entries:
            for key in FIELDS:
                name = entry.get(key)
                if not name or name == "pointwise":
                    continue
                parameters = shape_parameters(entry, key)
                result = _result(entry, key)
                found = self.sources.require_shape(name, result, parameters, entry, key)
                if found.is_template:
                    headers[found.path] = None
                else:
                    prototypes[f"{result} {name}({', '.join(parameters)});"] = None
        if not prototypes:
            return sorted(headers), ""
        lines = "\n".join(sorted(prototypes))
        return sorted(headers), f"namespace at::shape {{\n{lines}\n}} // namespace at::shape\n"

    def header(self, entries: list[Entry]) -> str:
        """<aten/shape/functions.h>: all of them, for kernels that check arguments or size results as the operator does."""
        _, prototypes = self.declarations(entries)
        return f"""// The shape functions that operators name in their entries, see aten/shape.
#pragma once

#include <aten/core/List.h>
#include <aten/core/Tensor.h>
#include <aten/core/TensorSpec.h>

#include <array>
#include <initializer_list>
#include <optional>
#include <string_view>

{prototypes}"""
