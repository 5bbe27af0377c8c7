#include "test/support/matchers.h"

#include "test/support/random.h"

namespace test {

bool TensorMatcher::match(const at::Tensor& got) const {
  at::Tensor want = want_;
  if (!want.defined() && got.defined()) {
    want =
        tensor_of(got.scalar_type(), {static_cast<int64_t>(numbers_.size())}, [&](int64_t i) { return numbers_[i]; });
  }
  const Tolerance tolerance = tolerance_.value_or(want.defined() ? tolerance_for(want.scalar_type()) : Tolerance{});
  difference_ = first_difference(got, want, tolerance);
  return difference_.empty();
}

std::string TensorMatcher::describe() const {
  return difference_.empty() ? "agrees" : "differs: " + difference_;
}

TensorMatcher EqualsTensor(const at::Tensor& want) {
  return {want, Tolerance{}};
}

TensorMatcher EqualsTensor(std::initializer_list<double> want) {
  return TensorMatcher(std::vector<double>(want));
}

TensorMatcher AllClose(const at::Tensor& want, std::optional<Tolerance> tolerance) {
  return {want, tolerance};
}

bool ErrorMatcher::match(const c10::Error& error) const {
  return std::string(error.what_without_backtrace()).find(text_) != std::string::npos;
}

std::string ErrorMatcher::describe() const {
  return "says \"" + text_ + "\"";
}

ErrorMatcher Says(std::string text) {
  return ErrorMatcher(std::move(text));
}

} // namespace test
