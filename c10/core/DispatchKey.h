#pragma once

#include <c10/core/DeviceType.h>
#include <c10/macros/Export.h>
#include <c10/macros/Macros.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <string>

// Note [Dispatch keys]
// A tensor's dispatch keys are two facts joined in one 64-bit set: on which backend its data lives (a
// BackendComponent) and which functionalities it takes part in (a DispatchKey up to EndOfFunctionalityKeys).
// A few functionalities (Dense, Sparse, Autograd...) have one kernel a backend; for those the keys people
// register to (CPU, SparseCUDA, AutogradXLA...) are the product of both and need no bit of their own.
// Alias keys (Autograd, CompositeImplicitAutograd...) only exist at registration: they stand for many keys.

/// Calls _(name, extra) for each backend, lowest priority first.
#define C10_FORALL_BACKEND_COMPONENTS(_, extra) \
  _(CPU, extra)                                 \
  _(CUDA, extra)                                \
  _(HIP, extra)                                 \
  _(XLA, extra)                                 \
  _(MPS, extra)                                 \
  _(IPU, extra)                                 \
  _(XPU, extra)                                 \
  _(HPU, extra)                                 \
  _(VE, extra)                                  \
  _(Lazy, extra)                                \
  _(MTIA, extra)                                \
  _(MAIA, extra)                                \
  _(PrivateUse1, extra)                         \
  _(PrivateUse2, extra)                         \
  _(PrivateUse3, extra)                         \
  _(Meta, extra)

/// Calls _(functionality, prefix) for each functionality that has one kernel a backend; prefix is put before the
/// backend's name in the runtime keys.
#define C10_FORALL_FUNCTIONALITY_KEYS(_) \
  _(Dense, )                             \
  _(Quantized, Quantized)                \
  _(Sparse, Sparse)                      \
  _(SparseCsr, SparseCsr)                \
  _(NestedTensor, NestedTensor)          \
  _(AutogradFunctionality, Autograd)

namespace c10 {

/// Where a tensor's data lives, as bits of a DispatchKeySet. A larger value has the higher priority.
enum class BackendComponent : uint8_t {
  InvalidBit = 0,
#define C10_BACKEND_BIT(name, _) name##Bit,
  C10_FORALL_BACKEND_COMPONENTS(C10_BACKEND_BIT, unused)
#undef C10_BACKEND_BIT
      EndOfBackendKeys = MetaBit,
};

/// What a kernel is registered to and what an operator call is routed by. A larger functionality runs earlier.
enum class DispatchKey : uint16_t {
  Undefined = 0,
  CatchAll = Undefined,

  // Kernels that compute.
  Dense,
  FPGA,
  Vulkan,
  Metal,
  Quantized,
  CustomRNGKeyId,
  MkldnnCPU,
  Sparse,
  SparseCsr,
  NestedTensor,

  // Picks the backend of factory functions, which have no tensor to tell it.
  BackendSelect,

  Fake,
  Python,
  FuncTorchDynamicLayerBackMode,
  Functionalize,
  Named,
  Conjugate,
  Negative,
  ZeroTensor,

  // Records views and bumps versions, below autograd.
  ADInplaceOrView,
  AutogradOther,
  AutogradFunctionality,
  AutogradNestedTensor,

  // Forward-mode gradients: on dual tensors alone. No key of libtorch, whose Autograd kernels do this too.
  ForwardAD,

  Tracer,

  AutocastCPU,
  AutocastMTIA,
  AutocastMAIA,
  AutocastXPU,
  AutocastIPU,
  AutocastHPU,
  AutocastXLA,
  AutocastMPS,
  AutocastCUDA,
  AutocastPrivateUse1,

  FuncTorchBatched,
  BatchedNestedTensor,
  FuncTorchVmapMode,
  Batched,
  VmapMode,
  FuncTorchGradWrapper,
  DeferredInit,
  PythonTLSSnapshot,
  FuncTorchDynamicLayerFrontMode,
  TESTING_ONLY_GenericWrapper,
  TESTING_ONLY_GenericMode,
  PreDispatch,
  PythonDispatcher,

  EndOfFunctionalityKeys,

// Runtime keys of the per-backend functionalities: StartOf*Backends stands for "no backend".
#define C10_RUNTIME_KEY(name, prefix) prefix##name,
#define C10_RUNTIME_KEYS(functionality, prefix) \
  StartOf##functionality##Backends,             \
      C10_FORALL_BACKEND_COMPONENTS(C10_RUNTIME_KEY, prefix) EndOf##functionality##Backends = prefix##Meta,
  C10_FORALL_FUNCTIONALITY_KEYS(C10_RUNTIME_KEYS)
#undef C10_RUNTIME_KEYS
#undef C10_RUNTIME_KEY
      EndOfRuntimeBackendKeys = EndOfAutogradFunctionalityBackends,

  // Alias keys, strongest first.
  Autograd,
  CompositeImplicitAutograd,
  FuncTorchBatchedDecomposition,
  CompositeImplicitAutogradNestedTensor,
  CompositeExplicitAutograd,
  CompositeExplicitAutogradNonFunctional,
  StartOfAliasKeys = Autograd,
  EndOfAliasKeys = CompositeExplicitAutogradNonFunctional,

  // Older names.
  CPUTensorId = CPU,
  CUDATensorId = CUDA,
  DefaultBackend = CompositeExplicitAutograd,
  PrivateUse1_PreAutograd = AutogradPrivateUse1,
  PrivateUse2_PreAutograd = AutogradPrivateUse2,
  PrivateUse3_PreAutograd = AutogradPrivateUse3,
  Autocast = AutocastCUDA,
};

constexpr DispatchKey kAutograd = DispatchKey::Autograd;

/// Number of functionality keys, with Undefined.
constexpr uint8_t num_functionality_keys = static_cast<uint8_t>(DispatchKey::EndOfFunctionalityKeys);
constexpr uint8_t num_backends = static_cast<uint8_t>(BackendComponent::EndOfBackendKeys);
constexpr uint16_t full_backend_mask = static_cast<uint16_t>((uint32_t{1} << num_backends) - 1);

static_assert(num_backends <= 16, "the backend part of a DispatchKeySet has 16 bits");
static_assert(
    num_backends + num_functionality_keys - 1 <= 64,
    "backends and functionalities but Undefined share one 64-bit word");

/// True for keys that stand for several runtime keys at registration.
constexpr bool isAliasDispatchKey(DispatchKey k) {
  return k >= DispatchKey::StartOfAliasKeys && k <= DispatchKey::EndOfAliasKeys;
}

/// True for functionalities that have one kernel a backend.
constexpr bool isPerBackendFunctionalityKey(DispatchKey k) {
  return k == DispatchKey::Dense || k == DispatchKey::Quantized || k == DispatchKey::Sparse ||
      k == DispatchKey::SparseCsr || k == DispatchKey::NestedTensor || k == DispatchKey::AutogradFunctionality;
}

constexpr uint8_t numPerBackendFunctionalityKeys() {
  uint8_t count = 0;
  for (uint8_t k = 0; k < num_functionality_keys; ++k) {
    count = static_cast<uint8_t>(count + (isPerBackendFunctionalityKey(static_cast<DispatchKey>(k)) ? 1 : 0));
  }
  return count;
}

/// Number of entries in an operator's dispatch table.
constexpr uint16_t num_runtime_entries = num_functionality_keys + numPerBackendFunctionalityKeys() * (num_backends - 1);

namespace impl {

/// Every block of runtime keys is as long as the list of backends, plus its StartOf marker.
constexpr uint16_t kRuntimeKeyBlock = num_backends + 1;

constexpr DispatchKey first_runtime_key(DispatchKey functionality) {
  switch (functionality) {
#define C10_FIRST_RUNTIME_KEY(name, prefix) \
  case DispatchKey::name:                   \
    return DispatchKey::StartOf##name##Backends;
    C10_FORALL_FUNCTIONALITY_KEYS(C10_FIRST_RUNTIME_KEY)
#undef C10_FIRST_RUNTIME_KEY
    default:
      return DispatchKey::Undefined;
  }
}

constexpr bool is_runtime_backend_key(DispatchKey k) {
  return k >= DispatchKey::StartOfDenseBackends && k <= DispatchKey::EndOfRuntimeBackendKeys;
}

} // namespace impl

/// Backend of a runtime key such as SparseCUDA; InvalidBit for keys that belong to no backend.
constexpr BackendComponent toBackendComponent(DispatchKey k) {
  if (!impl::is_runtime_backend_key(k)) {
    return BackendComponent::InvalidBit;
  }
  const auto offset = static_cast<uint16_t>(k) - static_cast<uint16_t>(DispatchKey::StartOfDenseBackends);
  return static_cast<BackendComponent>(offset % impl::kRuntimeKeyBlock);
}

/// Backend of a device type; InvalidBit for devices without one (FPGA, Vulkan, Metal...).
C10_API BackendComponent toBackendComponent(DeviceType device_type);

/// Functionality of a key: itself for functionalities, Dense for CPU, AutogradFunctionality for AutogradCUDA,
/// Undefined for alias keys.
constexpr DispatchKey toFunctionalityKey(DispatchKey k) {
  if (k <= DispatchKey::EndOfFunctionalityKeys) {
    return k;
  }
  if (!impl::is_runtime_backend_key(k)) {
    return DispatchKey::Undefined;
  }
  constexpr DispatchKey blocks[] = {
#define C10_FUNCTIONALITY(name, prefix) DispatchKey::name,
      C10_FORALL_FUNCTIONALITY_KEYS(C10_FUNCTIONALITY)
#undef C10_FUNCTIONALITY
  };
  const auto offset = static_cast<uint16_t>(k) - static_cast<uint16_t>(DispatchKey::StartOfDenseBackends);
  return blocks[offset / impl::kRuntimeKeyBlock];
}

/// (Sparse, CUDABit) -> SparseCUDA. Undefined when the functionality has no per-backend kernels.
constexpr DispatchKey toRuntimePerBackendFunctionalityKey(DispatchKey functionality_k, BackendComponent backend_k) {
  const DispatchKey first = impl::first_runtime_key(functionality_k);
  return first == DispatchKey::Undefined
      ? first
      : static_cast<DispatchKey>(static_cast<uint16_t>(first) + static_cast<uint16_t>(backend_k));
}

C10_API const char* toString(DispatchKey k);
C10_API const char* toString(BackendComponent k);
C10_API std::ostream& operator<<(std::ostream& out, DispatchKey k);
C10_API std::ostream& operator<<(std::ostream& out, BackendComponent k);

/// CPUBit -> AutogradCPU; AutogradOther for InvalidBit.
C10_API DispatchKey getAutogradKeyFromBackend(BackendComponent k);

/// Key of the given name, as toString writes it. Throws for unknown names and for names of mere markers.
C10_API DispatchKey parseDispatchKey(const std::string& name);

} // namespace c10

namespace torch {
using c10::kAutograd;
} // namespace torch

namespace std {
template <>
struct hash<c10::DispatchKey> {
  size_t operator()(c10::DispatchKey k) const noexcept {
    return static_cast<size_t>(k);
  }
};
} // namespace std
