// Recurrent layers with quantized weights, their dynamic cells, and the class of their parameters.
#include <aten/Functions.h>
#include <aten/core/TensorOperators.h>
#include <aten/quantized/operator_table.h>
#include <aten/quantized/recurrent_cells.h>
#include <c10/util/Exception.h>

#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace at::quantized {
namespace {

const auto kCellClass = torch::class_<CellParams>("rnn", "CellParamsBase")
                            .def_pickle(
                                [](const CellPtr& self) -> CellParams::State { return self->state(); },
                                [](CellParams::State state) -> CellPtr { return CellParams::from_state(state); });

CellPtr make_dynamic_cell(
    const CellLinear& w_ih, const CellLinear& w_hh, const Tensor& b_ih, const Tensor& b_hh, bool reduce_range) {
  return c10::make_intrusive<CellParams>(CellParams::Kind::Dynamic, w_ih, w_hh, b_ih, b_hh, reduce_range);
}
CellPtr make_half_cell(const CellLinear& w_ih, const CellLinear& w_hh) {
  return c10::make_intrusive<CellParams>(CellParams::Kind::Half, w_ih, w_hh, Tensor(), Tensor(), false);
}
CellPtr make_plain_cell(const Tensor& w_ih, const Tensor& w_hh, const Tensor& b_ih, const Tensor& b_hh) {
  const auto packed = [](const Tensor& w, const Tensor& bias) {
    return c10::make_intrusive<LinearPackedParams>(at::quantize_per_tensor_dynamic(w, kQInt8, false), bias);
  };
  return c10::make_intrusive<CellParams>(
      CellParams::Kind::Plain, packed(w_ih, b_ih), packed(w_hh, b_hh), b_ih, b_hh, false);
}

// ---- cells ---------------------------------------------------------------------

template <CellStep* step>
Tensor cell_dynamic(
    const Tensor& input,
    const Tensor& hx,
    const CellLinear& w_ih,
    const CellLinear& w_hh,
    const Tensor& b_ih,
    const Tensor& b_hh) {
  const CellPtr params = make_dynamic_cell(w_ih, w_hh, b_ih, b_hh, true);
  return step(params->inputs(input), {hx, Tensor()}, *params).hidden;
}
std::tuple<Tensor, Tensor> lstm_cell_dynamic(
    const Tensor& input,
    TensorList hx,
    const CellLinear& w_ih,
    const CellLinear& w_hh,
    const Tensor& b_ih,
    const Tensor& b_hh) {
  const CellPtr params = make_dynamic_cell(w_ih, w_hh, b_ih, b_hh, true);
  const CellState next = lstm_step(params->inputs(input), lstm_state(hx), *params);
  return {next.hidden, next.cell};
}

// ---- layers --------------------------------------------------------------------

/// Rows of all steps below each other, as PackedSequence has them.
struct StepRows {
  Tensor data;
  std::vector<int64_t> batch_sizes;
};

struct LayerSettings {
  const char* op;
  int64_t num_layers;
  double dropout;
  bool train, bidirectional;
};

/// One layer in one direction. Sequences end where the batch becomes smaller.
std::pair<Tensor, CellState> run_direction(
    const StepRows& input, const CellState& initial, const CellParams& params, CellStep* step, bool reverse) {
  const Tensor gates = params.inputs(input.data);
  const auto steps = static_cast<int64_t>(input.batch_sizes.size());
  std::vector<Tensor> outputs(static_cast<size_t>(steps));
  CellState state, ended;
  int64_t row = reverse ? gates.size(0) : 0;
  for (int64_t i = 0; i < steps; ++i) {
    const auto t = static_cast<size_t>(reverse ? steps - 1 - i : i);
    const int64_t batch = input.batch_sizes[t];
    if (i == 0) {
      state = initial.narrow(0, batch);
    } else if (batch < state.rows()) {
      const CellState rest = state.narrow(batch, state.rows() - batch);
      ended = ended.hidden.defined() ? rest.above(ended) : rest;
      state = state.narrow(0, batch);
    } else if (batch > state.rows()) {
      state = state.above(initial.narrow(state.rows(), batch - state.rows()));
    }
    row -= reverse ? batch : 0;
    state = step(gates.narrow(0, row, batch), state, params);
    row += reverse ? 0 : batch;
    outputs[t] = state.hidden;
  }
  return {at::cat(outputs), ended.hidden.defined() ? state.above(ended) : state};
}

/// hidden and cell: [layers * directions, batch, size].
std::pair<Tensor, CellState> run_layers(
    const LayerSettings& s,
    StepRows input,
    const CellState& initial,
    const c10::List<CellPtr>& params,
    CellStep* step) {
  const int64_t directions = s.bidirectional ? 2 : 1, cells = s.num_layers * directions;
  TORCH_CHECK(
      static_cast<int64_t>(params.size()) == cells && initial.hidden.dim() == 3 && initial.hidden.size(0) == cells,
      s.op, ": expected parameters and a hidden state for ", cells, " cells, got ", params.size(), " and ",
      initial.hidden.sizes());
  TORCH_CHECK(
      !initial.cell.defined() || initial.cell.sizes() == initial.hidden.sizes(), s.op,
      ": hidden and cell state must have the same sizes, got ", initial.hidden.sizes(), " and ", initial.cell.sizes());
  TORCH_CHECK(!input.batch_sizes.empty(), s.op, ": expected a sequence of at least one step");
  TORCH_CHECK(
      initial.hidden.size(1) == input.batch_sizes[0], s.op, ": the hidden state has a batch of ",
      initial.hidden.size(1), ", the input of ", input.batch_sizes[0]);
  std::vector<Tensor> hidden, cell;
  for (int64_t layer = 0; layer < s.num_layers; ++layer) {
    std::vector<Tensor> outputs;
    for (int64_t direction = 0; direction < directions; ++direction) {
      const int64_t i = layer * directions + direction;
      const CellState own{
          initial.hidden.select(0, i), initial.cell.defined() ? initial.cell.select(0, i) : initial.cell};
      auto [output, last] = run_direction(input, own, *params.get(static_cast<size_t>(i)), step, direction == 1);
      outputs.push_back(output);
      hidden.push_back(last.hidden);
      if (last.cell.defined()) {
        cell.push_back(last.cell);
      }
    }
    input.data = directions == 1 ? outputs[0] : at::cat(outputs, -1);
    if (s.train && s.dropout != 0 && layer + 1 < s.num_layers) {
      input.data = at::dropout(input.data, s.dropout, true);
    }
  }
  return {input.data, {at::stack(hidden), cell.empty() ? Tensor() : at::stack(cell)}};
}

/// Layers over [steps, batch, size], or with batch_first [batch, steps, size].
std::pair<Tensor, CellState> run_plain(
    const LayerSettings& s,
    const Tensor& input,
    bool batch_first,
    const CellState& initial,
    const c10::List<CellPtr>& params,
    CellStep* step) {
  TORCH_CHECK(input.dim() == 3, s.op, ": expected an input of 3 dimensions, got ", input.sizes());
  const Tensor x = batch_first ? input.transpose(0, 1) : input;
  const int64_t steps = x.size(0), batch = x.size(1);
  const StepRows rows{x.reshape({steps * batch, x.size(2)}), std::vector<int64_t>(static_cast<size_t>(steps), batch)};
  auto [output, state] = run_layers(s, rows, initial, params, step);
  const Tensor shaped = output.view({steps, batch, output.size(1)});
  return {batch_first ? shaped.transpose(0, 1) : shaped, state};
}

StepRows packed_rows(const char* op, const Tensor& data, const Tensor& batch_sizes) {
  const Tensor sizes = batch_sizes.to(kLong).contiguous();
  const int64_t* first = sizes.const_data_ptr<int64_t>();
  std::vector<int64_t> all(first, first + sizes.numel());
  int64_t total = 0;
  for (size_t t = 0; t < all.size(); ++t) {
    TORCH_CHECK(all[t] > 0 && (t == 0 || all[t] <= all[t - 1]), op, ": batch sizes must be positive and not grow");
    total += all[t];
  }
  TORCH_CHECK(
      data.dim() == 2 && data.size(0) == total, op, ": batch sizes sum to ", total, ", got data ", data.sizes());
  return {data, std::move(all)};
}

using ThreeTensors = std::tuple<Tensor, Tensor, Tensor>;
using TwoTensors = std::tuple<Tensor, Tensor>;

ThreeTensors lstm_input(
    const Tensor& input,
    TensorList hx,
    const c10::List<CellPtr>& params,
    bool,
    int64_t num_layers,
    double dropout,
    bool train,
    bool bidirectional,
    bool batch_first,
    std::optional<ScalarType>,
    bool) {
  const auto [output, state] = run_plain(
      {"quantized_lstm", num_layers, dropout, train, bidirectional}, input, batch_first, lstm_state(hx), params,
      &lstm_step);
  return {output, state.hidden, state.cell};
}
ThreeTensors lstm_data(
    const Tensor& data,
    const Tensor& batch_sizes,
    TensorList hx,
    const c10::List<CellPtr>& params,
    bool,
    int64_t num_layers,
    double dropout,
    bool train,
    bool bidirectional,
    std::optional<ScalarType>,
    bool) {
  const auto [output, state] = run_layers(
      {"quantized_lstm", num_layers, dropout, train, bidirectional}, packed_rows("quantized_lstm", data, batch_sizes),
      lstm_state(hx), params, &lstm_step);
  return {output, state.hidden, state.cell};
}
TwoTensors gru_input(
    const Tensor& input,
    const Tensor& hx,
    const c10::List<CellPtr>& params,
    bool,
    int64_t num_layers,
    double dropout,
    bool train,
    bool bidirectional,
    bool batch_first) {
  const auto [output, state] = run_plain(
      {"quantized_gru", num_layers, dropout, train, bidirectional}, input, batch_first, {hx, Tensor()}, params,
      &gru_step);
  return {output, state.hidden};
}
TwoTensors gru_data(
    const Tensor& data,
    const Tensor& batch_sizes,
    const Tensor& hx,
    const c10::List<CellPtr>& params,
    bool,
    int64_t num_layers,
    double dropout,
    bool train,
    bool bidirectional) {
  const auto [output, state] = run_layers(
      {"quantized_gru", num_layers, dropout, train, bidirectional}, packed_rows("quantized_gru", data, batch_sizes),
      {hx, Tensor()}, params, &gru_step);
  return {output, state.hidden};
}

// ---- the former form, with lists of tensors ------------------------------------

[[noreturn]] void refuse_tensors(const char* op) {
  TORCH_CHECK(
      false, "torch.", op,
      " with List[Tensor] for parameters is no longer supported. Please re-export your model using the newer "
      "definitions in torch.jit.quantized");
}
ThreeTensors lstm_input_legacy(
    const Tensor&, TensorList, TensorList, bool, int64_t, double, bool, bool, bool, std::optional<ScalarType>, bool) {
  refuse_tensors("quantized_lstm");
}
ThreeTensors lstm_data_legacy(
    const Tensor&,
    const Tensor&,
    TensorList,
    TensorList,
    bool,
    int64_t,
    double,
    bool,
    bool,
    std::optional<ScalarType>,
    bool) {
  refuse_tensors("quantized_lstm");
}
TwoTensors gru_input_legacy(const Tensor&, const Tensor&, TensorList, bool, int64_t, double, bool, bool, bool) {
  refuse_tensors("quantized_gru");
}
TwoTensors gru_data_legacy(const Tensor&, const Tensor&, const Tensor&, TensorList, bool, int64_t, double, bool, bool) {
  refuse_tensors("quantized_gru");
}

// ---- table ---------------------------------------------------------------------

using c10::impl::builtin_kernel;

constexpr OperatorRow kRecurrentRows[] = {
    {"quantized::make_quantized_cell_params", "",
     "make_quantized_cell_params(Tensor w_ih, Tensor w_hh, Tensor b_ih, Tensor b_hh) -> "
     "__torch__.torch.classes.rnn.CellParamsBase",
     builtin_kernel<&make_plain_cell>()},
    {"quantized::make_quantized_cell_params_dynamic", "",
     "make_quantized_cell_params_dynamic(__torch__.torch.classes.quantized.LinearPackedParamsBase w_ih, "
     "__torch__.torch.classes.quantized.LinearPackedParamsBase w_hh, Tensor bias_ih, Tensor bias_hh, bool "
     "reduce_range=False) -> __torch__.torch.classes.rnn.CellParamsBase",
     builtin_kernel<&make_dynamic_cell>()},
    {"quantized::make_quantized_cell_params_fp16", "",
     "make_quantized_cell_params_fp16(__torch__.torch.classes.quantized.LinearPackedParamsBase w_ih, "
     "__torch__.torch.classes.quantized.LinearPackedParamsBase w_hh) -> __torch__.torch.classes.rnn.CellParamsBase",
     builtin_kernel<&make_half_cell>()},
    {"quantized::quantized_lstm_cell_dynamic", "",
     "quantized_lstm_cell_dynamic(Tensor input, Tensor[] hx, __torch__.torch.classes.quantized.LinearPackedParamsBase "
     "w_ih, __torch__.torch.classes.quantized.LinearPackedParamsBase w_hh, Tensor bias_ih, Tensor bias_hh) -> (Tensor, "
     "Tensor)",
     builtin_kernel<&lstm_cell_dynamic>()},
    {"quantized::quantized_gru_cell_dynamic", "",
     "quantized_gru_cell_dynamic(Tensor input, Tensor hx, __torch__.torch.classes.quantized.LinearPackedParamsBase "
     "w_ih, __torch__.torch.classes.quantized.LinearPackedParamsBase w_hh, Tensor b_ih, Tensor b_hh) -> Tensor",
     builtin_kernel<&cell_dynamic<&gru_step>>()},
    {"quantized::quantized_rnn_relu_cell_dynamic", "",
     "quantized_rnn_relu_cell_dynamic(Tensor input, Tensor hx, "
     "__torch__.torch.classes.quantized.LinearPackedParamsBase w_ih, "
     "__torch__.torch.classes.quantized.LinearPackedParamsBase w_hh, Tensor b_ih, Tensor b_hh) -> Tensor",
     builtin_kernel<&cell_dynamic<&relu_step>>()},
    {"quantized::quantized_rnn_tanh_cell_dynamic", "",
     "quantized_rnn_tanh_cell_dynamic(Tensor input, Tensor hx, "
     "__torch__.torch.classes.quantized.LinearPackedParamsBase w_ih, "
     "__torch__.torch.classes.quantized.LinearPackedParamsBase w_hh, Tensor b_ih, Tensor b_hh) -> Tensor",
     builtin_kernel<&cell_dynamic<&tanh_step>>()},
    {"aten::quantized_lstm", "input",
     "quantized_lstm.input(Tensor input, Tensor[] hx, __torch__.torch.classes.rnn.CellParamsBase[] params, bool "
     "has_biases, int num_layers, float dropout, bool train, bool bidirectional, bool batch_first, *, ScalarType? "
     "dtype=None, bool use_dynamic=False) -> (Tensor, Tensor, Tensor)",
     builtin_kernel<&lstm_input>()},
    {"aten::quantized_lstm", "data",
     "quantized_lstm.data(Tensor data, Tensor batch_sizes, Tensor[] hx, __torch__.torch.classes.rnn.CellParamsBase[] "
     "params, bool has_biases, int num_layers, float dropout, bool train, bool bidirectional, *, ScalarType? "
     "dtype=None, bool use_dynamic=False) -> (Tensor, Tensor, Tensor)",
     builtin_kernel<&lstm_data>()},
    {"aten::quantized_lstm", "input_legacy",
     "quantized_lstm.input_legacy(Tensor input, Tensor[] hx, Tensor[] params, bool has_biases, int num_layers, float "
     "dropout, bool train, bool bidirectional, bool batch_first, *, ScalarType? dtype=None, bool use_dynamic=False) -> "
     "(Tensor, Tensor, Tensor)",
     builtin_kernel<&lstm_input_legacy>()},
    {"aten::quantized_lstm", "data_legacy",
     "quantized_lstm.data_legacy(Tensor data, Tensor batch_sizes, Tensor[] hx, Tensor[] params, bool has_biases, int "
     "num_layers, float dropout, bool train, bool bidirectional, *, ScalarType? dtype=None, bool use_dynamic=False) -> "
     "(Tensor, Tensor, Tensor)",
     builtin_kernel<&lstm_data_legacy>()},
    {"aten::quantized_gru", "input",
     "quantized_gru.input(Tensor input, Tensor hx, __torch__.torch.classes.rnn.CellParamsBase[] params, bool "
     "has_biases, int num_layers, float dropout, bool train, bool bidirectional, bool batch_first) -> (Tensor, Tensor)",
     builtin_kernel<&gru_input>()},
    {"aten::quantized_gru", "data",
     "quantized_gru.data(Tensor data, Tensor batch_sizes, Tensor hx, __torch__.torch.classes.rnn.CellParamsBase[] "
     "params, bool has_biases, int num_layers, float dropout, bool train, bool bidirectional) -> (Tensor, Tensor)",
     builtin_kernel<&gru_data>()},
    {"aten::quantized_gru", "input_legacy",
     "quantized_gru.input_legacy(Tensor input, Tensor hx, Tensor[] params, bool has_biases, int num_layers, float "
     "dropout, bool train, bool bidirectional, bool batch_first) -> (Tensor, Tensor)",
     builtin_kernel<&gru_input_legacy>()},
    {"aten::quantized_gru", "data_legacy",
     "quantized_gru.data_legacy(Tensor data, Tensor batch_sizes, Tensor hx, Tensor[] params, bool has_biases, int "
     "num_layers, float dropout, bool train, bool bidirectional) -> (Tensor, Tensor)",
     builtin_kernel<&gru_data_legacy>()},
};

constinit OperatorTable kRecurrentOperators("aten/quantized/recurrent_library.cpp", kRecurrentRows);
const RegisteredTable kRecurrentRegistered(kRecurrentOperators);

} // namespace
} // namespace at::quantized
