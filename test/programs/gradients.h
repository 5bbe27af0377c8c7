// The gradients of a call: of a sum over its results, weighted by the cosine of each element's position.
#pragma once

#include <ATen/core/ivalue.h>

#include <map>
#include <string>
#include <vector>

#include "program.h"
#include "test/support/compare.h"

namespace programs {

/// Runs backward from `result` and compares the loss and the gradients in `record`: of `parameters` by name, of
/// arguments as "arg:N". Returns the first difference, or an empty string.
std::string compare_gradients(
    const c10::IValue& result,
    const std::map<std::string, at::Tensor>& parameters,
    const std::vector<c10::IValue>& arguments,
    const Json& record,
    const SafeTensors& tensors,
    test::Tolerance tolerance);

} // namespace programs
