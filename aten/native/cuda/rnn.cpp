// Host side of rnn.cu; arguments are checked by aten/shape/rnn.cpp.
#include <aten/Functions.h>
#include <aten/core/Tensor.h>
#include <aten/core/dtype_dispatch.h>
#include <aten/native/cuda/copy.h>
#include <aten/native/cuda/rnn.h>
#include <aten/native/support/optional_tensor.h>
#include <c10/cuda/CUDAStream.h>

namespace at::native::cuda {

namespace {

CellRows rows_of(const char* op, const TensorBase& state) {
  if (!kFloating.contains(state.scalar_type())) {
    at::detail::dtype_not_supported(op, state.scalar_type(), kFloating.bits);
  }
  return {state.size(0), state.size(1), state.scalar_type(), c10::cuda::getCurrentCUDAStream()};
}

Tensor dense(const std::optional<Tensor>& t) {
  return given(t) ? t->contiguous() : Tensor();
}

/// Contiguous arguments of a step.
struct Sums {
  Tensor input, hidden, input_bias, hidden_bias;

  Sums(
      const TensorBase& input_gates,
      const TensorBase& hidden_gates,
      const std::optional<Tensor>& in_bias,
      const std::optional<Tensor>& rec_bias)
      : input(Tensor(input_gates).contiguous()),
        hidden(Tensor(hidden_gates).contiguous()),
        input_bias(dense(in_bias)),
        hidden_bias(dense(rec_bias)) {}

  GateSums pointers() const {
    return {input.const_data_ptr(), hidden.const_data_ptr(), data_or_null(input_bias), data_or_null(hidden_bias)};
  }
};

/// The gradient of a bias: the sum over the batch of what arrives at its gates.
void sum_rows(const TensorBase& rows, const TensorBase& out) {
  copy_on_device(out, Tensor(rows).sum(0));
}

} // namespace

void fused_lstm_cell_kernel(
    const TensorBase& input_gates,
    const TensorBase& hidden_gates,
    const TensorBase& cx,
    const std::optional<Tensor>& input_bias,
    const std::optional<Tensor>& hidden_bias,
    const TensorBase& hy,
    const TensorBase& cy,
    const TensorBase& workspace) {
  const CellRows p = rows_of("_thnn_fused_lstm_cell", cx);
  if (cx.numel() == 0) {
    return;
  }
  const Sums sums(input_gates, hidden_gates, input_bias, hidden_bias);
  const TensorBase old = cx.contiguous();
  launch_lstm_cell(
      p, sums.pointers(), old.const_data_ptr(), hy.mutable_data_ptr(), cy.mutable_data_ptr(),
      workspace.mutable_data_ptr());
}

void fused_lstm_cell_backward_kernel(
    const std::optional<Tensor>& grad_hy,
    const std::optional<Tensor>& grad_cy,
    const TensorBase& cx,
    const TensorBase& cy,
    const TensorBase& workspace,
    bool has_bias,
    const TensorBase& grad_gates,
    const TensorBase& grad_cx,
    const TensorBase& grad_bias) {
  const CellRows p = rows_of("_thnn_fused_lstm_cell_backward", cx);
  if (cx.numel() != 0) {
    const Tensor gh = dense(grad_hy), gc = dense(grad_cy);
    const TensorBase before = cx.contiguous(), after = cy.contiguous(), open = workspace.contiguous();
    launch_lstm_cell_backward(
        p, data_or_null(gh), data_or_null(gc), before.const_data_ptr(), after.const_data_ptr(), open.const_data_ptr(),
        grad_gates.mutable_data_ptr(), grad_cx.mutable_data_ptr());
  }
  if (has_bias) {
    sum_rows(grad_gates, grad_bias);
  }
}

void fused_gru_cell_kernel(
    const TensorBase& input_gates,
    const TensorBase& hidden_gates,
    const TensorBase& hx,
    const std::optional<Tensor>& input_bias,
    const std::optional<Tensor>& hidden_bias,
    const TensorBase& hy,
    const TensorBase& workspace) {
  const CellRows p = rows_of("_thnn_fused_gru_cell", hx);
  if (hx.numel() == 0) {
    return;
  }
  const Sums sums(input_gates, hidden_gates, input_bias, hidden_bias);
  const TensorBase old = hx.contiguous();
  launch_gru_cell(p, sums.pointers(), old.const_data_ptr(), hy.mutable_data_ptr(), workspace.mutable_data_ptr());
}

void fused_gru_cell_backward_kernel(
    const TensorBase& grad_hy,
    const TensorBase& workspace,
    bool has_bias,
    const TensorBase& grad_input_gates,
    const TensorBase& grad_hidden_gates,
    const TensorBase& grad_hx,
    const TensorBase& grad_input_bias,
    const TensorBase& grad_hidden_bias) {
  const CellRows p = rows_of("_thnn_fused_gru_cell_backward", grad_hy);
  if (grad_hy.numel() != 0) {
    const TensorBase g = grad_hy.contiguous(), open = workspace.contiguous();
    launch_gru_cell_backward(
        p, g.const_data_ptr(), open.const_data_ptr(), grad_input_gates.mutable_data_ptr(),
        grad_hidden_gates.mutable_data_ptr(), grad_hx.mutable_data_ptr());
  }
  if (has_bias) {
    sum_rows(grad_input_gates, grad_input_bias);
    sum_rows(grad_hidden_gates, grad_hidden_bias);
  }
}

} // namespace at::native::cuda
