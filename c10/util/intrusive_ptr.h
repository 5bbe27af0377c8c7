#pragma once

#include <c10/util/SwapValues.h>
#include <c10/macros/Macros.h>
#include <c10/util/Exception.h>
#include <c10/util/MaybeOwned.h>

#include <atomic>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

#if defined(__has_include)
#if __has_include(<sys/single_threaded.h>)
#include <sys/single_threaded.h>
#define C10_HAS_SINGLE_THREADED_FLAG 1
#endif
#endif

// Reference counting inside the object.
//
// Note [Two counts in one word]
// The low half of one 64-bit word counts strong references, the high half weak ones plus one while any strong one
// lives. So a fresh object holds exactly kUniqueReference, and the owner that reads this value knows that nobody else
// can reach the object: it may destroy it without an atomic read-modify-write.
//
// While the process has one thread (libc says so) counts change by plain loads and stores, several times cheaper.

namespace c10 {

class intrusive_ptr_target;

namespace raw {
namespace intrusive_ptr {
inline void incref(intrusive_ptr_target* self);
inline void decref(intrusive_ptr_target* self);
} // namespace intrusive_ptr
namespace weak_intrusive_ptr {
inline void incref(intrusive_ptr_target* self);
inline void decref(intrusive_ptr_target* self);
} // namespace weak_intrusive_ptr
struct DontIncreaseRefcount {};
} // namespace raw

namespace detail {

constexpr uint64_t kStrongOne = 1;
constexpr uint64_t kWeakOne = uint64_t{1} << 32;
constexpr uint64_t kUniqueReference = kStrongOne | kWeakOne;
constexpr uint32_t kImpracticallyHugeReferenceCount = 0x0FFFFFFF;

constexpr uint32_t refcount(uint64_t combined) {
  return static_cast<uint32_t>(combined);
}
constexpr uint32_t weakcount(uint64_t combined) {
  return static_cast<uint32_t>(combined >> 32);
}

inline bool single_threaded() {
#if defined(C10_HAS_SINGLE_THREADED_FLAG)
  return __libc_single_threaded != 0;
#else
  return false;
#endif
}

/// Adds and returns the new value. Taking a reference needs no ordering: whoever gives it to another thread orders.
inline uint64_t count_add(std::atomic<uint64_t>& count, uint64_t amount) {
  if (single_threaded()) {
    const uint64_t value = count.load(std::memory_order_relaxed) + amount;
    count.store(value, std::memory_order_relaxed);
    return value;
  }
  return count.fetch_add(amount, std::memory_order_relaxed) + amount;
}

/// Subtracts and returns the new value; orders all uses before the destruction that may follow.
inline uint64_t count_sub(std::atomic<uint64_t>& count, uint64_t amount) {
  if (single_threaded()) {
    const uint64_t value = count.load(std::memory_order_relaxed) - amount;
    count.store(value, std::memory_order_relaxed);
    return value;
  }
  return count.fetch_sub(amount, std::memory_order_acq_rel) - amount;
}

[[noreturn]] C10_API void intrusive_count_failed(const char* message);

} // namespace detail

/// Base of everything an intrusive_ptr can hold. Objects live on the heap and are made by make_intrusive<T>().
class C10_API intrusive_ptr_target {
 public:
  // Copying an object does not copy who refers to it.
  intrusive_ptr_target(const intrusive_ptr_target&) noexcept : intrusive_ptr_target() {}
  intrusive_ptr_target(intrusive_ptr_target&&) noexcept : intrusive_ptr_target() {}
  intrusive_ptr_target& operator=(const intrusive_ptr_target&) noexcept {
    return *this;
  }
  intrusive_ptr_target& operator=(intrusive_ptr_target&&) noexcept {
    return *this;
  }

 protected:
  constexpr intrusive_ptr_target() noexcept : combined_refcount_(0) {}
  // Inline, as every tensor, storage and node that goes passes through here.
  virtual ~intrusive_ptr_target() {
#ifndef NDEBUG
    // Objects that are not on the heap start with an impractically huge count, see unsafe_adapt_non_heap_allocated.
    const uint32_t strong = refcount();
    if (strong != 0 && strong < detail::kImpracticallyHugeReferenceCount) {
      detail::intrusive_count_failed("intrusive_ptr_target: destroyed while an intrusive_ptr still refers to it");
    }
    // One weak count stands for all strong references together.
    const uint32_t weak = weakcount();
    if (weak > 1 && weak < detail::kImpracticallyHugeReferenceCount - 1) {
      detail::intrusive_count_failed("intrusive_ptr_target: destroyed while a weak_intrusive_ptr still refers to it");
    }
#endif
  }

 private:
  /// Frees what is expensive when the last strong reference goes while weak ones remain.
  virtual void release_resources() {}

  uint32_t refcount(std::memory_order order = std::memory_order_relaxed) const {
    return detail::refcount(combined_refcount_.load(order));
  }
  uint32_t weakcount(std::memory_order order = std::memory_order_relaxed) const {
    return detail::weakcount(combined_refcount_.load(order));
  }

  void add_strong() noexcept {
    [[maybe_unused]] const uint64_t now = detail::count_add(combined_refcount_, detail::kStrongOne);
#ifndef NDEBUG
    if (detail::refcount(now) == 1) {
      detail::intrusive_count_failed("intrusive_ptr: cannot take a reference after the last one was dropped");
    }
#endif
  }
  void add_weak() noexcept {
    [[maybe_unused]] const uint64_t now = detail::count_add(combined_refcount_, detail::kWeakOne);
#ifndef NDEBUG
    if (detail::weakcount(now) == 1) {
      detail::intrusive_count_failed("weak_intrusive_ptr: Cannot increase weakcount after it reached zero.");
    }
#endif
  }
  static void drop_strong(intrusive_ptr_target* self) noexcept {
    if (self->combined_refcount_.load(std::memory_order_acquire) == detail::kUniqueReference) {
      destroy_unique(self);
      return;
    }
    drop_shared(self);
  }
  /// The same where there was another reference a moment ago.
  static void drop_shared(intrusive_ptr_target* self) noexcept {
    const uint64_t now = detail::count_sub(self->combined_refcount_, detail::kStrongOne);
    if (C10_UNLIKELY(detail::refcount(now) == 0)) {
      release_last(self, now);
    }
  }
  static void drop_weak(intrusive_ptr_target* self) noexcept {
    if (detail::weakcount(detail::count_sub(self->combined_refcount_, detail::kWeakOne)) == 0) {
      delete self;
    }
  }
  /// From weak to strong; false when the last strong reference has gone.
  bool lock_strong() noexcept {
    uint64_t now = combined_refcount_.load(std::memory_order_relaxed);
    do {
      if (detail::refcount(now) == 0) {
        return false;
      }
    } while (!combined_refcount_.compare_exchange_weak(
        now, now + detail::kStrongOne, std::memory_order_acquire, std::memory_order_relaxed));
    return true;
  }

  static void destroy_unique(intrusive_ptr_target* self) noexcept;
  static void release_last(intrusive_ptr_target* self, uint64_t now) noexcept;

  mutable std::atomic<uint64_t> combined_refcount_;

  template <typename T, typename NullType>
  friend class intrusive_ptr;
  template <typename T, typename NullType>
  friend class weak_intrusive_ptr;
  friend inline void raw::intrusive_ptr::incref(intrusive_ptr_target* self);
  friend inline void raw::intrusive_ptr::decref(intrusive_ptr_target* self);
  friend inline void raw::weak_intrusive_ptr::incref(intrusive_ptr_target* self);
  friend inline void raw::weak_intrusive_ptr::decref(intrusive_ptr_target* self);
  template <typename T>
  friend struct ExclusivelyOwnedTraits;
  template <typename T>
  friend struct ExclusivelyOwnedTensorTraits;
};

namespace detail {

template <class TTarget>
struct intrusive_target_default_null_type final {
  static constexpr TTarget* singleton() noexcept {
    return nullptr;
  }
};

/// A class may keep its objects for reuse: `static void drop_last(T*) noexcept` is then called instead of delete when
/// the only reference goes.
template <class T, class = void>
inline constexpr bool has_drop_last = false;
template <class T>
inline constexpr bool has_drop_last<T, std::void_t<decltype(T::drop_last(std::declval<T*>()))>> = true;

template <class TTarget, class ToNullType, class FromNullType>
TTarget* assign_ptr_(TTarget* pointer) {
  if constexpr (std::is_same_v<ToNullType, FromNullType>) {
    return pointer;
  } else {
    return pointer == FromNullType::singleton() ? ToNullType::singleton() : pointer;
  }
}

} // namespace detail

template <class TTarget, class NullType = detail::intrusive_target_default_null_type<TTarget>>
class weak_intrusive_ptr;

/// A counted pointer to an intrusive_ptr_target; like std::shared_ptr, but one word and one allocation. NullType names
/// the object an empty pointer points to (nullptr by default).
template <class TTarget, class NullType = detail::intrusive_target_default_null_type<TTarget>>
class intrusive_ptr final {
 public:
  using element_type = TTarget;

  intrusive_ptr() noexcept : target_(NullType::singleton()) {}
  /* implicit */ intrusive_ptr(std::nullptr_t) noexcept : target_(NullType::singleton()) {}
  /// Takes over a pointer whose count already includes this owner.
  explicit intrusive_ptr(TTarget* target, raw::DontIncreaseRefcount) noexcept : target_(target) {}
  template <class From>
  explicit intrusive_ptr(std::unique_ptr<From> rhs) noexcept : intrusive_ptr(adopt_new(rhs.release())) {}

  intrusive_ptr(intrusive_ptr&& rhs) noexcept : target_(rhs.target_) {
    rhs.target_ = NullType::singleton();
  }
  template <class From, class FromNullType>
  /* implicit */ intrusive_ptr(intrusive_ptr<From, FromNullType>&& rhs) noexcept
      : target_(detail::assign_ptr_<TTarget, NullType, FromNullType>(rhs.target_)) {
    static_assert(std::is_convertible_v<From*, TTarget*>, "intrusive_ptr of an unrelated type");
    rhs.target_ = FromNullType::singleton();
  }
  intrusive_ptr(const intrusive_ptr& rhs) : target_(rhs.target_) {
    retain_();
  }
  template <class From, class FromNullType>
  /* implicit */ intrusive_ptr(const intrusive_ptr<From, FromNullType>& rhs)
      : target_(detail::assign_ptr_<TTarget, NullType, FromNullType>(rhs.target_)) {
    static_assert(std::is_convertible_v<From*, TTarget*>, "intrusive_ptr of an unrelated type");
    retain_();
  }
  ~intrusive_ptr() noexcept {
    drop_();
  }

  intrusive_ptr& operator=(intrusive_ptr&& rhs) & noexcept {
    intrusive_ptr moved(std::move(rhs));
    swap(moved);
    return *this;
  }
  template <class From, class FromNullType>
  intrusive_ptr& operator=(intrusive_ptr<From, FromNullType>&& rhs) & noexcept {
    intrusive_ptr moved(std::move(rhs));
    swap(moved);
    return *this;
  }
  intrusive_ptr& operator=(const intrusive_ptr& rhs) & noexcept {
    if (target_ != rhs.target_) {
      intrusive_ptr copy(rhs);
      swap(copy);
    }
    return *this;
  }
  template <class From, class FromNullType>
  intrusive_ptr& operator=(const intrusive_ptr<From, FromNullType>& rhs) & noexcept {
    intrusive_ptr copy(rhs);
    swap(copy);
    return *this;
  }

  TTarget* get() const noexcept {
    return target_;
  }
  TTarget& operator*() const noexcept {
    return *target_;
  }
  TTarget* operator->() const noexcept {
    return target_;
  }
  operator bool() const noexcept {
    return target_ != NullType::singleton();
  }
  bool defined() const noexcept {
    return target_ != NullType::singleton();
  }
  void reset() noexcept {
    drop_();
    target_ = NullType::singleton();
  }
  void swap(intrusive_ptr& rhs) noexcept {
    detail::swap_values(target_, rhs.target_);
  }
  uint32_t use_count() const noexcept {
    return defined() ? base(target_)->refcount() : 0;
  }
  uint32_t weak_use_count() const noexcept {
    return defined() ? base(target_)->weakcount() : 0;
  }
  bool unique() const noexcept {
    return use_count() == 1;
  }
  /// Whether neither a strong nor a weak reference exists elsewhere.
  bool is_uniquely_owned() const noexcept {
    return defined() && base(target_)->combined_refcount_.load(std::memory_order_acquire) == detail::kUniqueReference;
  }

  /// Gives up ownership without counting down; the result must come back through reclaim().
  TTarget* release() noexcept {
    TTarget* result = target_;
    target_ = NullType::singleton();
    return result;
  }
  /// The other half of release().
  static intrusive_ptr reclaim(TTarget* owning_ptr) {
    return intrusive_ptr(owning_ptr, raw::DontIncreaseRefcount{});
  }
  /// As reclaim(), but leaves the released reference with its holder.
  static intrusive_ptr reclaim_copy(TTarget* owning_ptr) {
    auto result = reclaim(owning_ptr);
    result.retain_();
    return result;
  }
  template <class... Args>
  static intrusive_ptr make(Args&&... args) {
    return adopt_new(new TTarget(std::forward<Args>(args)...));
  }
  /// Takes over an object fresh from `new`.
  static intrusive_ptr unsafe_steal_from_new(TTarget* raw_ptr) {
    return adopt_new(raw_ptr);
  }
  /// Makes references to an object that is never to be deleted (static or on the stack) legal.
  static intrusive_ptr unsafe_adapt_non_heap_allocated(TTarget* raw_ptr, uint32_t expected_decrefs) {
    intrusive_ptr result(raw_ptr, raw::DontIncreaseRefcount{});
    const uint64_t count = uint64_t{detail::kImpracticallyHugeReferenceCount} + expected_decrefs;
    base(raw_ptr)->combined_refcount_.store(
        count | (uint64_t{detail::kImpracticallyHugeReferenceCount} << 32), std::memory_order_relaxed);
    return result;
  }
  /// A new reference to an object that others already own.
  static intrusive_ptr unsafe_reclaim_from_nonowning(TTarget* raw_ptr) {
#ifndef NDEBUG
    if (raw_ptr != NullType::singleton() && base(raw_ptr)->refcount() == 0) {
      detail::intrusive_count_failed("intrusive_ptr: Can only reclaim pointers that are owned by someone");
    }
#endif
    intrusive_ptr result(raw_ptr, raw::DontIncreaseRefcount{});
    result.retain_();
    return result;
  }

 private:
  template <class T, class N>
  friend class intrusive_ptr;
  friend class weak_intrusive_ptr<TTarget, NullType>;

  static intrusive_ptr_target* base(TTarget* target) noexcept {
    static_assert(
        std::is_base_of_v<intrusive_ptr_target, std::remove_const_t<TTarget>>,
        "intrusive_ptr needs a class derived from intrusive_ptr_target");
    return const_cast<std::remove_const_t<TTarget>*>(target);
  }
  static intrusive_ptr adopt_new(TTarget* fresh) {
    if (fresh != NullType::singleton()) {
#ifndef NDEBUG
      if (base(fresh)->combined_refcount_.load(std::memory_order_relaxed) != 0) {
        detail::intrusive_count_failed(
            "intrusive_ptr: Newly-created target had non-zero refcounts. Does its constructor do "
            "something strange like incref or create an intrusive_ptr from `this`?");
      }
#endif
      // Nobody else can see the object yet.
      base(fresh)->combined_refcount_.store(detail::kUniqueReference, std::memory_order_relaxed);
    }
    return intrusive_ptr(fresh, raw::DontIncreaseRefcount{});
  }
  void retain_() noexcept {
    if (target_ != NullType::singleton()) {
      base(target_)->add_strong();
    }
  }
  void drop_() noexcept {
    if (target_ != NullType::singleton()) {
      intrusive_ptr_target* const target = base(target_);
      if constexpr (detail::has_drop_last<TTarget>) {
        if (target->combined_refcount_.load(std::memory_order_acquire) == detail::kUniqueReference) {
          TTarget::drop_last(target_);
        } else {
          intrusive_ptr_target::drop_shared(target);
        }
      } else {
        intrusive_ptr_target::drop_strong(target);
      }
    }
  }

  TTarget* target_;
};

/// Makes a T on the heap.
template <class TTarget, class NullType = detail::intrusive_target_default_null_type<TTarget>, class... Args>
intrusive_ptr<TTarget, NullType> make_intrusive(Args&&... args) {
  return intrusive_ptr<TTarget, NullType>::make(std::forward<Args>(args)...);
}

template <class TTarget, class NullType>
void swap(intrusive_ptr<TTarget, NullType>& a, intrusive_ptr<TTarget, NullType>& b) noexcept {
  a.swap(b);
}
template <class T1, class N1, class T2, class N2>
bool operator==(const intrusive_ptr<T1, N1>& a, const intrusive_ptr<T2, N2>& b) noexcept {
  return a.get() == b.get();
}
template <class T1, class N1, class T2, class N2>
bool operator!=(const intrusive_ptr<T1, N1>& a, const intrusive_ptr<T2, N2>& b) noexcept {
  return a.get() != b.get();
}
template <class T1, class N1, class T2, class N2>
bool operator<(const intrusive_ptr<T1, N1>& a, const intrusive_ptr<T2, N2>& b) noexcept {
  return reinterpret_cast<uintptr_t>(a.get()) < reinterpret_cast<uintptr_t>(b.get());
}
template <class T, class N>
bool operator==(const intrusive_ptr<T, N>& a, std::nullptr_t) noexcept {
  return a.get() == nullptr;
}
template <class T, class N>
bool operator==(std::nullptr_t, const intrusive_ptr<T, N>& a) noexcept {
  return a.get() == nullptr;
}
template <class T, class N>
bool operator!=(const intrusive_ptr<T, N>& a, std::nullptr_t) noexcept {
  return a.get() != nullptr;
}
template <class T, class N>
bool operator!=(std::nullptr_t, const intrusive_ptr<T, N>& a) noexcept {
  return a.get() != nullptr;
}

/// Borrowing an intrusive_ptr keeps a copy of the pointer that is not counted.
template <typename T>
struct MaybeOwnedTraits<c10::intrusive_ptr<T>> {
  using owned_type = c10::intrusive_ptr<T>;
  using borrow_type = c10::intrusive_ptr<T>;

  static borrow_type createBorrow(const owned_type& from) {
    return borrow_type::reclaim(from.get());
  }
  static void assignBorrow(borrow_type& lhs, const borrow_type& rhs) {
    lhs.release();
    lhs = borrow_type::reclaim(rhs.get());
  }
  static void destroyBorrow(borrow_type& to_destroy) {
    to_destroy.release();
  }
  static const owned_type& referenceFromBorrow(const borrow_type& borrow) {
    return borrow;
  }
  static const owned_type* pointerFromBorrow(const borrow_type& borrow) {
    return &borrow;
  }
  static bool debugBorrowIsValid(const borrow_type&) {
    return true;
  }
};

/// Refers to an object without keeping it alive; lock() tells whether it still is.
template <class TTarget, class NullType>
class weak_intrusive_ptr final {
 public:
  using element_type = TTarget;

  explicit weak_intrusive_ptr(const intrusive_ptr<TTarget, NullType>& ptr) : target_(ptr.get()) {
    retain_();
  }
  weak_intrusive_ptr(weak_intrusive_ptr&& rhs) noexcept : target_(rhs.target_) {
    rhs.target_ = NullType::singleton();
  }
  template <class From, class FromNullType>
  /* implicit */ weak_intrusive_ptr(weak_intrusive_ptr<From, FromNullType>&& rhs) noexcept
      : target_(detail::assign_ptr_<TTarget, NullType, FromNullType>(rhs.target_)) {
    static_assert(std::is_convertible_v<From*, TTarget*>, "weak_intrusive_ptr of an unrelated type");
    rhs.target_ = FromNullType::singleton();
  }
  weak_intrusive_ptr(const weak_intrusive_ptr& rhs) : target_(rhs.target_) {
    retain_();
  }
  template <class From, class FromNullType>
  /* implicit */ weak_intrusive_ptr(const weak_intrusive_ptr<From, FromNullType>& rhs)
      : target_(detail::assign_ptr_<TTarget, NullType, FromNullType>(rhs.target_)) {
    static_assert(std::is_convertible_v<From*, TTarget*>, "weak_intrusive_ptr of an unrelated type");
    retain_();
  }
  ~weak_intrusive_ptr() noexcept {
    drop_();
  }

  weak_intrusive_ptr& operator=(weak_intrusive_ptr&& rhs) & noexcept {
    weak_intrusive_ptr moved(std::move(rhs));
    swap(moved);
    return *this;
  }
  weak_intrusive_ptr& operator=(const weak_intrusive_ptr& rhs) & noexcept {
    weak_intrusive_ptr copy(rhs);
    swap(copy);
    return *this;
  }
  weak_intrusive_ptr& operator=(const intrusive_ptr<TTarget, NullType>& rhs) & noexcept {
    weak_intrusive_ptr weak(rhs);
    swap(weak);
    return *this;
  }

  void reset() noexcept {
    drop_();
    target_ = NullType::singleton();
  }
  void swap(weak_intrusive_ptr& rhs) noexcept {
    detail::swap_values(target_, rhs.target_);
  }
  /// The object's address, alive or not; for comparing and hashing.
  TTarget* _unsafe_get_target() const noexcept {
    return target_;
  }
  uint32_t use_count() const noexcept {
    return is_null() ? 0 : base(target_)->refcount(std::memory_order_relaxed);
  }
  uint32_t weak_use_count() const noexcept {
    return is_null() ? 0 : base(target_)->weakcount();
  }
  bool expired() const noexcept {
    return use_count() == 0;
  }
  /// A strong reference, or an empty pointer when the object has gone.
  intrusive_ptr<TTarget, NullType> lock() const noexcept {
    if (is_null() || !base(target_)->lock_strong()) {
      return intrusive_ptr<TTarget, NullType>();
    }
    return intrusive_ptr<TTarget, NullType>(target_, raw::DontIncreaseRefcount{});
  }
  TTarget* release() noexcept {
    TTarget* result = target_;
    target_ = NullType::singleton();
    return result;
  }
  /// The other half of release().
  static weak_intrusive_ptr reclaim(TTarget* owning_weak_ptr) {
#ifndef NDEBUG
    if (owning_weak_ptr != NullType::singleton()) {
      const uint32_t strong = base(owning_weak_ptr)->refcount();
      if (base(owning_weak_ptr)->weakcount() <= (strong > 0 ? 1u : 0u)) {
        detail::intrusive_count_failed(
            "weak_intrusive_ptr: Can only weak_intrusive_ptr::reclaim() owning pointers that were "
            "created using weak_intrusive_ptr::release().");
      }
    }
#endif
    return weak_intrusive_ptr(owning_weak_ptr);
  }
  /// One more weak reference to an object that others refer to, weakly or not.
  static weak_intrusive_ptr reclaim_copy(TTarget* owning_ptr) {
    weak_intrusive_ptr result(owning_ptr);
    result.retain_();
    return result;
  }

  friend bool operator==(const weak_intrusive_ptr& a, const weak_intrusive_ptr& b) noexcept {
    return a.target_ == b.target_;
  }
  friend bool operator!=(const weak_intrusive_ptr& a, const weak_intrusive_ptr& b) noexcept {
    return a.target_ != b.target_;
  }
  friend bool operator<(const weak_intrusive_ptr& a, const weak_intrusive_ptr& b) noexcept {
    return reinterpret_cast<uintptr_t>(a.target_) < reinterpret_cast<uintptr_t>(b.target_);
  }

 private:
  template <class T, class N>
  friend class weak_intrusive_ptr;

  explicit weak_intrusive_ptr(TTarget* target) noexcept : target_(target) {}

  static intrusive_ptr_target* base(TTarget* target) noexcept {
    return const_cast<std::remove_const_t<TTarget>*>(target);
  }
  bool is_null() const noexcept {
    return target_ == NullType::singleton();
  }
  void retain_() noexcept {
    if (!is_null()) {
      base(target_)->add_weak();
    }
  }
  void drop_() noexcept {
    if (!is_null()) {
      intrusive_ptr_target::drop_weak(base(target_));
    }
  }

  TTarget* target_;
};

template <class TTarget, class NullType>
void swap(weak_intrusive_ptr<TTarget, NullType>& a, weak_intrusive_ptr<TTarget, NullType>& b) noexcept {
  a.swap(b);
}

using weak_intrusive_ptr_target = intrusive_ptr_target;

/// Counting by hand, for code that keeps plain pointers.
namespace raw {

namespace intrusive_ptr {

inline void incref(intrusive_ptr_target* self) {
  if (self != nullptr) {
    self->add_strong();
  }
}
inline void decref(intrusive_ptr_target* self) {
  if (self != nullptr) {
    intrusive_ptr_target::drop_strong(self);
  }
}
template <typename T>
T* make_weak(T* self) {
  auto ptr = c10::intrusive_ptr<T>::reclaim(self);
  c10::weak_intrusive_ptr<T> weak(ptr);
  ptr.release();
  return weak.release();
}
inline uint32_t use_count(intrusive_ptr_target* self) {
  auto ptr = c10::intrusive_ptr<intrusive_ptr_target>::reclaim(self);
  const uint32_t count = ptr.use_count();
  ptr.release();
  return count;
}

} // namespace intrusive_ptr

namespace weak_intrusive_ptr {

inline void incref(weak_intrusive_ptr_target* self) {
  if (self != nullptr) {
    self->add_weak();
  }
}
inline void decref(weak_intrusive_ptr_target* self) {
  if (self != nullptr) {
    intrusive_ptr_target::drop_weak(self);
  }
}
template <typename T>
T* lock(T* self) {
  auto weak = c10::weak_intrusive_ptr<T>::reclaim(self);
  auto strong = weak.lock();
  weak.release();
  return strong.release();
}
inline uint32_t use_count(weak_intrusive_ptr_target* self) {
  auto weak = c10::weak_intrusive_ptr<intrusive_ptr_target>::reclaim(self);
  const uint32_t count = weak.use_count();
  weak.release();
  return count;
}

} // namespace weak_intrusive_ptr
} // namespace raw
/// Shares the object under another type; null where a dynamic cast finds that it is of another one.
template <class T, class U>
intrusive_ptr<T> static_intrusive_pointer_cast(intrusive_ptr<U> p) {
  return intrusive_ptr<T>::reclaim(static_cast<T*>(p.release()));
}
template <class T, class U>
intrusive_ptr<T> dynamic_intrusive_pointer_cast(const intrusive_ptr<U>& p) {
  T* const same = dynamic_cast<T*>(p.get());
  return same ? intrusive_ptr<T>::reclaim_copy(same) : intrusive_ptr<T>();
}

} // namespace c10

namespace std {
template <class TTarget, class NullType>
struct hash<c10::intrusive_ptr<TTarget, NullType>> {
  size_t operator()(const c10::intrusive_ptr<TTarget, NullType>& x) const {
    return std::hash<TTarget*>()(x.get());
  }
};
template <class TTarget, class NullType>
struct hash<c10::weak_intrusive_ptr<TTarget, NullType>> {
  size_t operator()(const c10::weak_intrusive_ptr<TTarget, NullType>& x) const {
    return std::hash<TTarget*>()(x._unsafe_get_target());
  }
};
} // namespace std
