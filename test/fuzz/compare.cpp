#include "test/fuzz/compare.h"

#include <ATen/Functions.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdio>

#include "test/support/compare.h"
#include "test/support/host_view.h"
#include "test/fuzz/attempt.h"
#include "test/fuzz/sparse.h"
#include "test/fuzz/tensors.h"

namespace fuzz {

using at::Tensor;

namespace {

/// Elements of a tensor that is not coalesced have no order: nothing where its dtype cannot be coalesced.
std::vector<Tensor> sorted_members(const Tensor& sparse) {
  if (sparse.layout() != c10::kSparse || !broken_promise(sparse).empty()) {
    return members(sparse);
  }
  std::vector<Tensor> parts;
  attempt([&] { parts = members(sparse.detach().coalesce()); });
  return parts;
}

bool has_nan(std::complex<double> x) {
  return std::isnan(x.real()) || std::isnan(x.imag());
}

} // namespace

std::string difference(const Tensor& got, const Tensor& want, Sides sides) {
  if (got.defined() != want.defined()) {
    return "definedness";
  }
  if (is_sparse(got) && is_sparse(want) && got.layout() == want.layout()) {
    const std::vector<Tensor> parts = sorted_members(got), others = sorted_members(want);
    if (parts.size() != others.size()) { // one is coalesced already, the other cannot be
      return {};
    }
    for (size_t i = 0; i < parts.size(); ++i) {
      if (const std::string what = difference(parts[i], others[i], sides); !what.empty()) {
        return what + " of a member";
      }
    }
    return {};
  }
  if (!is_plain(got) || !is_plain(want)) {
    return {};
  }
  if (got.sizes() != want.sizes()) {
    return "sizes " + test::show(got.sizes()) + " and " + test::show(want.sizes());
  }
  if (got.scalar_type() != want.scalar_type()) {
    return "dtypes";
  }
  constexpr int64_t kCompared = 1 << 16;
  if (!has_elements_to_read(got.scalar_type()) || got.numel() > kCompared) {
    return {};
  }
  const test::HostView a(got);
  const test::HostView b(want);
  double largest = 0;
  for (int64_t i = 0; i < want.numel(); ++i) {
    const double size = std::abs(b.number(i));
    if (std::isfinite(size)) {
      largest = std::max(largest, size);
    }
  }
  // Results may be wider than the numbers that they were computed from.
  const double rtol = std::max(test::tolerance_for(want.scalar_type()).rtol, test::tolerance_for(c10::kFloat).rtol);
  const bool exact = c10::isIntegralType(want.scalar_type(), /*includeBool=*/true);
  const double tolerance = exact ? 0 : 200 * rtol * (largest + 1);
  for (int64_t i = 0; i < want.numel(); ++i) {
    const std::complex<double> x = a.number(i);
    const std::complex<double> y = b.number(i);
    if (x == y || (has_nan(x) && has_nan(y))) {
      continue;
    }
    if (std::isfinite(std::abs(x)) && std::isfinite(std::abs(y)) && std::abs(x - y) <= tolerance) {
      continue;
    }
    char text[200];
    std::snprintf(
        text, sizeof text, "at %s: %g%+gj %s, %g%+gj %s", test::show_position(i, want.sizes()).c_str(), x.real(),
        x.imag(), sides.got, y.real(), y.imag(), sides.want);
    return text;
  }
  return {};
}

std::string difference(const Stack& got, const Stack& want, Sides sides) {
  const std::vector<Tensor> a = test::tensors_of(got);
  const std::vector<Tensor> b = test::tensors_of(want);
  if (a.size() != b.size()) {
    return "the number of results";
  }
  for (size_t i = 0; i < a.size(); ++i) {
    if (const std::string what = difference(a[i], b[i], sides); !what.empty()) {
      return what;
    }
  }
  return {};
}

} // namespace fuzz
