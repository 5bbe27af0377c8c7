#pragma once

#include <cstddef>
#include <functional>
#include <utility>

namespace c10 {

/// Base of identifier types: a number that can be compared and hashed and nothing else. Make it hashable with
/// C10_DEFINE_HASH_FOR_IDWRAPPER(ClassName) outside of any namespace.
template <class ConcreteType, class UnderlyingType>
class IdWrapper {
 public:
  using underlying_type = UnderlyingType;
  using concrete_type = ConcreteType;

 protected:
  constexpr explicit IdWrapper(underlying_type id) noexcept(noexcept(underlying_type(std::declval<underlying_type>())))
      : id_(id) {}
  constexpr underlying_type underlyingId() const {
    return id_;
  }

 private:
  friend size_t hash_value(const concrete_type& v) {
    return std::hash<underlying_type>()(v.id_);
  }
  friend constexpr bool operator==(const concrete_type& a, const concrete_type& b) noexcept {
    return a.id_ == b.id_;
  }
  friend constexpr bool operator!=(const concrete_type& a, const concrete_type& b) noexcept {
    return !(a == b);
  }

  underlying_type id_;
};

} // namespace c10

#define C10_DEFINE_HASH_FOR_IDWRAPPER(ClassName) \
  namespace std {                                \
  template <>                                    \
  struct hash<ClassName> {                       \
    size_t operator()(ClassName x) const {       \
      return hash_value(x);                      \
    }                                            \
  };                                             \
  }
