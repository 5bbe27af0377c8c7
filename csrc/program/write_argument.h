// Constants as the JSON of an archive.
#pragma once

#include <aten/core/ivalue.h>
#include <aten/core/jit_type.h>
#include <csrc/program/json.h>

namespace torch::program {

/// A device: {"type": "cuda", "index": 0}.
Json device_json(const c10::Device& device);

/// A constant for an argument of this type; without a type as the value is. Throws for what archives cannot hold.
Json constant_argument(const c10::IValue& value, const c10::Type* type);

/// The type inside of an optional one.
const c10::Type* without_optional(const c10::Type* type);
/// The type of a list's elements; nullptr where it is no list.
const c10::Type* element_of(const c10::Type* type);

} // namespace torch::program
