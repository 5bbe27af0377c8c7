#include <c10/core/SymBool.h>

#include <c10/util/Exception.h>

#include <ostream>

namespace c10 {

SymBool::SymBool(SymNode node) : data_(false), ptr_(std::move(node)) {
  TORCH_CHECK(ptr_ && ptr_->is_bool(), "SymBool: the node does not stand for a bool");
}

SymNode SymBool::toSymNodeImpl() const {
  TORCH_CHECK(is_heap_allocated(), "SymBool: a concrete value has no node");
  return ptr_;
}

SymNode SymBool::wrap_node(const SymNode& base) const {
  const auto value = maybe_as_bool();
  return value ? base->wrap_bool(*value) : ptr_;
}

bool SymBool::expect_bool() const {
  const auto value = maybe_as_bool();
  TORCH_CHECK(value, "expected a concrete bool but got the symbolic value ", ptr_->str());
  return *value;
}

SymBool SymBool::sym_and(const SymBool& other) const {
  const auto a = maybe_as_bool();
  const auto b = other.maybe_as_bool();
  if (a && b) {
    return SymBool(*a && *b);
  }
  const SymNode base = a ? other.ptr_ : ptr_;
  return SymBool(wrap_node(base)->sym_and(other.wrap_node(base)));
}

SymBool SymBool::sym_or(const SymBool& other) const {
  const auto a = maybe_as_bool();
  const auto b = other.maybe_as_bool();
  if (a && b) {
    return SymBool(*a || *b);
  }
  const SymNode base = a ? other.ptr_ : ptr_;
  return SymBool(wrap_node(base)->sym_or(other.wrap_node(base)));
}

SymBool SymBool::sym_not() const {
  const auto value = maybe_as_bool();
  return value ? SymBool(!*value) : SymBool(ptr_->sym_not());
}

#define GUARD(name)                                          \
  bool SymBool::name(const char* file, int64_t line) const { \
    const auto value = maybe_as_bool();                      \
    return value ? *value : ptr_->name(file, line);          \
  }
GUARD(guard_bool)
GUARD(expect_true)
GUARD(guard_size_oblivious)
GUARD(statically_known_true)
GUARD(guard_or_false)
GUARD(guard_or_true)
#undef GUARD

bool SymBool::has_hint() const {
  return maybe_as_bool().has_value() || ptr_->has_hint();
}

std::ostream& operator<<(std::ostream& out, const SymBool& value) {
  if (const auto known = value.maybe_as_bool()) {
    return out << *known;
  }
  return out << value.toSymNodeImplUnowned()->str();
}

} // namespace c10
