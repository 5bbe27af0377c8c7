// The operator table: one row for each entry of aten/ops, written by the generator into op_rows.cpp as
// `std::vector<OpRow> test::op_rows() { return {row, row, ...}; }`. Fields left out keep their defaults.
//   name            operator and overload, no namespace; inplace and out likewise, "" where the form does not exist
//   dtypes          the entry's dtypes, with the names below; 0 for composites, which are tried with float and double
//   pointwise       `shape: pointwise`; only these need the fields from result to integer
//   operands        schema positions of the pointwise operands (tensors, and Scalars named in `operands:`)
//   masks           those of them that must be bool and take no part in the promotion (the condition of where)
//   real, complex   the reference expression with the operands x = a = v[0], b = v[1], c = v[2], and any other argument
//     and integer   by name as v.number("alpha") or v.text("approximate"). integer: for bool and integer dtypes when
//                   result is common or bool; complex: when dtypes has complex; nullptr where it makes no sense
//   reference       entry of the tables in test/support/reference*.cpp
//   no_reference    what holds the operator's values where there is neither that nor an expression
//   differentiable  the entry has `grad:`, or is composite
//   has_meta        false for `kernel: raw` without `meta:`
//   api             calls the C++ function and the method with boxed arguments; nullptr leaves that out
// A row for add.Tensor:
//   {.name = "add.Tensor", .inplace = "add_.Tensor", .out = "add.out", .pointwise = true,
//    .dtypes = kBool | kIntegral | kFloating | kComplex, .result = Result::Common, .operands = {0, 1},
//    .low = -8, .high = 8, .extra = {0.0, INFINITY, NAN}, .settings = {{}, {{"alpha", 2}}},
//    .real = [](const Operands<double>& v) -> double {
//      const auto a = v[0], b = v[1]; const double alpha = v.number("alpha"); return a + alpha * b; },
//    .complex = ..., .integer = ..., .differentiable = true,
//    .errors = {{[] { at::add(at::ones({2}), at::ones({3})); }, "must match"}}, .doc = "self + alpha * other"},
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/function_schema.h>
#include <ATen/core/ivalue.h>

#include <complex>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace test {

using Stack = std::vector<c10::IValue>;
using DTypes = uint32_t;

constexpr DTypes dtype_bit(c10::ScalarType type) {
  return DTypes{1} << static_cast<int>(type);
}

constexpr DTypes kBool = dtype_bit(c10::ScalarType::Bool);
constexpr DTypes kIntegral = dtype_bit(c10::ScalarType::Byte) | dtype_bit(c10::ScalarType::Char) |
    dtype_bit(c10::ScalarType::Short) | dtype_bit(c10::ScalarType::Int) | dtype_bit(c10::ScalarType::Long);
constexpr DTypes kUnsigned = 0; // uint16, uint32, uint64: not in the table, see test/support/elements.cpp
constexpr DTypes kReduced = dtype_bit(c10::ScalarType::Half) | dtype_bit(c10::ScalarType::BFloat16);
constexpr DTypes kFloating = kReduced | dtype_bit(c10::ScalarType::Float) | dtype_bit(c10::ScalarType::Double);
constexpr DTypes kComplex = dtype_bit(c10::ScalarType::ComplexFloat) | dtype_bit(c10::ScalarType::ComplexDouble);
constexpr DTypes kComplexHalf = dtype_bit(c10::ScalarType::ComplexHalf);
constexpr DTypes kAll = kBool | kIntegral | kFloating | kComplex;

/// What a reference sees of one element: its operands, and the other arguments by name.
template <class T>
class Operands {
 public:
  Operands(const c10::FunctionSchema& schema, const Stack& args) : schema_(schema), args_(args) {}

  void push(T value) {
    values_.push_back(value);
  }
  T operator[](size_t i) const {
    return values_.at(i);
  }

  /// A Scalar, float, int or bool argument; 0 for None.
  double number(std::string_view name) const;
  std::complex<double> complex_number(std::string_view name) const;
  /// A str argument; "" for None.
  std::string text(std::string_view name) const;
  /// Is this optional argument given?
  bool has(std::string_view name) const;

 private:
  const c10::IValue& argument(std::string_view name) const;

  const c10::FunctionSchema& schema_;
  const Stack& args_;
  std::vector<T> values_;
};

extern template class Operands<double>;
extern template class Operands<std::complex<double>>;
extern template class Operands<int64_t>;

/// How the dtype of a pointwise result follows from the common dtype of its operands.
enum class Result : uint8_t { Common, Float, Bool, Real };

struct NamedValue {
  const char* name;
  c10::IValue value;
};

struct Range {
  double low;
  double high;
};

struct ErrorSample {
  void (*call)();
  const char* says; // part of the message
};

struct OpRow {
  const char* name;
  const char* inplace = "";
  const char* out = "";
  bool pointwise = false;
  DTypes dtypes = 0;
  Result result = Result::Common;
  std::vector<int> operands = {};
  std::vector<int> masks = {};
  double low = -2; // range of the random operands
  double high = 2;
  std::vector<Range> ranges = {}; // of each operand, where they differ
  std::vector<int> constants = {}; // arguments whose gradient is not implemented
  std::vector<double> extra = {}; // values mixed in where gradients are not taken
  std::vector<std::vector<NamedValue>> settings =
      {}; // values of other arguments, one run each; {} is the schema's defaults
  double tolerance = 1; // factor on test::tolerance_for
  double (*real)(const Operands<double>&) = nullptr;
  std::complex<double> (*complex)(const Operands<std::complex<double>>&) = nullptr;
  int64_t (*integer)(const Operands<int64_t>&) = nullptr;
  const char* reference = "";
  const char* no_reference = "";
  bool differentiable = false;
  bool has_kernel = false; // a kernel of its own, not other operators
  bool has_meta = true;
  std::vector<at::Tensor> (*api)(const Stack&) = nullptr;
  std::vector<ErrorSample> errors = {};
  const char* doc = "";
};

/// All rows; defined by the generated op_rows.cpp.
std::vector<OpRow> op_rows();

} // namespace test
