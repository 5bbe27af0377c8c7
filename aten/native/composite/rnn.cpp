// Recurrent cells and layers. The products with the inputs are taken for all steps at once; each step is then one
// product with the state and the cell's gates.

#include <aten/Functions.h>
#include <aten/autocast/autocast_mode.h>
#include <aten/core/Context.h>
#include <aten/core/Tensor.h>
#include <aten/core/TensorOperators.h>
#include <aten/native/composite/list_out.h>
#include <aten/native/support/optional_tensor.h>
#include <aten/native/support/recurrence.h>
#include <aten/ops/_gru_steps_ops.h>
#include <aten/ops/_lstm_steps_ops.h>
#include <aten/ops/_rnn_steps_ops.h>
#include <c10/core/DeferredStorage.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

#include <algorithm>
#include <array>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace at::native {
namespace {

using OptionalTensor = std::optional<Tensor>;

// ---- cells
// -------------------------------------------------------------------------------------------------------------

/// State of a cell: hidden, and for an LSTM the cell's own.
struct State {
  Tensor hidden, cell;

  State narrow(int64_t start, int64_t length) const {
    return {hidden.narrow(0, start, length), cell.defined() ? cell.narrow(0, start, length) : Tensor()};
  }
};

State join(const std::vector<State>& parts) {
  std::vector<Tensor> hidden, cell;
  for (const State& s : parts) {
    hidden.push_back(s.hidden);
    if (s.cell.defined()) {
      cell.push_back(s.cell);
    }
  }
  return {at::cat(hidden, 0), cell.empty() ? Tensor() : at::cat(cell, 0)};
}

struct Weights {
  Tensor w_ih, w_hh, b_ih, b_hh;
  Tensor w_hr; // projects the hidden state of an LSTM
};

// A product in the weights' dtype: under autocast it comes in lower precision, and the state must not be carried on so.
Tensor product(const Tensor& x, const Tensor& weight, const Tensor& bias = {}) {
  return at::linear(x, weight, bias).to(weight.scalar_type());
}

struct LstmCell {
  static constexpr RecurrentCell kKind = RecurrentCell::lstm;
  static constexpr int64_t kGates = 4;
  /// Both biases go with the inputs: they only add up.
  static Tensor bias(const Weights& w) {
    return w.b_ih.defined() ? w.b_ih + w.b_hh : Tensor();
  }
  static Tensor inputs(const Tensor& x, const Weights& w) {
    return product(x, w.w_ih, bias(w));
  }
  static State step(const Tensor& gates, const State& s, const Weights& w) {
    Tensor hidden, cell;
    if (gates.is_complex()) {
      const std::vector<Tensor> gate = (gates + product(s.hidden, w.w_hh)).chunk(4, -1);
      cell = gate[1].sigmoid() * s.cell + gate[0].sigmoid() * gate[2].tanh();
      hidden = gate[3].sigmoid() * cell.tanh();
    } else {
      std::tie(hidden, cell, std::ignore) = at::_thnn_fused_lstm_cell(gates, product(s.hidden, w.w_hh), s.cell);
    }
    if (w.w_hr.defined()) {
      hidden = at::linear(hidden, w.w_hr);
    }
    return {hidden, cell};
  }
};

struct GruCell {
  static constexpr RecurrentCell kKind = RecurrentCell::gru;
  static constexpr int64_t kGates = 3;
  static Tensor inputs(const Tensor& x, const Weights& w) {
    return product(x, w.w_ih, w.b_ih);
  }
  static State step(const Tensor& gates, const State& s, const Weights& w) {
    const Tensor recurrent = product(s.hidden, w.w_hh, w.b_hh);
    if (!gates.is_complex()) {
      return {std::get<0>(at::_thnn_fused_gru_cell(gates, recurrent, s.hidden)), Tensor()};
    }
    const std::vector<Tensor> in = gates.chunk(3, -1), back = recurrent.chunk(3, -1);
    const Tensor fresh = (in[2] + (in[0] + back[0]).sigmoid() * back[2]).tanh();
    return {fresh + (in[1] + back[1]).sigmoid() * (s.hidden - fresh), Tensor()};
  }
};

template <Tensor (Tensor::*Activation)() const, bool IsRelu>
struct SimpleCell {
  static constexpr RecurrentCell kKind = IsRelu ? RecurrentCell::relu : RecurrentCell::tanh;
  static constexpr int64_t kGates = 1;
  static constexpr bool kIsRelu = IsRelu;
  static Tensor inputs(const Tensor& x, const Weights& w) {
    return at::linear(x, w.w_ih, w.b_ih.defined() ? w.b_ih + w.b_hh : Tensor());
  }
  static State step(const Tensor& gates, const State& s, const Weights& w) {
    return {((gates + at::linear(s.hidden, w.w_hh)).*Activation)(), Tensor()};
  }
};
using TanhCell = SimpleCell<&Tensor::tanh, false>;
using ReluCell = SimpleCell<&Tensor::relu, true>;

// ---- layers
// ------------------------------------------------------------------------------------------------------------

void check_weights(const char* op, const Tensor& input, const State& state, const Weights& w, int64_t gates) {
  TORCH_CHECK(
      input.size(-1) == w.w_ih.size(1), "input has inconsistent input_size: got ", input.size(-1), " expected ",
      w.w_ih.size(1), " (in ", op, ")");
  TORCH_CHECK(
      state.hidden.size(-1) == w.w_hh.size(1), "hidden0 has inconsistent hidden_size: got ", state.hidden.size(-1),
      ", expected ", w.w_hh.size(1), " (in ", op, ")");
  const int64_t size = state.cell.defined() ? state.cell.size(-1) : state.hidden.size(-1);
  TORCH_CHECK(
      w.w_ih.dim() == 2 && w.w_hh.dim() == 2 && w.w_ih.size(0) == gates * size && w.w_hh.size(0) == gates * size, op,
      ": weights for a state of size ", size, " must have ", gates * size, " rows, got ", w.w_ih.sizes(), " and ",
      w.w_hh.sizes());
}

/// Steps of a batch of sequences: [time, batch, features], or packed with a number of sequences for each step.
struct Sequence {
  Tensor data;
  std::vector<int64_t> batch_sizes; // empty when all have one length
};

/// The results of all steps in order, and the last state.
struct Run {
  Tensor output;
  State last;
};

// Note [Steps of a layer]
// The weights of the state take part in every step. Were each step a product of its own in the graph, each would lead
// back to a gradient of the weights, and all of them would be added up. So the steps are one operator, _lstm_steps,
// _gru_steps or _rnn_steps: going back, it keeps the gradients of all gates, and the weights' is one product of these
// and all states. The product with the inputs belongs to it, so that of the gates only the opened ones are kept. Its
// steps share weights laid out for their products, forward and backward. Packed sequences take them too: a step has the
// sequences that are long enough for it (StepRows in recurrence.h).

/// Whether the steps may be one operator. Autocast is to see each product, and steps tell which dtype does not fit.
template <class Cell>
bool is_one_operator(const Sequence& sequence, const State& state, const Weights& w) {
  const Tensor& input = sequence.data;
  const auto operands = {input, state.hidden, state.cell, w.w_ih, w.w_hh, w.b_ih, w.b_hh, w.w_hr};
  const auto fits = [&](const Tensor& t) {
    return !t.defined() ||
        (t.device() == input.device() && t.layout() == kStrided && t.scalar_type() == input.scalar_type());
  };
  // Cells do as well for others where nothing is laid out; for an LSTM of sequences of one length the operator also has
  // them, and on the CPU a projection only there.
  const bool packed = !sequence.batch_sizes.empty();
  const int64_t steps = packed ? static_cast<int64_t>(sequence.batch_sizes.size()) : input.size(0);
  const bool takes_kernels = (steps >= kWorthPacking || !input.is_cpu()) && steps_are_kernels(input);
  return (takes_kernels || (std::is_same_v<Cell, LstmCell> && !packed && input.is_cpu())) &&
      !(w.w_hr.defined() && packed && input.is_cpu()) && !input.is_complex() &&
      std::all_of(operands.begin(), operands.end(), fits) && !at::autocast::is_autocast_enabled(input.device().type());
}

OptionalTensor if_defined(const Tensor& t) {
  return t.defined() ? OptionalTensor(t) : std::nullopt;
}

/// The operator's results: output, and for an LSTM the cell states.
template <class Cell>
State all_steps(const Sequence& input, const State& state, const Weights& w, bool reverse) {
  if constexpr (std::is_same_v<Cell, LstmCell>) {
    const auto [output, cells, open] = at::_ops::_lstm_steps::call(
        input.data, state.hidden, state.cell, w.w_ih, w.w_hh, if_defined(LstmCell::bias(w)), reverse, input.batch_sizes,
        if_defined(w.w_hr));
    return {output, cells};
  } else if constexpr (std::is_same_v<Cell, GruCell>) {
    const auto [output, open, recurrent] = at::_ops::_gru_steps::call(
        input.data, state.hidden, w.w_ih, w.w_hh, if_defined(w.b_ih), if_defined(w.b_hh), reverse, input.batch_sizes);
    return {output, Tensor()};
  } else {
    const Tensor bias = w.b_ih.defined() ? w.b_ih + w.b_hh : Tensor();
    return {
        at::_ops::_rnn_steps::call(
            input.data, state.hidden, w.w_ih, w.w_hh, if_defined(bias), Cell::kIsRelu, reverse, input.batch_sizes),
        Tensor()};
  }
}

/// The rows of the last steps of packed sequences.
Tensor last_rows(IntArrayRef batch_sizes) {
  const Tensor rows = at::empty({batch_sizes[0]}, at::dtype(kLong));
  int64_t* const to = rows.mutable_data_ptr<int64_t>();
  int64_t first = 0;
  for (size_t t = 0; t < batch_sizes.size(); ++t) {
    const int64_t followed = t + 1 < batch_sizes.size() ? batch_sizes[t + 1] : 0;
    for (int64_t i = followed; i < batch_sizes[t]; ++i) {
      to[i] = first + i;
    }
    first += batch_sizes[t];
  }
  return rows;
}

template <class Cell>
Run run_as_one_operator(const Sequence& input, const State& state, const Weights& w, bool reverse) {
  const State all = all_steps<Cell>(input, state, w, reverse);
  const bool packed = !input.batch_sizes.empty();
  const Tensor rows = packed && !reverse ? last_rows(input.batch_sizes).to(all.hidden.device()) : Tensor();
  const auto last = [&](const Tensor& states) {
    if (!states.defined()) {
      return Tensor();
    }
    if (!packed) {
      return states.select(0, reverse ? 0 : states.size(0) - 1);
    }
    return reverse ? states.narrow(0, 0, input.batch_sizes[0]) : states.index_select(0, rows);
  };
  // The operator saves its result, which the caller may write to.
  return {all.hidden.requires_grad() ? all.hidden.clone() : all.hidden, {last(all.hidden), last(all.cell)}};
}

template <class Cell>
Run run_plain(const Tensor& input, State state, const Weights& w, bool reverse) {
  const Tensor all_gates = Cell::inputs(input, w);
  const std::vector<Tensor> gates = all_gates.unbind(0);
  std::vector<Tensor> outputs(gates.size());
  for (size_t i = 0; i < gates.size(); ++i) {
    const size_t t = reverse ? gates.size() - 1 - i : i;
    state = Cell::step(gates[t], state, w);
    outputs[t] = state.hidden;
  }
  return {at::stack(outputs, 0), state};
}

template <class Cell>
Run run_packed(const Sequence& input, const State& initial, const Weights& w, bool reverse) {
  const std::vector<int64_t>& sizes = input.batch_sizes;
  const std::vector<Tensor> gates = Cell::inputs(input.data, w).split_with_sizes(sizes, 0);
  std::vector<Tensor> outputs(gates.size());
  if (reverse) {
    // From the end: sequences join when their last step comes.
    State state = initial.narrow(0, sizes.back());
    for (size_t i = gates.size(); i-- > 0;) {
      const int64_t have = state.hidden.size(0);
      if (sizes[i] > have) {
        state = join({state, initial.narrow(have, sizes[i] - have)});
      }
      state = Cell::step(gates[i], state, w);
      outputs[i] = state.hidden;
    }
    return {at::cat(outputs, 0), state};
  }
  State state = initial.narrow(0, sizes.front());
  // States of sequences that have ended, the shortest last.
  std::vector<State> ended;
  for (size_t i = 0; i < gates.size(); ++i) {
    const int64_t have = state.hidden.size(0);
    if (sizes[i] < have) {
      ended.push_back(state.narrow(sizes[i], have - sizes[i]));
      state = state.narrow(0, sizes[i]);
    }
    state = Cell::step(gates[i], state, w);
    outputs[i] = state.hidden;
  }
  ended.push_back(state);
  return {at::cat(outputs, 0), join({ended.rbegin(), ended.rend()})};
}

template <class Cell>
Run run_direction(const Sequence& input, const State& state, const Weights& w, bool reverse) {
  if (is_one_operator<Cell>(input, state, w)) {
    return run_as_one_operator<Cell>(input, state, w, reverse);
  }
  return input.batch_sizes.empty() ? run_plain<Cell>(input.data, state, w, reverse)
                                   : run_packed<Cell>(input, state, w, reverse);
}

struct Settings {
  const char* op;
  bool has_biases;
  int64_t num_layers;
  double dropout;
  bool train, bidirectional;
};

std::vector<Weights> weights_of(const Settings& s, TensorList params, bool projected, int64_t states) {
  const size_t each = 2 + (s.has_biases ? 2 : 0) + (projected ? 1 : 0);
  const size_t count = static_cast<size_t>(s.num_layers) * (s.bidirectional ? 2 : 1);
  TORCH_CHECK(
      params.size() % each == 0, "got an incorrect number of RNN parameters: ", s.op, " takes ", each,
      " for each layer and direction, got ", params.size());
  TORCH_CHECK(
      s.num_layers > 0 && static_cast<int64_t>(count) == states, "Expected more hidden states in stacked_rnn: ", s.op,
      " of num_layers ", s.num_layers, s.bidirectional ? " in two directions" : "", " got ", states);
  TORCH_CHECK(
      params.size() == each * count, "Expected more weights in stacked_rnn: ", s.op, " of num_layers ", s.num_layers,
      " takes ", each * count, ", got ", params.size());
  std::vector<Weights> weights(count);
  for (size_t i = 0; i < count; ++i) {
    const auto param = [&](size_t k) { return params[i * each + k]; };
    Weights& w = weights[i];
    w.w_ih = param(0);
    w.w_hh = param(1);
    if (s.has_biases) {
      w.b_ih = param(2);
      w.b_hh = param(3);
    }
    if (projected) {
      w.w_hr = param(each - 1);
    }
  }
  return weights;
}

/// Under autocast a GPU runs whole layers in the lower precision; on the CPU autocast is to see each product. The guard
/// is to be kept while they run.
std::optional<c10::impl::ExcludeDispatchKeyGuard> cast_for_layers(
    const Tensor& input, const std::vector<Tensor*>& operands) {
  const c10::DeviceType device = input.device().type();
  if (input.is_cpu() || !steps_are_kernels(input) || !at::autocast::is_autocast_available(device) ||
      !at::autocast::is_autocast_enabled(device)) {
    return std::nullopt;
  }
  for (Tensor* const t : operands) {
    if (t->defined()) {
      *t = at::autocast::cached_cast(at::autocast::get_autocast_dtype(device), *t, device);
    }
  }
  return std::optional<c10::impl::ExcludeDispatchKeyGuard>(
      std::in_place, at::autocast::get_autocast_dispatch_key_from_device_type(device));
}

/// All layers at once by the device's own way, where it has one that takes them; cx is that of an LSTM.
template <class Cell>
std::optional<std::tuple<Tensor, Tensor, Tensor>> run_by_device(
    const Settings& s, Sequence input, Tensor hx, Tensor cx, TensorList params) {
  if (input.data.is_cpu()) {
    return std::nullopt;
  }
  std::vector<Tensor> weights(params.begin(), params.end());
  std::vector<Tensor*> operands = {&input.data, &hx, &cx};
  for (Tensor& w : weights) {
    operands.push_back(&w);
  }
  const auto without_autocast = cast_for_layers(Tensor(input.data), operands);
  const auto all = layers_of_device(
      {.cell = Cell::kKind,
       .input = input.data,
       .batch_sizes = input.batch_sizes,
       .hx = hx,
       .cx = cx,
       .weights = weights,
       .has_biases = s.has_biases,
       .num_layers = s.num_layers,
       .dropout = s.dropout,
       .train = s.train,
       .bidirectional = s.bidirectional,
       .weights_are_made = without_autocast.has_value()});
  if (!all) {
    return std::nullopt;
  }
  return std::tuple(Tensor(all->output), Tensor(all->hx), Tensor(all->cx));
}

/// All layers; the last states of layers and directions in order.
template <class Cell>
std::pair<Tensor, std::vector<State>> run_layers(
    const Settings& s, Sequence input, std::vector<State> states, std::vector<Weights> weights) {
  std::vector<Tensor*> operands = {&input.data};
  for (State& state : states) {
    operands.insert(operands.end(), {&state.hidden, &state.cell});
  }
  for (Weights& w : weights) {
    operands.insert(operands.end(), {&w.w_ih, &w.w_hh, &w.b_ih, &w.b_hh, &w.w_hr});
  }
  const auto without_autocast = cast_for_layers(Tensor(input.data), operands);
  const size_t directions = s.bidirectional ? 2 : 1;
  std::vector<State> last;
  for (size_t layer = 0; layer < static_cast<size_t>(s.num_layers); ++layer) {
    std::vector<Tensor> outputs;
    for (size_t d = 0; d < directions; ++d) {
      const size_t i = layer * directions + d;
      check_weights(s.op, input.data, states[i], weights[i], Cell::kGates);
      const Run run = run_direction<Cell>(input, states[i], weights[i], d == 1);
      outputs.push_back(run.output);
      last.push_back(run.last);
    }
    input.data = outputs.size() == 1 ? outputs[0] : at::cat(outputs, -1);
    const bool is_last = layer + 1 == static_cast<size_t>(s.num_layers);
    if (s.dropout != 0 && s.train && !is_last) {
      input.data = at::dropout(input.data, s.dropout, true);
    }
  }
  return {input.data, last};
}

Tensor stacked(const std::vector<State>& states, Tensor State::*member) {
  std::vector<Tensor> tensors;
  for (const State& s : states) {
    tensors.push_back(s.*member);
  }
  return at::stack(tensors, 0);
}

Sequence plain_sequence(const char* op, const Tensor& input, bool batch_first) {
  TORCH_CHECK(input.dim() == 3, op, ": expected an input of 3 dimensions, got ", input.sizes());
  const Tensor data = batch_first ? input.transpose(0, 1) : input;
  TORCH_CHECK(
      data.size(0) > 0, "Expected sequence length to be larger than 0 in RNN; ", op, " got data of sizes ",
      data.sizes());
  return {data, {}};
}

Sequence packed_sequence(const char* op, const Tensor& data, const Tensor& batch_sizes) {
  TORCH_CHECK(
      batch_sizes.dim() == 1 && batch_sizes.numel() > 0 && batch_sizes.is_cpu() && batch_sizes.scalar_type() == kLong,
      op, ": batch_sizes must be a 1-D tensor of int64 on the CPU with at least one element, got ", batch_sizes.sizes(),
      " of ", batch_sizes.scalar_type());
  const Tensor sizes = batch_sizes.contiguous();
  c10::compute_storage(sizes.storage());
  const int64_t* at = sizes.const_data_ptr<int64_t>();
  TORCH_CHECK(data.dim() == 2, op, ": packed data must have 2 dimensions, got ", data.sizes());
  check_batch_sizes(op, {at, static_cast<size_t>(sizes.numel())}, data.size(0));
  return {data, {at, at + sizes.numel()}};
}

int64_t batch_of(const Sequence& s) {
  return s.batch_sizes.empty() ? s.data.size(1) : s.batch_sizes[0];
}

std::vector<Tensor> layer_states(const char* op, const Tensor& hx, const Sequence& input) {
  TORCH_CHECK(
      hx.dim() == 3 && hx.size(1) == batch_of(input), op, ": Expected hidden of 3 dimensions for a batch of ",
      batch_of(input), ", got ", hx.sizes());
  return hx.unbind(0);
}

template <class Cell>
std::tuple<Tensor, Tensor> run_simple(const Settings& s, const Sequence& input, const Tensor& hx, TensorList params) {
  const std::vector<Weights> weights = weights_of(s, params, false, hx.size(0));
  std::vector<State> states;
  for (const Tensor& h : layer_states(s.op, hx, input)) {
    states.push_back({h, Tensor()});
  }
  if (const auto all = run_by_device<Cell>(s, input, hx, {}, params)) {
    return {std::get<0>(*all), std::get<1>(*all)};
  }
  const auto [output, last] = run_layers<Cell>(s, input, states, weights);
  return {output, stacked(last, &State::hidden)};
}

template <class Cell>
std::tuple<Tensor, Tensor> run_simple_plain(
    const Settings& s, const Tensor& input, const Tensor& hx, TensorList params, bool batch_first) {
  auto [output, hidden] = run_simple<Cell>(s, plain_sequence(s.op, input, batch_first), hx, params);
  return {batch_first ? output.transpose(0, 1) : output, hidden};
}

std::tuple<Tensor, Tensor, Tensor> run_lstm(
    const Settings& s, const Sequence& input, TensorList hx, TensorList params) {
  TORCH_CHECK(hx.size() == 2, "lstm expects two hidden states, got ", hx.size());
  const std::vector<Weights> weights = weights_of(s, params, hx[0].size(2) != hx[1].size(2), hx[0].size(0));
  const std::vector<Tensor> hidden = layer_states(s.op, hx[0], input), cell = layer_states(s.op, hx[1], input);
  TORCH_CHECK(
      hidden.size() == cell.size(), "lstm: hidden and cell states must be equally many, got ", hx[0].sizes(), " and ",
      hx[1].sizes());
  if (const auto all = run_by_device<LstmCell>(s, input, hx[0], hx[1], params)) {
    return *all;
  }
  std::vector<State> states;
  for (size_t i = 0; i < hidden.size(); ++i) {
    states.push_back({hidden[i], cell[i]});
  }
  const auto [output, last] = run_layers<LstmCell>(s, input, states, weights);
  return {output, stacked(last, &State::hidden), stacked(last, &State::cell)};
}

template <class Cell>
State run_cell(
    const char* op,
    const Tensor& input,
    const State& state,
    const Tensor& w_ih,
    const Tensor& w_hh,
    const OptionalTensor& b_ih,
    const OptionalTensor& b_hh) {
  const Weights w{w_ih, w_hh, defined_or_empty(b_ih), defined_or_empty(b_hh), Tensor()};
  TORCH_CHECK(w.b_ih.defined() == w.b_hh.defined(), op, ": b_ih and b_hh must be given both or not at all");
  TORCH_CHECK(
      input.dim() == 2 && state.hidden.dim() == 2, op, ": expected input and hidden of 2 dimensions, got ",
      input.sizes(), " and ", state.hidden.sizes());
  TORCH_CHECK(
      input.size(0) == state.hidden.size(0), "Input batch size ", input.size(0), " doesn't match hidden0 batch size ",
      state.hidden.size(0), " (in ", op, ")");
  check_weights(op, input, state, w, Cell::kGates);
  return Cell::step(Cell::inputs(input, w), state, w);
}

} // namespace

std::tuple<Tensor, Tensor> lstm_cell(
    const Tensor& input,
    TensorList hx,
    const Tensor& w_ih,
    const Tensor& w_hh,
    const OptionalTensor& b_ih,
    const OptionalTensor& b_hh) {
  TORCH_CHECK(hx.size() == 2, "lstm_cell expects two hidden states, got ", hx.size());
  const State next = run_cell<LstmCell>("lstm_cell", input, {hx[0], hx[1]}, w_ih, w_hh, b_ih, b_hh);
  return {next.hidden, next.cell};
}

Tensor gru_cell(
    const Tensor& input,
    const Tensor& hx,
    const Tensor& w_ih,
    const Tensor& w_hh,
    const OptionalTensor& b_ih,
    const OptionalTensor& b_hh) {
  const Tensor hidden = run_cell<GruCell>("gru_cell", input, {hx, Tensor()}, w_ih, w_hh, b_ih, b_hh).hidden;
  // But for CUDA the result lies in the order of the state.
  const bool by_columns =
      hx.size(0) > 1 && hx.size(1) > 1 && hx.stride(0) > 0 && hx.stride(0) < hx.stride(1) && !hx.is_cuda();
  return by_columns ? hidden.t().contiguous().t() : hidden;
}

Tensor rnn_tanh_cell(
    const Tensor& input,
    const Tensor& hx,
    const Tensor& w_ih,
    const Tensor& w_hh,
    const OptionalTensor& b_ih,
    const OptionalTensor& b_hh) {
  return run_cell<TanhCell>("rnn_tanh_cell", input, {hx, Tensor()}, w_ih, w_hh, b_ih, b_hh).hidden;
}

Tensor rnn_relu_cell(
    const Tensor& input,
    const Tensor& hx,
    const Tensor& w_ih,
    const Tensor& w_hh,
    const OptionalTensor& b_ih,
    const OptionalTensor& b_hh) {
  return run_cell<ReluCell>("rnn_relu_cell", input, {hx, Tensor()}, w_ih, w_hh, b_ih, b_hh).hidden;
}

std::tuple<Tensor, Tensor, Tensor> lstm(
    const Tensor& input,
    TensorList hx,
    TensorList params,
    bool has_biases,
    int64_t num_layers,
    double dropout,
    bool train,
    bool bidirectional,
    bool batch_first) {
  auto [output, hidden, cell] = run_lstm(
      {"lstm", has_biases, num_layers, dropout, train, bidirectional}, plain_sequence("lstm", input, batch_first), hx,
      params);
  return {batch_first ? output.transpose(0, 1) : output, hidden, cell};
}

std::tuple<Tensor, Tensor, Tensor> lstm_data(
    const Tensor& data,
    const Tensor& batch_sizes,
    TensorList hx,
    TensorList params,
    bool has_biases,
    int64_t num_layers,
    double dropout,
    bool train,
    bool bidirectional) {
  return run_lstm(
      {"lstm", has_biases, num_layers, dropout, train, bidirectional}, packed_sequence("lstm", data, batch_sizes), hx,
      params);
}

std::tuple<Tensor, Tensor> gru(
    const Tensor& input,
    const Tensor& hx,
    TensorList params,
    bool has_biases,
    int64_t num_layers,
    double dropout,
    bool train,
    bool bidirectional,
    bool batch_first) {
  return run_simple_plain<GruCell>(
      {"gru", has_biases, num_layers, dropout, train, bidirectional}, input, hx, params, batch_first);
}

std::tuple<Tensor, Tensor> gru_data(
    const Tensor& data,
    const Tensor& batch_sizes,
    const Tensor& hx,
    TensorList params,
    bool has_biases,
    int64_t num_layers,
    double dropout,
    bool train,
    bool bidirectional) {
  return run_simple<GruCell>(
      {"gru", has_biases, num_layers, dropout, train, bidirectional}, packed_sequence("gru", data, batch_sizes), hx,
      params);
}

std::tuple<Tensor, Tensor> rnn_tanh(
    const Tensor& input,
    const Tensor& hx,
    TensorList params,
    bool has_biases,
    int64_t num_layers,
    double dropout,
    bool train,
    bool bidirectional,
    bool batch_first) {
  return run_simple_plain<TanhCell>(
      {"rnn_tanh", has_biases, num_layers, dropout, train, bidirectional}, input, hx, params, batch_first);
}

std::tuple<Tensor, Tensor> rnn_tanh_data(
    const Tensor& data,
    const Tensor& batch_sizes,
    const Tensor& hx,
    TensorList params,
    bool has_biases,
    int64_t num_layers,
    double dropout,
    bool train,
    bool bidirectional) {
  return run_simple<TanhCell>(
      {"rnn_tanh", has_biases, num_layers, dropout, train, bidirectional},
      packed_sequence("rnn_tanh", data, batch_sizes), hx, params);
}

std::tuple<Tensor, Tensor> rnn_relu(
    const Tensor& input,
    const Tensor& hx,
    TensorList params,
    bool has_biases,
    int64_t num_layers,
    double dropout,
    bool train,
    bool bidirectional,
    bool batch_first) {
  return run_simple_plain<ReluCell>(
      {"rnn_relu", has_biases, num_layers, dropout, train, bidirectional}, input, hx, params, batch_first);
}

std::tuple<Tensor, Tensor> rnn_relu_data(
    const Tensor& data,
    const Tensor& batch_sizes,
    const Tensor& hx,
    TensorList params,
    bool has_biases,
    int64_t num_layers,
    double dropout,
    bool train,
    bool bidirectional) {
  return run_simple<ReluCell>(
      {"rnn_relu", has_biases, num_layers, dropout, train, bidirectional},
      packed_sequence("rnn_relu", data, batch_sizes), hx, params);
}

} // namespace at::native
