// Shape functions of the gates of recurrent cells.
#include <aten/core/Tensor.h>
#include <aten/core/TensorSpec.h>
#include <aten/shape/operand_checks.h>

#include <array>
#include <optional>

namespace at::shape {
namespace {

void check_like(const char* op, const char* name, const TensorBase& t, IntArrayRef sizes, const TensorBase& first) {
  TORCH_CHECK(t.sizes() == sizes, op, ": expected ", name, " of sizes ", sizes, ", got ", t.sizes());
  TORCH_CHECK(
      t.scalar_type() == first.scalar_type(), "expected scalar type ", first.scalar_type(), " but found ",
      t.scalar_type(), " for ", name, " of ", op);
  check_same_device(op, {&first, &t});
}

void check_like(
    const char* op, const char* name, const std::optional<Tensor>& t, IntArrayRef sizes, const TensorBase& first) {
  if (t.has_value() && t->defined()) {
    check_like(op, name, static_cast<const TensorBase&>(*t), sizes, first);
  }
}

/// Gates of `factor` parts, each of the size of the state.
void check_cell(
    const char* op,
    int64_t factor,
    const TensorBase& input_gates,
    const TensorBase& hidden_gates,
    const TensorBase& state,
    const std::optional<Tensor>& input_bias,
    const std::optional<Tensor>& hidden_bias) {
  TORCH_CHECK(state.dim() == 2, op, ": expected a state of 2 dimensions, batch and size, got ", state.sizes());
  int64_t gates = 0;
  TORCH_CHECK(
      !__builtin_mul_overflow(factor, state.size(1), &gates), op, ": a state of sizes ", state.sizes(),
      " is too large");
  const int64_t sizes[] = {state.size(0), gates};
  check_like(op, "input_gates", input_gates, sizes, state);
  check_like(op, "hidden_gates", hidden_gates, sizes, state);
  check_like(op, "input_bias", input_bias, {gates}, state);
  check_like(op, "hidden_bias", hidden_bias, {gates}, state);
  const bool one = input_bias.has_value() && input_bias->defined(),
             other = hidden_bias.has_value() && hidden_bias->defined();
  TORCH_CHECK(one == other, op, ": input_bias and hidden_bias must be given both or not at all");
}

} // namespace

std::array<TensorSpec, 3> fused_lstm_cell(
    const char* op,
    const TensorBase& input_gates,
    const TensorBase& hidden_gates,
    const TensorBase& cx,
    const std::optional<Tensor>& input_bias,
    const std::optional<Tensor>& hidden_bias) {
  check_cell(op, 4, input_gates, hidden_gates, cx, input_bias, hidden_bias);
  return {
      TensorSpec::like(cx, cx.sizes()), TensorSpec::like(cx, cx.sizes()), TensorSpec::like(cx, input_gates.sizes())};
}

std::array<TensorSpec, 3> fused_lstm_cell_backward(
    const char* op,
    const std::optional<Tensor>& grad_hy,
    const std::optional<Tensor>& grad_cy,
    const TensorBase& cx,
    const TensorBase& cy,
    const TensorBase& workspace,
    bool has_bias) {
  TORCH_CHECK(cx.dim() == 2, op, ": expected a state of 2 dimensions, batch and size, got ", cx.sizes());
  check_like(op, "cy", cy, cx.sizes(), cx);
  check_like(op, "grad_hy", grad_hy, cx.sizes(), cx);
  check_like(op, "grad_cy", grad_cy, cx.sizes(), cx);
  const int64_t gates[] = {cx.size(0), cx.size(1) * 4};
  check_like(op, "workspace", workspace, gates, cx);
  return {
      TensorSpec::like(cx, gates), TensorSpec::like(cx, cx.sizes()), TensorSpec::like(cx, {has_bias ? gates[1] : 0})};
}

std::array<TensorSpec, 2> fused_gru_cell(
    const char* op,
    const TensorBase& input_gates,
    const TensorBase& hidden_gates,
    const TensorBase& hx,
    const std::optional<Tensor>& input_bias,
    const std::optional<Tensor>& hidden_bias) {
  check_cell(op, 3, input_gates, hidden_gates, hx, input_bias, hidden_bias);
  return {TensorSpec::like(hx, hx.sizes()), TensorSpec::like(hx, {hx.size(0), hx.size(1) * 5})};
}

std::array<TensorSpec, 5> fused_gru_cell_backward(
    const char* op, const TensorBase& grad_hy, const TensorBase& workspace, bool has_bias) {
  TORCH_CHECK(grad_hy.dim() == 2, op, ": expected grad_hy of 2 dimensions, batch and size, got ", grad_hy.sizes());
  check_like(op, "workspace", workspace, {grad_hy.size(0), grad_hy.size(1) * 5}, grad_hy);
  const TensorSpec gates = TensorSpec::like(grad_hy, {grad_hy.size(0), grad_hy.size(1) * 3});
  const TensorSpec bias = TensorSpec::like(grad_hy, {has_bias ? grad_hy.size(1) * 3 : 0});
  return {gates, gates, TensorSpec::like(grad_hy, grad_hy.sizes()), bias, bias};
}

} // namespace at::shape
