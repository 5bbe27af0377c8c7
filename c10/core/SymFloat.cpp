#include <c10/core/SymFloat.h>

#include <c10/util/Exception.h>

#include <algorithm>
#include <cmath>
#include <ostream>

namespace c10 {

namespace {

// The node whose tracer the operation belongs to; one of the operands is symbolic.
SymNode base_of(const SymFloat& a, const SymFloat& b) {
  return a.is_symbolic() ? a.toSymNodeImpl() : b.toSymNodeImpl();
}

} // namespace

SymFloat::SymFloat(SymNode node) : data_(0.0), ptr_(std::move(node)) {
  TORCH_CHECK(ptr_ && ptr_->is_float(), "SymFloat: the node does not stand for a float");
}

SymNode SymFloat::toSymNodeImpl() const {
  TORCH_CHECK(is_symbolic(), "SymFloat: a concrete value has no node");
  return ptr_;
}

SymNode SymFloat::wrap_node(const SymNode& base) const {
  return is_symbolic() ? ptr_ : base->wrap_float(data_);
}

double SymFloat::expect_float() const {
  TORCH_CHECK(!is_symbolic(), "expected a concrete float but got the symbolic value ", ptr_->str());
  return data_;
}

#define BINARY(result, method, node_method, concrete)                   \
  result SymFloat::method(const SymFloat& other) const {                \
    if (!is_symbolic() && !other.is_symbolic()) {                       \
      return result(concrete);                                          \
    }                                                                   \
    const SymNode base = base_of(*this, other);                         \
    return result(wrap_node(base)->node_method(other.wrap_node(base))); \
  }
BINARY(SymFloat, operator+, add, data_ + other.data_)
BINARY(SymFloat, operator-, sub, data_ - other.data_)
BINARY(SymFloat, operator*, mul, data_* other.data_)
BINARY(SymFloat, operator/, float_truediv, data_ / other.data_)
BINARY(SymFloat, min, sym_min, std::min(data_, other.data_))
BINARY(SymFloat, max, sym_max, std::max(data_, other.data_))
BINARY(SymBool, sym_eq, eq, data_ == other.data_)
BINARY(SymBool, sym_ne, ne, data_ != other.data_)
BINARY(SymBool, sym_lt, lt, data_ < other.data_)
BINARY(SymBool, sym_le, le, data_ <= other.data_)
BINARY(SymBool, sym_gt, gt, data_ > other.data_)
BINARY(SymBool, sym_ge, ge, data_ >= other.data_)
#undef BINARY

SymFloat SymFloat::sqrt() const {
  return is_symbolic() ? SymFloat(ptr_->float_pow(ptr_->wrap_float(0.5))) : SymFloat(std::sqrt(data_));
}

double SymFloat::guard_float(const char* file, int64_t line) const {
  return is_symbolic() ? ptr_->guard_float(file, line) : data_;
}

bool SymFloat::has_hint() const {
  return !is_symbolic() || ptr_->has_hint();
}

std::ostream& operator<<(std::ostream& out, const SymFloat& value) {
  if (value.is_symbolic()) {
    return out << value.toSymNodeImplUnowned()->str();
  }
  return out << value.as_float_unchecked();
}

} // namespace c10
