// Gradients of indexing operators.
#include <aten/Functions.h>
#include <aten/iterator/ExpandUtils.h>
#include <autograd/formulas/types.h>

#include <functional>
#include <numeric>

namespace torch::autograd::formulas {

Tensor index_backward(const Tensor& zeros, const IndexList& indices, const Tensor& grad) {
  return at::index_put(zeros, indices, grad, /*accumulate=*/true);
}

Tensor index_put_self_backward(const Tensor& grad, const IndexList& indices, bool accumulate) {
  return accumulate ? grad : at::index_put(grad, indices, at::zeros({}, grad.options()), /*accumulate=*/false);
}

Tensor index_put_values_backward(const Tensor& grad, const IndexList& indices, at::IntArrayRef sizes) {
  const Tensor picked = at::index(grad, indices);
  // A single number may have more dimensions than what it is written to.
  return picked.dim() < static_cast<int64_t>(sizes.size()) ? picked.sum().reshape(sizes) : at::sum_to(picked, sizes);
}

Tensor index_add_source_backward(
    const Tensor& grad, int64_t dim, const Tensor& index, at::IntArrayRef source_sizes, const at::Scalar& alpha) {
  const Tensor picked = grad.index_select(dim, index);
  const Tensor scaled = alpha.equal(1) ? picked : picked * alpha.conj();
  if (!source_sizes.empty()) {
    return scaled.expand(source_sizes);
  }
  return scaled.numel() == 1 ? scaled.reshape({}) : scaled.sum(); // of complex halves there are no sums
}

Tensor index_fill_value_backward(const Tensor& grad, int64_t dim, const Tensor& index) {
  return grad.index_select(dim, std::get<0>(at::_unique(index, /*sorted=*/false, /*return_inverse=*/false))).sum();
}

Tensor gather_backward(const Tensor& grad, at::IntArrayRef self_sizes, int64_t dim, const Tensor& index) {
  return grad.new_zeros(self_sizes, grad.options()).scatter_add_(dim, index, grad);
}

namespace {

/// The gradients of a reduction of `src` into `self`, whose elements meet as the functions say: `pick` gives for each
/// element of src that of a tensor like self which it went to, `add` sums elements like src into a tensor like self,
/// `reduce_again` is the reduction itself for other self and src, `erase` zeroes what was reduced into.
template <class Pick, class Add, class Reduce, class Erase>
std::tuple<Tensor, Tensor> reduce_backward(
    const Tensor& grad,
    const Tensor& self,
    const Tensor& src,
    std::string_view reduce,
    bool include_self,
    const Tensor& result,
    Pick pick,
    Add add,
    Reduce reduce_again,
    Erase erase) {
  Tensor grad_self;
  Tensor grad_src;
  if (reduce == "sum") {
    grad_self = grad;
    grad_src = pick(grad);
  } else if (reduce == "prod") {
    // Zeros in src or self: the product of the others is needed, so divide with zeros masked out.
    const Tensor masked_self = self.masked_fill(self == 0, 1);
    grad_self = grad * reduce_again(masked_self, src) / masked_self;
    const Tensor src_zero = src == 0;
    const Tensor zeros_at = pick(add(at::zeros_like(self), src_zero.to(self.scalar_type())));
    const Tensor src_single_zero = at::bitwise_and(src_zero, zeros_at == 1);
    const Tensor masked_src_result = reduce_again(self, src.masked_fill(src_single_zero, 1));
    const Tensor plain = pick(grad * result) / src.masked_fill(src_zero, 1);
    grad_src = at::where(
        src_single_zero, pick(grad * masked_src_result),
        plain.masked_fill(src_zero.logical_and(src_single_zero.logical_not()), 0));
  } else if (reduce == "mean") {
    Tensor count = add(include_self ? at::ones_like(grad) : at::zeros_like(grad), at::ones_like(src));
    count = count.masked_fill(count == 0, 1);
    grad_self = grad / count;
    grad_src = pick(grad / count);
  } else {
    // amax, amin: equal shares to all elements that reach the result.
    const Tensor self_is_result = (self == result).to(self.scalar_type());
    const Tensor src_is_result = (src == pick(result)).to(src.scalar_type());
    const Tensor shares = add(include_self ? self_is_result : at::zeros_like(self_is_result), src_is_result);
    const Tensor part = grad / shares.masked_fill(shares == 0, 1);
    grad_self = self_is_result * part;
    grad_src = src_is_result * pick(part);
  }
  return {include_self ? grad_self : erase(grad_self), grad_src};
}

} // namespace

std::tuple<Tensor, Tensor> scatter_reduce_backward(
    const Tensor& grad,
    const Tensor& self,
    int64_t dim,
    const Tensor& index,
    const Tensor& src,
    std::string_view reduce,
    bool include_self,
    const Tensor& result) {
  return reduce_backward(
      grad, self, src, reduce, include_self, result, [&](const Tensor& t) { return t.gather(dim, index); },
      [&](const Tensor& to, const Tensor& t) { return to.scatter_add(dim, index, t); },
      [&](const Tensor& to, const Tensor& t) { return to.scatter_reduce(dim, index, t, reduce, include_self); },
      [&](const Tensor& t) { return t.scatter(dim, index, 0); });
}

std::tuple<Tensor, Tensor> index_reduce_backward(
    const Tensor& grad,
    const Tensor& self,
    int64_t dim,
    const Tensor& index,
    const Tensor& source,
    std::string_view reduce,
    bool include_self,
    const Tensor& result) {
  return reduce_backward(
      grad, self, source, reduce, include_self, result,
      [&](const Tensor& t) { return t.index_select(dim, index).reshape(source.sizes()); },
      [&](const Tensor& to, const Tensor& t) { return to.index_add(dim, index, t); },
      [&](const Tensor& to, const Tensor& t) { return to.index_reduce(dim, index, t, reduce, include_self); },
      [&](const Tensor& t) { return t.index_fill(dim, index, 0); });
}

Tensor masked_select_backward(const Tensor& grad, at::IntArrayRef self_sizes, const Tensor& mask) {
  const auto sizes = at::infer_size(self_sizes, mask.sizes());
  return at::sum_to(grad.new_zeros(sizes, grad.options()).masked_scatter(mask, grad), self_sizes);
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
