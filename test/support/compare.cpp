#include "test/support/compare.h"

#include <cmath>
#include <cstdio>

#include "test/support/host_view.h"

namespace test {

namespace {

std::string show_element(const HostView& view, Category category, int64_t position) {
  if (category == Category::Bool || category == Category::Integer) {
    return std::to_string(view.integer(position));
  }
  const std::complex<double> value = view.number(position);
  char text[80];
  if (category == Category::Float) {
    std::snprintf(text, sizeof text, "%.9g", value.real());
  } else {
    std::snprintf(text, sizeof text, "(%.9g, %.9g)", value.real(), value.imag());
  }
  return text;
}

bool close_real(double got, double want, Tolerance tolerance) {
  if (got == want) {
    return true;
  }
  if (std::isnan(got) || std::isnan(want)) {
    return std::isnan(got) && std::isnan(want);
  }
  if (std::isinf(got) || std::isinf(want)) {
    return false;
  }
  return std::abs(got - want) <= tolerance.atol + tolerance.rtol * std::abs(want);
}

bool has_nan(std::complex<double> value) {
  return std::isnan(value.real()) || std::isnan(value.imag());
}
bool is_finite(std::complex<double> value) {
  return std::isfinite(value.real()) && std::isfinite(value.imag());
}

} // namespace

Tolerance tolerance_for(c10::ScalarType dtype) {
  switch (dtype) {
    case c10::ScalarType::Half:
      return {2e-3, 1e-4};
    case c10::ScalarType::BFloat16:
      return {1.6e-2, 1e-4};
    case c10::ScalarType::Float:
      return {1.3e-6, 1e-6};
    case c10::ScalarType::Double:
      return {1e-12, 1e-13};
    case c10::ScalarType::ComplexHalf:
      return {4e-3, 1e-3};
    case c10::ScalarType::ComplexFloat:
      return {3e-6, 3e-6};
    case c10::ScalarType::ComplexDouble:
      return {1e-12, 1e-13};
    default:
      return {0, 0};
  }
}

bool close(std::complex<double> got, std::complex<double> want, Tolerance tolerance) {
  // A complex number is one NaN whichever of its parts is.
  if (has_nan(got) || has_nan(want)) {
    return has_nan(got) && has_nan(want);
  }
  if (is_finite(got) && is_finite(want)) {
    return got == want || std::abs(got - want) <= tolerance.atol + tolerance.rtol * std::abs(want);
  }
  return close_real(got.real(), want.real(), tolerance) && close_real(got.imag(), want.imag(), tolerance);
}

std::string describe(const at::Tensor& tensor) {
  if (!tensor.defined()) {
    return "an undefined tensor";
  }
  return show(tensor.sizes()) + " " + dtype_name(tensor.scalar_type()) + " " + tensor.device().str();
}

std::string first_difference(const at::Tensor& got, const at::Tensor& want, Tolerance tolerance) {
  const bool same_kind =
      got.defined() && want.defined() && got.sizes() == want.sizes() && got.scalar_type() == want.scalar_type();
  if (!same_kind) {
    return !got.defined() && !want.defined() ? "" : "got " + describe(got) + ", want " + describe(want);
  }

  const Category category = dtype_info(got.scalar_type()).category;
  const bool exact = category == Category::Bool || category == Category::Integer;
  const HostView got_view(got);
  const HostView want_view(want);
  int64_t count = 0;
  int64_t first = -1;
  for (int64_t i = 0; i < got.numel(); ++i) {
    const bool equal =
        exact ? got_view.integer(i) == want_view.integer(i) : close(got_view.number(i), want_view.number(i), tolerance);
    if (!equal && count++ == 0) {
      first = i;
    }
  }
  if (count == 0) {
    return {};
  }
  return "at " + show_position(first, got.sizes()) + ": got " + show_element(got_view, category, first) + ", want " +
      show_element(want_view, category, first) + "; " + std::to_string(count) + " of " + std::to_string(got.numel()) +
      " elements of " + describe(got) + " differ";
}

} // namespace test
