// Distances between rows in their public forms.

#include <aten/Functions.h>
#include <aten/core/Tensor.h>
#include <aten/core/TensorOperators.h>
#include <aten/shape/distance_checks.h>
#include <aten/shape/matrix_checks.h>

namespace at::native {
namespace {

constexpr int64_t kByProduct = 1;

} // namespace

Tensor cdist(const Tensor& x1, const Tensor& x2, double p, std::optional<int64_t> compute_mode) {
  at::shape::check_cdist(x1, x2, p, compute_mode);
  // One matrix product is faster from some 25 rows on.
  const int64_t mode = compute_mode.value_or(0);
  const bool many = x1.size(-2) > 25 || x2.size(-2) > 25;
  if (p == 2 && x1.numel() > 0 && x2.numel() > 0 && (mode == kByProduct || (mode == 0 && many))) {
    const auto batch = at::shape::broadcast_batches("cdist", at::shape::batch_sizes(x1), at::shape::batch_sizes(x2));
    return at::_euclidean_dist(
        x1.expand(at::shape::joined(batch, x1.sizes().slice(x1.dim() - 2))),
        x2.expand(at::shape::joined(batch, x2.sizes().slice(x2.dim() - 2))));
  }
  return at::_cdist_forward(x1, x2, p, compute_mode);
}

Tensor euclidean_dist(const Tensor& x1, const Tensor& x2) {
  at::shape::check_cdist(x1, x2, 2, std::nullopt);
  // |a - b|^2 = [-2 a, |a|^2, 1] . [b, 1, |b|^2]
  const Tensor squares1 = x1.pow(2).sum({-1}, /*keepdim=*/true), squares2 = x2.pow(2).sum({-1}, /*keepdim=*/true);
  const Tensor left = at::cat({x1.mul(-2), squares1, at::ones_like(squares1)}, -1);
  const Tensor right = at::cat({x2, at::ones_like(squares2), squares2}, -1);
  return left.matmul(right.mT()).clamp_min(0).sqrt();
}

Tensor pdist(const Tensor& self, double p) {
  return at::_pdist_forward(self.contiguous(), p);
}

} // namespace at::native
