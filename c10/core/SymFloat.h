#pragma once

#include <c10/core/SymBool.h>
#include <c10/core/SymNodeImpl.h>
#include <c10/macros/Export.h>
#include <c10/util/intrusive_ptr.h>

#include <cstdint>
#include <iosfwd>
#include <limits>
#include <optional>
#include <utility>

namespace c10 {

/// A double that may be unknown while a program is traced.
class C10_API SymFloat {
 public:
  SymFloat(double value) : data_(value) {}
  /// `node` must be a float node.
  SymFloat(SymNode node);
  SymFloat() : data_(0.0) {}

  SymNodeImpl* toSymNodeImplUnowned() const {
    return ptr_.get();
  }
  SymNodeImpl* release() && {
    return std::move(ptr_).release();
  }
  /// The node; throws if the value is concrete.
  SymNode toSymNodeImpl() const;
  /// The node, or the concrete value as a node of the same tracer as `base`.
  SymNode wrap_node(const SymNode& base) const;
  /// The concrete value; throws if there is none.
  double expect_float() const;

  SymFloat operator+(const SymFloat& other) const;
  SymFloat operator-(const SymFloat& other) const;
  SymFloat operator*(const SymFloat& other) const;
  SymFloat operator/(const SymFloat& other) const;

  SymBool sym_eq(const SymFloat& other) const;
  SymBool sym_ne(const SymFloat& other) const;
  SymBool sym_lt(const SymFloat& other) const;
  SymBool sym_le(const SymFloat& other) const;
  SymBool sym_gt(const SymFloat& other) const;
  SymBool sym_ge(const SymFloat& other) const;

  bool operator==(const SymFloat& o) const {
    return sym_eq(o).guard_bool(__FILE__, __LINE__);
  }
  bool operator!=(const SymFloat& o) const {
    return sym_ne(o).guard_bool(__FILE__, __LINE__);
  }
  bool operator<(const SymFloat& o) const {
    return sym_lt(o).guard_bool(__FILE__, __LINE__);
  }
  bool operator<=(const SymFloat& o) const {
    return sym_le(o).guard_bool(__FILE__, __LINE__);
  }
  bool operator>(const SymFloat& o) const {
    return sym_gt(o).guard_bool(__FILE__, __LINE__);
  }
  bool operator>=(const SymFloat& o) const {
    return sym_ge(o).guard_bool(__FILE__, __LINE__);
  }

  SymFloat min(const SymFloat& other) const;
  SymFloat max(const SymFloat& other) const;
  SymFloat sqrt() const;

  /// The value, noted by the tracer as an assumption of what follows.
  double guard_float(const char* file, int64_t line) const;
  bool has_hint() const;
  bool is_symbolic() const {
    return static_cast<bool>(ptr_);
  }
  std::optional<double> maybe_as_float() const {
    return is_symbolic() ? std::nullopt : std::optional<double>(data_);
  }
  double as_float_unchecked() const {
    return data_;
  }

 private:
  double data_;
  SymNode ptr_;
};

C10_API std::ostream& operator<<(std::ostream& out, const SymFloat& value);

} // namespace c10

namespace std {
template <>
class numeric_limits<c10::SymFloat> : public numeric_limits<double> {};
} // namespace std
