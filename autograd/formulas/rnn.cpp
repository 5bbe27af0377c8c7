#include <autograd/formulas/rnn.h>

#include <aten/Functions.h>
#include <autograd/grad_mode.h>

namespace torch::autograd::formulas {

using at::Tensor;

FiveTensors fused_lstm_cell_backward(
    const Tensor& grad_hy, const Tensor& grad_cy, const Tensor& input_gates, const Tensor& hidden_gates, const Tensor& input_bias,
    const Tensor& hidden_bias, const Tensor& cx, const Tensor& cy, const Tensor& workspace) {
  if (at::GradMode::is_enabled()) {
    return at::_thnn_differentiable_lstm_cell_backward(grad_hy, grad_cy, input_gates, hidden_gates, input_bias, hidden_bias, cx, cy);
  }
  return at::_thnn_fused_lstm_cell_backward(grad_hy, grad_cy, cx, cy, workspace, input_bias.defined());
}

FiveTensors fused_gru_cell_backward(
    const Tensor& grad_hy, const Tensor& input_gates, const Tensor& hidden_gates, const Tensor& hx, const Tensor& input_bias,
    const Tensor& hidden_bias, const Tensor& workspace) {
  if (at::GradMode::is_enabled()) {
    return at::_thnn_differentiable_gru_cell_backward(grad_hy, input_gates, hidden_gates, hx, input_bias, hidden_bias);
  }
  return at::_thnn_fused_gru_cell_backward(grad_hy, workspace, input_bias.defined());
}

} // namespace torch::autograd::formulas
