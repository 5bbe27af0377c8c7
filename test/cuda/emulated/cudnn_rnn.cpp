// The emulated cuDNN's recurrent layers: plain loops in double, on the layouts that the library documents. Other than
// the real ones, the weights have a gap between matrices and biases, so that only who asks for places finds them.
#if __has_include(<cudnn.h>)
#include "test/cuda/emulated/cudnn.h"
#include "test/cuda/emulated/libraries.h"

#include <aten/core/Tensor.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

namespace emulated {

namespace {

using Rows = std::vector<double>;

constexpr size_t kWorkBytes = 160, kStateBytes = 72;
constexpr int64_t kGap = 24; // elements

struct Dropout {
  float p = 0;
  uint64_t* state = nullptr; // how many numbers have been drawn
};
struct Rnn {
  cudnnRNNAlgo_t algorithm{};
  cudnnRNNMode_t mode{};
  cudnnDataType_t type{};
  bool biased = false;
  int64_t directions = 1, input = 0, hidden = 0, out = 0, layers = 0;
  Dropout dropout;

  int64_t gates() const {
    return mode == CUDNN_LSTM ? 4 : mode == CUDNN_GRU ? 3 : 1;
  }
  bool projects() const {
    return out != hidden;
  }
  int64_t width_of(int64_t layer) const {
    return layer == 0 ? input : out * directions;
  }
  int64_t element() const {
    return type == CUDNN_DATA_DOUBLE ? 8 : type == CUDNN_DATA_FLOAT ? 4 : 2;
  }
};
struct SequenceData {
  cudnnDataType_t type{};
  int64_t steps = 0, width = 0;
  std::vector<int> lengths;

  int64_t batch() const {
    return static_cast<int64_t>(lengths.size());
  }
  int64_t live(int64_t t) const {
    return std::count_if(lengths.begin(), lengths.end(), [&](int length) { return length > t; });
  }
  int64_t row(int64_t t, int64_t b) const {
    int64_t first = 0;
    for (int64_t s = 0; s < t; ++s) {
      first += live(s);
    }
    return first + b;
  }
  int64_t rows() const {
    return row(steps, 0);
  }
};

// ---- numbers of any dtype
// ----------------------------------------------------------------------------------------------------

double load(cudnnDataType_t type, const void* p, int64_t i) {
  return type == CUDNN_DATA_DOUBLE ? static_cast<const double*>(p)[i]
      : type == CUDNN_DATA_FLOAT   ? static_cast<const float*>(p)[i]
      : type == CUDNN_DATA_HALF    ? static_cast<float>(static_cast<const c10::Half*>(p)[i])
                                   : static_cast<float>(static_cast<const c10::BFloat16*>(p)[i]);
}
void store(cudnnDataType_t type, void* p, int64_t i, double v) {
  const auto single = static_cast<float>(v);
  type == CUDNN_DATA_DOUBLE      ? void(static_cast<double*>(p)[i] = v)
      : type == CUDNN_DATA_FLOAT ? void(static_cast<float*>(p)[i] = single)
      : type == CUDNN_DATA_HALF  ? void(static_cast<c10::Half*>(p)[i] = single)
                                 : void(static_cast<c10::BFloat16*>(p)[i] = single);
}

Rows loaded(cudnnDataType_t type, const void* p, int64_t count) {
  Rows rows(static_cast<size_t>(count), 0.0);
  for (int64_t i = 0; p != nullptr && i < count; ++i) {
    rows[i] = load(type, p, i);
  }
  return rows;
}
void stored(cudnnDataType_t type, void* p, const Rows& rows) {
  for (size_t i = 0; p != nullptr && i < rows.size(); ++i) {
    store(type, p, static_cast<int64_t>(i), rows[i]);
  }
}

double sigmoid(double x) {
  return 1 / (1 + std::exp(-x));
}

// ---- weights
// -----------------------------------------------------------------------------------------------------------------

/// Where the matrix and the bias with one number lie; a bias at -1 is none.
struct Place {
  int64_t matrix, rows, columns, bias;
};

/// Matrices in a layer's direction: of all gates for the input, for the state, and the projection.
Place place_of(const Rnn& r, int64_t direction, int64_t id) {
  const int64_t gates = r.gates();
  const auto matrices = [&](int64_t layer) {
    return gates * r.hidden * (r.width_of(layer) + r.out) + (r.projects() ? r.out * r.hidden : 0);
  };
  int64_t at = 0, all = 0;
  for (int64_t d = 0; d < r.layers * r.directions; ++d) {
    all += matrices(d / r.directions);
    at += d < direction ? matrices(d / r.directions) : 0;
  }
  const int64_t biases = all + kGap + direction * 2 * gates * r.hidden, width = r.width_of(direction / r.directions);
  if (id == 2 * gates) {
    return {at + gates * r.hidden * (width + r.out), r.out, r.hidden, -1};
  }
  const int64_t bias = r.biased ? biases + id * r.hidden : -1;
  return id < gates ? Place{at + id * r.hidden * width, r.hidden, width, bias}
                    : Place{at + gates * r.hidden * width + (id - gates) * r.hidden * r.out, r.hidden, r.out, bias};
}

int64_t weight_elements(const Rnn& r) {
  const Place last = place_of(r, r.layers * r.directions - 1, 2 * r.gates() - 1);
  const int64_t matrices_end = last.matrix + last.rows * last.columns + (r.projects() ? r.out * r.hidden : 0);
  return r.biased ? last.bias + r.hidden : matrices_end;
}

// ---- what is kept for the way back
// ---------------------------------------------------------------------------------------------

enum class Stage : int64_t { None, Forward, Data };

/// Rows of one direction of a layer.
struct Trace {
  Rows gates; // opened
  Rows candidate; // of a GRU: its recurrent sum
  Rows cell, hidden, out;
  Rows for_input, for_state; // gradients of the sums
  Rows for_out;
};
struct LayerTrace {
  Rows x, mask; // the input after dropout, and what it was multiplied by
  std::array<Trace, 2> direction;
};

/// Calls f with all rows in order, sized.
template <class F>
void each_part(const Rnn& r, int64_t rows, std::vector<LayerTrace>& layers, const F& f) {
  layers.resize(static_cast<size_t>(r.layers));
  const int64_t wide = r.gates() * r.hidden;
  for (int64_t l = 0; l < r.layers; ++l) {
    f(layers[l].x, rows * r.width_of(l));
    f(layers[l].mask, rows * r.width_of(l));
    for (int64_t d = 0; d < r.directions; ++d) {
      Trace& t = layers[l].direction[d];
      f(t.gates, rows * wide);
      f(t.candidate, rows * r.hidden);
      f(t.cell, rows * r.hidden);
      f(t.hidden, rows * r.hidden);
      f(t.out, rows * r.out);
      f(t.for_input, rows * wide);
      f(t.for_state, rows * wide);
      f(t.for_out, rows * r.out);
    }
  }
}

size_t reserve_size(const Rnn& r, int64_t rows) {
  std::vector<LayerTrace> layers;
  int64_t count = 1;
  each_part(r, rows, layers, [&](Rows&, int64_t size) { count += size; });
  return static_cast<size_t>(count) * sizeof(double);
}

struct Reserve {
  Stage stage = Stage::None;
  std::vector<LayerTrace> layers;

  Reserve(const Rnn& r, int64_t rows) {
    each_part(r, rows, layers, [](Rows& part, int64_t size) { part.assign(static_cast<size_t>(size), 0.0); });
  }
  void read(const Rnn& r, int64_t rows, const void* from) {
    const auto* at = static_cast<const double*>(from);
    std::memcpy(&stage, at++, sizeof stage);
    each_part(r, rows, layers, [&](Rows& part, int64_t size) { part.assign(at, at + size), at += size; });
  }
  void write(const Rnn& r, int64_t rows, void* to) {
    auto* at = static_cast<double*>(to);
    std::memcpy(at++, &stage, sizeof stage);
    each_part(r, rows, layers, [&](Rows& part, int64_t size) {
      at = std::copy(part.begin(), part.end(), at), static_cast<void>(size);
    });
  }
};

// ---- steps
// ---------------------------------------------------------------------------------------------------------------------

struct Weights {
  const Rnn& r;
  const void* data;
  int64_t direction;

  double matrix(int64_t id, int64_t row, int64_t column) const {
    const Place p = place_of(r, direction, id);
    return load(r.type, data, p.matrix + row * p.columns + column);
  }
  double bias(int64_t id, int64_t row) const {
    const Place p = place_of(r, direction, id);
    return p.bias < 0 ? 0 : load(r.type, data, p.bias + row);
  }
};

/// The step before, or nothing at a sequence's first one in this direction.
int64_t row_before(const SequenceData& s, int64_t d, int64_t t, int64_t b) {
  const int64_t before = d == 0 ? t - 1 : t + 1;
  return before < 0 || before >= s.lengths[b] ? -1 : s.row(before, b);
}

double before_or_first(const Rows& rows, const Rows& first, int64_t row, int64_t state, int64_t width, int64_t i) {
  return row < 0 ? first[state * width + i] : rows[row * width + i];
}

void forward_direction(
    const Rnn& r,
    const SequenceData& s,
    int64_t direction,
    const void* weights,
    LayerTrace& layer,
    const Rows& hx,
    const Rows& cx,
    Rows& hy,
    Rows& cy) {
  const int64_t d = direction % r.directions, gates = r.gates(), H = r.hidden,
                width = r.width_of(direction / r.directions);
  Trace& trace = layer.direction[d];
  const Weights w{r, weights, direction};
  for (int64_t i = 0; i < s.steps; ++i) {
    const int64_t t = d == 0 ? i : s.steps - 1 - i;
    for (int64_t b = 0; b < s.live(t); ++b) {
      const int64_t row = s.row(t, b), old = row_before(s, d, t, b), state = direction * s.batch() + b;
      Rows in(static_cast<size_t>(gates * H)), back(in.size());
      for (int64_t g = 0; g < gates; ++g) {
        for (int64_t j = 0; j < H; ++j) {
          double a = w.bias(g, j), c = w.bias(gates + g, j);
          for (int64_t k = 0; k < width; ++k) {
            a += w.matrix(g, j, k) * layer.x[row * width + k];
          }
          for (int64_t k = 0; k < r.out; ++k) {
            c += w.matrix(gates + g, j, k) * before_or_first(trace.out, hx, old, state, r.out, k);
          }
          in[g * H + j] = a;
          back[g * H + j] = c;
        }
      }
      double* const open = &trace.gates[row * gates * H];
      for (int64_t j = 0; j < H; ++j) {
        const auto sum = [&](int64_t g) { return in[g * H + j] + back[g * H + j]; };
        double& hidden = trace.hidden[row * H + j];
        if (r.mode == CUDNN_LSTM) {
          const double input = sigmoid(sum(0)), forget = sigmoid(sum(1)), fresh = std::tanh(sum(2)),
                       output = sigmoid(sum(3));
          const double cell = forget * before_or_first(trace.cell, cx, old, state, H, j) + input * fresh;
          trace.cell[row * H + j] = cell;
          hidden = output * std::tanh(cell);
          open[j] = input, open[H + j] = forget, open[2 * H + j] = fresh, open[3 * H + j] = output;
        } else if (r.mode == CUDNN_GRU) {
          const double reset = sigmoid(sum(0)), update = sigmoid(sum(1)),
                       fresh = std::tanh(in[2 * H + j] + reset * back[2 * H + j]);
          trace.candidate[row * H + j] = back[2 * H + j];
          hidden = (1 - update) * fresh + update * before_or_first(trace.out, hx, old, state, H, j);
          open[j] = reset, open[H + j] = update, open[2 * H + j] = fresh;
        } else {
          hidden = open[j] = r.mode == CUDNN_RNN_RELU ? std::max(sum(0), 0.0) : std::tanh(sum(0));
        }
      }
      for (int64_t j = 0; j < r.out; ++j) {
        double out = r.projects() ? 0 : trace.hidden[row * H + j];
        for (int64_t k = 0; r.projects() && k < H; ++k) {
          out += w.matrix(2 * gates, j, k) * trace.hidden[row * H + k];
        }
        trace.out[row * r.out + j] = out;
        hy[state * r.out + j] = out; // the last one stays
      }
      for (int64_t j = 0; r.mode == CUDNN_LSTM && j < H; ++j) {
        cy[state * H + j] = trace.cell[row * H + j];
      }
    }
  }
}

/// The outputs of both directions beside each other.
Rows output_of(const Rnn& r, int64_t rows, const LayerTrace& layer) {
  Rows y(static_cast<size_t>(rows * r.out * r.directions));
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t d = 0; d < r.directions; ++d) {
      for (int64_t j = 0; j < r.out; ++j) {
        y[(row * r.directions + d) * r.out + j] = layer.direction[d].out[row * r.out + j];
      }
    }
  }
  return y;
}

/// `for_h` and `for_c` come with gradients of the last states and go with those of the first ones; adds to `dx`.
void backward_direction(
    const Rnn& r,
    const SequenceData& s,
    int64_t direction,
    const void* weights,
    LayerTrace& layer,
    const Rows& dy,
    const Rows& hx,
    const Rows& cx,
    Rows& for_h,
    Rows& for_c,
    Rows& dx) {
  const int64_t d = direction % r.directions, gates = r.gates(), H = r.hidden,
                width = r.width_of(direction / r.directions);
  Trace& trace = layer.direction[d];
  const Weights w{r, weights, direction};
  for (int64_t i = s.steps; i-- > 0;) {
    const int64_t t = d == 0 ? i : s.steps - 1 - i;
    for (int64_t b = 0; b < s.live(t); ++b) {
      const int64_t row = s.row(t, b), old = row_before(s, d, t, b), state = direction * s.batch() + b;
      Rows for_hidden(static_cast<size_t>(H)), next(static_cast<size_t>(r.out));
      for (int64_t j = 0; j < r.out; ++j) {
        const double grad = dy[(row * r.directions + d) * r.out + j] + for_h[state * r.out + j];
        trace.for_out[row * r.out + j] = grad;
        if (!r.projects()) {
          for_hidden[j] = grad;
        }
        for (int64_t k = 0; r.projects() && k < H; ++k) {
          for_hidden[k] += w.matrix(2 * gates, j, k) * grad;
        }
      }
      const double* const open = &trace.gates[row * gates * H];
      double *const in = &trace.for_input[row * gates * H], *const back = &trace.for_state[row * gates * H];
      for (int64_t j = 0; j < H; ++j) {
        const double grad = for_hidden[j];
        if (r.mode == CUDNN_LSTM) {
          const double input = open[j], forget = open[H + j], fresh = open[2 * H + j], output = open[3 * H + j];
          const double squashed = std::tanh(trace.cell[row * H + j]);
          const double for_cell = for_c[state * H + j] + grad * output * (1 - squashed * squashed);
          in[j] = for_cell * fresh * input * (1 - input);
          in[H + j] = for_cell * before_or_first(trace.cell, cx, old, state, H, j) * forget * (1 - forget);
          in[2 * H + j] = for_cell * input * (1 - fresh * fresh);
          in[3 * H + j] = grad * squashed * output * (1 - output);
          for_c[state * H + j] = for_cell * forget;
        } else if (r.mode == CUDNN_GRU) {
          const double reset = open[j], update = open[H + j], fresh = open[2 * H + j];
          in[2 * H + j] = grad * (1 - update) * (1 - fresh * fresh);
          in[H + j] = grad * (before_or_first(trace.out, hx, old, state, H, j) - fresh) * update * (1 - update);
          in[j] = in[2 * H + j] * trace.candidate[row * H + j] * reset * (1 - reset);
          next[j] = grad * update;
        } else {
          in[j] = r.mode == CUDNN_RNN_RELU ? (open[j] > 0 ? grad : 0) : grad * (1 - open[j] * open[j]);
        }
        for (int64_t g = 0; g < gates; ++g) {
          back[g * H + j] = in[g * H + j] * (r.mode == CUDNN_GRU && g == 2 ? open[j] : 1);
        }
      }
      for (int64_t g = 0; g < gates; ++g) {
        for (int64_t j = 0; j < H; ++j) {
          for (int64_t k = 0; k < r.out; ++k) {
            next[k] += w.matrix(gates + g, j, k) * back[g * H + j];
          }
          for (int64_t k = 0; k < width; ++k) {
            dx[row * width + k] += w.matrix(g, j, k) * in[g * H + j];
          }
        }
      }
      std::copy(next.begin(), next.end(), &for_h[state * r.out]);
    }
  }
}

void add_weight_gradients(
    const Rnn& r, const SequenceData& s, int64_t direction, const LayerTrace& layer, const Rows& hx, void* grads) {
  const int64_t d = direction % r.directions, gates = r.gates(), H = r.hidden;
  const Trace& trace = layer.direction[d];
  const auto add = [&](int64_t place, double v) { store(r.type, grads, place, load(r.type, grads, place) + v); };
  for (int64_t id = 0; id < 2 * gates + (r.projects() ? 1 : 0); ++id) {
    const Place p = place_of(r, direction, id);
    for (int64_t j = 0; j < p.rows; ++j) {
      Rows sums(static_cast<size_t>(p.columns));
      double for_bias = 0;
      for (int64_t t = 0; t < s.steps; ++t) {
        for (int64_t b = 0; b < s.live(t); ++b) {
          const int64_t row = s.row(t, b), old = row_before(s, d, t, b);
          const double grad = id == 2 * gates ? trace.for_out[row * r.out + j]
              : id < gates                    ? trace.for_input[(row * gates + id) * H + j]
                                              : trace.for_state[(row * gates + id - gates) * H + j];
          for_bias += grad;
          for (int64_t k = 0; k < p.columns; ++k) {
            sums[k] += grad *
                (id == 2 * gates  ? trace.hidden[row * H + k]
                     : id < gates ? layer.x[row * p.columns + k]
                                  : before_or_first(trace.out, hx, old, direction * s.batch() + b, r.out, k));
          }
        }
      }
      for (int64_t k = 0; k < p.columns; ++k) {
        add(p.matrix + j * p.columns + k, sums[k]);
      }
      if (p.bias >= 0) {
        add(p.bias + j, for_bias);
      }
    }
  }
}

// ---- the library's functions
// -----------------------------------------------------------------------------------------------------

cudnnStatus_t set_dropout(
    cudnnDropoutDescriptor_t descriptor, cudnnHandle_t, float p, void* state, size_t bytes, unsigned long long seed) {
  if ((p != 0 && state == nullptr) || (state != nullptr && bytes < kStateBytes)) {
    return CUDNN_STATUS_BAD_PARAM;
  }
  as<Dropout>(descriptor) = {p, static_cast<uint64_t*>(state)};
  if (state != nullptr) {
    run_on_current_stream([=] { *static_cast<uint64_t*>(state) = seed; });
  }
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t restore_dropout(
    cudnnDropoutDescriptor_t descriptor, cudnnHandle_t, float p, void* state, size_t bytes, unsigned long long) {
  if (state == nullptr || bytes != kStateBytes) {
    return CUDNN_STATUS_BAD_PARAM;
  }
  as<Dropout>(descriptor) = {p, static_cast<uint64_t*>(state)};
  return CUDNN_STATUS_SUCCESS;
}

/// A number between 0 and 1.
double drawn(uint64_t& state) {
  uint64_t z = (state += 0x9E3779B97F4A7C15u);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1.0p-53;
}

cudnnStatus_t set_rnn(
    cudnnRNNDescriptor_t descriptor,
    cudnnRNNAlgo_t algorithm,
    cudnnRNNMode_t mode,
    cudnnRNNBiasMode_t bias,
    cudnnDirectionMode_t direction,
    cudnnRNNInputMode_t input_mode,
    cudnnDataType_t type,
    cudnnDataType_t precision,
    cudnnMathType_t math,
    int32_t input,
    int32_t hidden,
    int32_t out,
    int32_t layers,
    cudnnDropoutDescriptor_t dropout,
    uint32_t flags) {
  const bool known_bias = bias == CUDNN_RNN_NO_BIAS || bias == CUDNN_RNN_DOUBLE_BIAS;
  if (!known_bias || input_mode != CUDNN_LINEAR_INPUT ||
      precision != (type == CUDNN_DATA_DOUBLE ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT) || input <= 0 || hidden <= 0 ||
      out <= 0 || out > hidden || layers <= 0 || (out != hidden && mode != CUDNN_LSTM) || dropout == nullptr ||
      flags != CUDNN_RNN_PADDED_IO_DISABLED) {
    return CUDNN_STATUS_BAD_PARAM;
  }
  if (algorithm != CUDNN_RNN_ALGO_STANDARD || libraries().rnn_refused) {
    return CUDNN_STATUS_NOT_SUPPORTED;
  }
  as<Rnn>(descriptor) = {
      algorithm, mode, type,   bias == CUDNN_RNN_DOUBLE_BIAS, direction == CUDNN_BIDIRECTIONAL ? 2 : 1, input,
      hidden,    out,  layers, as<Dropout>(dropout)};
  libraries().rnn_math = static_cast<int>(math);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t set_data(
    cudnnRNNDataDescriptor_t descriptor,
    cudnnDataType_t type,
    cudnnRNNDataLayout_t layout,
    int steps,
    int batch,
    int width,
    const int lengths[],
    void* fill) {
  as<SequenceData>(descriptor) = {type, steps, width, {lengths, lengths + batch}};
  // Packed sequences lie the longest first, and none is empty.
  const auto& all = as<SequenceData>(descriptor).lengths;
  const bool sorted =
      std::is_sorted(all.rbegin(), all.rend()) && !all.empty() && all.back() > 0 && all.front() == steps;
  return layout == CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED && sorted && fill == nullptr ? CUDNN_STATUS_SUCCESS
                                                                                       : CUDNN_STATUS_BAD_PARAM;
}

cudnnStatus_t get_weight_size(cudnnHandle_t, cudnnRNNDescriptor_t rnn, size_t* bytes) {
  *bytes = static_cast<size_t>(weight_elements(as<Rnn>(rnn)) * as<Rnn>(rnn).element());
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t get_weight(
    cudnnHandle_t,
    cudnnRNNDescriptor_t rnn,
    int32_t direction,
    size_t bytes,
    const void* space,
    int32_t id,
    cudnnTensorDescriptor_t matrix,
    void** at_matrix,
    cudnnTensorDescriptor_t bias,
    void** at_bias) {
  const auto& r = as<Rnn>(rnn);
  if (space == nullptr || static_cast<int64_t>(bytes) != weight_elements(r) * r.element() || direction < 0 ||
      direction >= r.layers * r.directions || id < 0 || id >= 2 * r.gates() + (r.projects() ? 1 : 0)) {
    return CUDNN_STATUS_BAD_PARAM;
  }
  const Place p = place_of(r, direction, id);
  const auto at = [&](int64_t place) {
    return place < 0 ? nullptr : const_cast<char*>(static_cast<const char*>(space)) + place * r.element();
  };
  *at_matrix = at(p.matrix);
  *at_bias = at(p.bias);
  as<TensorDescriptor>(matrix) = {r.type, {1, p.rows, p.columns}, {p.rows * p.columns, p.columns, 1}};
  as<TensorDescriptor>(bias) =
      p.bias < 0 ? TensorDescriptor{r.type, {}, {}} : TensorDescriptor{r.type, {1, p.rows, 1}, {p.rows, 1, 1}};
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t get_sizes(
    cudnnHandle_t,
    cudnnRNNDescriptor_t rnn,
    cudnnForwardMode_t mode,
    cudnnRNNDataDescriptor_t x,
    size_t* work,
    size_t* reserve) {
  *work = kWorkBytes;
  *reserve = mode == CUDNN_FWD_MODE_TRAINING ? reserve_size(as<Rnn>(rnn), as<SequenceData>(x).rows()) : 0;
  return CUDNN_STATUS_SUCCESS;
}

/// Whether descriptors and sizes are those of one call; spoils the workspace.
bool belong_together(
    const Rnn& r,
    const SequenceData& x,
    const SequenceData& y,
    const TensorDescriptor& h,
    const TensorDescriptor& c,
    const int32_t* device_lengths,
    size_t weight_bytes,
    size_t work_bytes,
    void* work,
    bool training,
    size_t reserve_bytes,
    const void* reserve) {
  const std::vector<int64_t> states = {r.layers * r.directions, x.batch(), r.out},
                             cells = {states[0], states[1], r.hidden};
  const auto packed = [](const TensorDescriptor& t) {
    return t.strides == std::vector<int64_t>{t.sizes[1] * t.sizes[2], t.sizes[2], 1};
  };
  return x.type == r.type && y.type == r.type && h.type == r.type && c.type == r.type && x.width == r.input &&
      y.width == r.out * r.directions && x.lengths == y.lengths && h.sizes == states && c.sizes == cells && packed(h) &&
      packed(c) && device_lengths == nullptr &&
      static_cast<int64_t>(weight_bytes) == weight_elements(r) * r.element() && work != nullptr &&
      work_bytes == kWorkBytes && (!training || (reserve != nullptr && reserve_bytes == reserve_size(r, x.rows())));
}

cudnnStatus_t forward(
    cudnnHandle_t,
    cudnnRNNDescriptor_t rnn,
    cudnnForwardMode_t mode,
    const int32_t* device_lengths,
    cudnnRNNDataDescriptor_t x_descriptor,
    const void* x,
    cudnnRNNDataDescriptor_t y_descriptor,
    void* y,
    cudnnTensorDescriptor_t h,
    const void* hx,
    void* hy,
    cudnnTensorDescriptor_t c,
    const void* cx,
    void* cy,
    size_t weight_bytes,
    const void* weights,
    size_t work_bytes,
    void* work,
    size_t reserve_bytes,
    void* reserve) {
  const auto& r = as<Rnn>(rnn);
  const auto& s = as<SequenceData>(x_descriptor);
  const bool training = mode == CUDNN_FWD_MODE_TRAINING;
  if (!belong_together(
          r, s, as<SequenceData>(y_descriptor), as<TensorDescriptor>(h), as<TensorDescriptor>(c), device_lengths,
          weight_bytes, work_bytes, work, training, reserve_bytes, reserve)) {
    return CUDNN_STATUS_BAD_PARAM;
  }
  run_on_current_stream([=, r = r, s = s] {
    scribble(work, work_bytes);
    const int64_t rows = s.rows(), states = r.layers * r.directions * s.batch();
    Reserve kept(r, rows);
    const Rows first = loaded(r.type, hx, states * r.out), first_cell = loaded(r.type, cx, states * r.hidden);
    Rows last(first.size()), last_cell(first_cell.size()), input = loaded(r.type, x, rows * r.input);
    for (int64_t l = 0; l < r.layers; ++l) {
      LayerTrace& layer = kept.layers[l];
      layer.mask.assign(input.size(), 1.0);
      if (l > 0 && training && r.dropout.p > 0) {
        for (double& m : layer.mask) {
          m = drawn(*r.dropout.state) < r.dropout.p ? 0 : 1 / (1 - double(r.dropout.p));
        }
      }
      layer.x = input;
      for (size_t i = 0; i < input.size(); ++i) {
        layer.x[i] *= layer.mask[i];
      }
      for (int64_t d = 0; d < r.directions; ++d) {
        forward_direction(r, s, l * r.directions + d, weights, layer, first, first_cell, last, last_cell);
      }
      input = output_of(r, rows, layer);
    }
    stored(r.type, y, input);
    stored(r.type, hy, last);
    stored(r.type, cy, r.mode == CUDNN_LSTM ? last_cell : Rows{});
    kept.stage = Stage::Forward;
    if (training) {
      kept.write(r, rows, reserve);
    }
  });
  libraries().rnn_runs.push_back({training, static_cast<int>(r.mode)});
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t backward_data(
    cudnnHandle_t,
    cudnnRNNDescriptor_t rnn,
    const int32_t* device_lengths,
    cudnnRNNDataDescriptor_t y_descriptor,
    const void* y,
    const void* dy,
    cudnnRNNDataDescriptor_t x_descriptor,
    void* dx,
    cudnnTensorDescriptor_t h,
    const void* hx,
    const void* dhy,
    void* dhx,
    cudnnTensorDescriptor_t c,
    const void* cx,
    const void* dcy,
    void* dcx,
    size_t weight_bytes,
    const void* weights,
    size_t work_bytes,
    void* work,
    size_t reserve_bytes,
    void* reserve) {
  const auto& r = as<Rnn>(rnn);
  const auto& s = as<SequenceData>(x_descriptor);
  if (!belong_together(
          r, s, as<SequenceData>(y_descriptor), as<TensorDescriptor>(h), as<TensorDescriptor>(c), device_lengths,
          weight_bytes, work_bytes, work, true, reserve_bytes, reserve) ||
      y == nullptr || dy == nullptr || dx == nullptr) {
    return CUDNN_STATUS_BAD_PARAM;
  }
  run_on_current_stream([=, r = r, s = s] {
    scribble(work, work_bytes);
    const int64_t rows = s.rows(), states = r.layers * r.directions * s.batch();
    Reserve kept(r, rows);
    kept.read(r, rows, reserve);
    if (kept.stage != Stage::Forward) {
      return stored(r.type, dx, Rows(rows * r.input, NAN)); // the real one's numbers would be wrong, too
    }
    const Rows first = loaded(r.type, hx, states * r.out), first_cell = loaded(r.type, cx, states * r.hidden);
    Rows for_h = loaded(r.type, dhy, states * r.out), for_c = loaded(r.type, dcy, states * r.hidden);
    Rows grad = loaded(r.type, dy, rows * r.out * r.directions);
    for (int64_t l = r.layers; l-- > 0;) {
      LayerTrace& layer = kept.layers[l];
      Rows for_input(layer.x.size(), 0.0);
      for (int64_t d = 0; d < r.directions; ++d) {
        backward_direction(
            r, s, l * r.directions + d, weights, layer, grad, first, first_cell, for_h, for_c, for_input);
      }
      for (size_t i = 0; i < for_input.size(); ++i) {
        for_input[i] *= layer.mask[i];
      }
      grad = for_input;
    }
    stored(r.type, dx, grad);
    stored(r.type, dhx, for_h);
    stored(r.type, dcx, r.mode == CUDNN_LSTM ? for_c : Rows{});
    kept.stage = Stage::Data;
    kept.write(r, rows, reserve);
  });
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t backward_weights(
    cudnnHandle_t,
    cudnnRNNDescriptor_t rnn,
    cudnnWgradMode_t mode,
    const int32_t* device_lengths,
    cudnnRNNDataDescriptor_t x_descriptor,
    const void* x,
    cudnnTensorDescriptor_t h,
    const void* hx,
    cudnnRNNDataDescriptor_t y_descriptor,
    const void* y,
    size_t weight_bytes,
    void* grads,
    size_t work_bytes,
    void* work,
    size_t reserve_bytes,
    void* reserve) {
  const auto& r = as<Rnn>(rnn);
  const auto& s = as<SequenceData>(x_descriptor);
  const TensorDescriptor cells{
      r.type, {r.layers * r.directions, s.batch(), r.hidden}, {s.batch() * r.hidden, r.hidden, 1}};
  if (!belong_together(
          r, s, as<SequenceData>(y_descriptor), as<TensorDescriptor>(h), cells, device_lengths, weight_bytes,
          work_bytes, work, true, reserve_bytes, reserve) ||
      mode != CUDNN_WGRAD_MODE_ADD || x == nullptr || y == nullptr) {
    return CUDNN_STATUS_BAD_PARAM;
  }
  run_on_current_stream([=, r = r, s = s] {
    scribble(work, work_bytes);
    Reserve kept(r, s.rows());
    kept.read(r, s.rows(), reserve);
    if (kept.stage != Stage::Data) {
      return;
    }
    const Rows first = loaded(r.type, hx, r.layers * r.directions * s.batch() * r.out);
    for (int64_t direction = 0; direction < r.layers * r.directions; ++direction) {
      add_weight_gradients(r, s, direction, kept.layers[direction / r.directions], first, grads);
    }
  });
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t get_tensor(
    cudnnTensorDescriptor_t descriptor, int most, cudnnDataType_t* type, int* dims, int sizes[], int strides[]) {
  const auto& t = as<TensorDescriptor>(descriptor);
  *type = t.type;
  *dims = static_cast<int>(t.sizes.size());
  for (int i = 0; i < std::min(most, *dims); ++i) {
    sizes[i] = static_cast<int>(t.sizes[i]), strides[i] = static_cast<int>(t.strides[i]);
  }
  return CUDNN_STATUS_SUCCESS;
}

} // namespace

const FunctionTable& cudnn_rnn_functions() {
  static const FunctionTable all = {
      {"cudnnGetTensorNdDescriptor", function_address<decltype(cudnnGetTensorNdDescriptor)>(&get_tensor)},
      {"cudnnCreateDropoutDescriptor", function_address<decltype(cudnnCreateDropoutDescriptor)>(&make<Dropout>)},
      {"cudnnDestroyDropoutDescriptor", function_address<decltype(cudnnDestroyDropoutDescriptor)>(&destroy<Dropout>)},
      {"cudnnDropoutGetStatesSize",
       function_address<decltype(cudnnDropoutGetStatesSize)>(
           [](cudnnHandle_t, size_t* bytes) { return *bytes = kStateBytes, CUDNN_STATUS_SUCCESS; })},
      {"cudnnSetDropoutDescriptor", function_address<decltype(cudnnSetDropoutDescriptor)>(&set_dropout)},
      {"cudnnRestoreDropoutDescriptor", function_address<decltype(cudnnRestoreDropoutDescriptor)>(&restore_dropout)},
      {"cudnnCreateRNNDescriptor", function_address<decltype(cudnnCreateRNNDescriptor)>(&make<Rnn>)},
      {"cudnnDestroyRNNDescriptor", function_address<decltype(cudnnDestroyRNNDescriptor)>(&destroy<Rnn>)},
      {"cudnnSetRNNDescriptor_v8", function_address<decltype(cudnnSetRNNDescriptor_v8)>(&set_rnn)},
      {"cudnnCreateRNNDataDescriptor", function_address<decltype(cudnnCreateRNNDataDescriptor)>(&make<SequenceData>)},
      {"cudnnDestroyRNNDataDescriptor",
       function_address<decltype(cudnnDestroyRNNDataDescriptor)>(&destroy<SequenceData>)},
      {"cudnnSetRNNDataDescriptor", function_address<decltype(cudnnSetRNNDataDescriptor)>(&set_data)},
      {"cudnnGetRNNWeightSpaceSize", function_address<decltype(cudnnGetRNNWeightSpaceSize)>(&get_weight_size)},
      {"cudnnGetRNNWeightParams", function_address<decltype(cudnnGetRNNWeightParams)>(&get_weight)},
      {"cudnnGetRNNTempSpaceSizes", function_address<decltype(cudnnGetRNNTempSpaceSizes)>(&get_sizes)},
      {"cudnnRNNForward", function_address<decltype(cudnnRNNForward)>(&forward)},
      {"cudnnRNNBackwardData_v8", function_address<decltype(cudnnRNNBackwardData_v8)>(&backward_data)},
      {"cudnnRNNBackwardWeights_v8", function_address<decltype(cudnnRNNBackwardWeights_v8)>(&backward_weights)},
  };
  return all;
}

} // namespace emulated

#endif
