#include <c10/core/Backend.h>

#include <c10/core/TensorOptions.h>
#include <c10/util/Exception.h>

#include <ostream>

namespace c10 {

namespace {

struct Row {
  Backend backend;
  DispatchKey key;
  const char* name;
};

// Every backend's key has the backend's name.
constexpr Row kRows[] = {
#define ROW(name) {Backend::name, DispatchKey::name, #name},
    ROW(CPU) ROW(CUDA) ROW(HIP) ROW(VE) ROW(FPGA) ROW(IPU) ROW(XPU) ROW(SparseCPU) ROW(SparseCUDA) ROW(SparseCsrCPU)
        ROW(SparseCsrCUDA) ROW(SparseCsrMPS) ROW(SparseMPS) ROW(SparseHIP) ROW(SparseVE) ROW(SparseXPU)
            ROW(SparsePrivateUse1) ROW(SparseCsrHIP) ROW(SparseCsrVE) ROW(SparseCsrXPU) ROW(SparseCsrPrivateUse1)
                ROW(MAIA) ROW(XLA) ROW(Vulkan) ROW(Metal) ROW(Meta) ROW(QuantizedCPU) ROW(QuantizedCUDA)
                    ROW(QuantizedXPU) ROW(QuantizedPrivateUse1) ROW(Undefined) ROW(MkldnnCPU) ROW(MPS) ROW(HPU)
                        ROW(Lazy) ROW(MTIA) ROW(PrivateUse1)
#undef ROW
};

const Row& row_of(Backend b) {
  for (const Row& row : kRows) {
    if (row.backend == b) {
      return row;
    }
  }
  TORCH_CHECK(false, "Unknown backend ", static_cast<int>(b));
}

} // namespace

Backend dispatchKeyToBackend(DispatchKey t) {
  if (toFunctionalityKey(t) == DispatchKey::AutogradFunctionality) {
    t = toRuntimePerBackendFunctionalityKey(DispatchKey::Dense, toBackendComponent(t));
  }
  for (const Row& row : kRows) {
    if (row.key == t) {
      return row.backend;
    }
  }
  TORCH_CHECK(false, "Unrecognized tensor type ID: ", t);
}

DispatchKey backendToDispatchKey(Backend b) {
  return row_of(b).key;
}

DeviceType backendToDeviceType(Backend b) {
  TORCH_CHECK(b != Backend::Undefined, "Undefined backend is not a valid device type");
  return dispatchKeyToDeviceType(backendToDispatchKey(b));
}

Layout layout_from_backend(Backend b) {
  TORCH_CHECK(
      !isSparseCsr(b), "Cannot map Backend ", b, " to a unique layout: it holds all compressed sparse layouts.");
  return isSparse(b) ? Layout::Sparse : b == Backend::MkldnnCPU ? Layout::Mkldnn : Layout::Strided;
}

const char* toString(Backend b) {
  return row_of(b).name;
}

std::ostream& operator<<(std::ostream& out, Backend b) {
  return out << toString(b);
}

} // namespace c10
