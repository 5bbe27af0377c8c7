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

/// A reduction of `src` into `self`, whose elements meet as the functions say: `pick` gives for each element of src
/// that of a tensor like self which it went to, `add` sums elements like src into a tensor like self, `reduce` is the
/// reduction for other self and src, `erase` zeroes what was reduced into.
template <class Pick, class Add, class Reduce, class Erase>
struct IndexedReduction {
  Pick pick;
  Add add;
  Reduce reduce;
  Erase erase;
};

/// How the result moves with each element of self and src; undefined is one.
struct Slopes {
  Tensor self, src;
};

template <class Reduction>
Slopes slopes_of(
    const Reduction& r,
    const Tensor& self,
    const Tensor& src,
    std::string_view reduce,
    bool include_self,
    const Tensor& result) {
  if (reduce == "sum") {
    return {};
  }
  if (reduce == "prod") {
    // Zeros in src or self: the product of the others is needed, so divide with zeros masked out.
    const Tensor masked_self = self.masked_fill(self == 0, 1);
    const Tensor src_zero = src == 0;
    const Tensor zeros_at = r.pick(r.add(at::zeros_like(self), src_zero.to(self.scalar_type())));
    const Tensor src_single_zero = at::bitwise_and(src_zero, zeros_at == 1);
    const Tensor of_others = r.reduce(self, src.masked_fill(src_single_zero, 1));
    const Tensor plain = r.pick(result) / src.masked_fill(src_zero, 1);
    return {
        r.reduce(masked_self, src) / masked_self,
        at::where(
            src_single_zero, r.pick(of_others),
            plain.masked_fill(src_zero.logical_and(src_single_zero.logical_not()), 0))};
  }
  if (reduce == "mean") {
    const Tensor count = r.add(include_self ? at::ones_like(result) : at::zeros_like(result), at::ones_like(src));
    const Tensor share = count.masked_fill(count == 0, 1).reciprocal();
    return {share, r.pick(share)};
  }
  // amax, amin: equal shares to all elements that reach the result.
  const Tensor self_is_result = (self == result).to(self.scalar_type());
  const Tensor src_is_result = (src == r.pick(result)).to(src.scalar_type());
  const Tensor count = r.add(include_self ? self_is_result : at::zeros_like(self_is_result), src_is_result);
  const Tensor share = count.masked_fill(count == 0, 1).reciprocal();
  return {self_is_result * share, src_is_result * r.pick(share)};
}

Tensor scaled(const Tensor& tensor, const Tensor& slopes) {
  return slopes.defined() ? tensor * slopes : tensor;
}

template <class Reduction>
std::tuple<Tensor, Tensor> reduction_gradients(
    const Reduction& r, const Slopes& slopes, const Tensor& grad, bool include_self) {
  const Tensor grad_self = scaled(grad, slopes.self);
  return {include_self ? grad_self : r.erase(grad_self), scaled(r.pick(grad), slopes.src)};
}

template <class Reduction>
Tensor reduction_tangent(
    const Reduction& r,
    const Slopes& slopes,
    const Tensor& self_t,
    const Tensor& src_t,
    bool include_self,
    const Tensor& result) {
  Tensor tangent = at::zeros_like(result);
  if (self_t.defined()) {
    tangent = scaled(self_t, slopes.self);
    tangent = include_self ? tangent : r.erase(tangent);
  }
  return src_t.defined() ? r.add(tangent, scaled(src_t, slopes.src)) : tangent;
}

auto scatter_reduction(int64_t dim, const Tensor& index, std::string_view reduce, bool include_self) {
  return IndexedReduction{
      [=](const Tensor& t) { return t.gather(dim, index); },
      [=](const Tensor& to, const Tensor& t) { return to.scatter_add(dim, index, t); },
      [=](const Tensor& to, const Tensor& t) { return to.scatter_reduce(dim, index, t, reduce, include_self); },
      [=](const Tensor& t) { return t.scatter(dim, index, 0); }};
}

auto index_reduction(
    int64_t dim, const Tensor& index, std::string_view reduce, bool include_self, at::IntArrayRef source_sizes) {
  return IndexedReduction{
      [=](const Tensor& t) { return t.index_select(dim, index).reshape(source_sizes); },
      [=](const Tensor& to, const Tensor& t) { return to.index_add(dim, index, t); },
      [=](const Tensor& to, const Tensor& t) { return to.index_reduce(dim, index, t, reduce, include_self); },
      [=](const Tensor& t) { return t.index_fill(dim, index, 0); }};
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
  const auto r = scatter_reduction(dim, index, reduce, include_self);
  return reduction_gradients(r, slopes_of(r, self, src, reduce, include_self, result), grad, include_self);
}

Tensor scatter_reduce_tangent(
    const Tensor& self,
    const Tensor& self_t,
    int64_t dim,
    const Tensor& index,
    const Tensor& src,
    const Tensor& src_t,
    std::string_view reduce,
    bool include_self,
    const Tensor& result) {
  const auto r = scatter_reduction(dim, index, reduce, include_self);
  return reduction_tangent(
      r, slopes_of(r, self, src, reduce, include_self, result), self_t, src_t, include_self, result);
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
  const auto r = index_reduction(dim, index, reduce, include_self, source.sizes());
  return reduction_gradients(r, slopes_of(r, self, source, reduce, include_self, result), grad, include_self);
}

Tensor index_reduce_tangent(
    const Tensor& self,
    const Tensor& self_t,
    int64_t dim,
    const Tensor& index,
    const Tensor& source,
    const Tensor& source_t,
    std::string_view reduce,
    bool include_self,
    const Tensor& result) {
  const auto r = index_reduction(dim, index, reduce, include_self, source.sizes());
  return reduction_tangent(
      r, slopes_of(r, self, source, reduce, include_self, result), self_t, source_t, include_self, result);
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
