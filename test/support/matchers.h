// Catch2 matchers for tensors and errors:
//   CHECK_THAT(out, EqualsTensor({0, 2, 1}));
//   CHECK_THAT(out, AllClose(want));
//   CHECK_THROWS_MATCHES(x.sum({5}), c10::IndexError, Says("Dimension out of range"));
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/util/Exception.h>

#include <catch2/catch.hpp>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "test/support/compare.h"

namespace test {

/// Agreement of shape, dtype and elements; a failure names the first index that differs and both values.
class TensorMatcher : public Catch::MatcherBase<at::Tensor> {
 public:
  TensorMatcher(at::Tensor want, std::optional<Tolerance> tolerance) : want_(std::move(want)), tolerance_(tolerance) {}
  explicit TensorMatcher(std::vector<double> want) : numbers_(std::move(want)), tolerance_(Tolerance{}) {}

  bool match(const at::Tensor& got) const override;
  std::string describe() const override;

 private:
  at::Tensor want_;
  std::vector<double> numbers_; // a vector of any dtype, used when want_ is undefined
  std::optional<Tolerance> tolerance_;
  mutable std::string difference_; // of the last match, for describe()
};

/// Exactly `want`.
TensorMatcher EqualsTensor(const at::Tensor& want);
/// A one-dimensional tensor of any dtype with exactly these elements.
TensorMatcher EqualsTensor(std::initializer_list<double> want);
/// `want` within the tolerance of its dtype, or within the one given.
TensorMatcher AllClose(const at::Tensor& want, std::optional<Tolerance> tolerance = std::nullopt);

/// The message of a c10::Error holds `text`.
class ErrorMatcher : public Catch::MatcherBase<c10::Error> {
 public:
  explicit ErrorMatcher(std::string text) : text_(std::move(text)) {}

  bool match(const c10::Error& error) const override;
  std::string describe() const override;

 private:
  std::string text_;
};

ErrorMatcher Says(std::string text);

} // namespace test

namespace Catch {
// Without this Catch would print a tensor through the operator the tests are meant to check.
template <>
struct StringMaker<at::Tensor> {
  static std::string convert(const at::Tensor& tensor) {
    return test::describe(tensor);
  }
};
template <>
struct StringMaker<c10::Error> {
  static std::string convert(const c10::Error& error) {
    return error.what_without_backtrace();
  }
};
} // namespace Catch
