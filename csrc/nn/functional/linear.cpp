#include <csrc/nn/functional/linear.h>

namespace torch::nn::functional {

Tensor linear(const Tensor& input, const Tensor& weight, const Tensor& bias) {
  return at::linear(input, weight, bias);
}

Tensor bilinear(const Tensor& input1, const Tensor& input2, const Tensor& weight, const Tensor& bias) {
  return at::bilinear(input1, input2, weight, bias);
}

} // namespace torch::nn::functional
