#pragma once

#include <c10/core/SmallPool.h>
#include <c10/macros/Macros.h>
#include <c10/util/ArrayRef.h>
#include <c10/util/Exception.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#define C10_SIZES_AND_STRIDES_MAX_INLINE_SIZE 5

namespace c10::impl {

/// Sizes and strides of a tensor, of the same number. Up to five dimensions are stored in place, more on the heap.
class SizesAndStrides {
 public:
  using sizes_iterator = int64_t*;
  using sizes_const_iterator = const int64_t*;
  using strides_iterator = int64_t*;
  using strides_const_iterator = const int64_t*;

  static constexpr size_t kMaxInline = C10_SIZES_AND_STRIDES_MAX_INLINE_SIZE;

  /// One dimension of size 0 and stride 1.
  SizesAndStrides() {
    inline_[0] = 0;
    inline_[kMaxInline] = 1;
  }
  SizesAndStrides(const SizesAndStrides& other) : size_(other.size_) {
    copy_from(other);
  }
  SizesAndStrides(SizesAndStrides&& other) noexcept : size_(other.size_) {
    take_from(other);
  }
  SizesAndStrides& operator=(const SizesAndStrides& other) {
    if (this != &other) {
      SizesAndStrides copy(other);
      *this = std::move(copy);
    }
    return *this;
  }
  SizesAndStrides& operator=(SizesAndStrides&& other) noexcept {
    if (this != &other) {
      release();
      size_ = other.size_;
      take_from(other);
    }
    return *this;
  }
  ~SizesAndStrides() {
    release();
  }

  bool operator==(const SizesAndStrides& other) const {
    return size_ == other.size_ && std::memcmp(sizes_data(), other.sizes_data(), bytes()) == 0 &&
        std::memcmp(strides_data(), other.strides_data(), bytes()) == 0;
  }
  bool operator!=(const SizesAndStrides& other) const {
    return !(*this == other);
  }

  size_t size() const noexcept {
    return size_;
  }
  const int64_t* sizes_data() const noexcept {
    return C10_LIKELY(is_inline()) ? inline_ : heap_;
  }
  int64_t* sizes_data() noexcept {
    return C10_LIKELY(is_inline()) ? inline_ : heap_;
  }
  const int64_t* strides_data() const noexcept {
    return C10_LIKELY(is_inline()) ? inline_ + kMaxInline : heap_ + size_;
  }
  int64_t* strides_data() noexcept {
    return C10_LIKELY(is_inline()) ? inline_ + kMaxInline : heap_ + size_;
  }
  sizes_const_iterator sizes_begin() const noexcept {
    return sizes_data();
  }
  sizes_iterator sizes_begin() noexcept {
    return sizes_data();
  }
  sizes_const_iterator sizes_end() const noexcept {
    return sizes_data() + size_;
  }
  sizes_iterator sizes_end() noexcept {
    return sizes_data() + size_;
  }
  strides_const_iterator strides_begin() const noexcept {
    return strides_data();
  }
  strides_iterator strides_begin() noexcept {
    return strides_data();
  }
  strides_const_iterator strides_end() const noexcept {
    return strides_data() + size_;
  }
  strides_iterator strides_end() noexcept {
    return strides_data() + size_;
  }
  /// Where at most kMaxInline of them stand.
  const int64_t* inline_sizes() const noexcept {
    return inline_;
  }
  const int64_t* inline_strides() const noexcept {
    return inline_ + kMaxInline;
  }
  IntArrayRef sizes_arrayref() const noexcept {
    return IntArrayRef(sizes_data(), size_);
  }
  IntArrayRef strides_arrayref() const noexcept {
    return IntArrayRef(strides_data(), size_);
  }

  /// Becomes as long as `sizes`. Strides of new dimensions are zero until they are set.
  void set_sizes(IntArrayRef sizes) {
    resize(sizes.size());
    copy(sizes_data(), sizes.data(), sizes.size());
  }
  /// `strides` must be as long as this is.
  void set_strides(IntArrayRef strides) {
    TORCH_INTERNAL_ASSERT(strides.size() == size_, "as many strides as sizes are needed");
    copy(strides_data(), strides.data(), size_);
  }

  // at() checks the index, at_unchecked() does not.
  int64_t size_at(size_t i) const {
    check(i);
    return sizes_data()[i];
  }
  int64_t& size_at(size_t i) {
    check(i);
    return sizes_data()[i];
  }
  int64_t size_at_unchecked(size_t i) const noexcept {
    return sizes_data()[i];
  }
  int64_t& size_at_unchecked(size_t i) noexcept {
    return sizes_data()[i];
  }
  int64_t stride_at(size_t i) const {
    check(i);
    return strides_data()[i];
  }
  int64_t& stride_at(size_t i) {
    check(i);
    return strides_data()[i];
  }
  int64_t stride_at_unchecked(size_t i) const noexcept {
    return strides_data()[i];
  }
  int64_t& stride_at_unchecked(size_t i) noexcept {
    return strides_data()[i];
  }

  /// The values are unspecified afterwards.
  void resize_uninitialized(size_t new_size) {
    if (C10_LIKELY(is_inline() && new_size <= kMaxInline)) {
      size_ = new_size;
    } else {
      resize(new_size);
    }
  }
  /// The same where both the old and the new number are at most kMaxInline.
  void resize_in_place(size_t new_size) noexcept {
    size_ = new_size;
  }
  /// Keeps the first dimensions; new ones are zero.
  void resize(size_t new_size) {
    if (new_size == size_) {
      return;
    }
    if (C10_LIKELY(is_inline() && new_size <= kMaxInline)) {
      for (size_t i = size_; i < new_size; ++i) {
        inline_[i] = 0;
        inline_[kMaxInline + i] = 0;
      }
      size_ = new_size;
      return;
    }
    resize_heap(new_size);
  }

 private:
  bool is_inline() const noexcept {
    return size_ <= kMaxInline;
  }
  size_t bytes() const noexcept {
    return size_ * sizeof(int64_t);
  }
  void check(size_t i) const {
    TORCH_INTERNAL_ASSERT(i < size_, "dimension ", i, " is out of range for a tensor of dimension ", size_);
  }
  // Dimensions are few: a loop beats the call to memcpy.
  static void copy(int64_t* to, const int64_t* from, size_t n) {
    for (size_t i = 0; i < n; ++i) {
      to[i] = from[i];
    }
  }
  static int64_t* new_heap(size_t size) {
    return static_cast<int64_t*>(small_alloc(2 * size * sizeof(int64_t)));
  }
  void release() noexcept {
    if (C10_UNLIKELY(!is_inline())) {
      small_free(heap_, 2 * bytes());
    }
  }
  void copy_from(const SizesAndStrides& other) {
    if (C10_UNLIKELY(!is_inline())) {
      heap_ = new_heap(size_);
    }
    copy(sizes_data(), other.sizes_data(), size_);
    copy(strides_data(), other.strides_data(), size_);
  }
  void take_from(SizesAndStrides& other) noexcept {
    if (C10_LIKELY(is_inline())) {
      std::memcpy(inline_, other.inline_, sizeof(inline_));
    } else {
      heap_ = other.heap_;
    }
    other.size_ = 0;
  }
  C10_NOINLINE void resize_heap(size_t new_size) {
    SizesAndStrides old = std::move(*this);
    int64_t* heap = new_size > kMaxInline ? new_heap(new_size) : nullptr;
    size_ = new_size;
    if (heap != nullptr) {
      heap_ = heap;
    }
    for (size_t i = 0; i < new_size; ++i) {
      const bool kept = i < old.size_;
      sizes_data()[i] = kept ? old.sizes_data()[i] : 0;
      strides_data()[i] = kept ? old.strides_data()[i] : 0;
    }
  }

  size_t size_ = 1;
  union {
    int64_t inline_[2 * kMaxInline];
    int64_t* heap_; // sizes, then strides
  };
};

} // namespace c10::impl
