#pragma once

#include <c10/core/DeviceType.h>
#include <c10/core/DispatchKey.h>
#include <c10/core/Layout.h>
#include <c10/macros/Export.h>

#include <iosfwd>

namespace c10 {

/// Older name for the pair of device and layout of a tensor. New code uses DispatchKey.
enum class Backend {
  CPU,
  CUDA,
  HIP,
  VE,
  FPGA,
  IPU,
  XPU,
  SparseCPU,
  SparseCUDA,
  SparseCsrCPU,
  SparseCsrCUDA,
  SparseCsrMPS,
  SparseMPS,
  SparseHIP,
  SparseVE,
  SparseXPU,
  SparsePrivateUse1,
  SparseCsrHIP,
  SparseCsrVE,
  SparseCsrXPU,
  SparseCsrPrivateUse1,
  MAIA,
  XLA,
  Vulkan,
  Metal,
  Meta,
  QuantizedCPU,
  QuantizedCUDA,
  QuantizedXPU,
  QuantizedPrivateUse1,
  Undefined,
  MkldnnCPU,
  MPS,
  HPU,
  Lazy,
  MTIA,
  PrivateUse1,
  NumOptions
};

/// Backend of a backend key or of its autograd key. Throws for other keys.
C10_API Backend dispatchKeyToBackend(DispatchKey t);
C10_API DispatchKey backendToDispatchKey(Backend b);
C10_API DeviceType backendToDeviceType(Backend b);
C10_API const char* toString(Backend b);
C10_API std::ostream& operator<<(std::ostream& out, Backend b);

/// Throws for the compressed sparse backends, which have several layouts.
C10_API Layout layout_from_backend(Backend b);

inline bool isSparse(Backend b) {
  return toFunctionalityKey(backendToDispatchKey(b)) == DispatchKey::Sparse;
}
inline bool isSparseCsr(Backend b) {
  return toFunctionalityKey(backendToDispatchKey(b)) == DispatchKey::SparseCsr;
}

} // namespace c10
