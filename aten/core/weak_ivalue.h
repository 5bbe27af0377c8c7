// References to values that do not keep them alive.
#pragma once

#include <c10/util/SwapValues.h>
#include <aten/core/ivalue.h>

#include <cstddef>
#include <optional>
#include <utility>

namespace c10 {

/// Refers to a value whose content is counted (tensors, lists, objects, ...) without being counted; other values are
/// copied.
struct WeakIValue final {
  WeakIValue() = default;
  /* implicit */ WeakIValue(const IValue& value)
      : is_counted_(value.isTensor() || value.holds_counted_pointer()), tag_(value.tag_) {
    if (value.isTensor()) {
      if (value.payload_.as_tensor.defined()) {
        bits_.as_intrusive_ptr = value.payload_.as_tensor.unsafeGetTensorImpl();
      }
    } else {
      bits_ = value.payload_.u;
    }
    if (is_counted_) {
      raw::weak_intrusive_ptr::incref(bits_.as_intrusive_ptr);
    }
  }
  WeakIValue(const WeakIValue& other) : is_counted_(other.is_counted_), tag_(other.tag_), bits_(other.bits_) {
    if (is_counted_) {
      raw::weak_intrusive_ptr::incref(bits_.as_intrusive_ptr);
    }
  }
  WeakIValue(WeakIValue&& other) noexcept : WeakIValue() {
    swap(other);
  }
  WeakIValue& operator=(WeakIValue other) noexcept {
    swap(other);
    return *this;
  }
  ~WeakIValue() {
    if (is_counted_) {
      raw::weak_intrusive_ptr::decref(bits_.as_intrusive_ptr);
    }
  }
  void swap(WeakIValue& other) noexcept {
    detail::swap_values(is_counted_, other.is_counted_);
    detail::swap_values(tag_, other.tag_);
    detail::swap_values(bits_, other.bits_);
  }

  /// The value, or None if it is gone.
  IValue lock() const {
    if (tag_ == IValue::Tag::Tensor) {
      if (!bits_.as_intrusive_ptr) {
        return at::Tensor();
      }
      auto impl = locked<at::TensorImpl, UndefinedTensorImpl>();
      return impl ? IValue(at::Tensor(std::move(impl))) : IValue();
    }
    if (is_counted_) {
      auto held = locked<intrusive_ptr_target>();
      return held ? IValue(tag_, held.release()) : IValue();
    }
    IValue value;
    value.tag_ = tag_;
    value.payload_.u = bits_;
    return value;
  }

  bool isSameIdentity(const WeakIValue& other) const {
    return is_counted_ == other.is_counted_ && tag_ == other.tag_ && bits_.as_int == other.bits_.as_int;
  }
  /// Strong references to the value, 0 when it is gone; 1 for values that are copied.
  size_t use_count() const noexcept {
    if (!is_counted_) {
      return 1;
    }
    return bits_.as_intrusive_ptr ? raw::weak_intrusive_ptr::use_count(bits_.as_intrusive_ptr) : 0;
  }
  /// Weak references to the value, and one more while it lives; 1 for values that are copied.
  size_t weak_use_count() const noexcept {
    if (!is_counted_) {
      return 1;
    }
    if (!bits_.as_intrusive_ptr) {
      return 0;
    }
    auto weak = weak_intrusive_ptr<intrusive_ptr_target>::reclaim(bits_.as_intrusive_ptr);
    const size_t count = weak.weak_use_count();
    weak.release();
    return count;
  }
  /// Tells values apart, for tables.
  size_t hash() const {
    return static_cast<size_t>(bits_.as_int);
  }

 private:
  template <class T, class Null = detail::intrusive_target_default_null_type<T>>
  intrusive_ptr<T, Null> locked() const {
    auto weak = weak_intrusive_ptr<T, Null>::reclaim(static_cast<T*>(bits_.as_intrusive_ptr));
    auto strong = weak.lock();
    weak.release();
    return strong;
  }

  bool is_counted_ = false;
  IValue::Tag tag_ = IValue::Tag::None;
  IValue::TriviallyCopyablePayload bits_{0};
};

} // namespace c10
