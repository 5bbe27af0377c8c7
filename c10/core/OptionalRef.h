#pragma once

namespace c10 {

/// A reference that may be missing.
template <typename T>
class OptionalRef {
 public:
  OptionalRef() = default;
  OptionalRef(const T* data) : data_(data) {}
  OptionalRef(const T& data) : data_(&data) {}

  bool has_value() const {
    return data_ != nullptr;
  }
  const T& get() const {
    return *data_;
  }
  operator bool() const {
    return has_value();
  }

 private:
  const T* data_ = nullptr;
};

} // namespace c10
