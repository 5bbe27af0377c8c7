// Tensors over memory of the caller's.
#pragma once

#include <aten/core/Tensor.h>
#include <c10/util/UniqueVoidPtr.h>

#include <functional>
#include <memory>
#include <optional>
#include <utility>

namespace at {

/// Builds a tensor over `data` step by step:
/// `at::for_blob(p, {2, 3}).strides({3, 1}).deleter(free).options(kDouble).make_tensor()`.
class TORCH_API TensorMaker {
 public:
  TensorMaker(void* data, IntArrayRef sizes) noexcept : data_(data), sizes_(sizes) {}

  TensorMaker& strides(OptionalIntArrayRef value) noexcept {
    strides_ = value;
    return *this;
  }
  TensorMaker& storage_offset(std::optional<int64_t> value) noexcept {
    storage_offset_ = value;
    return *this;
  }
  /// Called with `data` when the last tensor over it is gone.
  TensorMaker& deleter(std::function<void(void*)> value) noexcept {
    deleter_ = std::move(value);
    return *this;
  }
  TensorMaker& context(void* value, void (*deleter)(void*) = nullptr) noexcept {
    context_ = c10::detail::UniqueVoidPtr(value, value, deleter);
    return *this;
  }
  TensorMaker& target_device(std::optional<c10::Device> value) noexcept {
    device_ = value;
    return *this;
  }
  TensorMaker& options(c10::TensorOptions value) noexcept {
    options_ = value;
    return *this;
  }
  TensorMaker& resizeable_storage() noexcept {
    resizeable_ = true;
    return *this;
  }
  TensorMaker& allocator(c10::Allocator* value) noexcept {
    allocator_ = value;
    return *this;
  }
  /// Throws when sizes are negative or overflow, or strides do not match them.
  Tensor make_tensor();

 private:
  void* data_;
  IntArrayRef sizes_;
  OptionalIntArrayRef strides_;
  std::optional<int64_t> storage_offset_;
  std::function<void(void*)> deleter_;
  c10::detail::UniqueVoidPtr context_;
  std::optional<c10::Device> device_;
  c10::TensorOptions options_;
  bool resizeable_ = false;
  c10::Allocator* allocator_ = nullptr;
};

inline TensorMaker for_blob(void* data, IntArrayRef sizes) noexcept {
  return TensorMaker(data, sizes);
}

/// A tensor over `data`, which `deleter` is called with at the end. The memory must hold what sizes and strides reach.
TORCH_API Tensor from_blob(
    void* data,
    IntArrayRef sizes,
    IntArrayRef strides,
    const std::function<void(void*)>& deleter,
    const c10::TensorOptions& options = {},
    std::optional<c10::Device> target_device = std::nullopt);
TORCH_API Tensor from_blob(
    void* data,
    IntArrayRef sizes,
    IntArrayRef strides,
    int64_t storage_offset,
    const std::function<void(void*)>& deleter,
    const c10::TensorOptions& options = {},
    std::optional<c10::Device> target_device = std::nullopt);
TORCH_API Tensor from_blob(
    void* data,
    IntArrayRef sizes,
    std::function<void(void*)> deleter,
    const c10::TensorOptions& options = {},
    std::optional<c10::Device> target_device = std::nullopt);
/// The same without ownership: the memory must outlive the tensor.
TORCH_API Tensor from_blob(void* data, IntArrayRef sizes, IntArrayRef strides, const c10::TensorOptions& options = {});
TORCH_API Tensor from_blob(void* data, IntArrayRef sizes, const c10::TensorOptions& options = {});

} // namespace at
