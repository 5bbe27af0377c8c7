#pragma once

#include <c10/core/TensorOptions.h>

namespace c10 {

/// What options default to when nothing is set; kept for programs written against older releases.
struct DefaultTensorOptions {
  caffe2::TypeMeta dtype() const noexcept {
    return caffe2::TypeMeta::Make<float>();
  }
  Device device() const noexcept {
    return Device(DeviceType::CPU);
  }
  Layout layout() const noexcept {
    return Layout::Strided;
  }
  bool requires_grad() const noexcept {
    return false;
  }
};

inline const DefaultTensorOptions& getDefaultTensorOptions() {
  static const DefaultTensorOptions options;
  return options;
}

} // namespace c10
