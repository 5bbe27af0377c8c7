// Generators of a PrivateUse1 backend, for programs that register a function that makes them. New backends implement
// getDefaultGenerator and getNewGenerator of at::PrivateUse1HooksInterface.
#pragma once

#include <aten/core/Generator.h>

#include <functional>
#include <optional>

namespace at {

using GeneratorFuncType = std::function<at::Generator(c10::DeviceIndex)>;

/// The registered function, if any.
TORCH_API std::optional<GeneratorFuncType>& GetGeneratorPrivate();

class TORCH_API _GeneratorRegister {
 public:
  /// Throws when a function is registered already.
  explicit _GeneratorRegister(const GeneratorFuncType& func);
};

/// A new generator for a device. Throws when no function was registered.
TORCH_API at::Generator GetGeneratorForPrivateuse1(c10::DeviceIndex device_index);

/// At namespace scope: `REGISTER_GENERATOR_PRIVATEUSE1(make_generator_of_npu)`.
#define REGISTER_GENERATOR_PRIVATEUSE1(GeneratorPrivate) \
  static auto temp##GeneratorPrivate = at::_GeneratorRegister(GeneratorPrivate);

} // namespace at
