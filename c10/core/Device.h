#pragma once

#include <c10/core/DeviceType.h>
#include <c10/macros/Macros.h>
#include <c10/util/Exception.h>

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <string>

namespace c10 {

using DeviceIndex = int8_t;

namespace detail {
[[noreturn]] C10_API void invalid_device(DeviceType type, int index);
} // namespace detail

/// Where a tensor lives: a device type and the number of the device; index -1 is "the current one". There is one CPU:
/// what is made on "cpu:1" lies on "cpu".
struct C10_API Device final {
  using Type = DeviceType;

  /* implicit */ Device(DeviceType type, DeviceIndex index = -1) : type_(type), index_(index) {
    validate();
  }
  /// From "cpu", "cuda", "cuda:1", ... Throws for anything else.
  /* implicit */ Device(const std::string& device_string);

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

  bool is_cpu() const noexcept {
    return type_ == DeviceType::CPU;
  }
  bool is_cuda() const noexcept {
    return type_ == DeviceType::CUDA;
  }
  bool is_meta() const noexcept {
    return type_ == DeviceType::Meta;
  }
  bool is_privateuseone() const noexcept {
    return type_ == DeviceType::PrivateUse1;
  }
  bool is_mps() const noexcept {
    return type_ == DeviceType::MPS;
  }
  bool is_hip() const noexcept {
    return type_ == DeviceType::HIP;
  }
  bool is_ve() const noexcept {
    return type_ == DeviceType::VE;
  }
  bool is_xpu() const noexcept {
    return type_ == DeviceType::XPU;
  }
  bool is_ipu() const noexcept {
    return type_ == DeviceType::IPU;
  }
  bool is_xla() const noexcept {
    return type_ == DeviceType::XLA;
  }
  bool is_mtia() const noexcept {
    return type_ == DeviceType::MTIA;
  }
  bool is_hpu() const noexcept {
    return type_ == DeviceType::HPU;
  }
  bool is_lazy() const noexcept {
    return type_ == DeviceType::Lazy;
  }
  bool is_vulkan() const noexcept {
    return type_ == DeviceType::Vulkan;
  }
  bool is_metal() const noexcept {
    return type_ == DeviceType::Metal;
  }
  bool is_maia() const noexcept {
    return type_ == DeviceType::MAIA;
  }
  bool supports_as_strided() const noexcept {
    return type_ != DeviceType::IPU && type_ != DeviceType::XLA && type_ != DeviceType::Lazy;
  }

  /// "cuda:1", or "cuda" without an index.
  std::string str() const;

 private:
  void validate() {
    if (C10_UNLIKELY(index_ < -1)) {
      detail::invalid_device(type_, index_);
    }
  }

  DeviceType type_;
  DeviceIndex index_ = -1;
};

C10_API std::ostream& operator<<(std::ostream& stream, const Device& device);

} // namespace c10

namespace std {
template <>
struct hash<c10::Device> {
  size_t operator()(c10::Device d) const noexcept {
    return static_cast<size_t>(static_cast<uint8_t>(d.type())) << 16 | static_cast<uint8_t>(d.index());
  }
};
} // namespace std
