// What Tensor::type() gives: backend and dtype of a tensor as one object. Older code uses it where new code takes
// TensorOptions, scalar_type() or device().
#pragma once

#include <c10/core/Backend.h>
#include <c10/core/Layout.h>
#include <c10/core/ScalarType.h>
#include <c10/core/TensorOptions.h>

#include <optional>
#include <string>

namespace at {

class Tensor;

class TORCH_API DeprecatedTypeProperties {
 public:
  DeprecatedTypeProperties(c10::Backend backend, c10::ScalarType scalar_type)
      : backend_(backend), scalar_type_(scalar_type) {}

  c10::Backend backend() const {
    return backend_;
  }
  c10::ScalarType scalarType() const {
    return scalar_type_;
  }
  caffe2::TypeMeta typeMeta() const {
    return c10::scalarTypeToTypeMeta(scalar_type_);
  }
  c10::DeviceType device_type() const {
    return c10::backendToDeviceType(backend_);
  }
  c10::Layout layout() const;
  bool is_cuda() const {
    return device_type() == c10::DeviceType::CUDA;
  }
  bool is_sparse() const {
    return c10::isSparse(backend_);
  }
  bool is_sparse_csr() const {
    return c10::isSparseCsr(backend_);
  }
  bool operator==(const DeprecatedTypeProperties& other) const {
    return backend_ == other.backend_ && scalar_type_ == other.scalar_type_;
  }
  bool operator!=(const DeprecatedTypeProperties& other) const {
    return !(*this == other);
  }
  /// "CPUFloatType".
  std::string toString() const;

  DeprecatedTypeProperties& toBackend(c10::Backend b) const;
  DeprecatedTypeProperties& toScalarType(c10::ScalarType s) const;
  DeprecatedTypeProperties& cpu() const {
    return toBackend(c10::Backend::CPU);
  }
  DeprecatedTypeProperties& cuda() const {
    return toBackend(c10::Backend::CUDA);
  }

  /// `at::zeros({2}, x.type())`.
  c10::TensorOptions options(int16_t device_index = -1) const;
  c10::TensorOptions options(std::optional<c10::Device> device_opt) const;
  operator c10::TensorOptions() const {
    return options();
  }

  /// `src` with this dtype, on this backend.
  Tensor copy(const Tensor& src, bool non_blocking = false, std::optional<c10::Device> to_device = std::nullopt) const;

 private:
  c10::Backend backend_;
  c10::ScalarType scalar_type_;
};

/// One object for each pair; they live for ever.
class TORCH_API DeprecatedTypePropertiesRegistry {
 public:
  DeprecatedTypeProperties& getDeprecatedTypeProperties(c10::Backend p, c10::ScalarType s) const;
};
TORCH_API DeprecatedTypePropertiesRegistry& globalDeprecatedTypePropertiesRegistry();

} // namespace at
