// Differences, integrals, moments and histograms made of other operators.
#include <aten/Functions.h>
#include <aten/core/TensorOperators.h>
#include <aten/iterator/MemoryOverlap.h>
#include <aten/native/support/OutArgument.h>
#include <aten/native/support/optional_tensor.h>
#include <aten/shape/iterated_out.h>

#include <c10/core/WrapDimMinimal.h>
#include <c10/util/safe_numerics.h>

#include <limits>
#include <optional>
#include <tuple>
#include <vector>

namespace at::native {

namespace {

Tensor difference(const Tensor& x, int64_t dim) {
  const int64_t count = x.size(dim) - 1;
  const Tensor later = x.narrow(dim, 1, count);
  const Tensor earlier = x.narrow(dim, 0, count);
  return x.scalar_type() == ScalarType::Bool ? at::logical_xor(later, earlier) : later - earlier;
}

void check_trapezoid(const char* op, const Tensor& y) {
  TORCH_CHECK(y.scalar_type() != ScalarType::Bool, op, ": received a bool input for `y`, but bool is not supported");
}

// Sums of neighbours along `dim`; the trapezoids of width two.
Tensor neighbour_sums(const Tensor& y, int64_t dim) {
  return y.slice(dim, 0, -1) + y.slice(dim, 1);
}

Tensor without_dim(const Tensor& y, int64_t dim) {
  auto sizes = y.sizes().vec();
  sizes.erase(sizes.begin() + c10::maybe_wrap_dim(dim, y.dim()));
  return at::zeros(sizes, y.options());
}

// Steps between the x of neighbouring samples, shaped to broadcast with y. An x with fewer dimensions than y lies along
// `dim`, or along the last dimensions.
Tensor steps(const char* op, const Tensor& y, const Tensor& x, int64_t dim) {
  TORCH_CHECK(x.scalar_type() != ScalarType::Bool, op, ": received a bool input for `x`, but bool is not supported");
  Tensor places = x;
  if (x.dim() == 1) {
    TORCH_CHECK(
        x.size(0) == y.size(dim), op, ": There must be one `x` value for each sample point; got ", x.size(0), " for ",
        y.size(dim), " samples");
    std::vector<int64_t> sizes(y.dim(), 1);
    sizes[c10::maybe_wrap_dim(dim, y.dim())] = x.size(0);
    places = x.view(sizes);
  } else if (x.dim() < y.dim()) {
    std::vector<int64_t> sizes(y.dim() - x.dim(), 1);
    sizes.insert(sizes.end(), x.sizes().begin(), x.sizes().end());
    places = x.view(sizes);
  }
  return places.slice(dim, 1) - places.slice(dim, 0, -1);
}

Tensor weights_or_ones(const Tensor& self, const std::optional<Tensor>& weight, IntArrayRef sizes) {
  return weight.has_value() && weight->defined() ? *weight : at::ones(sizes, self.options());
}

/// histogram reports under this name too.
constexpr const char* kHistogram = "torch.histogramdd: ";

// Points [n, coordinates] counted in the cells between sorted edges.
Tensor count_cells(const Tensor& points, TensorList edges, const std::optional<Tensor>& weight, bool density) {
  const auto coordinates = static_cast<int64_t>(edges.size());
  TORCH_CHECK_NOT_IMPLEMENTED(
      c10::isFloatingType(points.scalar_type()), "\"histogramdd\" not implemented for '", points.scalar_type(),
      "'; supported: floating-point dtypes");
  TORCH_CHECK(
      points.size(-1) == coordinates, kHistogram, "expected ", points.size(-1), " sequences of bin edges for a ",
      points.size(-1), "-dimensional histogram but got ", coordinates);
  const Tensor weights = weights_or_ones(points, weight, points.sizes().slice(0, points.dim() - 1));
  TORCH_CHECK(
      weights.sizes() == points.sizes().slice(0, points.dim() - 1), kHistogram,
      "if weight tensor is provided it should have the same shape as the input tensor excluding its innermost "
      "dimension, "
      "but got input with shape ",
      points.sizes(), " and weight with shape ", weights.sizes());
  TORCH_CHECK(
      weights.scalar_type() == points.scalar_type(), kHistogram,
      "if weight tensor is provided, input tensor and weight tensor should have the same dtype, but got input(",
      points.dtype().name(), "), and weight(", weights.dtype().name(), ")");
  const Tensor flat = points.reshape({-1, coordinates});
  std::vector<int64_t> shape;
  Tensor cell = at::zeros({flat.size(0)}, flat.options().dtype(ScalarType::Long));
  Tensor inside = at::ones({flat.size(0)}, flat.options().dtype(ScalarType::Bool));
  for (int64_t c = 0; c < coordinates; ++c) {
    const Tensor& edge = edges[c];
    TORCH_CHECK(
        edge.dim() == 1, kHistogram, "bins tensor should have one dimension, but got ", edge.dim(),
        " dimensions in the bins tensor for dimension ", c);
    TORCH_CHECK(
        edge.numel() > 0, kHistogram,
        "bins tensor should have at least 1 element, but got 0 elements in the bins tensor for dimension ", c);
    TORCH_CHECK(edge.numel() > 1, "torch.histogram(): bins must be > 0, but got 0 for dimension ", c);
    TORCH_CHECK(
        edge.scalar_type() == points.scalar_type(), kHistogram,
        "input tensor and bins tensors should have the same dtype, but got input with dtype ", points.dtype().name(),
        " and bins for dimension ", c, " with dtype ", edge.dtype().name());
    shape.push_back(edge.numel() - 1);
  }
  // Half and bfloat16 are counted in float: they would stop counting at 2048 and 256.
  const ScalarType counted = points.scalar_type() == ScalarType::Double ? ScalarType::Double : ScalarType::Float;
  Tensor hist = at::zeros(shape, flat.options().dtype(counted));
  for (int64_t c = 0; c < coordinates; ++c) {
    const Tensor& edge = edges[c];
    const int64_t bins = shape[c];
    const Tensor x = flat.select(1, c).contiguous();
    if (bins == 0) {
      inside = at::zeros_like(inside);
      continue;
    }
    // The last bin holds its right edge.
    const Tensor low = edge.select(0, 0);
    const Tensor high = edge.select(0, bins);
    inside = inside.logical_and(x >= low).logical_and(x <= high);
    const Tensor bin =
        (at::searchsorted(edge.contiguous(), x, /*out_int32=*/false, /*right=*/true) - 1).clamp(0, bins - 1);
    cell = cell * bins + bin;
  }
  if (hist.numel() > 0) {
    hist = hist.view({-1})
               .index_add(0, cell, weights.reshape({-1}).masked_fill(inside.logical_not(), 0).to(counted))
               .view(shape);
  }
  if (density) {
    hist = hist / hist.sum();
    for (int64_t c = 0; c < coordinates; ++c) {
      std::vector<int64_t> sizes(coordinates, 1);
      sizes[c] = shape[c];
      hist = hist / difference(edges[c], 0).view(sizes);
    }
  }
  return hist.to(points.scalar_type());
}

// Ends of the bins for each coordinate: given, or the extremes of the data; widened when they coincide.
std::vector<Tensor> even_edges(const Tensor& points, IntArrayRef bins, const std::optional<ArrayRef<double>>& range) {
  const int64_t coordinates = points.size(-1);
  TORCH_CHECK(
      static_cast<int64_t>(bins.size()) == coordinates,
      "histogramdd: The size of bins must be equal to the innermost "
      "dimension of the input; got ",
      bins.size(), " for ", coordinates);
  TORCH_CHECK(
      !range.has_value() || static_cast<int64_t>(range->size()) == 2 * coordinates, kHistogram, "for a ", coordinates,
      "-dimensional histogram range should have ", 2 * coordinates, " elements, but got ",
      range.has_value() ? range->size() : 0);
  const Tensor flat = points.reshape({-1, coordinates});
  std::vector<Tensor> edges;
  for (int64_t c = 0; c < coordinates; ++c) {
    TORCH_CHECK(bins[c] > 0, "torch.histogram(): bins must be > 0, but got ", bins[c], " for dimension ", c);
    TORCH_CHECK(
        bins[c] < std::numeric_limits<int64_t>::max(), kHistogram, bins[c], " bins have more edges than 64 bits count");
    double low = 0;
    double high = 1;
    if (range.has_value()) {
      low = (*range)[2 * c];
      high = (*range)[2 * c + 1];
    } else if (flat.numel() > 0) {
      low = flat.select(1, c).min().item<double>();
      high = flat.select(1, c).max().item<double>();
    }
    TORCH_CHECK(
        low - low == 0 && high - high == 0, kHistogram, "dimension ", c, "'s range [", low, ", ", high,
        "] is not finite");
    TORCH_CHECK(
        low <= high, kHistogram, "min should not exceed max, but got min ", low, " max ", high, " for dimension ", c);
    if (low == high) {
      low -= 0.5;
      high += 0.5;
    }
    edges.push_back(at::linspace(low, high, bins[c] + 1, points.options()));
  }
  return edges;
}

} // namespace

Tensor diff(
    const Tensor& self,
    int64_t n,
    int64_t dim,
    const std::optional<Tensor>& prepend,
    const std::optional<Tensor>& append) {
  TORCH_CHECK(self.dim() > 0, "diff expects input to be at least one-dimensional");
  dim = c10::maybe_wrap_dim(dim, self.dim());
  TORCH_CHECK(n >= 0, "order must be non-negative but got ", n);
  std::vector<Tensor> parts;
  for (const auto* part : {&prepend, &append}) {
    if (part->has_value() && (*part)->defined()) {
      TORCH_CHECK(
          (*part)->dim() == self.dim(), "diff expects prepend or append to be the same dimension as input; got ",
          (*part)->dim(), " and ", self.dim());
      for (int64_t d = 0; d < self.dim(); ++d) {
        TORCH_CHECK(
            d == dim || (*part)->size(d) == self.size(d),
            "diff expects the shape of tensor to prepend or append to match that of input except along the "
            "differencing "
            "dimension; input.size(",
            d, ") = ", self.size(d), ", but got tensor.size(", d, ") = ", (*part)->size(d));
      }
    }
  }
  if (prepend.has_value() && prepend->defined()) {
    parts.push_back(*prepend);
  }
  parts.push_back(self);
  if (append.has_value() && append->defined()) {
    parts.push_back(*append);
  }
  Tensor result = parts.size() > 1 ? at::cat(parts, dim) : self;
  if (n == 0) {
    return self.clone();
  }
  n = std::min(n, result.size(dim));
  for (int64_t i = 0; i < n; ++i) {
    result = result.size(dim) == 0 ? result : difference(result, dim);
  }
  return result;
}

Tensor& diff_out(
    const Tensor& self,
    int64_t n,
    int64_t dim,
    const std::optional<Tensor>& prepend,
    const std::optional<Tensor>& append,
    Tensor& out) {
  check_out_without_grad("diff", out);
  const Tensor result = at::diff(self, n, dim, prepend, append);
  check_out_without_grad("diff", result);
  if (n == 0) {
    TORCH_CHECK(
        out.scalar_type() == self.scalar_type(), "expected scalar_type ", self.scalar_type(), " but found ",
        out.scalar_type(), " (in diff of order 0, which copies)");
    at::assert_no_partial_overlap(out, self);
  } else if (n == 1 && self.size(dim) > 0 && !given(prepend) && !given(append)) {
    const Tensor later = self.narrow(dim, 1, self.size(dim) - 1), earlier = self.narrow(dim, 0, self.size(dim) - 1);
    at::shape::check_iterated({&later, &earlier, &out});
  }
  copy_into_out("diff", out, result);
  return out;
}

Tensor trapezoid_x(const Tensor& y, const Tensor& x, int64_t dim) {
  dim = c10::maybe_wrap_dim(dim, y.dim());
  if (y.size(dim) == 0) {
    return without_dim(y, dim);
  }
  check_trapezoid("trapezoid", y);
  return (neighbour_sums(y, dim) * steps("trapezoid", y, x, dim)).sum(dim) / 2.;
}

Tensor trapezoid_dx(const Tensor& y, const Scalar& dx, int64_t dim) {
  dim = c10::maybe_wrap_dim(dim, y.dim(), /*wrap_scalar=*/false);
  if (y.size(dim) == 0) {
    return without_dim(y, dim);
  }
  check_trapezoid("trapezoid", y);
  TORCH_CHECK(!dx.isBoolean() && !dx.isComplex(), "trapezoid: Currently, we only support dx as a real number.");
  const int64_t last = y.size(dim) - 1;
  return ((y.sum(dim) * 2. - y.select(dim, 0) - y.select(dim, last)) * dx) / 2.;
}

Tensor trapz_dx(const Tensor& y, double dx, int64_t dim) {
  return trapezoid_dx(y, dx, dim);
}

Tensor cumulative_trapezoid_x(const Tensor& y, const Tensor& x, int64_t dim) {
  dim = c10::maybe_wrap_dim(dim, y.dim());
  TORCH_CHECK_INDEX(y.dim() > 0, "slice() cannot be applied to a 0-dim tensor. (in cumulative_trapezoid)");
  check_trapezoid("cumulative_trapezoid", y);
  return (neighbour_sums(y, dim) * steps("cumulative_trapezoid", y, x, dim)).cumsum(dim) / 2.;
}

Tensor cumulative_trapezoid_dx(const Tensor& y, const Scalar& dx, int64_t dim) {
  dim = c10::maybe_wrap_dim(dim, y.dim());
  TORCH_CHECK_INDEX(y.dim() > 0, "slice() cannot be applied to a 0-dim tensor. (in cumulative_trapezoid)");
  check_trapezoid("cumulative_trapezoid", y);
  TORCH_CHECK(
      !dx.isBoolean() && !dx.isComplex(), "cumulative_trapezoid: Currently, we only support dx as a real number.");
  return (dx.toDouble() / 2. * neighbour_sums(y, dim)).cumsum(dim);
}

Tensor cov(
    const Tensor& self,
    int64_t correction,
    const std::optional<Tensor>& fweights,
    const std::optional<Tensor>& aweights) {
  TORCH_CHECK(
      self.dim() <= 2, "cov(): expected input to have two or fewer dimensions but got an input with ", self.dim(),
      " dimensions");
  TORCH_CHECK(self.scalar_type() != ScalarType::Bool, "cov(): bool dtype is not supported for input");
  const Tensor in = self.dim() < 2 ? self.view({1, -1}) : self;
  const int64_t observations = in.size(1);
  const bool weights_known = observations != 0 && !in.is_meta();
  Tensor weight;
  const auto check_weight = [&](const char* name, const Tensor& w, bool integral) {
    TORCH_CHECK(
        w.dim() <= 1, "cov(): expected ", name, " to have one or fewer dimensions but got ", name, " with ", w.dim(),
        " dimensions");
    TORCH_CHECK(
        integral == c10::isIntegralType(w.scalar_type(), /*includeBool=*/false), "cov(): expected ", name, " to have ",
        integral ? "integral" : "floating point", " dtype but got ", name, " with ", c10::toString(w.scalar_type()),
        " dtype");
    TORCH_CHECK(
        w.numel() == observations, "cov(): expected ", name,
        " to have the same numel as there are observations in the input but got ", w.numel(), " != ", observations);
    TORCH_CHECK(!weights_known || w.min().ge(0).item<bool>(), "cov(): ", name, " cannot be negative");
  };
  if (fweights.has_value() && fweights->defined()) {
    check_weight("fweights", *fweights, /*integral=*/true);
    weight = *fweights;
  }
  if (aweights.has_value() && aweights->defined()) {
    check_weight("aweights", *aweights, /*integral=*/false);
    weight = weight.defined() ? weight * *aweights : *aweights;
  }
  if (!weight.defined()) {
    int64_t freedom = 0;
    if (correction < observations && c10::sub_overflows(observations, correction, &freedom)) {
      freedom = std::numeric_limits<int64_t>::max();
    }
    if (freedom == 0) {
      TORCH_WARN("cov(): degrees of freedom is <= 0");
    }
    const Tensor centred = in - in.sum(1).div(observations).unsqueeze(1);
    return at::mm(centred, centred.t().conj()).true_divide(freedom).squeeze();
  }
  const Tensor total = weight.sum();
  TORCH_CHECK(in.is_meta() || total.ne(0).item<bool>(), "cov(): weights sum to zero, can't be normalized");
  Tensor norm = total - correction;
  if (correction != 0 && aweights.has_value() && aweights->defined()) {
    norm = total - correction * (weight * *aweights).sum() / total;
  }
  if (!in.is_meta() && norm.le(0).item<bool>()) {
    TORCH_WARN("cov(): degrees of freedom is <= 0");
    norm = at::zeros_like(norm);
  }
  const Tensor centred = in - (in * weight).sum(1).div(total).unsqueeze(1);
  return at::mm(centred, (centred * weight).t().conj()).true_divide(norm).squeeze();
}

Tensor corrcoef(const Tensor& self) {
  TORCH_CHECK(
      self.dim() <= 2, "corrcoef(): expected input to have two or fewer dimensions but got an input with ", self.dim(),
      " dimensions");
  const Tensor covariance = at::cov(self);
  if (covariance.dim() == 0) {
    return covariance / covariance;
  }
  const Tensor variance = covariance.diag();
  const Tensor deviation = (variance.is_complex() ? at::real(variance) : variance).sqrt();
  const Tensor result = covariance / deviation.view({-1, 1}) / deviation.view({1, -1});
  return result.is_complex() ? at::view_as_complex(at::view_as_real(result).clip(-1, 1)) : result.clip(-1, 1);
}

Tensor dist(const Tensor& self, const Tensor& other, const Scalar& p) {
  return at::norm(self - other, p);
}

Tensor renorm(const Tensor& self, const Scalar& p, int64_t dim, const Scalar& maxnorm) {
  TORCH_CHECK(!p.isComplex(), "renorm: p must be real-valued");
  TORCH_CHECK(p.toDouble() > 0.0, "renorm: non-positive-norm not supported; got ", p.toDouble());
  TORCH_CHECK(!maxnorm.isComplex(), "renorm: maxnorm must be real-valued");
  TORCH_CHECK(maxnorm.toDouble() >= 0.0, "renorm: expected maxnorm to be >= 0 but got ", maxnorm.toDouble());
  TORCH_CHECK(self.dim() > 1, "renorm: input needs at least 2 dimensions, got ", self.dim(), " dimensions");
  dim = c10::maybe_wrap_dim(dim, self.dim());
  std::vector<int64_t> others;
  for (int64_t d = 0; d < self.dim(); ++d) {
    if (d != dim) {
      others.push_back(d);
    }
  }
  const bool reduced = c10::isReducedFloatingType(self.scalar_type());
  const Tensor norm = at::linalg_vector_norm(
      self, p, others, /*keepdim=*/true, reduced ? std::optional<ScalarType>(ScalarType::Float) : std::nullopt);
  const Tensor factor = at::where(norm > maxnorm, maxnorm.toDouble() / (norm + 1e-7), at::ones({}, norm.options()));
  return (self * factor.to(c10::toRealValueType(self.scalar_type()))).contiguous();
}

Tensor& renorm_out(const Tensor& self, const Scalar& p, int64_t dim, const Scalar& maxnorm, Tensor& out) {
  TORCH_CHECK(
      out.scalar_type() == self.scalar_type(), "Expected out tensor to have dtype ", self.dtype().name(), ", but got ",
      out.dtype().name(), " instead (in renorm)");
  copy_into_out("renorm", out, native::renorm(self, p, dim, maxnorm));
  return out;
}

std::tuple<Tensor, Tensor> histogram_bins(
    const Tensor& self, const Tensor& bins, const std::optional<Tensor>& weight, bool density) {
  const std::optional<Tensor> flat =
      weight.has_value() && weight->defined() ? std::optional<Tensor>(weight->reshape({-1})) : std::nullopt;
  return {count_cells(self.reshape({-1, 1}), {bins}, flat, density), bins.clone()};
}

std::tuple<Tensor, Tensor> histogram_count(
    const Tensor& self,
    int64_t bins,
    std::optional<ArrayRef<double>> range,
    const std::optional<Tensor>& weight,
    bool density) {
  const auto edges = even_edges(self.reshape({-1, 1}), {bins}, range);
  return histogram_bins(self, edges[0], weight, density);
}

namespace {

std::tuple<Tensor&, Tensor&> histogram_into(
    const Tensor& self, const std::tuple<Tensor, Tensor>& result, Tensor& hist, Tensor& bin_edges) {
  const auto same = [&](const char* name, const Tensor& out, const char* where) {
    TORCH_CHECK(
        out.scalar_type() == self.scalar_type(), "torch.histogram: input tensor and ", name,
        " tensor should have the same dtype, but got input ", self.dtype().name(), " and ", name, " ",
        out.dtype().name(), where);
  };
  same("hist", hist, "");
  same("bin_edges", bin_edges, " for dimension 0");
  const TensorSpec specs[] = {
      TensorSpec::like(std::get<0>(result), std::get<0>(result).sizes()),
      TensorSpec::like(std::get<1>(result), std::get<1>(result).sizes())};
  OutArgument::check("histogram", {&hist, &bin_edges}, specs, {OutArgument::Form::Out, false, OutDtype::Exact});
  copy_into_out("histogram", hist, std::get<0>(result));
  copy_into_out("histogram", bin_edges, std::get<1>(result));
  return {hist, bin_edges};
}

} // namespace

std::tuple<Tensor&, Tensor&> histogram_bins_out(
    const Tensor& self,
    const Tensor& bins,
    const std::optional<Tensor>& weight,
    bool density,
    Tensor& hist,
    Tensor& bin_edges) {
  return histogram_into(self, histogram_bins(self, bins, weight, density), hist, bin_edges);
}

std::tuple<Tensor&, Tensor&> histogram_count_out(
    const Tensor& self,
    int64_t bins,
    std::optional<ArrayRef<double>> range,
    const std::optional<Tensor>& weight,
    bool density,
    Tensor& hist,
    Tensor& bin_edges) {
  return histogram_into(self, histogram_count(self, bins, range, weight, density), hist, bin_edges);
}

std::vector<Tensor> histogramdd_edges(
    const Tensor& self, IntArrayRef bins, std::optional<ArrayRef<double>> range, const std::optional<Tensor>&, bool) {
  TORCH_CHECK(
      self.dim() >= 2, "torch.histogramdd: input tensor should have at least 2 dimensions, but got ", self.dim());
  return even_edges(self, bins, range);
}

Tensor histogramdd_from_edges(const Tensor& self, TensorList bins, const std::optional<Tensor>& weight, bool density) {
  TORCH_CHECK(
      self.dim() >= 2, "torch.histogramdd: input tensor should have at least 2 dimensions, but got ", self.dim());
  return count_cells(self, bins, weight, density);
}

Tensor histogramdd_from_counts(
    const Tensor& self,
    IntArrayRef bins,
    std::optional<ArrayRef<double>> range,
    const std::optional<Tensor>& weight,
    bool density) {
  return histogramdd_from_edges(self, histogramdd_edges(self, bins, range, weight, density), weight, density);
}

std::tuple<Tensor, std::vector<Tensor>> histogramdd(
    const Tensor& self,
    IntArrayRef bins,
    std::optional<ArrayRef<double>> range,
    const std::optional<Tensor>& weight,
    bool density) {
  auto edges = at::_histogramdd_bin_edges(self, bins, range, weight, density);
  return {at::_histogramdd_from_bin_cts(self, bins, range, weight, density), std::move(edges)};
}

std::tuple<Tensor, std::vector<Tensor>> histogramdd_int(
    const Tensor& self,
    int64_t bins,
    std::optional<ArrayRef<double>> range,
    const std::optional<Tensor>& weight,
    bool density) {
  const std::vector<int64_t> all(self.size(-1), bins);
  return native::histogramdd(self, all, range, weight, density);
}

std::tuple<Tensor, std::vector<Tensor>> histogramdd_list(
    const Tensor& self,
    TensorList bins,
    std::optional<ArrayRef<double>>,
    const std::optional<Tensor>& weight,
    bool density) {
  return {at::_histogramdd_from_bin_tensors(self, bins, weight, density), bins.vec()};
}

} // namespace at::native
