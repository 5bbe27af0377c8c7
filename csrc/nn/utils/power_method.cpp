#include <csrc/nn/utils/power_method.h>

#include <aten/Functions.h>
#include <aten/core/TensorOperators.h>
#include <c10/util/Exception.h>
#include <csrc/nn/functional/normalization.h>
#include <csrc/nn/modules/conv.h>

namespace torch::nn::utils::detail {

void check_power_iterations(int64_t n_power_iterations) {
  TORCH_CHECK_VALUE(
      n_power_iterations > 0,
      "Expected n_power_iterations to be positive, but got n_power_iterations=", n_power_iterations);
}

int64_t output_dim(const Module& module, const Tensor& weight, const std::optional<int64_t>& dim) {
  const bool transposed =
      module.as<ConvTranspose1dImpl>() || module.as<ConvTranspose2dImpl>() || module.as<ConvTranspose3dImpl>();
  const int64_t given = dim.value_or(transposed ? 1 : 0), ndim = weight.dim();
  TORCH_CHECK_INDEX(
      given >= -ndim && given < ndim, "Dimension out of range (expected to be in range of [", -ndim, ", ", ndim - 1,
      "] but got ", given, "): spectral_norm needs the dimension of the outputs of a weight ", weight.sizes());
  return given < 0 ? given + ndim : given;
}

Tensor weight_matrix(const Tensor& weight, int64_t dim) {
  return weight.movedim(dim, 0).reshape({weight.size(dim), -1});
}

Tensor random_direction(const Tensor& like, int64_t size, double eps) {
  return functional::normalize(
      at::empty({size}, like.options()).normal_(0, 1), functional::NormalizeFuncOptions().dim(0).eps(eps));
}

void set_direction(Tensor& vector, const Tensor& value, double eps) {
  vector.copy_(functional::normalize(value, functional::NormalizeFuncOptions().dim(0).eps(eps)));
}

Tensor divided_by_norm(const Tensor& weight, const Tensor& matrix, const Tensor& u, const Tensor& v) {
  return weight / at::vdot(u.clone(), matrix.mv(v.clone()));
}

} // namespace torch::nn::utils::detail
