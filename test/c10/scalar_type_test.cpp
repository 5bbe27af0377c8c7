#include <c10/core/DefaultDtype.h>
#include <c10/core/ScalarType.h>
#include <c10/core/ScalarTypeToTypeMeta.h>
#include <c10/util/typeid.h>

#include <catch2/catch.hpp>

#include <string>
#include <vector>

namespace {

using namespace c10;
using Catch::Matchers::Contains;

const std::vector<ScalarType> kPromotable = {kByte,          kChar,  kShort,   kInt,         kLong,
                                             kHalf,          kFloat, kDouble,  kComplexHalf, kComplexFloat,
                                             kComplexDouble, kBool,  kBFloat16};

int kind_of(ScalarType t) {
  return isComplexType(t) ? 3 : isFloatingType(t) ? 2 : isIntegralType(t, false) ? 1 : 0;
}

} // namespace

TEST_CASE("scalar types keep their published numbers", "[c10][scalar_type]") {
  CHECK(static_cast<int>(kByte) == 0);
  CHECK(static_cast<int>(kLong) == 4);
  CHECK(static_cast<int>(kBool) == 11);
  CHECK(static_cast<int>(kBFloat16) == 15);
  CHECK(static_cast<int>(kFloat8_e5m2) == 23);
  CHECK(static_cast<int>(kUInt16) == 27);
  CHECK(static_cast<int>(kUInt64) == 29);
  CHECK(static_cast<int>(kFloat8_e8m0fnu) == 44);
  CHECK(static_cast<int>(ScalarType::Undefined) == 46);
}

TEST_CASE("promotion is a join: commutative, associative, idempotent, and never loses kind", "[c10][scalar_type]") {
  for (const ScalarType a : kPromotable) {
    CHECK(promoteTypes(a, a) == a);
    for (const ScalarType b : kPromotable) {
      const ScalarType ab = promoteTypes(a, b);
      CHECK(ab == promoteTypes(b, a));
      CHECK(kind_of(ab) == std::max(kind_of(a), kind_of(b)));
      CHECK(promoteTypes(ab, a) == ab);
      CHECK(canCast(a, ab));
      for (const ScalarType c : kPromotable) {
        INFO(a << ' ' << b << ' ' << c);
        CHECK(promoteTypes(ab, c) == promoteTypes(a, promoteTypes(b, c)));
      }
    }
  }
}

TEST_CASE("promotion of chosen pairs", "[c10][scalar_type]") {
  CHECK(promoteTypes(kByte, kChar) == kShort);
  CHECK(promoteTypes(kHalf, kBFloat16) == kFloat);
  CHECK(promoteTypes(kLong, kHalf) == kHalf);
  CHECK(promoteTypes(kComplexHalf, kFloat) == kComplexFloat);
  CHECK(promoteTypes(kComplexFloat, kDouble) == kComplexDouble);
  CHECK(promoteTypes(kBFloat16, kComplexHalf) == kComplexFloat);
  CHECK(promoteTypes(kBool, kByte) == kByte);
  CHECK(promoteTypes(kUInt16, kUInt16) == kUInt16);
  CHECK(promoteTypes(kUInt32, kHalf) == kHalf);
  CHECK(promoteTypes(kFloat, ScalarType::Undefined) == ScalarType::Undefined);
}

TEST_CASE("types without a common type say so", "[c10][scalar_type]") {
  CHECK_THROWS_WITH(
      promoteTypes(kUInt16, kInt),
      Contains("Promotion for uint16, uint32, uint64 types is not supported, attempted to promote UInt16 and Int"));
  CHECK_THROWS_WITH(promoteTypes(kUInt16, kComplexFloat), Contains("Promotion for uint16, uint32, uint64"));
  CHECK_THROWS_WITH(
      promoteTypes(kFloat8_e5m2, kFloat),
      Contains("Promotion for Float8 Types is not supported, attempted to promote Float8_e5m2 and Float"));
  CHECK_THROWS_WITH(promoteTypes(kQInt8, kFloat), Contains("promoteTypes with quantized numbers is not handled yet"));
  CHECK_THROWS_WITH(promoteTypes(kBits8, kFloat), Contains("Promotion from Bits8 and Float is unsupported."));
}

TEST_CASE("sizes, names and kinds of scalar types", "[c10][scalar_type]") {
  CHECK(elementSize(kBool) == 1);
  CHECK(elementSize(kComplexHalf) == 4);
  CHECK(elementSize(kComplexDouble) == 16);
  CHECK_THROWS_AS(elementSize(ScalarType::Undefined), Error);
  CHECK(std::string(toString(kComplexFloat)) == "ComplexFloat");
  CHECK(std::string(toString(kFloat8_e4m3fn)) == "Float8_e4m3fn");
  CHECK(getDtypeNames(kFloat).first == "float32");
  CHECK(getDtypeNames(kLong).second == "long");
  CHECK(isIntegralType(kUInt64, false));
  CHECK_FALSE(isIntegralType(kBool, false));
  CHECK(isReducedFloatingType(kFloat8_e4m3fn));
  CHECK_FALSE(isSignedType(kByte));
  CHECK(isSignedType(kComplexFloat));
  CHECK_THROWS_AS(isSignedType(kQInt8), Error);
  CHECK(toComplexType(kBFloat16) == kComplexFloat);
  CHECK_THROWS_WITH(toComplexType(kLong), Contains("Unknown Complex ScalarType for Long"));
  CHECK(toRealValueType(kComplexHalf) == kHalf);
  CHECK(toOpMathType(kBFloat16) == kFloat);
  CHECK(toOpMathType(kDouble) == kDouble);
  CHECK(toUnderlying(kQUInt8) == kByte);
  CHECK_FALSE(canCast(kComplexFloat, kFloat));
  CHECK_FALSE(canCast(kFloat, kLong));
  CHECK_FALSE(canCast(kLong, kBool));
  CHECK(canCast(kFloat, kHalf));
}

TEST_CASE("C++ types and scalar types name each other", "[c10][scalar_type]") {
#define CHECK_BOTH_WAYS(cpp_type, name)                                                   \
  STATIC_REQUIRE(CppTypeToScalarType<cpp_type>::value == ScalarType::name);               \
  STATIC_REQUIRE(std::is_same_v<impl::ScalarTypeToCPPTypeT<ScalarType::name>, cpp_type>); \
  CHECK(caffe2::TypeMeta::Make<cpp_type>() == ScalarType::name);                          \
  CHECK(scalarTypeToTypeMeta(ScalarType::name).itemsize() == sizeof(cpp_type));           \
  CHECK(scalarTypeToTypeMeta(ScalarType::name).id() == caffe2::TypeIdentifier::Get<cpp_type>());
  AT_FORALL_SCALAR_TYPES_WITH_COMPLEX_AND_QINTS(CHECK_BOTH_WAYS)
#undef CHECK_BOTH_WAYS
  STATIC_REQUIRE(sizeof(caffe2::TypeMeta) == 2);
}

TEST_CASE("other types get a TypeMeta on first use", "[c10][scalar_type]") {
  const auto meta = caffe2::TypeMeta::Make<std::string>();
  CHECK(meta == caffe2::TypeMeta::Make<std::string>());
  CHECK(meta != caffe2::TypeMeta::Make<std::vector<int>>());
  CHECK(meta.itemsize() == sizeof(std::string));
  CHECK_FALSE(meta.isScalarType());
  CHECK_THROWS_AS(meta.toScalarType(), Error);
  CHECK(meta.placementNew() != nullptr);
  CHECK(caffe2::TypeMeta::Make<int>().copy() == nullptr);
  CHECK(caffe2::TypeMeta().itemsize() == 0);
  std::string strings[2] = {"a", "b"}, copies[2];
  meta.copy()(strings, copies, 2);
  CHECK(copies[1] == "b");
}

TEST_CASE("a TypeMeta copies and destroys objects of every class", "[c10][scalar_type]") {
  struct Point {
    int x = 42;
  };
  const auto meta = caffe2::TypeMeta::Make<Point>();
  alignas(Point) unsigned char memory[2 * sizeof(Point)];
  REQUIRE(meta.placementNew() != nullptr);
  meta.placementNew()(memory, 2);
  const auto* made = reinterpret_cast<const Point*>(memory);
  CHECK(made[1].x == 42);
  const Point source{10};
  Point copy;
  REQUIRE(meta.copy() != nullptr);
  meta.copy()(&source, &copy, 1);
  CHECK(copy.x == 10);
  REQUIRE(meta.placementDelete() != nullptr);
  meta.placementDelete()(memory, 2);
  CHECK(caffe2::TypeMeta::Make<Half>().copy() != nullptr);
  CHECK(caffe2::TypeMeta::Make<double>().placementNew() == nullptr);
  CHECK(caffe2::TypeMeta::Make<double>().placementDelete() == nullptr);
  CHECK(caffe2::TypeMeta::Make<Point*>().copy() == nullptr);
}

TEST_CASE("the default dtype is any type of tensor elements", "[c10][scalar_type]") {
  CHECK(get_default_dtype_as_scalartype() == kFloat);
  CHECK_THROWS_AS(set_default_dtype(caffe2::TypeMeta::Make<std::string>()), Error);
  CHECK(get_default_dtype_as_scalartype() == kFloat);
  set_default_dtype(scalarTypeToTypeMeta(kInt));
  CHECK(get_default_dtype() == caffe2::TypeMeta::Make<int>());
  CHECK(get_default_complex_dtype() == kComplexFloat);
  set_default_dtype(scalarTypeToTypeMeta(kHalf));
  CHECK(get_default_complex_dtype() == kComplexHalf);
  set_default_dtype(scalarTypeToTypeMeta(kDouble));
  CHECK(get_default_dtype() == caffe2::TypeMeta::Make<double>());
  CHECK(get_default_complex_dtype() == kComplexDouble);
  set_default_dtype(scalarTypeToTypeMeta(kFloat));
}
