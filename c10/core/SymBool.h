#pragma once

#include <c10/core/SymNodeImpl.h>
#include <c10/macros/Export.h>
#include <c10/util/intrusive_ptr.h>

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <utility>

namespace c10 {

/// A bool that may be unknown while a program is traced.
class C10_API SymBool {
 public:
  SymBool(bool value) : data_(value) {}
  /// `node` must be a bool node.
  SymBool(SymNode node);
  SymBool() : data_(false) {}

  SymNodeImpl* toSymNodeImplUnowned() const {
    return ptr_.get();
  }
  /// Gives the node away; the object must be symbolic.
  SymNodeImpl* release() && {
    return std::move(ptr_).release();
  }
  /// The node; throws if the value is concrete.
  SymNode toSymNodeImpl() const;
  /// The node, or the concrete value as a node of the same tracer as `base`.
  SymNode wrap_node(const SymNode& base) const;
  /// The concrete value; throws if there is none.
  bool expect_bool() const;

  SymBool sym_and(const SymBool& other) const;
  SymBool sym_or(const SymBool& other) const;
  SymBool sym_not() const;
  SymBool operator&(const SymBool& other) const {
    return sym_and(other);
  }
  SymBool operator|(const SymBool& other) const {
    return sym_or(other);
  }
  SymBool operator||(const SymBool& other) const {
    return sym_or(other);
  }
  SymBool operator~() const {
    return sym_not();
  }

  /// The value, noted by the tracer as an assumption of what follows.
  bool guard_bool(const char* file, int64_t line) const;
  bool expect_true(const char* file, int64_t line) const;
  bool guard_size_oblivious(const char* file, int64_t line) const;
  bool statically_known_true(const char* file, int64_t line) const;
  bool guard_or_false(const char* file, int64_t line) const;
  bool guard_or_true(const char* file, int64_t line) const;
  bool has_hint() const;

  bool as_bool_unchecked() const {
    return data_;
  }
  std::optional<bool> maybe_as_bool() const {
    return is_heap_allocated() ? ptr_->constant_bool() : std::optional<bool>(data_);
  }
  bool is_heap_allocated() const {
    return static_cast<bool>(ptr_);
  }
  bool is_symbolic() const {
    return !maybe_as_bool().has_value();
  }

 private:
  bool data_;
  SymNode ptr_;
};

C10_API std::ostream& operator<<(std::ostream& out, const SymBool& value);

inline bool guard_size_oblivious(bool value, const char* /*file*/, int64_t /*line*/) {
  return value;
}
inline bool guard_size_oblivious(const SymBool& value, const char* file, int64_t line) {
  return value.guard_size_oblivious(file, line);
}
inline bool guard_or_false(bool value, const char* /*file*/, int64_t /*line*/) {
  return value;
}
inline bool guard_or_false(const SymBool& value, const char* file, int64_t line) {
  return value.guard_or_false(file, line);
}
inline bool guard_or_true(bool value, const char* /*file*/, int64_t /*line*/) {
  return value;
}
inline bool guard_or_true(const SymBool& value, const char* file, int64_t line) {
  return value.guard_or_true(file, line);
}
inline bool statically_known_true(bool value, const char* /*file*/, int64_t /*line*/) {
  return value;
}
inline bool statically_known_true(const SymBool& value, const char* file, int64_t line) {
  return value.statically_known_true(file, line);
}

} // namespace c10

#define TORCH_GUARD_SIZE_OBLIVIOUS(cond) c10::guard_size_oblivious((cond), __FILE__, __LINE__)
#define TORCH_GUARD_OR_FALSE(cond) c10::guard_or_false((cond), __FILE__, __LINE__)
#define TORCH_GUARD_OR_TRUE(cond) c10::guard_or_true((cond), __FILE__, __LINE__)
#define TORCH_STATICALLY_KNOWN_TRUE(cond) c10::statically_known_true((cond), __FILE__, __LINE__)
/// TORCH_CHECK of a bool or SymBool; a symbolic condition is left to the tracer to check at run time.
#define TORCH_SYM_CHECK(cond, ...) TORCH_CHECK(c10::SymBool(cond).expect_true(__FILE__, __LINE__), __VA_ARGS__)
#define TORCH_SYM_INTERNAL_ASSERT(cond, ...) \
  TORCH_INTERNAL_ASSERT(c10::SymBool(cond).expect_true(__FILE__, __LINE__), __VA_ARGS__)
