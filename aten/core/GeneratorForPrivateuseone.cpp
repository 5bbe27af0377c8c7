#include <aten/core/GeneratorForPrivateuseone.h>

#include <c10/util/Exception.h>

namespace at {

std::optional<GeneratorFuncType>& GetGeneratorPrivate() {
  static std::optional<GeneratorFuncType> function;
  return function;
}

_GeneratorRegister::_GeneratorRegister(const GeneratorFuncType& func) {
  TORCH_CHECK(
      !GetGeneratorPrivate(), "PrivateUse1: a function that makes generators is registered already; only one can be.");
  GetGeneratorPrivate() = func;
}

at::Generator GetGeneratorForPrivateuse1(c10::DeviceIndex device_index) {
  TORCH_CHECK(
      GetGeneratorPrivate().has_value(),
      "Please register a generator to the PrivateUse1 dispatch key, using the REGISTER_GENERATOR_PRIVATEUSE1 macro.");
  return (*GetGeneratorPrivate())(device_index);
}

} // namespace at
