#include <csrc/compat/aten/AccumulateType.h>

namespace at {

c10::ScalarType toAccumulateType(c10::ScalarType type, c10::DeviceType device) {
  using c10::ScalarType;
  using c10::DeviceType;
  if (type == ScalarType::Bool) {
    return ScalarType::Bool;
  }
  if (c10::isIntegralType(type, /*includeBool=*/false)) {
    return ScalarType::Long;
  }
  const bool is_complex = c10::isComplexType(type);
  if (device == DeviceType::MPS) {
    return is_complex ? ScalarType::ComplexFloat : ScalarType::Float;
  }
  if ((type == ScalarType::Float || type == ScalarType::ComplexFloat) && device != DeviceType::CUDA &&
      device != DeviceType::XPU) {
    return is_complex ? ScalarType::ComplexDouble : ScalarType::Double;
  }
  return toOpMathType(type);
}

c10::ScalarType toAccumulateType(c10::ScalarType type, bool is_cuda) {
  return toAccumulateType(type, is_cuda ? c10::DeviceType::CUDA : c10::DeviceType::CPU);
}

} // namespace at
