#include <autograd/formulas/index.h>

#include <aten/ExpandUtils.h>
#include <aten/Functions.h>

#include <functional>
#include <numeric>

namespace torch::autograd::formulas {

using at::Tensor;

Tensor index_backward(const Tensor& zeros, const IndexList& indices, const Tensor& grad) {
  return at::index_put(zeros, indices, grad, /*accumulate=*/true);
}

Tensor index_put_self_backward(const Tensor& grad, const IndexList& indices, bool accumulate) {
  return accumulate ? grad : at::index_put(grad, indices, at::zeros({}, grad.options()), /*accumulate=*/false);
}

Tensor index_put_values_backward(const Tensor& grad, const IndexList& indices, at::IntArrayRef sizes) {
  return at::sum_to(at::index(grad, indices), sizes);
}

Tensor index_select_backward(const Tensor& grad, at::IntArrayRef self_sizes, int64_t dim, const Tensor& index) {
  return grad.new_zeros(self_sizes, grad.options()).index_add(dim, index, grad);
}

Tensor index_add_source_backward(
    const Tensor& grad, int64_t dim, const Tensor& index, at::IntArrayRef source_sizes, const at::Scalar& alpha) {
  const Tensor picked = grad.index_select(dim, index);
  const Tensor scaled = alpha.equal(1) ? picked : picked * alpha.conj();
  return source_sizes.empty() ? scaled.sum() : scaled.expand(source_sizes);
}

Tensor index_fill_value_backward(const Tensor& grad, int64_t dim, const Tensor& index) {
  return grad.index_select(dim, std::get<0>(at::_unique(index, /*sorted=*/false, /*return_inverse=*/false))).sum();
}

Tensor gather_backward(const Tensor& grad, at::IntArrayRef self_sizes, int64_t dim, const Tensor& index) {
  return grad.new_zeros(self_sizes, grad.options()).scatter_add(dim, index, grad);
}

std::tuple<Tensor, Tensor> scatter_reduce_backward(
    const Tensor& grad, const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src, std::string_view reduce,
    bool include_self, const Tensor& result) {
  Tensor grad_self;
  Tensor grad_src;
  if (reduce == "sum") {
    grad_self = grad;
    grad_src = grad.gather(dim, index);
  } else if (reduce == "prod") {
    // Zeros in src or self: the product of the others is needed, so divide with zeros masked out.
    const Tensor masked_self = self.masked_fill(self == 0, 1);
    const Tensor masked_self_result = masked_self.scatter_reduce(dim, index, src, reduce, include_self);
    grad_self = grad * masked_self_result / masked_self;
    const Tensor src_zero = src == 0;
    const Tensor zeros_at = at::zeros_like(self).scatter_add(dim, index, src_zero.to(self.scalar_type())).gather(dim, index);
    const Tensor src_single_zero = at::bitwise_and(src_zero, zeros_at == 1);
    const Tensor masked_src = src.masked_fill(src_single_zero, 1);
    const Tensor masked_src_result = self.scatter_reduce(dim, index, masked_src, reduce, include_self);
    const Tensor plain = (grad * result).gather(dim, index) / src.masked_fill(src_zero, 1);
    grad_src = at::where(src_single_zero, (grad * masked_src_result).gather(dim, index), plain.masked_fill(src_zero.logical_and(src_single_zero.logical_not()), 0));
  } else if (reduce == "mean") {
    Tensor count = include_self ? at::ones_like(grad) : at::zeros_like(grad);
    count = count.scatter_add(dim, index, at::ones_like(src));
    count = count.masked_fill(count == 0, 1);
    grad_self = grad / count;
    grad_src = (grad / count).gather(dim, index);
  } else {
    // amax, amin: equal shares to all elements that reach the result.
    const Tensor value = result.gather(dim, index);
    const Tensor self_is_result = (self == result).to(self.scalar_type());
    const Tensor src_is_result = (src == value).to(src.scalar_type());
    const Tensor shares = at::zeros_like(self).scatter_add(dim, index, src_is_result) + (include_self ? self_is_result : at::zeros_like(self_is_result));
    const Tensor part = grad / shares.masked_fill(shares == 0, 1);
    grad_self = self_is_result * part;
    grad_src = src_is_result * part.gather(dim, index);
  }
  if (!include_self) {
    grad_self = grad_self.scatter(dim, index, 0);
  }
  return {grad_self, grad_src};
}

Tensor masked_select_backward(const Tensor& grad, at::IntArrayRef self_sizes, const Tensor& mask) {
  const auto sizes = at::infer_size(self_sizes, mask.sizes());
  return at::sum_to(at::zeros(sizes, grad.options()).masked_scatter(mask, grad), self_sizes);
}

Tensor masked_scatter_source_backward(const Tensor& grad, const Tensor& mask, at::IntArrayRef source_sizes) {
  const int64_t numel = std::accumulate(source_sizes.begin(), source_sizes.end(), int64_t{1}, std::multiplies<>());
  Tensor picked = grad.masked_select(mask);
  const int64_t missing = numel - picked.numel();
  if (missing > 0) {
    picked = at::cat({picked, at::zeros({missing}, picked.options())});
  }
  return picked.view(source_sizes);
}

Tensor take_backward(const Tensor& grad, at::IntArrayRef self_sizes, const Tensor& index) {
  return grad.new_zeros(self_sizes, grad.options()).put(index, grad, /*accumulate=*/true);
}

Tensor put_self_backward(const Tensor& grad, const Tensor& index, bool accumulate) {
  return accumulate ? grad : grad.put(index, at::zeros(index.sizes(), grad.options()), /*accumulate=*/false);
}

} // namespace torch::autograd::formulas
