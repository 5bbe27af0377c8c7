#include <aten/Functions.h>
#include <aten/core/TensorOperators.h>
#include <aten/quantized/recurrent_cells.h>
#include <c10/util/Exception.h>

namespace at::quantized {

CellLinear packed_linear_of(const Tensor& integers, double scale, int64_t zero_point, const Tensor& bias) {
  return c10::make_intrusive<LinearPackedParams>(
      make_quantized(integers.contiguous(), Quantizer::per_tensor(scale, zero_point, kQInt8)), bias);
}

Tensor column_offsets(const Tensor& integers, int64_t zero_point) {
  return (integers.sum(1, false, kLong) - zero_point * integers.size(1)).to(kInt);
}

CellParams::State CellParams::state() const {
  switch (kind_) {
    case Kind::Dynamic:
      return {"quantized_dynamic", {b_ih_, b_hh_}, {}, {reduce_range_ ? 1 : 0}, {w_ih_, w_hh_}};
    case Kind::Half:
      return {"quantized_fp16", {}, {}, {}, {w_ih_, w_hh_}};
    case Kind::Plain:
      break;
  }
  const Tensor q_ih = std::get<0>(w_ih_->unpack()), q_hh = std::get<0>(w_hh_->unpack());
  const Tensor ih = at::int_repr(q_ih), hh = at::int_repr(q_hh);
  const int64_t zero_ih = at::q_zero_point(q_ih), zero_hh = at::q_zero_point(q_hh);
  return {
      "quantized",
      {ih, hh, b_ih_, b_hh_, column_offsets(ih, zero_ih), column_offsets(hh, zero_hh)},
      {at::q_scale(q_ih), at::q_scale(q_hh)},
      {zero_ih, zero_hh},
      {}};
}

CellPtr CellParams::from_state(const State& state) {
  const auto& [kind, tensors, numbers, integers, packed] = state;
  const auto sizes = std::make_tuple(tensors.size(), numbers.size(), integers.size(), packed.size());
  if (kind == "quantized_dynamic" && sizes == std::make_tuple(2u, 0u, 1u, 2u)) {
    return c10::make_intrusive<CellParams>(
        Kind::Dynamic, packed[0], packed[1], tensors[0], tensors[1], integers[0] != 0);
  }
  if (kind == "quantized_fp16" && packed.size() == 2) {
    return c10::make_intrusive<CellParams>(Kind::Half, packed[0], packed[1], Tensor(), Tensor(), false);
  }
  TORCH_CHECK(
      kind == "quantized" && tensors.size() >= 4 && numbers.size() == 2 && integers.size() == 2,
      "CellParamsBase: the state must be of kind quantized, quantized_dynamic or quantized_fp16, with its weights, got "
      "kind ",
      kind);
  return c10::make_intrusive<CellParams>(
      Kind::Plain, packed_linear_of(tensors[0], numbers[0], integers[0], tensors[2]),
      packed_linear_of(tensors[1], numbers[1], integers[1], tensors[3]), tensors[2], tensors[3], false);
}

CellState CellState::narrow(int64_t start, int64_t length) const {
  return {hidden.narrow(0, start, length), cell.defined() ? cell.narrow(0, start, length) : Tensor()};
}
CellState CellState::above(const CellState& other) const {
  return {at::cat({hidden, other.hidden}), cell.defined() ? at::cat({cell, other.cell}) : Tensor()};
}

CellState lstm_step(const Tensor& gates, const CellState& state, const CellParams& params) {
  auto [hidden, cell, workspace] = at::_thnn_fused_lstm_cell(gates, params.recurrent(state.hidden), state.cell);
  return {hidden, cell};
}
CellState gru_step(const Tensor& gates, const CellState& state, const CellParams& params) {
  return {std::get<0>(at::_thnn_fused_gru_cell(gates, params.recurrent(state.hidden), state.hidden)), Tensor()};
}
CellState tanh_step(const Tensor& gates, const CellState& state, const CellParams& params) {
  return {at::tanh(params.recurrent(state.hidden).add_(gates)), Tensor()};
}
CellState relu_step(const Tensor& gates, const CellState& state, const CellParams& params) {
  return {at::relu(params.recurrent(state.hidden).add_(gates)), Tensor()};
}

CellState lstm_state(TensorList hx) {
  TORCH_CHECK(hx.size() == 2, "quantized_lstm expects two hidden states, got ", hx.size());
  return {hx[0], hx[1]};
}

} // namespace at::quantized
