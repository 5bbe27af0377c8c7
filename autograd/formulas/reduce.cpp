// Derivatives of reductions and scans that are too long for one line of their entry. All are written with operators, so
// that they can be differentiated again.
#include <aten/Functions.h>
#include <aten/core/TensorOperators.h>
#include <autograd/formulas/shared.h>

#include <c10/core/WrapDimMinimal.h>

#include <algorithm>
#include <bitset>
#include <limits>

namespace torch::autograd::formulas {

namespace {

std::bitset<64> mask_of(OptionalIntArrayRef dims, int64_t ndim) {
  std::bitset<64> mask;
  if (!dims.has_value() || dims->empty()) {
    return mask.set();
  }
  for (const int64_t dim : *dims) {
    mask.set(c10::maybe_wrap_dim(dim, ndim));
  }
  return mask;
}

int64_t reduced_numel(IntArrayRef sizes, OptionalIntArrayRef dims) {
  const auto mask = mask_of(dims, static_cast<int64_t>(sizes.size()));
  int64_t count = 1;
  for (size_t d = 0; d < sizes.size(); ++d) {
    count *= mask[d] ? sizes[d] : 1;
  }
  return count;
}

Tensor share(const Tensor& grad, const Tensor& mask, OptionalIntArrayRef dims) {
  return grad * mask / mask.sum(dims, /*keepdim=*/true);
}

// Gradient of a product along `dim`, exact with zeros: each element gets the product of those before and after it.
Tensor prod_with_zeros_backward(const Tensor& grad, const Tensor& self, int64_t dim) {
  if (self.numel() == 0 || self.size(dim) == 1) {
    return self.numel() == 0 ? at::zeros_like(self) : grad;
  }
  const int64_t count = self.size(dim);
  auto sizes = self.sizes().vec();
  sizes[dim] = 1;
  const Tensor ones = at::ones(sizes, grad.options());
  const Tensor before = at::cat({ones, self.narrow(dim, 0, count - 1)}, dim).cumprod(dim);
  const Tensor after = at::cat({ones, self.narrow(dim, 1, count - 1).flip(dim)}, dim).cumprod(dim).flip(dim);
  return grad * (before * after).conj();
}

/// Less than numbers are, but so that the sum of a few is finite: third derivatives add them.
double lowest_of(at::ScalarType dtype) {
  switch (dtype) {
    case at::ScalarType::Half:
      return -65504.0;
    case at::ScalarType::Double:
      return std::numeric_limits<double>::lowest() / 16;
    default:
      return std::numeric_limits<float>::lowest() / 16; // within the range of bfloat16 too
  }
}

Tensor reverse_logcumsumexp(const Tensor& x, int64_t dim) {
  return x.flip(dim).logcumsumexp(dim).flip(dim);
}

} // namespace

/// Puts back, as size-1 dimensions, those that a reduction over `dims` (all, if none) removed from a tensor of `ndim`.
Tensor restore_reduced_dims(const Tensor& reduced, OptionalIntArrayRef dims, int64_t ndim, bool keepdim) {
  if (keepdim || ndim == 0) {
    return reduced;
  }
  const auto mask = mask_of(dims, ndim);
  Tensor result = reduced;
  for (int64_t d = 0; d < ndim; ++d) {
    if (mask[d]) {
      result = result.unsqueeze(d);
    }
  }
  return result;
}

Tensor sum_backward(const Tensor& grad, IntArrayRef sizes, OptionalIntArrayRef dims, bool keepdim) {
  if (!dims.has_value() || dims->empty()) {
    return grad.expand(sizes);
  }
  return restore_reduced_dims(grad, dims, static_cast<int64_t>(sizes.size()), keepdim).expand(sizes);
}

Tensor nansum_backward(const Tensor& grad, const Tensor& self, OptionalIntArrayRef dims, bool keepdim) {
  return sum_backward(grad, self.sizes(), dims, keepdim) * self.isnan().logical_not();
}

Tensor mean_backward(const Tensor& grad, IntArrayRef sizes, OptionalIntArrayRef dims, int64_t numel, bool keepdim) {
  const bool all = !dims.has_value() || dims->empty();
  return sum_backward(grad, sizes, dims, keepdim) / (all ? numel : reduced_numel(sizes, dims));
}

Tensor prod_backward(const Tensor& grad, const Tensor& self, const Tensor& result) {
  if (self.dim() == 0) {
    return grad;
  }
  const int64_t zeros = self.numel() - self.count_nonzero().item<int64_t>();
  if (zeros == 0) {
    return grad * (result / self).conj();
  }
  if (zeros > 1 && !is_differentiated_again(grad, self)) {
    return at::zeros_like(self);
  }
  return prod_with_zeros_backward(grad, self.reshape({-1}), 0).reshape(self.sizes());
}

Tensor prod_backward(const Tensor& grad, const Tensor& self, const Tensor& result, int64_t dim, bool keepdim) {
  if (self.dim() == 0) {
    return grad;
  }
  dim = c10::maybe_wrap_dim(dim, self.dim());
  const Tensor full_grad = keepdim ? grad : grad.unsqueeze(dim);
  if (self.count_nonzero().item<int64_t>() == self.numel()) {
    return full_grad * ((keepdim ? result : result.unsqueeze(dim)) / self).conj();
  }
  return prod_with_zeros_backward(full_grad, self, dim);
}

/// Shares the gradient evenly among the elements of `self` that equal `result` (or are NaN with it).
Tensor evenly_distribute_backward(const Tensor& grad, const Tensor& self, const Tensor& result) {
  const Tensor mask = (self == result).logical_or(self.isnan().logical_and(result.isnan()));
  return mask * (grad / mask.sum());
}

Tensor amax_backward(const Tensor& grad, const Tensor& self, const Tensor& result, IntArrayRef dim, bool keepdim) {
  const Tensor mask = restore_reduced_dims(result, dim, self.dim(), keepdim) == self;
  return share(restore_reduced_dims(grad, dim, self.dim(), keepdim), mask, dim);
}

Tensor aminmax_backward(
    const Tensor& self,
    std::optional<int64_t> dim,
    bool keepdim,
    const Tensor& grad_min,
    const Tensor& grad_max,
    const Tensor& min,
    const Tensor& max) {
  const IntArrayRef dims = dim.has_value() ? IntArrayRef(*dim) : IntArrayRef();
  Tensor result;
  if (grad_min.defined()) {
    result = amax_backward(grad_min, self, min, dims, keepdim);
  }
  if (grad_max.defined()) {
    const Tensor other = amax_backward(grad_max, self, max, dims, keepdim);
    result = result.defined() ? result + other : other;
  }
  return result;
}

/// Of the least or greatest of the elements: those that are tied share it.
Tensor aminmax_tangent(
    const Tensor& self, const Tensor& self_t, const Tensor& result, std::optional<int64_t> dim, bool keepdim) {
  if (self.dim() == 0) {
    return self_t;
  }
  const IntArrayRef dims = dim.has_value() ? IntArrayRef(*dim) : IntArrayRef();
  const Tensor tied = restore_reduced_dims(result, dims, self.dim(), keepdim) == self;
  const Tensor shares = share(self_t, tied, dims);
  return dim.has_value() ? shares.sum(dims, keepdim) : shares.sum().reshape(result.sizes());
}

Tensor linalg_vector_norm_backward(
    const Tensor& grad,
    const Tensor& self,
    const Scalar& ord,
    OptionalIntArrayRef dim,
    bool keepdim,
    const Tensor& norm) {
  const double p = ord.toDouble();
  if (p == 0.0) {
    return Tensor();
  }
  const Tensor full_grad = restore_reduced_dims(grad, dim, self.dim(), keepdim);
  const Tensor full_norm = restore_reduced_dims(norm, dim, self.dim(), keepdim);
  if (p == 1.0) {
    return self.sgn() * full_grad;
  }
  if (p == 2.0) {
    return full_grad * (self / full_norm).masked_fill(full_norm == 0, 0);
  }
  if (p == std::numeric_limits<double>::infinity() || p == -std::numeric_limits<double>::infinity()) {
    const Tensor mask = (self.abs() == full_norm).logical_or(self.isnan().logical_and(full_norm.isnan()));
    return self.sgn() * share(full_grad, mask, dim);
  }
  if (p < 1.0) {
    const Tensor powers = (self.sgn() * self.abs().pow(p - 1)).masked_fill(self == 0, 0);
    return powers * full_grad * full_norm.pow(1 - p);
  }
  const Tensor powers = p < 2.0 ? self.sgn() * self.abs().pow(p - 1) : self * self.abs().pow(p - 2);
  return powers * (full_grad / full_norm.pow(p - 1)).masked_fill(full_norm == 0, 0);
}

Tensor var_backward(
    const Tensor& grad,
    const Tensor& self,
    OptionalIntArrayRef dim,
    const std::optional<Scalar>& correction,
    bool keepdim) {
  const double subtract = correction.has_value() ? correction->toDouble() : 1.0;
  const double freedom = static_cast<double>(reduced_numel(self.sizes(), dim)) - subtract;
  const bool all = !dim.has_value() || dim->empty();
  if (freedom == 0 && (all || self.dim() == 0)) {
    return (grad * std::numeric_limits<double>::infinity()).expand(self.sizes());
  }
  const Tensor deviation = self - self.mean(dim, /*keepdim=*/true);
  return restore_reduced_dims(grad, dim, self.dim(), keepdim) * deviation * (2.0 / freedom);
}

Tensor std_backward(
    const Tensor& result,
    const Tensor& grad,
    const Tensor& self,
    OptionalIntArrayRef dim,
    const std::optional<Scalar>& correction,
    bool keepdim) {
  const Tensor grad_var = (grad / (result * 2)).masked_fill(result == 0, 0);
  return var_backward(grad_var, self, dim, correction, keepdim);
}

Tensor var_tangent(
    const Tensor& self,
    const Tensor& self_t,
    OptionalIntArrayRef dim,
    const std::optional<Scalar>& correction,
    const Tensor& result,
    bool keepdim) {
  const Tensor slopes = var_backward(at::ones_like(result), self, dim, correction, keepdim);
  const Tensor products = slopes.conj() * self_t;
  return (products.is_complex() ? at::real(products) : products).sum(dim, keepdim);
}

Tensor std_tangent(
    const Tensor& self,
    const Tensor& self_t,
    OptionalIntArrayRef dim,
    const std::optional<Scalar>& correction,
    const Tensor& result,
    bool keepdim) {
  return (var_tangent(self, self_t, dim, correction, result, keepdim) / (result * 2)).masked_fill(result == 0, 0);
}

Tensor var_mean_backward(
    const Tensor& grad_var,
    const Tensor& grad_mean,
    const Tensor& self,
    OptionalIntArrayRef dim,
    const std::optional<Scalar>& correction,
    bool keepdim) {
  Tensor result;
  if (grad_var.defined()) {
    result = var_backward(grad_var, self, dim, correction, keepdim);
  }
  if (grad_mean.defined()) {
    const Tensor other = mean_backward(grad_mean, self.sizes(), dim, self.numel(), keepdim);
    result = result.defined() ? result + other : other;
  }
  return result;
}

Tensor std_mean_backward(
    const Tensor& grad_std,
    const Tensor& grad_mean,
    const Tensor& self,
    const Tensor& std,
    OptionalIntArrayRef dim,
    const std::optional<Scalar>& correction,
    bool keepdim) {
  const Tensor grad_var = grad_std.defined() ? (grad_std / (std * 2)).masked_fill(std == 0, 0) : Tensor();
  return var_mean_backward(grad_var, grad_mean, self, dim, correction, keepdim);
}

// Of self * factor(norm), where factor is maxnorm / (norm + 1e-7) for slices whose norm is above maxnorm.
Tensor renorm_backward(const Tensor& grad, const Tensor& self, const Scalar& p, int64_t dim, const Scalar& maxnorm) {
  dim = c10::maybe_wrap_dim(dim, self.dim());
  std::vector<int64_t> others;
  for (int64_t d = 0; d < self.dim(); ++d) {
    if (d != dim) {
      others.push_back(d);
    }
  }
  const Tensor norm = at::linalg_vector_norm(self, p, others, /*keepdim=*/true);
  const Tensor reciprocal = (norm + 1e-7).reciprocal();
  const Tensor through_self = grad * (reciprocal * maxnorm.toDouble());
  const Tensor product = grad * self.conj();
  const Tensor along = (product.is_complex() ? at::real(product) : product).sum(others, /*keepdim=*/true);
  const Tensor grad_norm = along * (reciprocal * reciprocal) * -maxnorm.toDouble();
  const Tensor through_norm = linalg_vector_norm_backward(grad_norm, self, p, others, /*keepdim=*/true, norm);
  return at::where(norm > maxnorm, through_self + through_norm, grad);
}

Tensor logsumexp_backward(const Tensor& grad, const Tensor& self, const Tensor& result, IntArrayRef dim, bool keepdim) {
  const Tensor full_grad = restore_reduced_dims(grad, dim, self.dim(), keepdim);
  const Tensor full_result = restore_reduced_dims(result, dim, self.dim(), keepdim);
  return full_grad * (self - full_result).exp().conj();
}

Tensor cumsum_backward(const Tensor& grad, int64_t dim) {
  if (grad.numel() <= 1 || grad.size(dim) == 1) {
    return grad;
  }
  return grad.flip(dim).cumsum(dim).flip(dim);
}

namespace {

// The sums of positive and negative numbers in log space, apart: f of the logarithms of either, less than any number's
// where a number is of the other sign.
template <class F>
Tensor by_signs(const Tensor& numbers, const F& f) {
  const Tensor logs = numbers.abs().masked_fill(numbers == 0, 1).log();
  // Not minus infinity: a derivative would take the difference of two.
  const Tensor nothing = at::full({}, lowest_of(numbers.scalar_type()), numbers.options());
  return f(at::where(numbers > 0, logs, nothing)) - f(at::where(numbers < 0, logs, nothing));
}

} // namespace

Tensor logcumsumexp_backward(const Tensor& grad, const Tensor& self, const Tensor& result, int64_t dim) {
  if (grad.dim() == 0 || grad.numel() == 0) {
    return grad;
  }
  if (grad.is_complex()) {
    return (reverse_logcumsumexp(grad.log() - result.conj(), dim) + self.conj()).exp();
  }
  return by_signs(grad, [&](const Tensor& logs) { return (reverse_logcumsumexp(logs - result, dim) + self).exp(); });
}

Tensor logcumsumexp_tangent(const Tensor& self, const Tensor& self_t, const Tensor& result, int64_t dim) {
  if (self.dim() == 0 || self.numel() == 0) {
    return self_t;
  }
  if (self.is_complex()) {
    return ((self_t.log() + self).logcumsumexp(dim) - result).exp();
  }
  return by_signs(self_t, [&](const Tensor& logs) { return ((logs + self).logcumsumexp(dim) - result).exp(); });
}

Tensor cumprod_tangent(const Tensor& input, const Tensor& input_t, int64_t dim, const Tensor& result) {
  const Tensor self = input.to(result.scalar_type()), self_t = input_t.to(result.scalar_type());
  if (self.dim() == 0 || self.numel() == 0) {
    return self_t;
  }
  const Tensor zero = self == 0;
  if (is_differentiated_again(self, self_t) && zero.any().item<bool>()) {
    // The sum over places k of the products without element k: exact with zeros, at quadratic cost.
    Tensor tangent;
    for (int64_t k = 0; k < self.size(dim); ++k) {
      const Tensor place = at::full({1}, k, self.options().dtype(at::kLong));
      const Tensor part = self.index_copy(dim, place, self_t.narrow(dim, k, 1)).cumprod(dim);
      const Tensor from_k = part.narrow(dim, k, self.size(dim) - k);
      const Tensor before = at::zeros_like(self.narrow(dim, 0, k));
      tangent = sum_of(tangent, k == 0 ? from_k : at::cat({before, from_k}, dim));
    }
    return tangent;
  }
  // From the first zero on, only the product with its own tangent in its place is left.
  const Tensor zeros_so_far = zero.cumsum(dim);
  const Tensor first_zero = zero.logical_and(zeros_so_far == 1);
  const Tensor before = result * (self_t / self.masked_fill(zero, 1)).masked_fill(zero, 0).cumsum(dim);
  return at::where(zeros_so_far == 0, before, at::where(first_zero, self_t, self).cumprod(dim));
}

} // namespace torch::autograd::formulas
