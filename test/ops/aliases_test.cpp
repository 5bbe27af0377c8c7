// Operators under a second name give what the first gives, on the samples of the first.

#include <catch2/catch.hpp>

#include "test/ops/runner.h"
#include "test/support/compare.h"
#include "test/support/elements.h"

namespace test {

namespace {

struct Alias {
  const char* name;
  const char* original;
};

constexpr Alias kAliases[] = {
    {"absolute", "abs"},
    {"arccos", "acos"},
    {"arccosh", "acosh"},
    {"arcsin", "asin"},
    {"arcsinh", "asinh"},
    {"arctan", "atan"},
    {"arctan2", "atan2"},
    {"arctanh", "atanh"},
    {"divide.Scalar", "div.Scalar"},
    {"divide.Tensor", "div.Tensor"},
    {"fix", "trunc"},
    {"greater.Scalar", "gt.Scalar"},
    {"greater.Tensor", "gt.Tensor"},
    {"greater_equal.Scalar", "ge.Scalar"},
    {"greater_equal.Tensor", "ge.Tensor"},
    {"less.Scalar", "lt.Scalar"},
    {"less.Tensor", "lt.Tensor"},
    {"less_equal.Scalar", "le.Scalar"},
    {"less_equal.Tensor", "le.Tensor"},
    {"multiply.Scalar", "mul.Scalar"},
    {"multiply.Tensor", "mul.Tensor"},
    {"negative", "neg"},
    {"not_equal.Scalar", "ne.Scalar"},
    {"not_equal.Tensor", "ne.Tensor"},
    {"special_digamma", "digamma"},
    {"special_erf", "erf"},
    {"special_erfc", "erfc"},
    {"special_erfinv", "erfinv"},
    {"special_exp2", "exp2"},
    {"special_expit", "sigmoid"},
    {"special_expm1", "expm1"},
    {"special_gammainc", "igamma"},
    {"special_gammaincc", "igammac"},
    {"special_gammaln", "lgamma"},
    {"special_i0", "i0"},
    {"special_log1p", "log1p"},
    {"special_logit", "logit"},
    {"special_polygamma", "polygamma"},
    {"special_psi", "digamma"},
    {"special_sinc", "sinc"},
    {"special_xlogy", "xlogy.Tensor"},
    {"special_xlogy.other_scalar", "xlogy.Scalar_Other"},
    {"special_xlogy.self_scalar", "xlogy.Scalar_Self"},
    {"subtract.Scalar", "sub.Scalar"},
    {"subtract.Tensor", "sub.Tensor"},
    {"true_divide.Scalar", "div.Scalar"},
    {"true_divide.Tensor", "div.Tensor"},
    {"__and__.Scalar", "bitwise_and.Scalar"},
    {"__and__.Tensor", "bitwise_and.Tensor"},
    {"__or__.Scalar", "bitwise_or.Scalar"},
    {"__or__.Tensor", "bitwise_or.Tensor"},
    {"__xor__.Scalar", "bitwise_xor.Scalar"},
    {"__xor__.Tensor", "bitwise_xor.Tensor"}};

} // namespace

TEST_CASE("a second name gives what the first gives", "[ops][aliases]") {
  for_each_row([](const OpRow& row, const BoxedOp& op, Failures& failures) {
    for (const Alias& alias : kAliases) {
      if (std::string(alias.original) != row.name) {
        continue;
      }
      const auto second = BoxedOp::find(alias.name);
      if (!second.has_value()) {
        return failures.add(std::string("the dispatcher does not know ") + alias.name);
      }
      for (const c10::ScalarType dtype : dtypes_of(row, Purpose::Values)) {
        for (const Sample& sample : samples_of(row, op, dtype, Purpose::Values)) {
          failures.guard(sample.note, [&] {
            const std::string difference =
                first_difference(second->tensors(sample.args).at(0), op.tensors(sample.args).at(0), Tolerance{0, 0});
            if (!difference.empty()) {
              failures.add(std::string(alias.name) + " " + sample.note + ": " + difference);
            }
          });
        }
      }
    }
  });
}

} // namespace test
