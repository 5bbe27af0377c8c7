#include <c10/core/Scalar.h>

#include <c10/util/complex_math.h>

#include <cmath>
#include <ostream>

namespace c10 {

template <typename T>
T Scalar::convert_to(const char* name) const {
  // What most numbers are, an alpha of one above all: small and whole, so that it fits everywhere.
  if constexpr (std::is_arithmetic_v<T> && !std::is_same_v<T, bool>) {
    if (C10_LIKELY(tag == Tag::HAS_i && static_cast<uint64_t>(v.i) < 128)) {
      return static_cast<T>(v.i);
    }
  }
  return convert_unusual<T>(name);
}

template <typename T>
C10_NOINLINE T Scalar::convert_unusual(const char* name) const {
  switch (tag) {
    case Tag::HAS_d:
      return checked_convert<T, double>(v.d, name);
    case Tag::HAS_z:
      return checked_convert<T, complex<double>>(v.z, name);
    case Tag::HAS_b:
      return checked_convert<T, bool>(v.i != 0, name);
    case Tag::HAS_i:
      return checked_convert<T, int64_t>(v.i, name);
    case Tag::HAS_u:
      return checked_convert<T, uint64_t>(v.u, name);
    case Tag::HAS_si:
      return checked_convert<T, int64_t>(toSymInt().guard_int(__FILE__, __LINE__), name);
    case Tag::HAS_sd:
      return checked_convert<T, double>(toSymFloat().guard_float(__FILE__, __LINE__), name);
    case Tag::HAS_sb:
      return checked_convert<T, bool>(toSymBool().guard_bool(__FILE__, __LINE__), name);
  }
  TORCH_INTERNAL_ASSERT(false, "Scalar with unknown tag");
}

#define C10_ACCESSOR_(type, name)   \
  type Scalar::to##name() const {   \
    return convert_to<type>(#type); \
  }
AT_FORALL_SCALAR_TYPES_WITH_COMPLEX(C10_ACCESSOR_)
C10_ACCESSOR_(uint16_t, UInt16)
C10_ACCESSOR_(uint32_t, UInt32)
C10_ACCESSOR_(uint64_t, UInt64)
#undef C10_ACCESSOR_

Scalar& Scalar::assign_symbolic(const Scalar& other) {
  return *this = Scalar(other);
}

void Scalar::store_symbolic(SymInt value) {
  if (const auto constant = value.maybe_as_int()) {
    store(*constant);
    return;
  }
  tag = Tag::HAS_si;
  v.p = std::move(value).release();
}

void Scalar::store_symbolic(SymFloat value) {
  if (value.is_symbolic()) {
    tag = Tag::HAS_sd;
    v.p = std::move(value).release();
  } else {
    store(value.as_float_unchecked());
  }
}

void Scalar::store_symbolic(SymBool value) {
  if (const auto constant = value.maybe_as_bool()) {
    tag = Tag::HAS_b;
    v.i = *constant;
    return;
  }
  tag = Tag::HAS_sb;
  v.p = std::move(value).release();
}

SymInt Scalar::toSymInt() const {
  if (tag == Tag::HAS_si) {
    return SymInt(intrusive_ptr<SymNodeImpl>::reclaim_copy(static_cast<SymNodeImpl*>(v.p)));
  }
  return toLong();
}

SymFloat Scalar::toSymFloat() const {
  if (tag == Tag::HAS_sd) {
    return SymFloat(intrusive_ptr<SymNodeImpl>::reclaim_copy(static_cast<SymNodeImpl*>(v.p)));
  }
  return toDouble();
}

SymBool Scalar::toSymBool() const {
  if (tag == Tag::HAS_sb) {
    return SymBool(intrusive_ptr<SymNodeImpl>::reclaim_copy(static_cast<SymNodeImpl*>(v.p)));
  }
  return toBool();
}

bool Scalar::equal_symbolic(double num) const {
  TORCH_CHECK(tag != Tag::HAS_sb, "Scalar: comparing a symbolic bool with a number is not supported");
  return toDouble() == num;
}

Scalar Scalar::operator-() const {
  TORCH_CHECK(!isBoolean(), "torch boolean negative, the `-` operator, is not supported.");
  switch (tag) {
    case Tag::HAS_d:
      return Scalar(-v.d);
    case Tag::HAS_z:
      return Scalar(-v.z);
    case Tag::HAS_u:
      TORCH_CHECK(v.u == uint64_t{1} << 63, "Scalar: minus ", v.u, " does not fit int64");
      return Scalar(INT64_MIN);
    case Tag::HAS_i:
      // Minus the smallest int64 is itself, as the operators have it.
      return Scalar(static_cast<int64_t>(uint64_t{0} - static_cast<uint64_t>(v.i)));
    default:
      TORCH_CHECK(false, "Scalar: negating a symbolic number is not supported");
  }
}

Scalar Scalar::conj() const {
  if (isComplex()) {
    return Scalar(std::conj(v.z));
  }
  return *this;
}

Scalar Scalar::log() const {
  if (isComplex()) {
    return std::log(v.z);
  }
  if (isFloatingPoint()) {
    return std::log(toDouble());
  }
  if (isIntegral(/*includeBool=*/true)) {
    return std::log(static_cast<double>(tag == Tag::HAS_u ? static_cast<double>(v.u) : static_cast<double>(toLong())));
  }
  TORCH_INTERNAL_ASSERT(false, "log(): expected a number, got ", type());
}

std::ostream& operator<<(std::ostream& out, const Scalar& s) {
  if (s.isSymInt()) {
    return out << s.toSymInt();
  }
  if (s.isSymFloat()) {
    return out << s.toSymFloat();
  }
  if (s.isSymBool()) {
    return out << s.toSymBool();
  }
  switch (s.type()) {
    case ScalarType::Double:
      return out << s.toDouble();
    case ScalarType::ComplexDouble:
      return out << s.toComplexDouble();
    case ScalarType::Bool:
      return out << (s.toBool() ? "true" : "false");
    case ScalarType::UInt64:
      return out << s.toUInt64();
    default:
      return out << s.toLong();
  }
}

} // namespace c10
