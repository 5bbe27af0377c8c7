// Results of two calls that should give the same.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>

#include "test/ops/boxed_op.h"

namespace fuzz {

/// What the messages call the two sides, "placed otherwise" and "as drawn" say.
struct Sides {
  const char* got;
  const char* want;
};

/// The first difference in definedness, sizes, dtypes or values, or nothing. Far looser than the tests of values: sums
/// may be taken in another order. Tensors are on the CPU; of other kinds than strided and sparse ones, values are not
/// compared.
std::string difference(const at::Tensor& got, const at::Tensor& want, Sides sides);
std::string difference(const test::Stack& got, const test::Stack& want, Sides sides);

} // namespace fuzz
