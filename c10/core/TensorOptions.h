#pragma once

#include <c10/core/Backend.h>
#include <c10/core/DefaultDtype.h>
#include <c10/core/Device.h>
#include <c10/core/DispatchKey.h>
#include <c10/core/Layout.h>
#include <c10/core/MemoryFormat.h>
#include <c10/core/ScalarType.h>
#include <c10/core/ScalarTypeToTypeMeta.h>
#include <c10/macros/Export.h>
#include <c10/macros/Macros.h>
#include <c10/core/TypeMeta.h>

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

namespace c10 {

struct TensorOptions;

/// Key of a tensor with these properties. Missing ones are the default dtype, strided, the CPU. Throws
/// NotImplementedError if the device has no such tensors.
C10_API DispatchKey
computeDispatchKey(std::optional<ScalarType> dtype, std::optional<Layout> layout, std::optional<Device> device);

inline ScalarType dtype_or_default(std::optional<ScalarType> dtype) {
  return dtype ? *dtype : get_default_dtype_as_scalartype();
}
// T puts off std::optional<TypeMeta> until somebody uses it, here and below.
template <typename T = caffe2::TypeMeta>
caffe2::TypeMeta dtype_or_default(std::optional<std::enable_if_t<true, T>> dtype) {
  return dtype ? *dtype : get_default_dtype();
}
inline Layout layout_or_default(std::optional<Layout> layout) {
  return layout.value_or(kStrided);
}
inline Device device_or_default(std::optional<Device> device) {
  return device.value_or(Device(DeviceType::CPU));
}
inline bool pinned_memory_or_default(std::optional<bool> pinned_memory) {
  return pinned_memory.value_or(false);
}

/// Properties of a tensor to be made: dtype, device, layout, requires_grad, pinned memory, memory format. Each may be
/// left open. Functions named after a property return a changed copy, so they chain: dtype(kLong).device(kCUDA).
/// Converts from any single property.
struct C10_API TensorOptions {
  TensorOptions() noexcept
      : requires_grad_(false),
        pinned_memory_(false),
        has_device_(false),
        has_dtype_(false),
        has_layout_(false),
        has_requires_grad_(false),
        has_pinned_memory_(false),
        has_memory_format_(false) {}

  TensorOptions(Layout layout) : TensorOptions() {
    set_layout(layout);
  }
  template <typename T, typename = std::enable_if_t<std::is_same_v<std::decay_t<T>, Device>>>
  TensorOptions(T&& device) : TensorOptions() {
    set_device(std::forward<T>(device));
  }
  /// From what a Device is made of: a DeviceType, a type and an index, a string such as "cuda:1".
  template <typename... Args, typename = std::enable_if_t<std::is_constructible_v<Device, Args&&...>>>
  TensorOptions(Args&&... args) : TensorOptions(Device(std::forward<Args>(args)...)) {}
  TensorOptions(caffe2::TypeMeta dtype) : TensorOptions() {
    set_dtype(dtype);
  }
  TensorOptions(ScalarType dtype) : TensorOptions() {
    set_dtype(dtype);
  }
  TensorOptions(MemoryFormat memory_format) : TensorOptions() {
    set_memory_format(memory_format);
  }

  // -- Changed copies ------------------------------------------------------------

  [[nodiscard]] TensorOptions device(std::optional<Device> device) const noexcept {
    TensorOptions r = *this;
    r.set_device(device);
    return r;
  }
  template <typename... Args>
  [[nodiscard]] TensorOptions device(Args&&... args) const noexcept {
    return device(std::optional<Device>(std::in_place, std::forward<Args>(args)...));
  }
  /// The CUDA device of this index.
  [[nodiscard]] TensorOptions device_index(c10::DeviceIndex device_index) const noexcept {
    return device(std::optional<Device>(Device(DeviceType::CUDA, device_index)));
  }
  template <typename T = caffe2::TypeMeta>
  [[nodiscard]] TensorOptions dtype(std::optional<std::enable_if_t<true, T>> dtype) const noexcept {
    TensorOptions r = *this;
    r.has_dtype_ = dtype.has_value();
    if (dtype) {
      r.dtype_ = *dtype;
    }
    return r;
  }
  [[nodiscard]] TensorOptions dtype(std::optional<ScalarType> dtype) const noexcept {
    TensorOptions r = *this;
    r.has_dtype_ = dtype.has_value();
    if (dtype) {
      r.dtype_ = scalarTypeToTypeMeta(*dtype);
    }
    return r;
  }
  /// Changes the object itself.
  template <typename T>
  TensorOptions& dtype() {
    set_dtype(caffe2::TypeMeta::Make<T>());
    return *this;
  }
  [[nodiscard]] TensorOptions layout(std::optional<Layout> layout) const noexcept {
    TensorOptions r = *this;
    r.set_layout(layout);
    return r;
  }
  [[nodiscard]] TensorOptions requires_grad(std::optional<bool> requires_grad) const noexcept {
    TensorOptions r = *this;
    r.set_requires_grad(requires_grad);
    return r;
  }
  [[nodiscard]] TensorOptions pinned_memory(std::optional<bool> pinned_memory) const noexcept {
    TensorOptions r = *this;
    r.set_pinned_memory(pinned_memory);
    return r;
  }
  [[nodiscard]] TensorOptions memory_format(std::optional<MemoryFormat> memory_format) const noexcept {
    TensorOptions r = *this;
    r.set_memory_format(memory_format);
    return r;
  }

  // -- Properties: the value or its default, whether it is set, the value if it is set ----

  Device device() const noexcept {
    return device_or_default(device_opt());
  }
  bool has_device() const noexcept {
    return has_device_;
  }
  std::optional<Device> device_opt() const noexcept {
    return has_device_ ? std::optional<Device>(device_) : std::nullopt;
  }
  c10::DeviceIndex device_index() const noexcept {
    return device().index();
  }

  caffe2::TypeMeta dtype() const noexcept {
    return has_dtype_ ? dtype_ : get_default_dtype();
  }
  bool has_dtype() const noexcept {
    return has_dtype_;
  }
  template <typename T = caffe2::TypeMeta>
  std::optional<T> dtype_opt() const noexcept {
    return has_dtype_ ? std::optional<T>(dtype_) : std::nullopt;
  }
  /// The dtype if it is set, as operators take it. (Not in libtorch.)
  std::optional<ScalarType> scalar_type_opt() const {
    return has_dtype_ ? std::optional<ScalarType>(dtype_.toScalarType()) : std::nullopt;
  }

  Layout layout() const noexcept {
    return layout_or_default(layout_opt());
  }
  bool has_layout() const noexcept {
    return has_layout_;
  }
  std::optional<Layout> layout_opt() const noexcept {
    return has_layout_ ? std::optional<Layout>(layout_) : std::nullopt;
  }

  bool requires_grad() const noexcept {
    return has_requires_grad_ && requires_grad_;
  }
  bool has_requires_grad() const noexcept {
    return has_requires_grad_;
  }
  std::optional<bool> requires_grad_opt() const noexcept {
    return has_requires_grad_ ? std::optional<bool>(requires_grad_) : std::nullopt;
  }

  bool pinned_memory() const noexcept {
    return pinned_memory_or_default(pinned_memory_opt());
  }
  bool has_pinned_memory() const noexcept {
    return has_pinned_memory_;
  }
  std::optional<bool> pinned_memory_opt() const noexcept {
    return has_pinned_memory_ ? std::optional<bool>(pinned_memory_) : std::nullopt;
  }

  bool has_memory_format() const noexcept {
    return has_memory_format_;
  }
  std::optional<MemoryFormat> memory_format_opt() const noexcept {
    return has_memory_format_ ? std::optional<MemoryFormat>(memory_format_) : std::nullopt;
  }

  bool is_sparse() const {
    return layout() == Layout::Sparse;
  }
  bool is_sparse_csr() const {
    return layout() == Layout::SparseCsr;
  }
  bool is_sparse_compressed() const {
    const Layout l = layout();
    return l == Layout::SparseCsr || l == Layout::SparseCsc || l == Layout::SparseBsr || l == Layout::SparseBsc;
  }

  /// Same dispatch key and same dtype.
  bool type_equal(const TensorOptions& other) const {
    return computeDispatchKey() == other.computeDispatchKey() && dtype() == other.dtype();
  }
  Backend backend() const {
    return dispatchKeyToBackend(computeDispatchKey());
  }
  DispatchKey computeDispatchKey() const {
    return c10::computeDispatchKey(scalar_type_opt(), layout_opt(), device_opt());
  }

  /// What `options` sets wins over what this sets.
  [[nodiscard]] TensorOptions merge_in(TensorOptions options) const noexcept;
  [[nodiscard]] TensorOptions merge_memory_format(std::optional<MemoryFormat> memory_format) const noexcept {
    return memory_format ? this->memory_format(memory_format) : *this;
  }

 private:
  void set_device(std::optional<Device> device) & noexcept {
    has_device_ = device.has_value();
    device_ = device.value_or(Device(DeviceType::CPU));
  }
  void set_dtype(caffe2::TypeMeta dtype) & noexcept {
    has_dtype_ = true;
    dtype_ = dtype;
  }
  void set_dtype(ScalarType dtype) & noexcept {
    set_dtype(scalarTypeToTypeMeta(dtype));
  }
  void set_layout(std::optional<Layout> layout) & noexcept {
    has_layout_ = layout.has_value();
    layout_ = layout.value_or(Layout::Strided);
  }
  void set_requires_grad(std::optional<bool> requires_grad) & noexcept {
    has_requires_grad_ = requires_grad.has_value();
    requires_grad_ = requires_grad.value_or(false);
  }
  void set_pinned_memory(std::optional<bool> pinned_memory) & noexcept {
    has_pinned_memory_ = pinned_memory.has_value();
    pinned_memory_ = pinned_memory.value_or(false);
  }
  void set_memory_format(std::optional<MemoryFormat> memory_format) & noexcept {
    has_memory_format_ = memory_format.has_value();
    memory_format_ = memory_format.value_or(MemoryFormat::Contiguous);
  }

  // No byte is left open, so that options without anything set are one constant.
  caffe2::TypeMeta dtype_;
  Device device_ = Device(DeviceType::CPU);
  Layout layout_ = Layout::Strided;
  MemoryFormat memory_format_ = MemoryFormat::Contiguous;
  bool requires_grad_ : 1;
  bool pinned_memory_ : 1;
  bool has_device_ : 1;
  bool has_dtype_ : 1;
  bool has_layout_ : 1;
  bool has_requires_grad_ : 1;
  bool has_pinned_memory_ : 1;
  bool has_memory_format_ : 1;
  uint8_t none_ = 0;
};

static_assert(sizeof(TensorOptions) <= sizeof(int64_t) * 2, "options are passed in registers");

// Options with one property set: dtype(kLong), device(kCPU)...

inline TensorOptions dtype(caffe2::TypeMeta dtype) {
  return TensorOptions(dtype);
}
inline TensorOptions dtype(ScalarType dtype) {
  return TensorOptions(dtype);
}
template <typename T>
inline TensorOptions dtype() {
  return dtype(caffe2::TypeMeta::Make<T>());
}
inline TensorOptions layout(Layout layout) {
  return TensorOptions().layout(layout);
}
inline TensorOptions device(Device device) {
  return TensorOptions().device(device);
}
inline TensorOptions device_index(c10::DeviceIndex device_index) {
  return TensorOptions().device_index(device_index);
}
inline TensorOptions requires_grad(bool requires_grad = true) {
  return TensorOptions().requires_grad(requires_grad);
}
inline TensorOptions memory_format(MemoryFormat memory_format) {
  return TensorOptions().memory_format(memory_format);
}

C10_API std::ostream& operator<<(std::ostream& stream, const TensorOptions& options);
C10_API std::string toString(const TensorOptions& options);

/// Layout and device of a key such as SparseCUDA. Throw for keys that have none of their own.
C10_API Layout dispatchKeyToLayout(DispatchKey dispatch_key);
C10_API DeviceType dispatchKeyToDeviceType(DispatchKey dispatch_key);
C10_API TensorOptions dispatchKeyToTensorOptions(DispatchKey dispatch_key);

namespace detail {
inline bool backend_supports_empty_operator(const TensorOptions& options) {
  // Quantized tensors are made by operators of their own, which take a scale.
  return !isQIntType(typeMetaToScalarType(options.dtype()));
}
} // namespace detail

} // namespace c10
