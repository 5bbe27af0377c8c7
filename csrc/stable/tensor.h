// Tensors, devices and generators of the stable interface, for extensions that are written against
// <torch/csrc/stable/...> alone. They are handles: see csrc/stable/shim.h.
#pragma once

#include <c10/core/DeviceType.h>
#include <c10/core/Layout.h>
#include <c10/core/ScalarType.h>
#include <c10/util/ArrayRef.h>
#include <csrc/stable/shim.h>

#include <memory>
#include <string>

namespace torch::stable::detail {
/// Throws std::runtime_error with the text of the error that `call` reported.
[[noreturn]] TORCH_API void throw_exception(const char* call, const char* file, int64_t line);
} // namespace torch::stable::detail

#define STABLE_TORCH_ERROR_CODE_CHECK(call)                                                           \
  do {                                                                                                \
    if ((call) != TORCH_SUCCESS) ::torch::stable::detail::throw_exception(#call, __FILE__, __LINE__); \
  } while (false)
#define TORCH_ERROR_CODE_CHECK(call) STABLE_TORCH_ERROR_CODE_CHECK(call)

namespace torch::stable {

using c10::DeviceType;
using c10::Layout;
using c10::ScalarType;
using DeviceIndex = int32_t;

/// A kind of device and, where it is known, its number.
class TORCH_API Device {
 public:
  /* implicit */ Device(DeviceType type, DeviceIndex index = -1);
  /// From a text such as "cuda:1".
  /* implicit */ Device(const std::string& text);

  bool operator==(const Device& other) const noexcept {
    return type_ == other.type_ && index_ == other.index_;
  }
  bool operator!=(const Device& other) const noexcept {
    return !(*this == other);
  }
  void set_index(DeviceIndex index) {
    index_ = index;
  }
  DeviceType type() const noexcept {
    return type_;
  }
  DeviceIndex index() const noexcept {
    return index_;
  }
  bool has_index() const noexcept {
    return index_ != -1;
  }
  bool is_cuda() const noexcept {
    return type_ == DeviceType::CUDA;
  }
  bool is_cpu() const noexcept {
    return type_ == DeviceType::CPU;
  }

 private:
  DeviceType type_;
  DeviceIndex index_;
};

/// A counted reference to a tensor; copies share it.
class TORCH_API Tensor {
 public:
  /// An undefined tensor.
  Tensor();
  /// Takes the handle over.
  explicit Tensor(AtenTensorHandle handle);

  AtenTensorHandle get() const {
    return handle_.get();
  }
  bool defined() const;
  void* data_ptr() const;
  void* mutable_data_ptr() const;
  const void* const_data_ptr() const;
  /// Throw if T is not the C++ type of the dtype.
  template <typename T>
  T* mutable_data_ptr() const {
    check_dtype(c10::CppTypeToScalarType<T>::value);
    return static_cast<T*>(mutable_data_ptr());
  }
  template <typename T>
  const T* const_data_ptr() const {
    check_dtype(c10::CppTypeToScalarType<T>::value);
    return static_cast<const T*>(const_data_ptr());
  }
  const Tensor& set_requires_grad(bool requires_grad) const;
  int64_t dim() const;
  int64_t numel() const;
  c10::IntArrayRef sizes() const;
  c10::IntArrayRef strides() const;
  int64_t size(int64_t dim) const;
  int64_t stride(int64_t dim) const;
  bool is_contiguous() const;
  bool has_storage() const;
  int64_t storage_offset() const;
  size_t element_size() const;
  ScalarType scalar_type() const;
  Layout layout() const;
  Device device() const;
  int8_t get_device() const;
  DeviceIndex get_device_index() const;
  bool is_cuda() const;
  bool is_cpu() const;

 private:
  void check_dtype(ScalarType expected) const;

  std::shared_ptr<AtenTensorOpaque> handle_;
};

/// A counted reference to a random number generator.
class TORCH_API Generator {
 public:
  /// Takes the handle over.
  explicit Generator(AtenGeneratorHandle handle);

  AtenGeneratorHandle get() const {
    return handle_.get();
  }
  Device device() const;

 private:
  std::shared_ptr<AtenGeneratorOpaque> handle_;
};

} // namespace torch::stable
