// Reductions and scans made of other operators.
#include <aten/Functions.h>
#include <aten/core/TensorOperators.h>
#include <aten/iterator/MemoryOverlap.h>
#include <aten/native/support/differentiated.h>

#include <c10/core/GradMode.h>
#include <c10/core/WrapDimMinimal.h>

#include <limits>
#include <tuple>
#include <vector>

namespace at::native {

namespace {

std::optional<Scalar> correction_of(bool unbiased) {
  return Scalar(unbiased ? 1 : 0);
}

void check_norm_input(const Tensor& self) {
  TORCH_CHECK(
      self.is_floating_point() || self.is_complex(),
      "norm(): input dtype should be either floating point or complex. Got ", c10::toString(self.scalar_type()),
      " instead.");
}

Tensor norm_of(
    const Tensor& self,
    const std::optional<Scalar>& p,
    OptionalIntArrayRef dim,
    bool keepdim,
    std::optional<ScalarType> dtype) {
  TORCH_CHECK(
      !dtype || c10::isFloatingType(*dtype) || c10::isComplexType(*dtype),
      "norm(): the desired output dtype should be either floating point or complex. Got ",
      c10::toString(dtype.value_or(ScalarType::Float)), " instead.");
  check_norm_input(self);
  return at::linalg_vector_norm(self, p.value_or(Scalar(2)), dim, keepdim, dtype);
}

Tensor reverse_cumsum(const Tensor& x, int64_t dim) {
  return x.flip(dim).cumsum(dim).flip(dim);
}

// Gradient of cumprod one output index at a time: exact with zeros and differentiable again, at quadratic cost.
Tensor cumprod_backward_by_place(const Tensor& grad, const Tensor& input, int64_t dim) {
  const int64_t count = input.size(dim);
  auto one = input.sizes().vec();
  one[dim] = 1;
  const Tensor ones = at::ones(one, grad.options());
  std::vector<Tensor> places;
  places.reserve(count);
  for (int64_t k = 0; k < count; ++k) {
    const Tensor before = k == 0 ? ones : input.narrow(dim, 0, k).prod(dim, /*keepdim=*/true);
    Tensor after = ones;
    if (k + 1 < count) {
      after = at::cat({ones, input.narrow(dim, k + 1, count - k - 1).cumprod(dim)}, dim);
    }
    places.push_back((grad.narrow(dim, k, count - k) * (before * after).conj()).sum(dim));
  }
  return at::stack(places, dim);
}

Tensor boolean_only(const char* op, const Tensor& self) {
  TORCH_CHECK(
      self.scalar_type() == ScalarType::Bool, op, "(): expected a bool tensor; got ",
      c10::toString(self.scalar_type()));
  return self;
}

void copy_scan(const std::tuple<Tensor, Tensor>& result, const Tensor& values, const Tensor& indices) {
  for (const Tensor* to : {&values, &indices}) {
    TORCH_CHECK(
        to->sizes() == std::get<0>(result).sizes(),
        "cummax and cummin: values and indices must have the sizes of self, ", std::get<0>(result).sizes(),
        ", but one has ", to->sizes());
    at::assert_no_internal_overlap(*to);
  }
  values.copy_(std::get<0>(result));
  indices.copy_(std::get<1>(result));
}

} // namespace

Tensor nanmean(const Tensor& self, OptionalIntArrayRef dim, bool keepdim, std::optional<ScalarType> dtype) {
  TORCH_CHECK(
      self.is_floating_point() || self.is_complex(), "nanmean(): expected input to have floating point dtype but got ",
      c10::toString(self.scalar_type()));
  const Tensor count = self.isnan().logical_not_().sum(dim, keepdim);
  return at::nansum(self, dim, keepdim, dtype).div(count);
}

Tensor sum_to_size(const Tensor& self, IntArrayRef size) {
  const auto ndim = static_cast<int64_t>(size.size());
  bool fits = ndim <= self.dim();
  for (int64_t i = 1; fits && i <= ndim; ++i) {
    const int64_t wanted = size[ndim - i];
    fits = wanted == 1 || wanted == self.size(-i);
  }
  TORCH_CHECK(fits, "size {", size, "} is not expandable to size {", self.sizes(), "}.");
  std::vector<int64_t> dims;
  const int64_t lead = self.dim() - ndim;
  for (int64_t d = 0; d < self.dim(); ++d) {
    if (d < lead || (size[d - lead] == 1 && self.size(d) != 1)) {
      dims.push_back(d);
    }
  }
  if (size.empty()) {
    return self.sum();
  }
  return self.sizes() == size ? self : self.sum(dims, /*keepdim=*/true).view(size);
}

Tensor trace_backward(const Tensor& grad, IntArrayRef sizes) {
  TORCH_CHECK(sizes.size() == 2, "expected matrix input; got sizes ", sizes);
  return at::eye(sizes[0], sizes[1], grad.options()) * grad;
}

Tensor max_other(const Tensor& self, const Tensor& other) {
  return at::maximum(self, other);
}

Tensor& max_other_out(const Tensor& self, const Tensor& other, Tensor& out) {
  return at::maximum_out(out, self, other);
}

Tensor min_other(const Tensor& self, const Tensor& other) {
  return at::minimum(self, other);
}

Tensor& min_other_out(const Tensor& self, const Tensor& other, Tensor& out) {
  return at::minimum_out(out, self, other);
}

std::tuple<Tensor, Tensor> _aminmax(const Tensor& self) {
  return at::aminmax(self);
}

std::tuple<Tensor, Tensor> _aminmax_dim(const Tensor& self, int64_t dim, bool keepdim) {
  return at::aminmax(self, dim, keepdim);
}

bool equal_tensors(const Tensor& self, const Tensor& other) {
  TORCH_CHECK(
      self.device() == other.device(), "equal: expected both tensors on one device; got ", self.device(), " and ",
      other.device());
  return self.sizes() == other.sizes() && at::eq(self, other).all().item<bool>();
}

Tensor _is_all_true(const Tensor& self) {
  return at::all(boolean_only("_is_all_true", self));
}

Tensor _is_any_true(const Tensor& self) {
  return at::any(boolean_only("_is_any_true", self));
}

Tensor norm_dtype(const Tensor& self, const std::optional<Scalar>& p, ScalarType dtype) {
  return norm_of(self, p, IntArrayRef{}, /*keepdim=*/false, dtype);
}

Tensor norm_all(const Tensor& self, const Scalar& p) {
  return norm_of(self, p, IntArrayRef{}, /*keepdim=*/false, std::nullopt);
}

Tensor norm_dim_dtype(
    const Tensor& self, const std::optional<Scalar>& p, IntArrayRef dim, bool keepdim, ScalarType dtype) {
  return norm_of(self, p, dim, keepdim, dtype);
}

Tensor norm_dim(const Tensor& self, const std::optional<Scalar>& p, IntArrayRef dim, bool keepdim) {
  return norm_of(self, p, dim, keepdim, std::nullopt);
}

Tensor norm_except_dim(const Tensor& v, int64_t pow, int64_t dim) {
  if (dim == -1) {
    return v.norm(pow);
  }
  dim = c10::maybe_wrap_dim(dim, v.dim());
  std::vector<int64_t> sizes(v.dim(), 1);
  if (!sizes.empty()) {
    sizes[dim] = v.size(dim);
  }
  return v.transpose(0, dim).reshape({sizes.empty() ? 1 : sizes[dim], -1}).norm(pow, 1).view(sizes);
}

Tensor frobenius_norm_all(const Tensor& self) {
  return norm_of(self, Scalar(2), IntArrayRef{}, /*keepdim=*/false, std::nullopt);
}

Tensor frobenius_norm(const Tensor& self, IntArrayRef dim, bool keepdim) {
  TORCH_CHECK(dim.size() <= 2, "Expected at most 2 dimensions, but got ", dim.size(), " dimensions instead.");
  return norm_of(self, Scalar(2), dim, keepdim, std::nullopt);
}

Tensor var_all(const Tensor& self, bool unbiased) {
  return at::var(self, OptionalIntArrayRef(), correction_of(unbiased), /*keepdim=*/false);
}

Tensor var_dim(const Tensor& self, OptionalIntArrayRef dim, bool unbiased, bool keepdim) {
  return at::var(self, dim, correction_of(unbiased), keepdim);
}

Tensor std_all(const Tensor& self, bool unbiased) {
  return at::std(self, OptionalIntArrayRef(), correction_of(unbiased), /*keepdim=*/false);
}

Tensor std_dim(const Tensor& self, OptionalIntArrayRef dim, bool unbiased, bool keepdim) {
  return at::std(self, dim, correction_of(unbiased), keepdim);
}

std::tuple<Tensor, Tensor> var_mean_all(const Tensor& self, bool unbiased) {
  return at::var_mean(self, OptionalIntArrayRef(), correction_of(unbiased), /*keepdim=*/false);
}

std::tuple<Tensor, Tensor> var_mean_dim(const Tensor& self, OptionalIntArrayRef dim, bool unbiased, bool keepdim) {
  return at::var_mean(self, dim, correction_of(unbiased), keepdim);
}

std::tuple<Tensor, Tensor> std_mean_all(const Tensor& self, bool unbiased) {
  return at::std_mean(self, OptionalIntArrayRef(), correction_of(unbiased), /*keepdim=*/false);
}

std::tuple<Tensor, Tensor> std_mean_dim(const Tensor& self, OptionalIntArrayRef dim, bool unbiased, bool keepdim) {
  return at::std_mean(self, dim, correction_of(unbiased), keepdim);
}

Tensor logsumexp(const Tensor& self, IntArrayRef dim, bool keepdim) {
  const Tensor x = c10::isIntegralType(self.scalar_type(), /*includeBool=*/true)
      ? self.to(c10::typeMetaToScalarType(c10::get_default_dtype()))
      : self;
  if (x.numel() == 0) {
    return at::sum(x.exp(), dim, keepdim).log();
  }
  // Infinite maxima are not subtracted: inf - inf would be NaN.
  const Tensor real = x.is_complex() ? at::real(x) : x;
  const Tensor peak = at::amax(real, dim, /*keepdim=*/true);
  const Tensor shift = peak.masked_fill(peak.abs() == std::numeric_limits<double>::infinity(), 0);
  Tensor result = at::sum((x - shift).exp_(), dim, /*keepdim=*/true).log_().add_(shift);
  if (keepdim) {
    return result;
  }
  TORCH_CHECK(
      !dim.empty() || result.dim() == 0, "output with shape [] doesn't match the broadcast shape ", result.sizes(),
      ": logsumexp over no dimensions needs keepdim=true");
  return at::squeeze(result, dim);
}

Tensor special_logsumexp(const Tensor& self, IntArrayRef dim, bool keepdim) {
  return at::logsumexp(self, dim, keepdim);
}

Tensor cumprod_backward(const Tensor& grad, const Tensor& input, int64_t dim, const Tensor& output) {
  if (input.dim() == 0 || input.numel() <= 1 || input.size(dim) == 1) {
    return grad;
  }
  dim = c10::maybe_wrap_dim(dim, input.dim());
  const Tensor weighted = output.conj() * grad;
  const Tensor is_zero = input == 0;
  if (!is_zero.any().item<bool>()) {
    return reverse_cumsum(weighted, dim).div(input.conj());
  }
  if (is_differentiated(input) || is_differentiated(grad)) {
    return cumprod_backward_by_place(grad, input, dim);
  }
  // Before the first zero the usual formula holds; at it, the product without it reaches up to the next zero; after
  // it every gradient is zero.
  const Tensor zeros_so_far = is_zero.cumsum(dim);
  const Tensor first_zero = is_zero.logical_and(zeros_so_far == 1);
  const Tensor before = reverse_cumsum(weighted.masked_fill(zeros_so_far != 0, 0), dim).div(input.conj());
  const Tensor without_it = input.masked_fill(first_zero, 1).cumprod(dim).conj();
  const Tensor at_it = (grad * without_it).masked_fill(zeros_so_far == 0, 0).sum(dim, /*keepdim=*/true);
  return at::where(first_zero, at_it, before.masked_fill(zeros_so_far != 0, 0));
}

Tensor cummaxmin_backward(const Tensor& grad, const Tensor& input, const Tensor& indices, int64_t dim) {
  if (input.numel() == 0) {
    return input;
  }
  return grad.new_zeros(input.sizes(), input.options()).scatter_add(dim, indices, grad);
}

void _cummax_helper(const Tensor& self, Tensor& values, Tensor& indices, int64_t dim) {
  copy_scan(at::cummax(self, dim), values, indices);
}

void _cummin_helper(const Tensor& self, Tensor& values, Tensor& indices, int64_t dim) {
  copy_scan(at::cummin(self, dim), values, indices);
}

} // namespace at::native
