#pragma once

#include <type_traits>
#include <utility>

namespace c10 {

/// Specialised for owners that can be destroyed faster when nobody else holds a reference: repr_type, pointer_type,
/// const_pointer_type, nullRepr, createInPlace, moveToRepr, take, getImpl, destroyOwned.
template <typename T>
struct ExclusivelyOwnedTraits;

/// Owns a T that nobody else refers to, so that destroying it needs no atomic count.
template <typename T>
class ExclusivelyOwned {
  using Traits = ExclusivelyOwnedTraits<T>;
  typename Traits::repr_type repr_;

 public:
  ExclusivelyOwned() : repr_(Traits::nullRepr()) {}
  explicit ExclusivelyOwned(T&& t) : repr_(Traits::moveToRepr(std::move(t))) {}
  template <class... Args>
  explicit ExclusivelyOwned(std::in_place_t, Args&&... args)
      : repr_(Traits::createInPlace(std::forward<Args>(args)...)) {}
  ExclusivelyOwned(const ExclusivelyOwned&) = delete;
  ExclusivelyOwned(ExclusivelyOwned&& other) noexcept : repr_(std::move(other.repr_)) {
    other.repr_ = Traits::nullRepr();
  }
  ExclusivelyOwned& operator=(const ExclusivelyOwned&) = delete;
  ExclusivelyOwned& operator=(ExclusivelyOwned&& other) noexcept {
    Traits::destroyOwned(repr_);
    repr_ = std::move(other.repr_);
    other.repr_ = Traits::nullRepr();
    return *this;
  }
  ExclusivelyOwned& operator=(T&& t) noexcept {
    Traits::destroyOwned(repr_);
    repr_ = Traits::moveToRepr(std::move(t));
    return *this;
  }
  ~ExclusivelyOwned() {
    Traits::destroyOwned(repr_);
  }

  explicit operator bool() const noexcept {
    return Traits::getImpl(repr_) != Traits::getImpl(Traits::nullRepr());
  }
  /// Gives the T away; this is empty afterwards.
  T take() && {
    return Traits::take(repr_);
  }
  typename Traits::const_pointer_type operator->() const {
    return get();
  }
  typename Traits::const_pointer_type get() const {
    return Traits::getImpl(repr_);
  }
  typename Traits::pointer_type operator->() {
    return get();
  }
  typename Traits::pointer_type get() {
    return Traits::getImpl(repr_);
  }
  std::remove_pointer_t<typename Traits::const_pointer_type>& operator*() const {
    return *get();
  }
  std::remove_pointer_t<typename Traits::pointer_type>& operator*() {
    return *get();
  }
};

} // namespace c10
