// Naive implementations that operators are checked against: plain loops in double, by the textbook.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include <string>
#include <vector>

namespace test {

using Stack = std::vector<c10::IValue>;

/// Takes the complete boxed arguments; gives results in complex128, int64 or float64 of the right shapes. Dtypes are
/// not a reference's business.
using Reference = std::vector<at::Tensor> (*)(const Stack& args);

/// The reference that entries name in their field `reference`; nullptr when there is none.
Reference find_reference(const std::string& name);

} // namespace test
