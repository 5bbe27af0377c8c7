#pragma once

#include <c10/core/Allocator.h>
#include <c10/util/Exception.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace c10 {

/// Memory for `size` elements of an allocator's device, for the life of the object.
template <typename T>
class DeviceArray {
 public:
  DeviceArray(c10::Allocator& allocator, size_t size) : data_(allocator.allocate(size * sizeof(T))) {
    static_assert(std::is_trivially_copyable_v<T>, "elements must be plain data");
    TORCH_INTERNAL_ASSERT(
        reinterpret_cast<uintptr_t>(data_.get()) % alignof(T) == 0,
        "DeviceArray: memory is not aligned for the elements");
  }

  T* get() {
    return static_cast<T*>(data_.get());
  }

 private:
  c10::DataPtr data_;
};

} // namespace c10
