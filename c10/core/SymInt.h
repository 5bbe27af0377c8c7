#pragma once

#include <c10/util/SwapValues.h>
#include <c10/core/SymBool.h>
#include <c10/core/SymNodeImpl.h>
#include <c10/macros/Export.h>
#include <c10/macros/Macros.h>
#include <c10/util/intrusive_ptr.h>

#include <algorithm>
#include <cstdint>
#include <iosfwd>
#include <iterator>
#include <limits>
#include <optional>
#include <type_traits>
#include <utility>

namespace c10 {

class SymFloat;

/// An int64_t that may be unknown while a program is traced. One word: concrete integers are stored as they are;
/// a pointer to a SymNodeImpl is stored with a tag in the top bits, which makes it a very negative number. (Integers
/// that negative live in a node as well.) Concrete arithmetic is checked: overflow throws.
class C10_API SymInt {
 public:
  enum Unchecked { UNCHECKED };

  /*implicit*/ SymInt(int64_t value) : data_(value) {
    if (C10_UNLIKELY(is_heap_allocated())) {
      promote_to_negative();
    }
  }
  SymInt() : data_(0) {}
  /// `node` must be an integer node.
  SymInt(SymNode node);
  /// `value` must be in the range stored as it is; sizes and strides always are.
  SymInt(Unchecked, int64_t value) : data_(value) {}

  SymInt(const SymInt& other) : data_(other.data_) {
    if (C10_UNLIKELY(is_heap_allocated())) {
      retain();
    }
  }
  SymInt(SymInt&& other) noexcept : data_(other.data_) {
    other.data_ = 0;
  }
  SymInt& operator=(const SymInt& other) {
    SymInt copy(other);
    detail::swap_values(data_, copy.data_);
    return *this;
  }
  SymInt& operator=(SymInt&& other) noexcept {
    detail::swap_values(data_, other.data_);
    return *this;
  }
  ~SymInt() {
    release_();
  }

  SymNodeImpl* toSymNodeImplUnowned() const {
    // The top three bits are the tag; the pointer's own ones are copies of bit 61.
    constexpr uint64_t sign = uint64_t{1} << 61;
    const uint64_t bits = static_cast<uint64_t>(data_) & ~kTagMask;
    return reinterpret_cast<SymNodeImpl*>(static_cast<uintptr_t>((bits ^ sign) - sign));
  }
  /// Gives the node away; the object must hold one.
  SymNodeImpl* release() &&;
  /// The node; throws for plain integers.
  SymNode toSymNode() const;
  /// The node, or the integer as a node of the same tracer as `base`.
  SymNode wrap_node(const SymNode& base) const;
  /// The integer; throws if it is not known.
  int64_t expect_int() const {
    if (const auto value = maybe_as_int()) {
      return *value;
    }
    throw_symbolic();
  }

  bool has_hint() const;
  /// The value, noted by the tracer as an assumption of what follows.
  int64_t guard_int(const char* file, int64_t line) const {
    return C10_LIKELY(!is_heap_allocated()) ? data_ : guard_int_slow(file, line);
  }
  bool is_symbolic() const {
    return C10_UNLIKELY(is_heap_allocated()) && is_symbolic_slow();
  }
  C10_ALWAYS_INLINE bool is_heap_allocated() const {
    return !check_range(data_);
  }

  SymInt operator+(const SymInt& other) const {
    int64_t result = 0;
    if (C10_LIKELY(both_plain(other) && !__builtin_add_overflow(data_, other.data_, &result))) {
      return SymInt(result);
    }
    return add_slow(other);
  }
  SymInt operator-(const SymInt& other) const {
    int64_t result = 0;
    if (C10_LIKELY(both_plain(other) && !__builtin_sub_overflow(data_, other.data_, &result))) {
      return SymInt(result);
    }
    return sub_slow(other);
  }
  SymInt operator*(const SymInt& other) const {
    int64_t result = 0;
    if (C10_LIKELY(both_plain(other) && !__builtin_mul_overflow(data_, other.data_, &result))) {
      return SymInt(result);
    }
    return mul_slow(other);
  }
  /// Division by zero throws. Concrete division truncates, as C++ does; symbolic division is the tracer's floordiv.
  SymInt operator/(const SymInt& other) const;
  SymInt operator%(const SymInt& other) const;
  void operator*=(const SymInt& other) {
    *this = *this * other;
  }
  void operator+=(const SymInt& other) {
    *this = *this + other;
  }
  void operator-=(const SymInt& other) {
    *this = *this - other;
  }
  void operator/=(const SymInt& other) {
    *this = *this / other;
  }

  /// The same value under a node of its own.
  SymInt clone() const;

#define C10_SYMINT_COMPARISON(name, op)                                                                              \
  SymBool sym_##name(const SymInt& other) const {                                                                    \
    return C10_LIKELY(both_plain(other)) ? SymBool(data_ op other.data_) : name##_slow(other);                       \
  }                                                                                                                  \
  bool operator op(const SymInt& other) const {                                                                      \
    return C10_LIKELY(both_plain(other)) ? data_ op other.data_ : name##_slow(other).guard_bool(__FILE__, __LINE__); \
  }
  C10_SYMINT_COMPARISON(eq, ==)
  C10_SYMINT_COMPARISON(ne, !=)
  C10_SYMINT_COMPARISON(lt, <)
  C10_SYMINT_COMPARISON(le, <=)
  C10_SYMINT_COMPARISON(gt, >)
  C10_SYMINT_COMPARISON(ge, >=)
#undef C10_SYMINT_COMPARISON

  SymInt min(const SymInt& other) const {
    return C10_LIKELY(both_plain(other)) ? SymInt(UNCHECKED, std::min(data_, other.data_)) : min_slow(other);
  }
  SymInt max(const SymInt& other) const {
    return C10_LIKELY(both_plain(other)) ? SymInt(UNCHECKED, std::max(data_, other.data_)) : max_slow(other);
  }

  /// The same integer or the very same node.
  bool is_same(const SymInt& other) const;

  operator SymFloat() const;

  void unsafe_set_data(size_t value) {
    data_ = static_cast<int64_t>(value);
  }
  /// Only for values known to be plain.
  int64_t as_int_unchecked() const {
    return data_;
  }
  std::optional<int64_t> maybe_as_int() const {
    return C10_LIKELY(!is_heap_allocated()) ? std::optional<int64_t>(data_) : maybe_as_int_slow();
  }

  static constexpr bool check_range(int64_t value) {
    return value > kLargestUnrepresentable;
  }
  static constexpr int64_t min_representable_int() {
    return kLargestUnrepresentable + 1;
  }

 private:
  static constexpr uint64_t kTagMask = uint64_t{7} << 61;
  static constexpr uint64_t kTag = uint64_t{5} << 61;
  static constexpr int64_t kLargestUnrepresentable = -(int64_t{1} << 62) - 1;

  bool both_plain(const SymInt& other) const {
    return !is_heap_allocated() && !other.is_heap_allocated();
  }
  void release_() {
    if (C10_UNLIKELY(is_heap_allocated())) {
      drop();
    }
  }
  void retain() const;
  void drop() noexcept;
  void promote_to_negative();
  [[noreturn]] void throw_symbolic() const;
  int64_t guard_int_slow(const char* file, int64_t line) const;
  bool is_symbolic_slow() const;
  std::optional<int64_t> maybe_as_int_slow() const;
  SymInt add_slow(const SymInt& other) const;
  SymInt sub_slow(const SymInt& other) const;
  SymInt mul_slow(const SymInt& other) const;
  SymInt min_slow(const SymInt& other) const;
  SymInt max_slow(const SymInt& other) const;
  SymBool eq_slow(const SymInt& other) const;
  SymBool ne_slow(const SymInt& other) const;
  SymBool lt_slow(const SymInt& other) const;
  SymBool le_slow(const SymInt& other) const;
  SymBool gt_slow(const SymInt& other) const;
  SymBool ge_slow(const SymInt& other) const;

  int64_t data_;
};

static_assert(sizeof(SymInt) == sizeof(int64_t), "arrays of sizes are read as arrays of SymInt");

/// Product of a range of SymInts.
template <
    typename Iter,
    std::enable_if_t<std::is_same_v<typename std::iterator_traits<Iter>::value_type, SymInt>, int> = 0>
inline SymInt multiply_integers(Iter begin, Iter end) {
  SymInt product = 1;
  for (; begin != end; ++begin) {
    product *= *begin;
  }
  return product;
}

template <typename C, std::enable_if_t<std::is_same_v<typename C::value_type, SymInt>, int> = 0>
inline SymInt multiply_integers(const C& container) {
  return multiply_integers(container.begin(), container.end());
}

// Mixed operators: without them `size * 2` would be ambiguous between SymInt and the built-in operators.
namespace impl {
template <class T>
using if_integer = std::enable_if_t<std::is_integral_v<T> && !std::is_same_v<T, bool>, int>;
} // namespace impl

#define C10_SYMINT_MIXED(Result, op)                \
  template <class T, impl::if_integer<T> = 0>       \
  inline Result operator op(const SymInt& a, T b) { \
    return a op SymInt(static_cast<int64_t>(b));    \
  }                                                 \
  template <class T, impl::if_integer<T> = 0>       \
  inline Result operator op(T a, const SymInt& b) { \
    return SymInt(static_cast<int64_t>(a)) op b;    \
  }
C10_SYMINT_MIXED(SymInt, +)
C10_SYMINT_MIXED(SymInt, -)
C10_SYMINT_MIXED(SymInt, *)
C10_SYMINT_MIXED(SymInt, /)
C10_SYMINT_MIXED(SymInt, %)
C10_SYMINT_MIXED(bool, ==)
C10_SYMINT_MIXED(bool, !=)
C10_SYMINT_MIXED(bool, <)
C10_SYMINT_MIXED(bool, <=)
C10_SYMINT_MIXED(bool, >)
C10_SYMINT_MIXED(bool, >=)
#undef C10_SYMINT_MIXED

#define C10_SYMINT_WITH_FLOATING(Scalar)                 \
  C10_API SymFloat operator+(const SymInt& a, Scalar b); \
  C10_API SymFloat operator-(const SymInt& a, Scalar b); \
  C10_API SymFloat operator*(const SymInt& a, Scalar b); \
  C10_API SymFloat operator/(const SymInt& a, Scalar b); \
  C10_API SymFloat operator+(Scalar a, const SymInt& b); \
  C10_API SymFloat operator-(Scalar a, const SymInt& b); \
  C10_API SymFloat operator*(Scalar a, const SymInt& b); \
  C10_API SymFloat operator/(Scalar a, const SymInt& b); \
  C10_API bool operator==(const SymInt& a, Scalar b);    \
  C10_API bool operator!=(const SymInt& a, Scalar b);    \
  C10_API bool operator<(const SymInt& a, Scalar b);     \
  C10_API bool operator<=(const SymInt& a, Scalar b);    \
  C10_API bool operator>(const SymInt& a, Scalar b);     \
  C10_API bool operator>=(const SymInt& a, Scalar b);    \
  C10_API bool operator==(Scalar a, const SymInt& b);    \
  C10_API bool operator!=(Scalar a, const SymInt& b);    \
  C10_API bool operator<(Scalar a, const SymInt& b);     \
  C10_API bool operator<=(Scalar a, const SymInt& b);    \
  C10_API bool operator>(Scalar a, const SymInt& b);     \
  C10_API bool operator>=(Scalar a, const SymInt& b);
C10_SYMINT_WITH_FLOATING(double)
C10_SYMINT_WITH_FLOATING(float)
#undef C10_SYMINT_WITH_FLOATING

C10_API std::ostream& operator<<(std::ostream& out, const SymInt& value);
C10_API SymInt operator-(const SymInt& value);

// Comparisons that read the same for int64_t and SymInt, for code templated on either.
#define C10_SYM_COMPARE(name, op)                               \
  inline bool sym_##name(int64_t a, int64_t b) {                \
    return a op b;                                              \
  }                                                             \
  inline SymBool sym_##name(const SymInt& a, const SymInt& b) { \
    return a.sym_##name(b);                                     \
  }
C10_SYM_COMPARE(eq, ==)
C10_SYM_COMPARE(ne, !=)
C10_SYM_COMPARE(lt, <)
C10_SYM_COMPARE(le, <=)
C10_SYM_COMPARE(gt, >)
C10_SYM_COMPARE(ge, >=)
#undef C10_SYM_COMPARE

} // namespace c10

namespace std {
template <>
class numeric_limits<c10::SymInt> {
 public:
  static constexpr bool is_specialized = true;
  static constexpr int64_t max() noexcept {
    return numeric_limits<int64_t>::max();
  }
  static constexpr int64_t min() noexcept {
    return numeric_limits<int64_t>::min();
  }
  static constexpr bool is_signed = true;
  static constexpr bool is_integer = true;
};
} // namespace std
