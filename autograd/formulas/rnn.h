// Derivatives of the gates of recurrent cells: by their kernels, or by operators when they may be differentiated again.
#pragma once

#include <aten/core/Tensor.h>
#include <autograd/graph_task.h>

#include <array>
#include <tuple>
#include <vector>

namespace torch::autograd::formulas {

using FiveTensors = std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor, at::Tensor>;

/// Throws: cuDNN's gradients of recurrent layers cannot be differentiated again.
std::tuple<at::Tensor, std::vector<at::Tensor>, at::Tensor, at::Tensor, at::Tensor, at::Tensor, at::Tensor, at::Tensor>
cudnn_rnn_double_backward();

/// For (input_gates, hidden_gates, cx, input_bias, hidden_bias).
FiveTensors fused_lstm_cell_backward(
    const at::Tensor& grad_hy,
    const at::Tensor& grad_cy,
    const at::Tensor& input_gates,
    const at::Tensor& hidden_gates,
    const at::Tensor& input_bias,
    const at::Tensor& hidden_bias,
    const at::Tensor& cx,
    const at::Tensor& cy,
    const at::Tensor& workspace);

/// For (input, hx, cx, w_ih, w_hh, bias, w_hr) of _lstm_steps, from the gradients of its two sequences of states, which may be
/// undefined; see Note [Steps of a layer].
std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor, at::Tensor, at::Tensor, at::Tensor> lstm_steps_backward(
    const at::Tensor& grad_output,
    const at::Tensor& grad_cells,
    const at::Tensor& input,
    const at::Tensor& hx,
    const at::Tensor& cx,
    const at::Tensor& w_ih,
    const at::Tensor& w_hh,
    const at::Tensor& bias,
    const at::Tensor& w_hr,
    const at::Tensor& output,
    const at::Tensor& cells,
    const at::Tensor& open,
    bool reverse,
    at::IntArrayRef batch_sizes,
    std::array<bool, 7> mask);

/// For (input, hx, w_ih, w_hh, b_ih, b_hh) of _gru_steps.
std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor, at::Tensor, at::Tensor> gru_steps_backward(
    const at::Tensor& grad,
    const at::Tensor& input,
    const at::Tensor& hx,
    const at::Tensor& w_ih,
    const at::Tensor& w_hh,
    const at::Tensor& b_ih,
    const at::Tensor& b_hh,
    const at::Tensor& output,
    const at::Tensor& open,
    const at::Tensor& recurrent,
    bool reverse,
    at::IntArrayRef batch_sizes,
    std::array<bool, 6> mask);

/// For (input, hx, w_ih, w_hh, bias) of _rnn_steps.
FiveTensors rnn_steps_backward(
    const at::Tensor& grad,
    const at::Tensor& input,
    const at::Tensor& hx,
    const at::Tensor& w_ih,
    const at::Tensor& w_hh,
    const at::Tensor& output,
    bool relu,
    bool reverse,
    at::IntArrayRef batch_sizes,
    std::array<bool, 5> mask);

/// For (input_gates, hidden_gates, hx, input_bias, hidden_bias).
FiveTensors fused_gru_cell_backward(
    const at::Tensor& grad_hy,
    const at::Tensor& input_gates,
    const at::Tensor& hidden_gates,
    const at::Tensor& hx,
    const at::Tensor& input_bias,
    const at::Tensor& hidden_bias,
    const at::Tensor& workspace);

} // namespace torch::autograd::formulas
