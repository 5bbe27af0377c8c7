#pragma once

#include <cstddef>
#include <memory>
#include <type_traits>

namespace c10 {

/// An array whose size is known when it is made; on the stack up to N elements.
template <typename T, size_t N>
class SmallBuffer {
  static_assert(std::is_trivial_v<T>, "SmallBuffer is for plain types");

 public:
  explicit SmallBuffer(size_t size) : size_(size) {
    if (size > N) {
      large_.reset(new T[size]);
      data_ = large_.get();
    }
  }
  SmallBuffer(const SmallBuffer&) = delete;
  SmallBuffer& operator=(const SmallBuffer&) = delete;

  T& operator[](size_t index) {
    return data_[index];
  }
  const T& operator[](size_t index) const {
    return data_[index];
  }
  T* data() {
    return data_;
  }
  const T* data() const {
    return data_;
  }
  size_t size() const {
    return size_;
  }
  T* begin() {
    return data_;
  }
  const T* begin() const {
    return data_;
  }
  T* end() {
    return data_ + size_;
  }
  const T* end() const {
    return data_ + size_;
  }

 private:
  T storage_[N];
  std::unique_ptr<T[]> large_;
  size_t size_;
  T* data_ = storage_;
};

} // namespace c10
