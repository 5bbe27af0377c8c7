// Comparisons of numbers and strings, and their least and greatest.
#include <csrc/jit/runtime/ops/rows.h>

#include <algorithm>
#include <cmath>

namespace torch::jit::ops {

namespace {

template <class Compare>
bool compare_scalars(const Scalar& a, const Scalar& b, Compare compare) {
  if (a.isFloatingPoint() || b.isFloatingPoint()) {
    return compare(a.toDouble(), b.toDouble());
  }
  return compare(a.toLong(), b.toLong());
}
bool equal_scalars(Scalar a, Scalar b) {
  if (a.isComplex() || b.isComplex()) {
    return a.toComplexDouble() == b.toComplexDouble();
  }
  return compare_scalars(a, b, [](auto x, auto y) { return x == y; });
}

// The second unless the first is less or greater: so NaN gives way when it comes first.
template <class T>
T lesser(T a, T b) {
  return a < b ? a : b;
}
template <class T>
T greater(T a, T b) {
  return a > b ? a : b;
}

// An int beside a float becomes one.
template <class Pick>
IValue picked(const Scalar& a, const Scalar& b, Pick pick) {
  if (a.isFloatingPoint() || b.isFloatingPoint()) {
    return pick(a.toDouble(), b.toDouble());
  }
  return pick(a.toLong(), b.toLong());
}
IValue min_scalars(Scalar a, Scalar b) {
  return picked(a, b, [](auto x, auto y) { return lesser(x, y); });
}
IValue max_scalars(Scalar a, Scalar b) {
  return picked(a, b, [](auto x, auto y) { return greater(x, y); });
}

template <bool kGreatest, class T>
T extreme(AnyList self) {
  TORCH_CHECK_VALUE(!self.empty(), kGreatest ? "max() arg is an empty sequence" : "min() arg is an empty sequence");
  const auto value_of = [&](size_t i) { return self.get(i).to<T>(); };
  T best = value_of(0);
  for (size_t i = 1; i < self.size(); ++i) {
    const T value = value_of(i);
    if (kGreatest ? best < value : value < best) {
      best = value;
    }
  }
  return best;
}

template <bool kGreatest, class T>
AnyList extreme_of_lists(AnyList left, AnyList right) {
  const IValue left_value(left);
  const IValue right_value(right);
  const c10::ArrayRef<IValue> l = left_value.toListRef();
  const c10::ArrayRef<IValue> r = right_value.toListRef();
  const auto less = [](const IValue& a, const IValue& b) { return a.to<T>() < b.to<T>(); };
  const bool left_is_less = std::lexicographical_compare(l.begin(), l.end(), r.begin(), r.end(), less);
  const bool right_is_less = std::lexicographical_compare(r.begin(), r.end(), l.begin(), l.end(), less);
  return (kGreatest ? right_is_less : left_is_less || !right_is_less) ? left : right;
}

template <class T>
bool any_of(AnyList self) {
  for (size_t i = 0; i < self.size(); ++i) {
    if (self.get(i).to<T>()) {
      return true;
    }
  }
  return false;
}
template <class T>
bool all_of(AnyList self) {
  for (size_t i = 0; i < self.size(); ++i) {
    if (!self.get(i).to<T>()) {
      return false;
    }
  }
  return true;
}
bool any_text(AnyList self) {
  for (size_t i = 0; i < self.size(); ++i) {
    if (!self.get(i).toStringRef().empty()) {
      return true;
    }
  }
  return false;
}
template <class T, class Sum>
Sum sum_of(AnyList self) {
  Sum sum = 0;
  for (size_t i = 0; i < self.size(); ++i) {
    sum += static_cast<Sum>(self.get(i).to<T>());
  }
  return sum;
}
// As in libtorch, sums of ints have 32 bits.
int64_t sum_of_ints(AnyList self) {
  uint32_t sum = 0;
  for (size_t i = 0; i < self.size(); ++i) {
    sum += static_cast<uint32_t>(self.get(i).toInt());
  }
  return static_cast<int32_t>(sum);
}

constexpr OperatorRow kRows[] = {
    {"aten::eq.int(int a, int b) -> bool", call<[](int64_t a, int64_t b) { return a == b; }>},
    {"aten::eq.float(float a, float b) -> bool", call<[](double a, double b) { return a == b; }>},
    {"aten::eq.int_float(int a, float b) -> bool",
     call<[](int64_t a, double b) { return static_cast<double>(a) == b; }>},
    {"aten::eq.float_int(float a, int b) -> bool",
     call<[](double a, int64_t b) { return a == static_cast<double>(b); }>},
    {"aten::eq.str(str a, str b) -> bool", call<[](const std::string& a, const std::string& b) { return a == b; }>},
    {"aten::eq.bool(bool a, bool b) -> bool", call<[](bool a, bool b) { return a == b; }>},
    {"aten::eq.complex(complex a, complex b) -> bool", call<[](Complex a, Complex b) { return a == b; }>},
    {"aten::eq.complex_float(complex a, float b) -> bool", call<[](Complex a, double b) { return a == Complex(b); }>},
    {"aten::eq.float_complex(float a, complex b) -> bool", call<[](double a, Complex b) { return Complex(a) == b; }>},
    {"aten::eq.device(Device a, Device b) -> bool", call<[](c10::Device a, c10::Device b) { return a == b; }>},
    {"aten::eq.enum(AnyEnumType a, AnyEnumType b) -> bool", call<[](IValue& a, IValue& b) { return a == b; }>},
    {"aten::eq(Scalar a, Scalar b) -> bool", call<equal_scalars>},
    {"aten::ne.int(int a, int b) -> bool", call<[](int64_t a, int64_t b) { return a != b; }>},
    {"aten::ne.float(float a, float b) -> bool", call<[](double a, double b) { return a != b; }>},
    {"aten::ne.int_float(int a, float b) -> bool",
     call<[](int64_t a, double b) { return static_cast<double>(a) != b; }>},
    {"aten::ne.float_int(float a, int b) -> bool",
     call<[](double a, int64_t b) { return a != static_cast<double>(b); }>},
    {"aten::ne.str(str a, str b) -> bool", call<[](const std::string& a, const std::string& b) { return a != b; }>},
    {"aten::ne.bool(bool a, bool b) -> bool", call<[](bool a, bool b) { return a != b; }>},
    {"aten::ne.complex(complex a, complex b) -> bool", call<[](Complex a, Complex b) { return a != b; }>},
    {"aten::ne.complex_float(complex a, float b) -> bool", call<[](Complex a, double b) { return a != Complex(b); }>},
    {"aten::ne.float_complex(float a, complex b) -> bool", call<[](double a, Complex b) { return Complex(a) != b; }>},
    {"aten::ne.device(Device a, Device b) -> bool", call<[](c10::Device a, c10::Device b) { return a != b; }>},
    {"aten::ne.enum(AnyEnumType a, AnyEnumType b) -> bool", call<[](IValue& a, IValue& b) { return a != b; }>},
    {"aten::ne(Scalar a, Scalar b) -> bool", call<[](Scalar a, Scalar b) { return !equal_scalars(a, b); }>},
    {"aten::lt.int(int a, int b) -> bool", call<[](int64_t a, int64_t b) { return a < b; }>},
    {"aten::lt.float(float a, float b) -> bool", call<[](double a, double b) { return a < b; }>},
    {"aten::lt.int_float(int a, float b) -> bool",
     call<[](int64_t a, double b) { return static_cast<double>(a) < b; }>},
    {"aten::lt.float_int(float a, int b) -> bool",
     call<[](double a, int64_t b) { return a < static_cast<double>(b); }>},
    {"aten::lt.str(str a, str b) -> bool", call<[](const std::string& a, const std::string& b) { return a < b; }>},
    {"aten::lt(Scalar a, Scalar b) -> bool",
     call<[](Scalar a, Scalar b) { return compare_scalars(a, b, [](auto x, auto y) { return x < y; }); }>},
    {"aten::gt.int(int a, int b) -> bool", call<[](int64_t a, int64_t b) { return (a > b); }>},
    {"aten::gt.float(float a, float b) -> bool", call<[](double a, double b) { return (a > b); }>},
    {"aten::gt.int_float(int a, float b) -> bool",
     call<[](int64_t a, double b) { return (static_cast<double>(a) > b); }>},
    {"aten::gt.float_int(float a, int b) -> bool",
     call<[](double a, int64_t b) { return (a > static_cast<double>(b)); }>},
    {"aten::gt.str(str a, str b) -> bool", call<[](const std::string& a, const std::string& b) { return (a > b); }>},
    {"aten::gt(Scalar a, Scalar b) -> bool",
     call<[](Scalar a, Scalar b) { return compare_scalars(a, b, [](auto x, auto y) { return (x > y); }); }>},
    {"aten::le.int(int a, int b) -> bool", call<[](int64_t a, int64_t b) { return a <= b; }>},
    {"aten::le.float(float a, float b) -> bool", call<[](double a, double b) { return a <= b; }>},
    {"aten::le.int_float(int a, float b) -> bool",
     call<[](int64_t a, double b) { return static_cast<double>(a) <= b; }>},
    {"aten::le.float_int(float a, int b) -> bool",
     call<[](double a, int64_t b) { return a <= static_cast<double>(b); }>},
    {"aten::le.str(str a, str b) -> bool", call<[](const std::string& a, const std::string& b) { return a <= b; }>},
    {"aten::le(Scalar a, Scalar b) -> bool",
     call<[](Scalar a, Scalar b) { return compare_scalars(a, b, [](auto x, auto y) { return x <= y; }); }>},
    {"aten::ge.int(int a, int b) -> bool", call<[](int64_t a, int64_t b) { return (a >= b); }>},
    {"aten::ge.float(float a, float b) -> bool", call<[](double a, double b) { return (a >= b); }>},
    {"aten::ge.int_float(int a, float b) -> bool",
     call<[](int64_t a, double b) { return (static_cast<double>(a) >= b); }>},
    {"aten::ge.float_int(float a, int b) -> bool",
     call<[](double a, int64_t b) { return (a >= static_cast<double>(b)); }>},
    {"aten::ge.str(str a, str b) -> bool", call<[](const std::string& a, const std::string& b) { return (a >= b); }>},
    {"aten::ge(Scalar a, Scalar b) -> bool",
     call<[](Scalar a, Scalar b) { return compare_scalars(a, b, [](auto x, auto y) { return (x >= y); }); }>},
    {"prim::min.int(int a, int b) -> int", call<[](int64_t a, int64_t b) { return std::min(a, b); }>},
    {"prim::min.float(float a, float b) -> float", call<lesser<double>>},
    {"prim::min.int_float(int a, float b) -> float",
     call<[](int64_t a, double b) { return lesser(static_cast<double>(a), b); }>},
    {"prim::min.float_int(float a, int b) -> float",
     call<[](double a, int64_t b) { return lesser(a, static_cast<double>(b)); }>},
    {"prim::min(Scalar a, Scalar b) -> Scalar", call<min_scalars>},
    {"prim::min.int_list(int[] l, int[] r) -> int[]", call<extreme_of_lists<false, int64_t>>},
    {"prim::min.self_int(int[] self) -> int", call<extreme<false, int64_t>>},
    {"prim::min.float_list(float[] l, float[] r) -> float[]", call<extreme_of_lists<false, double>>},
    {"prim::min.self_float(float[] self) -> float", call<extreme<false, double>>},
    {"prim::min.bool_list(bool[] l, bool[] r) -> bool[]", call<extreme_of_lists<false, bool>>},
    {"prim::min.self_bool(bool[] self) -> bool", call<extreme<false, bool>>},
    {"prim::max.int(int a, int b) -> int", call<[](int64_t a, int64_t b) { return std::max(a, b); }>},
    {"prim::max.float(float a, float b) -> float", call<greater<double>>},
    {"prim::max.int_float(int a, float b) -> float",
     call<[](int64_t a, double b) { return greater(static_cast<double>(a), b); }>},
    {"prim::max.float_int(float a, int b) -> float",
     call<[](double a, int64_t b) { return greater(a, static_cast<double>(b)); }>},
    {"prim::max(Scalar a, Scalar b) -> Scalar", call<max_scalars>},
    {"prim::max.int_list(int[] l, int[] r) -> int[]", call<extreme_of_lists<true, int64_t>>},
    {"prim::max.self_int(int[] self) -> int", call<extreme<true, int64_t>>},
    {"prim::max.float_list(float[] l, float[] r) -> float[]", call<extreme_of_lists<true, double>>},
    {"prim::max.self_float(float[] self) -> float", call<extreme<true, double>>},
    {"prim::max.bool_list(bool[] l, bool[] r) -> bool[]", call<extreme_of_lists<true, bool>>},
    {"prim::max.self_bool(bool[] self) -> bool", call<extreme<true, bool>>},
    {"aten::any.int(int[] self) -> bool", call<any_of<int64_t>>},
    {"aten::all.int(int[] self) -> bool", call<all_of<int64_t>>},
    {"aten::any.float(float[] self) -> bool", call<any_of<double>>},
    {"aten::all.float(float[] self) -> bool", call<all_of<double>>},
    {"aten::any.bool(bool[] self) -> bool", call<any_of<bool>>},
    {"aten::all.bool(bool[] self) -> bool", call<all_of<bool>>},
    {"aten::any.str(str[] self) -> bool", call<any_text>},
    {"aten::sum.int(int[] self) -> int", call<sum_of_ints>},
    {"aten::sum.float(float[] self) -> float", call<sum_of<double, double>>},
    {"aten::sum.complex(complex[] self) -> complex", call<sum_of<Complex, Complex>>},
    {"aten::sum.bool(bool[] self) -> int", call<sum_of<bool, int64_t>>},
};

} // namespace

at::ArrayRef<OperatorRow> comparison_rows() {
  return kRows;
}

} // namespace torch::jit::ops
