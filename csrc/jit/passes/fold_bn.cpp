// Weights that take a batch norm into the layer before it.
#include <csrc/jit/passes/fold_conv_bn.h>
#include <csrc/jit/passes/fold_linear_bn.h>

#include <aten/ops/zeros_like.h>

namespace torch::jit {

namespace {

std::tuple<at::Tensor, at::Tensor> fold(
    const at::Tensor& weight,
    const at::Tensor& bias,
    const at::Tensor& mean,
    const at::Tensor& variance,
    double eps,
    const at::Tensor& scale,
    const at::Tensor& shift) {
  at::Tensor factor = (variance + eps).rsqrt();
  if (scale.defined()) {
    factor = factor * scale;
  }
  std::vector<int64_t> sizes(static_cast<size_t>(weight.dim()), 1);
  sizes[0] = -1;
  at::Tensor new_bias = ((bias.defined() ? bias : at::zeros_like(mean)) - mean) * factor;
  if (shift.defined()) {
    new_bias = new_bias + shift;
  }
  return {(weight * factor.reshape(sizes)).to(weight.scalar_type()), new_bias.to(weight.scalar_type())};
}

} // namespace

std::tuple<at::Tensor, at::Tensor> computeUpdatedConvWeightAndBias(const ConvBNParameters& p) {
  return fold(p.conv_w, p.conv_b, p.bn_rm, p.bn_rv, p.bn_eps, p.bn_w, p.bn_b);
}

std::tuple<at::Tensor, at::Tensor> computeUpdatedLinearWeightAndBias(const LinearBNParameters& p) {
  return fold(p.linear_w, p.linear_b, p.bn_rm, p.bn_rv, p.bn_eps, p.bn_w, p.bn_b);
}

} // namespace torch::jit
