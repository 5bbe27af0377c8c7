// Compares values with tagged ones. Every function returns an empty string when they agree, else the first difference.
#pragma once

#include <ATen/core/ivalue.h>

#include <string>

#include "program.h"
#include "test/support/compare.h"

namespace programs {

/// All that a call must keep to: types, sizes, order and names exactly, floating values within the tolerance.
std::string compare_value(
    const c10::IValue& got, const Json& want, const SafeTensors& tensors, test::Tolerance tolerance);

/// A tensor against what stands under tag `t`.
std::string compare_tensor(
    const at::Tensor& got, const Json& want, const SafeTensors& tensors, test::Tolerance tolerance);

} // namespace programs
