#include <c10/core/SymInt.h>

#include <c10/core/ConstantSymNodeImpl.h>
#include <c10/core/SymFloat.h>
#include <c10/util/Exception.h>

#include <ostream>

namespace c10 {

namespace {

// The operands as two nodes of one tracer; one of them is symbolic.
std::pair<SymNode, SymNode> as_nodes(const SymInt& a, const SymInt& b) {
  const SymNode base = a.is_symbolic() ? a.toSymNode() : b.toSymNode();
  return {a.wrap_node(base), b.wrap_node(base)};
}

[[noreturn]] void throw_overflow(int64_t a, const char* op, int64_t b) {
  TORCH_CHECK(false, "SymInt: ", a, " ", op, " ", b, " overflows a 64-bit integer");
}

} // namespace

SymInt::SymInt(SymNode node) : data_(0) {
  TORCH_CHECK(node && node->is_int(), "SymInt: the node does not stand for an integer");
  const auto pointer = static_cast<uint64_t>(reinterpret_cast<uintptr_t>(std::move(node).release()));
  data_ = static_cast<int64_t>((pointer & ~kTagMask) | kTag);
}

void SymInt::promote_to_negative() {
  const int64_t value = std::exchange(data_, 0);
  *this = SymInt(SymNode(c10::make_intrusive<ConstantSymNodeImpl<int64_t>>(value)));
}

void SymInt::retain() const {
  (void)SymNode::reclaim_copy(toSymNodeImplUnowned()).release();
}

void SymInt::drop() noexcept {
  SymNode::reclaim(toSymNodeImplUnowned());
}

SymNodeImpl* SymInt::release() && {
  TORCH_INTERNAL_ASSERT(is_heap_allocated(), "SymInt::release: a plain integer has no node");
  SymNodeImpl* node = toSymNodeImplUnowned();
  data_ = 0;
  return node;
}

SymNode SymInt::toSymNode() const {
  TORCH_CHECK(is_heap_allocated(), "SymInt::toSymNode: a plain integer has no node");
  return SymNode::reclaim_copy(toSymNodeImplUnowned());
}

SymNode SymInt::wrap_node(const SymNode& base) const {
  const auto value = maybe_as_int();
  return value ? base->wrap_int(*value) : toSymNode();
}

void SymInt::throw_symbolic() const {
  TORCH_CHECK(false, "when unpacking SymInt, expected int but got ", toSymNodeImplUnowned()->str());
}

bool SymInt::has_hint() const {
  return !is_heap_allocated() || toSymNodeImplUnowned()->has_hint();
}

int64_t SymInt::guard_int_slow(const char* file, int64_t line) const {
  const auto value = maybe_as_int();
  return value ? *value : toSymNodeImplUnowned()->guard_int(file, line);
}

bool SymInt::is_symbolic_slow() const {
  return !toSymNodeImplUnowned()->constant_int().has_value();
}

std::optional<int64_t> SymInt::maybe_as_int_slow() const {
  SymNodeImpl* node = toSymNodeImplUnowned();
  if (const auto constant = node->constant_int()) {
    return constant;
  }
  return node->maybe_as_int();
}

#define ARITHMETIC(name, op)                              \
  SymInt SymInt::name##_slow(const SymInt& other) const { \
    const auto a = maybe_as_int();                        \
    const auto b = other.maybe_as_int();                  \
    if (a && b) {                                         \
      int64_t result = 0;                                 \
      if (__builtin_##name##_overflow(*a, *b, &result)) { \
        throw_overflow(*a, #op, *b);                      \
      }                                                   \
      return SymInt(result);                              \
    }                                                     \
    const auto nodes = as_nodes(*this, other);            \
    return SymInt(nodes.first->name(nodes.second));       \
  }
ARITHMETIC(add, +)
ARITHMETIC(sub, -)
ARITHMETIC(mul, *)
#undef ARITHMETIC

SymInt SymInt::operator/(const SymInt& other) const {
  const auto a = maybe_as_int();
  const auto b = other.maybe_as_int();
  if (!a || !b) {
    const auto nodes = as_nodes(*this, other);
    return SymInt(nodes.first->int_floordiv(nodes.second));
  }
  TORCH_CHECK(*b != 0, "SymInt: division of ", *a, " by zero");
  if (*a == std::numeric_limits<int64_t>::min() && *b == -1) {
    throw_overflow(*a, "/", *b);
  }
  return SymInt(*a / *b);
}

SymInt SymInt::operator%(const SymInt& other) const {
  const auto a = maybe_as_int();
  const auto b = other.maybe_as_int();
  if (!a || !b) {
    const auto nodes = as_nodes(*this, other);
    return SymInt(nodes.first->mod(nodes.second));
  }
  TORCH_CHECK(*b != 0, "SymInt: remainder of ", *a, " by zero");
  return SymInt(*b == -1 ? 0 : *a % *b);
}

#define COMPARISON(name, op)                               \
  SymBool SymInt::name##_slow(const SymInt& other) const { \
    const auto a = maybe_as_int();                         \
    const auto b = other.maybe_as_int();                   \
    if (a && b) {                                          \
      return SymBool(*a op * b);                           \
    }                                                      \
    const auto nodes = as_nodes(*this, other);             \
    return SymBool(nodes.first->name(nodes.second));       \
  }
COMPARISON(eq, ==)
COMPARISON(ne, !=)
COMPARISON(lt, <)
COMPARISON(le, <=)
COMPARISON(gt, >)
COMPARISON(ge, >=)
#undef COMPARISON

#define EXTREMUM(name)                                    \
  SymInt SymInt::name##_slow(const SymInt& other) const { \
    const auto a = maybe_as_int();                        \
    const auto b = other.maybe_as_int();                  \
    if (a && b) {                                         \
      return SymInt(std::name(*a, *b));                   \
    }                                                     \
    const auto nodes = as_nodes(*this, other);            \
    return SymInt(nodes.first->sym_##name(nodes.second)); \
  }
EXTREMUM(min)
EXTREMUM(max)
#undef EXTREMUM

SymInt SymInt::clone() const {
  return is_heap_allocated() ? SymInt(toSymNodeImplUnowned()->clone()) : *this;
}

bool SymInt::is_same(const SymInt& other) const {
  const auto a = maybe_as_int();
  const auto b = other.maybe_as_int();
  return a && b ? *a == *b : data_ == other.data_;
}

SymInt::operator SymFloat() const {
  const auto value = maybe_as_int();
  return value ? SymFloat(static_cast<double>(*value)) : SymFloat(toSymNodeImplUnowned()->sym_float());
}

SymInt operator-(const SymInt& value) {
  const auto known = value.maybe_as_int();
  return known ? SymInt(0) - value : SymInt(value.toSymNodeImplUnowned()->neg());
}

std::ostream& operator<<(std::ostream& out, const SymInt& value) {
  if (const auto known = value.maybe_as_int()) {
    return out << *known;
  }
  return out << value.toSymNodeImplUnowned()->str();
}

#define FLOATING_OP(Result, Scalar, op)             \
  Result operator op(const SymInt& a, Scalar b) {   \
    return static_cast<SymFloat>(a) op SymFloat(b); \
  }                                                 \
  Result operator op(Scalar a, const SymInt& b) {   \
    return SymFloat(a) op static_cast<SymFloat>(b); \
  }
#define FLOATING_OPS(Scalar)       \
  FLOATING_OP(SymFloat, Scalar, +) \
  FLOATING_OP(SymFloat, Scalar, -) \
  FLOATING_OP(SymFloat, Scalar, *) \
  FLOATING_OP(SymFloat, Scalar, /) \
  FLOATING_OP(bool, Scalar, ==)    \
  FLOATING_OP(bool, Scalar, !=)    \
  FLOATING_OP(bool, Scalar, <)     \
  FLOATING_OP(bool, Scalar, <=)    \
  FLOATING_OP(bool, Scalar, >)     \
  FLOATING_OP(bool, Scalar, >=)
FLOATING_OPS(double)
FLOATING_OPS(float)
#undef FLOATING_OPS
#undef FLOATING_OP

} // namespace c10
