#include <c10/core/ScalarType.h>

#include <ostream>

namespace c10 {

namespace {

struct Names {
  std::string_view libtorch;
  std::string_view dtype;
  std::string_view alias;
  std::string_view abbreviation;
};

// In the order of ScalarType.
constexpr Names kNames[] = {
    {"Byte", "uint8", "", "u8"},
    {"Char", "int8", "", "i8"},
    {"Short", "int16", "short", "i16"},
    {"Int", "int32", "int", "i32"},
    {"Long", "int64", "long", "i64"},
    {"Half", "float16", "half", "f16"},
    {"Float", "float32", "float", "f32"},
    {"Double", "float64", "double", "f64"},
    {"ComplexHalf", "complex32", "chalf", "c32"},
    {"ComplexFloat", "complex64", "cfloat", "c64"},
    {"ComplexDouble", "complex128", "cdouble", "c128"},
    {"Bool", "bool", "", "b8"},
    {"QInt8", "qint8", "", "qint8"},
    {"QUInt8", "quint8", "", "quint8"},
    {"QInt32", "qint32", "", "qint32"},
    {"BFloat16", "bfloat16", "", "bf16"},
    {"QUInt4x2", "quint4x2", "", "quint4x2"},
    {"QUInt2x4", "quint2x4", "", "quint2x4"},
    {"Bits1x8", "bits1x8", "", "bits1x8"},
    {"Bits2x4", "bits2x4", "", "bits2x4"},
    {"Bits4x2", "bits4x2", "", "bits4x2"},
    {"Bits8", "bits8", "", "bits8"},
    {"Bits16", "bits16", "", "bits16"},
    {"Float8_e5m2", "float8_e5m2", "", "f8e5m2"},
    {"Float8_e4m3fn", "float8_e4m3fn", "", "f8e4m3fn"},
    {"Float8_e5m2fnuz", "float8_e5m2fnuz", "", "f8e5m2fnuz"},
    {"Float8_e4m3fnuz", "float8_e4m3fnuz", "", "f8e4m3fnuz"},
    {"UInt16", "uint16", "", "u16"},
    {"UInt32", "uint32", "", "u32"},
    {"UInt64", "uint64", "", "u64"},
    {"UInt1", "uint1", "", "uint1"},
    {"UInt2", "uint2", "", "uint2"},
    {"UInt3", "uint3", "", "uint3"},
    {"UInt4", "uint4", "", "uint4"},
    {"UInt5", "uint5", "", "uint5"},
    {"UInt6", "uint6", "", "uint6"},
    {"UInt7", "uint7", "", "uint7"},
    {"Int1", "int1", "", "int1"},
    {"Int2", "int2", "", "int2"},
    {"Int3", "int3", "", "int3"},
    {"Int4", "int4", "", "int4"},
    {"Int5", "int5", "", "int5"},
    {"Int6", "int6", "", "int6"},
    {"Int7", "int7", "", "int7"},
    {"Float8_e8m0fnu", "float8_e8m0fnu", "", "f8e8m0fnu"},
    {"Float4_e2m1fn_x2", "float4_e2m1fn_x2", "", "f4e2m1fnx2"},
    {"Undefined", "undefined", "", "undefined"},
};
static_assert(sizeof(kNames) / sizeof(kNames[0]) == NumScalarTypes);

// Note [Promotion table]
// Promotion is a lattice: within a kind (bool < integral < floating < complex) the wider type wins, across kinds the
// higher kind wins with its own width, and the pairs that need something wider than both are listed. Rows and columns:
// u8 i8 i16 i32 i64 f16 f32 f64 c32 c64 c128 b bf16, as below.
constexpr ScalarType kPromotable[] = {kByte,   kChar,        kShort,        kInt,           kLong, kHalf,    kFloat,
                                      kDouble, kComplexHalf, kComplexFloat, kComplexDouble, kBool, kBFloat16};
constexpr int kPromotableCount = sizeof(kPromotable) / sizeof(kPromotable[0]);

constexpr auto u1 = ScalarType::Byte;
constexpr auto i1 = ScalarType::Char;
constexpr auto i2 = ScalarType::Short;
constexpr auto i4 = ScalarType::Int;
constexpr auto i8 = ScalarType::Long;
constexpr auto f2 = ScalarType::Half;
constexpr auto f4 = ScalarType::Float;
constexpr auto f8 = ScalarType::Double;
constexpr auto c2 = ScalarType::ComplexHalf;
constexpr auto c4 = ScalarType::ComplexFloat;
constexpr auto c8 = ScalarType::ComplexDouble;
constexpr auto b1 = ScalarType::Bool;
constexpr auto bf = ScalarType::BFloat16;

constexpr ScalarType kPromotion[kPromotableCount][kPromotableCount] = {
    /*        u1  i1  i2  i4  i8  f2  f4  f8  c2  c4  c8  b1  bf */
    /* u1 */ {u1, i2, i2, i4, i8, f2, f4, f8, c2, c4, c8, u1, bf},
    /* i1 */ {i2, i1, i2, i4, i8, f2, f4, f8, c2, c4, c8, i1, bf},
    /* i2 */ {i2, i2, i2, i4, i8, f2, f4, f8, c2, c4, c8, i2, bf},
    /* i4 */ {i4, i4, i4, i4, i8, f2, f4, f8, c2, c4, c8, i4, bf},
    /* i8 */ {i8, i8, i8, i8, i8, f2, f4, f8, c2, c4, c8, i8, bf},
    /* f2 */ {f2, f2, f2, f2, f2, f2, f4, f8, c2, c4, c8, f2, f4},
    /* f4 */ {f4, f4, f4, f4, f4, f4, f4, f8, c4, c4, c8, f4, f4},
    /* f8 */ {f8, f8, f8, f8, f8, f8, f8, f8, c8, c8, c8, f8, f8},
    /* c2 */ {c2, c2, c2, c2, c2, c2, c4, c8, c2, c4, c8, c2, c4},
    /* c4 */ {c4, c4, c4, c4, c4, c4, c4, c8, c4, c4, c8, c4, c4},
    /* c8 */ {c8, c8, c8, c8, c8, c8, c8, c8, c8, c8, c8, c8, c8},
    /* b1 */ {u1, i1, i2, i4, i8, f2, f4, f8, c2, c4, c8, b1, bf},
    /* bf */ {bf, bf, bf, bf, bf, f4, f4, f8, c4, c4, c8, bf, bf},
};

constexpr int promotion_index(ScalarType t) {
  for (int i = 0; i < kPromotableCount; ++i) {
    if (kPromotable[i] == t) {
      return i;
    }
  }
  return -1;
}

const Names& names_of(ScalarType t) {
  const auto index = static_cast<size_t>(static_cast<uint8_t>(t));
  if (index >= NumScalarTypes) {
    detail::unknown_scalar_type(t);
  }
  return kNames[index];
}

} // namespace

namespace detail {

const uint8_t kElementSizes[NumScalarTypes] = {
#define C10_SIZE_(type, name) sizeof(type),
    AT_FORALL_SCALAR_TYPES_WITH_COMPLEX_AND_QINTS(C10_SIZE_)
#undef C10_SIZE_
        0,
};

void unknown_scalar_type(ScalarType t) {
  if (t == ScalarType::Undefined) {
    AT_ERROR(
        "Unknown ScalarType: Undefined has no elements; the tensor or option it comes from was never given a dtype");
  }
  AT_ERROR("Unknown ScalarType ", static_cast<int>(t));
}

} // namespace detail

const char* toString(ScalarType t) {
  const auto index = static_cast<size_t>(static_cast<uint8_t>(t));
  return index < NumScalarTypes ? kNames[index].libtorch.data() : "UNKNOWN_SCALAR";
}

std::ostream& operator<<(std::ostream& out, ScalarType t) {
  return out << toString(t);
}

bool isSignedType(ScalarType t) {
  TORCH_CHECK(!isQIntType(t), "isSignedType not supported for quantized types, got ", t);
  TORCH_CHECK(!isBitsType(t) && t < ScalarType::Undefined, "isSignedType: ", t, " is not a type of numbers");
  return !(
      t == ScalarType::Bool || t == ScalarType::Byte || t == ScalarType::Float8_e8m0fnu || isBarebonesUnsignedType(t));
}

ScalarType toComplexType(ScalarType t) {
  switch (t) {
    case ScalarType::BFloat16: // there is no complex of bfloat16; float holds its range
    case ScalarType::Float:
    case ScalarType::ComplexFloat:
      return ScalarType::ComplexFloat;
    case ScalarType::Half:
    case ScalarType::ComplexHalf:
      return ScalarType::ComplexHalf;
    case ScalarType::Double:
    case ScalarType::ComplexDouble:
      return ScalarType::ComplexDouble;
    default:
      TORCH_CHECK(false, "Unknown Complex ScalarType for ", t, "; Half, BFloat16, Float and Double have one");
  }
}

ScalarType promoteTypes(ScalarType a, ScalarType b) {
  if (a == ScalarType::Undefined || b == ScalarType::Undefined) {
    return ScalarType::Undefined;
  }
  if (a == b) {
    return a;
  }
  const int row = promotion_index(a), column = promotion_index(b);
  if (C10_LIKELY(row >= 0 && column >= 0)) {
    return kPromotion[row][column];
  }
  TORCH_CHECK(
      !isQIntType(a) && !isQIntType(b),
      "promoteTypes with quantized numbers is not handled yet; figure out what the correct rules should be, "
      "offending types: ",
      a, " ", b);
  TORCH_CHECK(!isBitsType(a) && !isBitsType(b), "Promotion from ", a, " and ", b, " is unsupported.");
  TORCH_CHECK(
      !isFloat8Type(a) && !isFloat8Type(b), "Promotion for Float8 Types is not supported, attempted to promote ", a,
      " and ", b);
  if (isBarebonesUnsignedType(a) || isBarebonesUnsignedType(b)) {
    // A floating-point type absorbs any integer.
    if (isFloatingType(a)) {
      return a;
    }
    if (isFloatingType(b)) {
      return b;
    }
    TORCH_CHECK(
        false, "Promotion for uint16, uint32, uint64 types is not supported, attempted to promote ", a, " and ", b);
  }
  TORCH_CHECK(false, "promoteTypes: ", a, " and ", b, " have no common type");
}

ScalarType opaqueScalarType(ScalarType t) {
  switch (elementSize(t)) {
    case 1:
      return ScalarType::Byte;
    case 2:
      return ScalarType::UInt16;
    case 4:
      return ScalarType::UInt32;
    case 8:
      return ScalarType::UInt64;
    case 16:
      return ScalarType::ComplexDouble;
    default:
      detail::unknown_scalar_type(t);
  }
}

std::pair<std::string_view, std::string_view> getDtypeNames(ScalarType scalarType) {
  const Names& names = names_of(scalarType);
  return {names.dtype, names.alias};
}

std::string_view getScalarTypeAbbr(ScalarType scalarType) {
  return names_of(scalarType).abbreviation;
}

} // namespace c10
