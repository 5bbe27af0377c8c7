#pragma once

#include <c10/macros/Macros.h>
#include <c10/util/Exception.h>

#include <memory>
#include <type_traits>
#include <utility>

namespace c10 {

/// How a T is borrowed without touching its reference count. The generic form is for shared_ptr-like owners: a
/// specialisation gives owned_type, borrow_type, createBorrow, assignBorrow, destroyBorrow, referenceFromBorrow,
/// pointerFromBorrow and debugBorrowIsValid.
template <typename T>
struct MaybeOwnedTraitsGenericImpl {
  using owned_type = T;
  using borrow_type = const T*;

  static borrow_type createBorrow(const owned_type& from) {
    return &from;
  }
  static void assignBorrow(borrow_type& lhs, borrow_type rhs) {
    lhs = rhs;
  }
  static void destroyBorrow(borrow_type&) {}
  static const owned_type& referenceFromBorrow(const borrow_type& borrow) {
    return *borrow;
  }
  static const owned_type* pointerFromBorrow(const borrow_type& borrow) {
    return borrow;
  }
  static bool debugBorrowIsValid(const borrow_type& borrow) {
    return borrow != nullptr;
  }
};

template <typename T>
struct MaybeOwnedTraits;

template <typename T>
struct MaybeOwnedTraits<std::shared_ptr<T>> : MaybeOwnedTraitsGenericImpl<std::shared_ptr<T>> {};

/// Either owns a T or borrows one that outlives it.
template <typename T>
class MaybeOwned final {
  using Traits = MaybeOwnedTraits<T>;
  using borrow_type = typename Traits::borrow_type;
  using owned_type = typename Traits::owned_type;

 public:
  MaybeOwned() : is_borrowed_(true), borrow_() {}
  MaybeOwned(const MaybeOwned& other) : is_borrowed_(other.is_borrowed_) {
    if (is_borrowed_) {
      ::new (&borrow_) borrow_type(Traits::createBorrow(Traits::referenceFromBorrow(other.borrow_)));
    } else {
      ::new (&own_) T(other.own_);
    }
  }
  MaybeOwned(MaybeOwned&& other) noexcept(std::is_nothrow_move_constructible_v<T>) : is_borrowed_(other.is_borrowed_) {
    if (is_borrowed_) {
      ::new (&borrow_) borrow_type(Traits::createBorrow(Traits::referenceFromBorrow(other.borrow_)));
    } else {
      ::new (&own_) T(std::move(other.own_));
    }
  }
  MaybeOwned& operator=(const MaybeOwned& other) {
    if (this == &other) {
      return *this;
    }
    if (is_borrowed_ && other.is_borrowed_) {
      Traits::assignBorrow(borrow_, other.borrow_);
    } else if (!is_borrowed_ && !other.is_borrowed_) {
      own_ = other.own_;
    } else {
      destroy();
      ::new (this) MaybeOwned(other);
    }
    return *this;
  }
  MaybeOwned& operator=(MaybeOwned&& other) noexcept(
      std::is_nothrow_move_assignable_v<T>&& std::is_nothrow_move_constructible_v<T>) {
    if (this == &other) {
      return *this;
    }
    if (is_borrowed_ && other.is_borrowed_) {
      Traits::assignBorrow(borrow_, other.borrow_);
    } else if (!is_borrowed_ && !other.is_borrowed_) {
      own_ = std::move(other.own_);
    } else {
      destroy();
      ::new (this) MaybeOwned(std::move(other));
    }
    return *this;
  }
  ~MaybeOwned() {
    destroy();
  }

  static MaybeOwned borrowed(const T& t) {
    return MaybeOwned(t);
  }
  static MaybeOwned owned(T&& t) noexcept(std::is_nothrow_move_constructible_v<T>) {
    return MaybeOwned(std::move(t));
  }
  template <class... Args>
  static MaybeOwned owned(std::in_place_t, Args&&... args) {
    return MaybeOwned(std::in_place, std::forward<Args>(args)...);
  }

  /// For tests only.
  bool unsafeIsBorrowed() const {
    return is_borrowed_;
  }

  const T& operator*() const& {
    return is_borrowed_ ? Traits::referenceFromBorrow(borrow_) : own_;
  }
  T operator*() && {
    return is_borrowed_ ? Traits::referenceFromBorrow(borrow_) : std::move(own_);
  }
  const T* operator->() const {
    return is_borrowed_ ? Traits::pointerFromBorrow(borrow_) : &own_;
  }

 private:
  explicit MaybeOwned(const owned_type& t) : is_borrowed_(true), borrow_(Traits::createBorrow(t)) {}
  explicit MaybeOwned(T&& t) noexcept(std::is_nothrow_move_constructible_v<T>)
      : is_borrowed_(false), own_(std::move(t)) {}
  template <class... Args>
  explicit MaybeOwned(std::in_place_t, Args&&... args) : is_borrowed_(false), own_(std::forward<Args>(args)...) {}

  void destroy() noexcept {
    if (is_borrowed_) {
      Traits::destroyBorrow(borrow_);
    } else {
      own_.~T();
    }
  }

  bool is_borrowed_;
  union {
    borrow_type borrow_;
    owned_type own_;
  };
};

} // namespace c10
