// Backward passes of the gates of recurrent cells, and what cuDNN's recurrent layers need beside their kernels.

#include <aten/Functions.h>
#include <aten/core/Context.h>
#include <aten/core/Tensor.h>
#include <aten/core/TensorOperators.h>
#include <aten/native/composite/list_out.h>
#include <aten/native/support/optional_tensor.h>

#include <array>
#include <optional>
#include <tuple>
#include <vector>

namespace at::native {

namespace {

using OptionalTensor = std::optional<Tensor>;
using Five = std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor>;

/// The bias of the input gates; throws unless there are both biases or none.
Tensor checked_bias(const char* op, const OptionalTensor& input_bias, const OptionalTensor& hidden_bias) {
  const Tensor bias = defined_or_empty(input_bias);
  TORCH_CHECK(
      bias.defined() == defined_or_empty(hidden_bias).defined(), op,
      ": input_bias and hidden_bias must both be given or both be left out");
  return bias;
}

/// The parts of [batch, count * hidden] that belong to each gate.
std::vector<Tensor> gates_of(const char* op, const Tensor& gates, int64_t count) {
  TORCH_CHECK(
      gates.dim() == 2 && gates.size(1) > 0 && gates.size(1) % count == 0, op,
      ": the gates must have the shape [batch, ", count, " * hidden_size], but got ", gates.sizes());
  return gates.chunk(count, 1);
}

} // namespace

Five _thnn_fused_lstm_cell_backward(
    const OptionalTensor& grad_hy,
    const OptionalTensor& grad_cy,
    const Tensor& cx,
    const Tensor& cy,
    const Tensor& workspace,
    bool has_bias) {
  const auto [gates, cell, bias] =
      at::_thnn_fused_lstm_cell_backward_impl(grad_hy, grad_cy, cx, cy, workspace, has_bias);
  const Tensor for_bias = has_bias ? bias : Tensor();
  return {gates, gates, cell, for_bias, for_bias};
}

Five _thnn_differentiable_lstm_cell_backward(
    const OptionalTensor& grad_hy,
    const OptionalTensor& grad_cy,
    const Tensor& input_gates,
    const Tensor& hidden_gates,
    const OptionalTensor& input_bias,
    const OptionalTensor& hidden_bias,
    const Tensor& cx,
    const Tensor& cy) {
  const Tensor dh = defined_or_empty(grad_hy), dc = defined_or_empty(grad_cy);
  const Tensor b = checked_bias("_thnn_differentiable_lstm_cell_backward", input_bias, hidden_bias);
  if (!dh.defined() && !dc.defined()) {
    return {};
  }
  Tensor gates = input_gates + hidden_gates;
  if (b.defined()) {
    gates = gates + b + *hidden_bias;
  }
  const std::vector<Tensor> parts = gates_of("_thnn_differentiable_lstm_cell_backward", gates, 4);
  const Tensor in = parts[0].sigmoid(), forget = parts[1].sigmoid(), candidate = parts[2].tanh(),
               out = parts[3].sigmoid();
  const Tensor squashed = cy.tanh();
  const Tensor for_h = dh.defined() ? dh : at::zeros_like(cx);
  Tensor for_c = for_h * out * (1 - squashed * squashed);
  if (dc.defined()) {
    for_c = for_c + dc;
  }
  const Tensor grad = at::cat(
      {for_c * candidate * in * (1 - in), for_c * cx * forget * (1 - forget), for_c * in * (1 - candidate * candidate),
       for_h * squashed * out * (1 - out)},
      1);
  const Tensor for_bias = b.defined() ? grad.sum({0}) : Tensor();
  return {grad, grad, for_c * forget, for_bias, for_bias};
}

Five _thnn_differentiable_gru_cell_backward(
    const Tensor& grad_hy,
    const Tensor& input_gates,
    const Tensor& hidden_gates,
    const Tensor& hx,
    const OptionalTensor& input_bias,
    const OptionalTensor& hidden_bias) {
  const Tensor b = checked_bias("_thnn_differentiable_gru_cell_backward", input_bias, hidden_bias);
  const char* const op = "_thnn_differentiable_gru_cell_backward";
  const std::vector<Tensor> in = gates_of(op, b.defined() ? input_gates + b : input_gates, 3),
                            rec = gates_of(op, b.defined() ? hidden_gates + *hidden_bias : hidden_gates, 3);
  const Tensor reset = (in[0] + rec[0]).sigmoid(), update = (in[1] + rec[1]).sigmoid(),
               candidate = (in[2] + reset * rec[2]).tanh();
  const Tensor for_candidate = grad_hy * (1 - update) * (1 - candidate * candidate);
  const Tensor for_update = grad_hy * (hx - candidate) * update * (1 - update);
  const Tensor for_reset = for_candidate * rec[2] * reset * (1 - reset);
  const Tensor for_in = at::cat({for_reset, for_update, for_candidate}, 1),
               for_rec = at::cat({for_reset, for_update, for_candidate * reset}, 1);
  return {
      for_in, for_rec, grad_hy * update, b.defined() ? for_in.sum({0}) : Tensor(),
      b.defined() ? for_rec.sum({0}) : Tensor()};
}

void cudnn_rnn_backward_out(
    const Tensor& input,
    TensorList weight,
    int64_t weight_stride0,
    const Tensor& weight_buf,
    const Tensor& hx,
    const OptionalTensor& cx,
    const Tensor& output,
    const OptionalTensor& grad_output,
    const OptionalTensor& grad_hy,
    const OptionalTensor& grad_cy,
    int64_t mode,
    int64_t hidden_size,
    int64_t proj_size,
    int64_t num_layers,
    bool batch_first,
    double dropout,
    bool train,
    bool bidirectional,
    IntArrayRef batch_sizes,
    const OptionalTensor& dropout_state,
    const Tensor& reserve,
    std::array<bool, 4> output_mask,
    Tensor& out0,
    Tensor& out1,
    Tensor& out2,
    TensorList out3) {
  const auto [dx, dhx, dcx, for_weights] = at::_cudnn_rnn_backward(
      input, weight, weight_stride0, weight_buf, hx, cx, output, grad_output, grad_hy, grad_cy, mode, hidden_size,
      proj_size, num_layers, batch_first, dropout, train, bidirectional, batch_sizes, dropout_state, reserve,
      output_mask);
  const auto write = [](Tensor& out, const Tensor& result) {
    if (result.defined()) {
      copy_into_out("_cudnn_rnn_backward", out, result);
    }
  };
  write(out0, dx);
  write(out1, dhx);
  write(out2, dcx);
  if (output_mask[3]) {
    write_list_out("_cudnn_rnn_backward", out3, for_weights);
  }
}

Tensor& cudnn_init_dropout_state_out(double dropout, bool train, int64_t dropout_seed, Tensor& out) {
  const Tensor state = at::_cudnn_init_dropout_state(dropout, train, dropout_seed, out.options());
  return out.resize_(state.sizes()).copy_(state);
}

bool _use_cudnn_rnn_flatten_weight() {
  return at::Context::hasCuDNN();
}

bool cudnn_is_acceptable(const Tensor& self) {
  const ScalarType dtype = self.scalar_type();
  return at::globalContext().userEnabledCuDNN() && self.is_cuda() &&
      (dtype == kFloat || dtype == kDouble || dtype == kHalf) && self.numel() != 0 && at::Context::hasCuDNN();
}

} // namespace at::native
