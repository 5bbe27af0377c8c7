#include <c10/core/DispatchKey.h>

#include <c10/util/Exception.h>

#include <cstring>
#include <ostream>

// Most of it are uses of macros, one after another.
// clang-format off
namespace c10 {

namespace {

struct KeyName {
  DispatchKey key;
  const char* name;
};

// Every key that can be named, once. Order does not matter.
constexpr KeyName kKeyNames[] = {
#define NAMED(key) {DispatchKey::key, #key},
    NAMED(Undefined) NAMED(Dense) NAMED(FPGA) NAMED(Vulkan) NAMED(Metal) NAMED(Quantized) NAMED(CustomRNGKeyId)
    NAMED(MkldnnCPU) NAMED(Sparse) NAMED(SparseCsr) NAMED(NestedTensor) NAMED(BackendSelect) NAMED(Fake) NAMED(Python)
    NAMED(FuncTorchDynamicLayerBackMode) NAMED(Functionalize) NAMED(Named) NAMED(Conjugate) NAMED(Negative)
    NAMED(ZeroTensor) NAMED(ADInplaceOrView) NAMED(AutogradOther) NAMED(AutogradFunctionality)
    NAMED(AutogradNestedTensor) NAMED(ForwardAD) NAMED(Tracer) NAMED(AutocastCPU) NAMED(AutocastMTIA) NAMED(AutocastMAIA)
    NAMED(AutocastXPU) NAMED(AutocastIPU) NAMED(AutocastHPU) NAMED(AutocastXLA) NAMED(AutocastMPS) NAMED(AutocastCUDA)
    NAMED(AutocastPrivateUse1) NAMED(FuncTorchBatched) NAMED(BatchedNestedTensor) NAMED(FuncTorchVmapMode)
    NAMED(Batched) NAMED(VmapMode) NAMED(FuncTorchGradWrapper) NAMED(DeferredInit) NAMED(PythonTLSSnapshot)
    NAMED(FuncTorchDynamicLayerFrontMode) NAMED(TESTING_ONLY_GenericWrapper) NAMED(TESTING_ONLY_GenericMode)
    NAMED(PreDispatch) NAMED(PythonDispatcher) NAMED(Autograd) NAMED(CompositeImplicitAutograd)
    NAMED(FuncTorchBatchedDecomposition) NAMED(CompositeImplicitAutogradNestedTensor) NAMED(CompositeExplicitAutograd)
    NAMED(CompositeExplicitAutogradNonFunctional)
#undef NAMED
#define NAMED(backend, prefix) {DispatchKey::prefix##backend, #prefix #backend},
#define BLOCK(functionality, prefix) C10_FORALL_BACKEND_COMPONENTS(NAMED, prefix)
    C10_FORALL_FUNCTIONALITY_KEYS(BLOCK)
#undef BLOCK
#undef NAMED
};

constexpr size_t kKeyCount = static_cast<size_t>(DispatchKey::EndOfAliasKeys) + 1;

// kKeyNames indexed by key, so that messages and profilers may ask often.
struct NameTable {
  const char* names[kKeyCount] = {};
  constexpr NameTable() {
    for (const KeyName& entry : kKeyNames) {
      names[static_cast<size_t>(entry.key)] = entry.name;
    }
  }
};

constexpr NameTable kNameTable;

} // namespace

const char* toString(DispatchKey k) {
  const auto index = static_cast<size_t>(k);
  const char* name = index < kKeyCount ? kNameTable.names[index] : nullptr;
  return name != nullptr ? name : "UNKNOWN_TENSOR_TYPE_ID";
}

const char* toString(BackendComponent k) {
  switch (k) {
#define NAMED(name, _)           \
  case BackendComponent::name##Bit: \
    return #name "Bit";
    C10_FORALL_BACKEND_COMPONENTS(NAMED, unused)
#undef NAMED
    case BackendComponent::InvalidBit:
      return "InvalidBit";
  }
  return "UNKNOWN_BACKEND_BIT";
}

std::ostream& operator<<(std::ostream& out, DispatchKey k) {
  return out << toString(k);
}

std::ostream& operator<<(std::ostream& out, BackendComponent k) {
  return out << toString(k);
}

BackendComponent toBackendComponent(DeviceType device_type) {
  switch (device_type) {
#define BACKEND(name, _)   \
  case DeviceType::name: \
    return BackendComponent::name##Bit;
    BACKEND(CPU, ) BACKEND(CUDA, ) BACKEND(HIP, ) BACKEND(XLA, ) BACKEND(MPS, ) BACKEND(IPU, ) BACKEND(XPU, )
    BACKEND(HPU, ) BACKEND(VE, ) BACKEND(Lazy, ) BACKEND(MTIA, ) BACKEND(MAIA, ) BACKEND(PrivateUse1, ) BACKEND(Meta, )
#undef BACKEND
    // These two keep their data in host memory.
    case DeviceType::MKLDNN:
    case DeviceType::IDEEP:
      return BackendComponent::CPUBit;
    default:
      return BackendComponent::InvalidBit;
  }
}

DispatchKey getAutogradKeyFromBackend(BackendComponent k) {
  return k == BackendComponent::InvalidBit
      ? DispatchKey::AutogradOther
      : toRuntimePerBackendFunctionalityKey(DispatchKey::AutogradFunctionality, k);
}

DispatchKey parseDispatchKey(const std::string& name) {
  struct Alias {
    const char* name;
    DispatchKey key;
  };
  constexpr Alias kOlderNames[] = {
      {"CatchAll", DispatchKey::CatchAll},
      {"CPUTensorId", DispatchKey::CPUTensorId},
      {"CUDATensorId", DispatchKey::CUDATensorId},
      {"DefaultBackend", DispatchKey::DefaultBackend},
      {"Autocast", DispatchKey::Autocast},
  };
  for (const KeyName& entry : kKeyNames) {
    if (name == entry.name) {
      return entry.key;
    }
  }
  for (const Alias& entry : kOlderNames) {
    if (name == entry.name) {
      return entry.key;
    }
  }
  TORCH_CHECK(false, "could not parse dispatch key: ", name);
}

} // namespace c10
