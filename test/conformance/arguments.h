// Turns the tagged values of a case into the IValues of a boxed call.
#pragma once

#include <ATen/core/function_schema.h>
#include <ATen/core/ivalue.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "tensors.h"

namespace conformance {

/// The operator exists, but its schema cannot take the recorded arguments.
class SchemaMismatch : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// One IValue per schema argument; arguments the recording did not know get their defaults.
/// Throws SchemaMismatch.
std::vector<c10::IValue> make_arguments(
    const Json& tagged_args, const c10::FunctionSchema& schema, const Inputs& inputs, c10::Device device);

} // namespace conformance
