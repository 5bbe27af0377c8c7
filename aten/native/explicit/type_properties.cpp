#include <aten/native/explicit/type_properties.h>

#include <aten/core/Tensor.h>
#include <c10/core/DefaultDtype.h>
#include <c10/core/Scalar.h>

namespace at::native {

namespace {

using c10::ScalarType;

ScalarType promote(ScalarType a, ScalarType b) {
  if (a == ScalarType::Undefined) {
    return b;
  }
  return b == ScalarType::Undefined ? a : c10::promoteTypes(a, b);
}

ScalarType combine(ScalarType higher, ScalarType lower) {
  if (c10::isComplexType(higher)) {
    return higher;
  }
  if (c10::isFloatingType(higher)) {
    return c10::isComplexType(lower) ? c10::toComplexType(higher) : higher;
  }
  if (c10::isComplexType(lower) && c10::isBarebonesUnsignedType(higher)) {
    return lower;
  }
  if (higher == ScalarType::Bool || c10::isFloatingType(lower) || c10::isComplexType(lower)) {
    return promote(higher, lower);
  }
  return higher != ScalarType::Undefined ? higher : lower;
}

// A plain number has a kind but no precision: that is the default dtype's.
ScalarType number_dtype(ScalarType type) {
  if (c10::isComplexType(type)) {
    return c10::typeMetaToScalarType(c10::get_default_complex_dtype());
  }
  return c10::isFloatingType(type) ? c10::get_default_dtype_as_scalartype() : type;
}

} // namespace

ResultTypeState update_result_type_state(const TensorBase& tensor, const ResultTypeState& in_state) {
  if (!tensor.defined()) {
    return in_state;
  }
  ResultTypeState state = in_state;
  const bool number = tensor.unsafeGetTensorImpl()->is_wrapped_number();
  const ScalarType type = number ? number_dtype(tensor.scalar_type()) : tensor.scalar_type();
  ScalarType& rank = tensor.dim() > 0 ? state.dimResult : number ? state.wrappedResult : state.zeroResult;
  rank = promote(rank, type);
  return state;
}

ResultTypeState update_result_type_state(const c10::Scalar& scalar, const ResultTypeState& in_state) {
  ResultTypeState state = in_state;
  state.wrappedResult = promote(state.wrappedResult, number_dtype(scalar.type()));
  return state;
}

ScalarType result_type(const ResultTypeState& state) {
  return combine(state.dimResult, combine(state.zeroResult, state.wrappedResult));
}

ScalarType result_type(c10::ArrayRef<Tensor> tensors) {
  ResultTypeState state;
  for (const Tensor& tensor : tensors) {
    state = update_result_type_state(tensor, state);
  }
  return result_type(state);
}

} // namespace at::native
