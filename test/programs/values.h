// Turns tagged values into IValues.
#pragma once

#include <ATen/core/ivalue.h>
#include <ATen/core/jit_type.h>

#include <stdexcept>
#include <string>

#include "program.h"

namespace programs {

/// The recorded value is of a kind that this library does not have.
class NotThere : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The value as a method takes it whose argument is of type `type` (nullptr: not known). The type decides about empty
/// containers, named tuples, enumerations and the conversions that calls from Python make: int to float, tuple to list.
/// A value that does not fit it is made as it stands. Tensors have memory of their own.
c10::IValue make_value(const Json& tagged, const c10::TypePtr& type, const SafeTensors& tensors);

/// A tensor from what stands under tag `t`.
at::Tensor make_tensor(const Json& spec, const SafeTensors& tensors);

/// The number that stands for a layout or memory format in a program.
int64_t layout_number(const std::string& name);
int64_t memory_format_number(const std::string& name);

/// The type with optionals taken off.
c10::TypePtr without_optional(const c10::TypePtr& type);

} // namespace programs
