// The dtype in which tensors and numbers of different dtypes meet.
#pragma once

#include <c10/core/ScalarType.h>
#include <c10/macros/Macros.h>
#include <c10/util/ArrayRef.h>

namespace c10 {
class Scalar;
}

namespace at {

class Tensor;
class TensorBase;

namespace native {

/// Promotion so far, by rank of the operand: tensors with dimensions count most, then 0-dim tensors, then plain
/// numbers. An operand of a lower rank changes the result only when it is of a higher kind (bool < integer < floating <
/// complex).
struct ResultTypeState {
  c10::ScalarType dimResult = c10::ScalarType::Undefined;
  c10::ScalarType wrappedResult = c10::ScalarType::Undefined;
  c10::ScalarType zeroResult = c10::ScalarType::Undefined;
};

TORCH_API ResultTypeState update_result_type_state(const TensorBase& tensor, const ResultTypeState& in_state);
TORCH_API ResultTypeState update_result_type_state(const c10::Scalar& scalar, const ResultTypeState& in_state);

/// The promoted dtype; Undefined when no operand was seen.
TORCH_API c10::ScalarType result_type(const ResultTypeState& state);
TORCH_API c10::ScalarType result_type(c10::ArrayRef<Tensor> tensors);

} // namespace native
} // namespace at
