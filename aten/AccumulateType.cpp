#include <aten/AccumulateType.h>

namespace at {

c10::ScalarType toAccumulateType(c10::ScalarType type, c10::DeviceType device) {
  using c10::ScalarType;
  const bool on_cpu = device == c10::DeviceType::CPU;
  if (type == ScalarType::Bool) {
    return on_cpu ? ScalarType::Bool : ScalarType::Long;
  }
  if (c10::isIntegralType(type, /*includeBool=*/false)) {
    return ScalarType::Long;
  }
  if (on_cpu && type == ScalarType::Float) {
    return ScalarType::Double;
  }
  if (on_cpu && type == ScalarType::ComplexFloat) {
    return ScalarType::ComplexDouble;
  }
  return toOpMathType(type);
}

c10::ScalarType toAccumulateType(c10::ScalarType type, bool is_cuda) {
  return toAccumulateType(type, is_cuda ? c10::DeviceType::CUDA : c10::DeviceType::CPU);
}

} // namespace at
