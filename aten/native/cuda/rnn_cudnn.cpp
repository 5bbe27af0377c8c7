// Recurrent layers by cuDNN: _cudnn_rnn and related operators.
//
// All layers and directions are one call. Sequences go in step by step without padding; those of one length lie the
// same way with and without. The weights lie in one buffer, in an order that cuDNN is asked for. Modules keep theirs
// there
// (_cudnn_rnn_flatten_weight); others are copied for each call.
#include <aten/native/cuda/rnn_cudnn.h>

#include <aten/Functions.h>

#if __has_include(<cudnn.h>)
#include <cudnn.h>
#endif

#if defined(CUDNN_MAJOR) && CUDNN_MAJOR == 9 // aten/cuda/Libraries.cpp opens that

#include <aten/cuda/CUDAContextLight.h>
#include <aten/native/cuda/cudnn_library.h>
#include <aten/native/cuda/workspace.h>
#include <aten/native/support/optional_tensor.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAStream.h>

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <map>
#include <mutex>
#include <numeric>
#include <optional>
#include <tuple>

namespace at::native {

namespace cuda {

namespace {

const DnnFunction<decltype(cudnnGetTensorNdDescriptor)> get_tensor{"cudnnGetTensorNdDescriptor"};
const DnnFunction<decltype(cudnnCreateDropoutDescriptor)> create_dropout{"cudnnCreateDropoutDescriptor"};
const DnnFunction<decltype(cudnnDestroyDropoutDescriptor)> destroy_dropout{"cudnnDestroyDropoutDescriptor"};
const DnnFunction<decltype(cudnnDropoutGetStatesSize)> dropout_state_size{"cudnnDropoutGetStatesSize"};
const DnnFunction<decltype(cudnnSetDropoutDescriptor)> set_dropout{"cudnnSetDropoutDescriptor"};
const DnnFunction<decltype(cudnnRestoreDropoutDescriptor)> restore_dropout{"cudnnRestoreDropoutDescriptor"};

const DnnFunction<decltype(cudnnCreateRNNDescriptor)> create_rnn{"cudnnCreateRNNDescriptor"};
const DnnFunction<decltype(cudnnDestroyRNNDescriptor)> destroy_rnn{"cudnnDestroyRNNDescriptor"};
const DnnFunction<decltype(cudnnSetRNNDescriptor_v8)> set_rnn{"cudnnSetRNNDescriptor_v8"};
const DnnFunction<decltype(cudnnCreateRNNDataDescriptor)> create_rnn_data{"cudnnCreateRNNDataDescriptor"};
const DnnFunction<decltype(cudnnDestroyRNNDataDescriptor)> destroy_rnn_data{"cudnnDestroyRNNDataDescriptor"};
const DnnFunction<decltype(cudnnSetRNNDataDescriptor)> set_rnn_data{"cudnnSetRNNDataDescriptor"};
const DnnFunction<decltype(cudnnGetRNNWeightSpaceSize)> weight_space_size{"cudnnGetRNNWeightSpaceSize"};
const DnnFunction<decltype(cudnnGetRNNWeightParams)> weight_params{"cudnnGetRNNWeightParams"};
const DnnFunction<decltype(cudnnGetRNNTempSpaceSizes)> temp_space_sizes{"cudnnGetRNNTempSpaceSizes"};
const DnnFunction<decltype(cudnnRNNForward)> run_rnn{"cudnnRNNForward"};
const DnnFunction<decltype(cudnnRNNBackwardData_v8)> run_rnn_back{"cudnnRNNBackwardData_v8"};
const DnnFunction<decltype(cudnnRNNBackwardWeights_v8)> run_rnn_weights_back{"cudnnRNNBackwardWeights_v8"};

using DropoutDescriptor = DnnDescriptor<cudnnDropoutDescriptor_t, create_dropout, destroy_dropout>;
using DataDescriptor = DnnDescriptor<cudnnRNNDataDescriptor_t, create_rnn_data, destroy_rnn_data>;

/// cuDNN's calls count in ints.
constexpr int64_t kMost = std::numeric_limits<int>::max();

void* address(const Tensor& t) {
  return t.defined() ? const_cast<void*>(t.const_data_ptr()) : nullptr;
}

// ---- networks
// ----------------------------------------------------------------------------------------------------------------

class RnnDescriptor {
 public:
  /// False where cuDNN does not take such a network. Without a state there is no dropout.
  bool set(cudnnHandle_t handle, const CudnnNetwork& n, cudnnRNNAlgo_t algorithm, double dropout, const Tensor& state) {
    const auto as_int = [](int64_t v) { return static_cast<int32_t>(v); };
    state.defined()
        ? check_dnn(
              restore_dropout(dropout_, handle, static_cast<float>(dropout), address(state), state.numel(), 0),
              "cudnnRestoreDropoutDescriptor")
        : check_dnn(set_dropout(dropout_, handle, 0, nullptr, 0, 0), "cudnnSetDropoutDescriptor");
    return dnn_succeeds(
        set_rnn(
            rnn_, algorithm, static_cast<cudnnRNNMode_t>(n.mode), n.biased ? CUDNN_RNN_DOUBLE_BIAS : CUDNN_RNN_NO_BIAS,
            n.bidirectional ? CUDNN_BIDIRECTIONAL : CUDNN_UNIDIRECTIONAL, CUDNN_LINEAR_INPUT, dnn_type(n.dtype),
            n.dtype == c10::ScalarType::Double ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT, dnn_math(n.dtype),
            as_int(n.input_size), as_int(n.hidden_size), as_int(n.output_size()), as_int(n.num_layers), dropout_,
            CUDNN_RNN_PADDED_IO_DISABLED),
        "cudnnSetRNNDescriptor_v8");
  }
  operator cudnnRNNDescriptor_t() const {
    return rnn_;
  }

 private:
  DropoutDescriptor dropout_;
  DnnDescriptor<cudnnRNNDescriptor_t, create_rnn, destroy_rnn> rnn_;
};

int64_t elements_of(cudnnTensorDescriptor_t descriptor) {
  std::array<int, 3> sizes{1, 1, 1}, strides{};
  cudnnDataType_t type{};
  int dims = 0;
  check_dnn(get_tensor(descriptor, 3, &type, &dims, sizes.data(), strides.data()), "cudnnGetTensorNdDescriptor");
  return std::accumulate(sizes.begin(), sizes.begin() + std::min(dims, 3), int64_t{1}, std::multiplies<>());
}

std::optional<CudnnWeightLayout> ask_for_layout(const CudnnNetwork& n, const TensorOptions& options) {
  const cudnnHandle_t handle = getCudnnHandle();
  RnnDescriptor rnn;
  std::size_t bytes = 0;
  if (!rnn.set(handle, n, CUDNN_RNN_ALGO_STANDARD, 0, {}) ||
      !dnn_succeeds(weight_space_size(handle, rnn, &bytes), "cudnnGetRNNWeightSpaceSize")) {
    return std::nullopt;
  }
  const auto element = static_cast<int64_t>(c10::elementSize(n.dtype));
  const Tensor buffer =
      at::empty({static_cast<int64_t>(bytes) / element}, options.dtype(n.dtype)); // of which offsets are told
  const auto* const begin = static_cast<const char*>(buffer.const_data_ptr());
  CudnnWeightLayout layout{buffer.numel(), {}};
  const DnnTensor matrix, bias;
  bool as_expected = true;
  // `count` matrices, or biases, with numbers from `first` on; PyTorch's weights have those of all gates one after the
  // other.
  const auto add = [&](int64_t direction, int64_t first, int64_t count, bool is_bias, DimVector sizes) {
    const int64_t each = sizes.size() == 2 ? sizes[0] * sizes[1] / count : sizes[0] / count;
    int64_t offset = 0;
    for (int64_t i = 0; i < count; ++i) {
      void *at_matrix = nullptr, *at_bias = nullptr;
      check_dnn(
          weight_params(
              handle, rnn, static_cast<int32_t>(direction), bytes, begin, static_cast<int32_t>(first + i), matrix,
              &at_matrix, bias, &at_bias),
          "cudnnGetRNNWeightParams");
      const auto* const place = static_cast<const char*>(is_bias ? at_bias : at_matrix);
      if (place == nullptr || elements_of(is_bias ? bias : matrix) != each) {
        as_expected = false;
        return;
      }
      const int64_t distance = place - begin;
      offset = i == 0 ? distance : offset;
      as_expected = as_expected && distance == offset + i * each * element;
    }
    as_expected =
        as_expected && offset % element == 0 && offset >= 0 && offset / element + each * count <= layout.elements;
    layout.places.push_back({offset / element, std::move(sizes)});
  };
  const int64_t gates = n.gates(), rows = gates * n.hidden_size;
  for (int64_t direction = 0; direction < n.num_layers * n.directions() && as_expected; ++direction) {
    const int64_t input_size = direction < n.directions() ? n.input_size : n.output_size() * n.directions();
    add(direction, 0, gates, false, {rows, input_size});
    add(direction, gates, gates, false, {rows, n.output_size()});
    if (n.biased) {
      add(direction, 0, gates, true, {rows});
      add(direction, gates, gates, true, {rows});
    }
    if (n.proj_size > 0) {
      add(direction, 2 * gates, 1, false, {n.proj_size, n.hidden_size});
    }
  }
  return as_expected ? std::optional(std::move(layout)) : std::nullopt;
}

/// What is known of networks on each device; null of those that cuDNN does not take.
class Layouts {
 public:
  using Key = std::tuple<int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, bool, bool>;
  using Value = std::shared_ptr<const CudnnWeightLayout>;
  static constexpr std::size_t kMost = 1000; // programs whose sizes never repeat begin anew

  static Key key_of(const CudnnNetwork& n) {
    return {
        c10::cuda::current_device(),
        n.mode,
        static_cast<int64_t>(n.dtype),
        n.input_size,
        n.hidden_size,
        n.proj_size,
        n.num_layers,
        n.biased,
        n.bidirectional};
  }
  static Layouts& all() {
    static auto* const layouts = new Layouts();
    return *layouts;
  }
  std::optional<Value> find(const Key& key) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = known_.find(key);
    return found == known_.end() ? std::nullopt : std::optional<Value>(found->second);
  }
  void remember(const Key& key, Value layout) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (known_.size() >= kMost) {
      known_.clear();
    }
    known_[key] = std::move(layout);
  }

 private:
  std::mutex mutex_;
  std::map<Key, Value> known_;
};

} // namespace

int64_t CudnnNetwork::gates() const {
  return mode == CUDNN_LSTM ? 4 : mode == CUDNN_GRU ? 3 : 1;
}

std::shared_ptr<const CudnnWeightLayout> cudnn_weight_layout(
    const CudnnNetwork& network, const TensorOptions& options) {
  const auto key = Layouts::key_of(network);
  if (const auto known = Layouts::all().find(key)) {
    return *known;
  }
  auto asked = ask_for_layout(network, options);
  auto layout = asked ? std::make_shared<const CudnnWeightLayout>(std::move(*asked)) : nullptr;
  Layouts::all().remember(key, layout);
  return layout;
}

void refuse_cudnn_network(const CudnnNetwork& network) {
  Layouts::all().remember(Layouts::key_of(network), nullptr);
}

Tensor shared_weight_buffer(const CudnnWeightLayout& layout, TensorList weights) {
  const Tensor& first = weights[0];
  const int64_t begin = first.storage_offset() - layout.places[0].offset;
  const auto in_place = [&](const Tensor& w, const CudnnWeightLayout::Place& place) {
    return w.is_contiguous() && w.is_alias_of(first) && w.scalar_type() == first.scalar_type() &&
        w.storage_offset() == begin + place.offset;
  };
  const auto held = static_cast<int64_t>(first.storage().nbytes() / first.element_size());
  if (begin < 0 || held - begin < layout.elements ||
      !std::equal(weights.begin(), weights.end(), layout.places.begin(), layout.places.end(), in_place)) {
    return {};
  }
  return first.detach().as_strided({layout.elements}, {1}, begin);
}

Tensor copied_weights(const CudnnWeightLayout& layout, TensorList weights) {
  const Tensor buffer = at::zeros({layout.elements}, weights[0].options().requires_grad(false));
  for (std::size_t i = 0; i < weights.size(); ++i) {
    buffer.narrow(0, layout.places[i].offset, weights[i].numel()).view(weights[i].sizes()).copy_(weights[i].detach());
  }
  return buffer;
}

namespace {

// ---- calls
// -------------------------------------------------------------------------------------------------------------------

struct Sequences {
  std::vector<int> lengths; // of each
  int64_t steps;

  int64_t batch() const {
    return static_cast<int64_t>(lengths.size());
  }
};

/// `batch_sizes` are the sequences at each step.
Sequences packed_sequences(const char* op, IntArrayRef batch_sizes, int64_t rows) {
  Sequences s{{}, static_cast<int64_t>(batch_sizes.size())};
  int64_t total = 0, before = std::min(rows, kMost);
  for (const int64_t size : batch_sizes) {
    TORCH_CHECK(size > 0 && size <= before, op, ": batch_sizes must be positive and not grow, got ", batch_sizes);
    before = size;
    total += size;
  }
  TORCH_CHECK(total == rows, op, ": batch_sizes add up to ", total, ", but the input has ", rows, " rows");
  s.lengths.resize(static_cast<std::size_t>(batch_sizes[0]), 0);
  for (const int64_t size : batch_sizes) {
    std::for_each(s.lengths.begin(), s.lengths.begin() + size, [](int& length) { ++length; });
  }
  return s;
}

/// Whether the steps are worth kernels that keep the weights on the chip, which cuDNN has for networks of 16 bits and
/// sizes that divide well. The answer is the same on the way back, which reads what they wrote.
bool keeps_weights_on_chip(const CudnnNetwork& n, const Sequences& s) {
  const bool is_narrow = n.dtype == c10::ScalarType::Half || n.dtype == c10::ScalarType::BFloat16;
  const bool one_length = s.lengths.front() == s.lengths.back();
  if (!is_narrow || !one_length || n.proj_size > 0 || n.num_layers != 1 || n.bidirectional || n.hidden_size > 1024 ||
      n.hidden_size % 128 != 0 || n.input_size % 128 != 0 || n.mode == CUDNN_GRU) {
    return false;
  }
  const cudaDeviceProp& device = *at::cuda::getCurrentDeviceProperties();
  const bool is_large = device.major >= 8 && device.minor != 6 && device.multiProcessorCount >= 98;
  const int64_t batch = s.batch();
  return is_large && batch % 8 == 0 && batch <= 128 && (n.mode == CUDNN_LSTM || batch < 96 || n.hidden_size < 896);
}

/// Arguments that _cudnn_rnn and _cudnn_rnn_backward have in common, checked.
struct Arguments {
  const char* op;
  CudnnNetwork network;
  Sequences sequences;
  std::shared_ptr<const CudnnWeightLayout> layout;
  Tensor input, hx, cx; // contiguous, time first; cx of an LSTM
  bool batch_first;

  Tensor time_first(const Tensor& t) const {
    return batch_first ? t.transpose(0, 1) : t;
  }

  /// Sizes like the input's, of `width` elements.
  DimVector sizes_of(int64_t width) const {
    DimVector sizes(input.sizes().begin(), input.sizes().end());
    sizes.back() = width;
    return sizes;
  }
  int64_t output_width() const {
    return network.output_size() * network.directions();
  }

  /// A tensor beside the others.
  void check(const char* name, const Tensor& t, IntArrayRef sizes) const {
    TORCH_CHECK(
        t.sizes() == sizes && t.scalar_type() == network.dtype && t.device() == input.device() &&
            t.layout() == kStrided,
        op, ": expected ", name, " of sizes ", sizes, " and ", network.dtype, " on ", input.device(), ", got ",
        t.sizes(), " of ", t.scalar_type(), " on ", t.device());
  }
};

CudnnNetwork checked_network(
    const char* op,
    const Tensor& like,
    int64_t input_size,
    int64_t weights,
    int64_t weight_stride0,
    int64_t mode,
    int64_t hidden_size,
    int64_t proj_size,
    int64_t num_layers,
    bool bidirectional) {
  const c10::ScalarType dtype = like.scalar_type();
  TORCH_CHECK(CUDNN_RNN_RELU <= mode && mode <= CUDNN_GRU, "unrecognized cuDNN RNN mode ", mode);
  TORCH_CHECK(
      dtype == kFloat || dtype == kDouble || dtype == kHalf || dtype == kBFloat16, op,
      ": cuDNN takes float, double, half and bfloat16, got ", dtype);
  const auto is_size = [](int64_t v) { return 0 < v && v <= kMost; };
  TORCH_CHECK(
      is_size(input_size) && is_size(hidden_size) && is_size(num_layers) && 0 <= proj_size && proj_size <= kMost &&
          (mode == CUDNN_LSTM || proj_size == 0),
      op, ": sizes must be positive and fit 32 bits, and only an LSTM has a projection; got input size ", input_size,
      ", hidden_size ", hidden_size, ", proj_size ", proj_size, " and num_layers ", num_layers);
  const CudnnNetwork n{mode, dtype, input_size, hidden_size, proj_size, num_layers, weight_stride0 >= 4, bidirectional};
  TORCH_CHECK(
      weight_stride0 == n.weights() && weights % weight_stride0 == 0 &&
          weights / weight_stride0 == num_layers * n.directions(),
      op,
      ": a layer has 2 weights for each direction, 4 with biases, and one more with a projection; got weight_stride0 ",
      weight_stride0, " and ", weights, " weights of ", num_layers, " layers");
  return n;
}

std::shared_ptr<const CudnnWeightLayout> checked_layout(const char* op, const CudnnNetwork& n, const Tensor& like) {
  auto layout = cudnn_weight_layout(n, like.options().requires_grad(false));
  TORCH_CHECK_NOT_IMPLEMENTED(
      layout != nullptr, op, ": cuDNN does not take such layers, of input size ", n.input_size, ", hidden size ",
      n.hidden_size, ", projection ", n.proj_size, " and ", n.dtype);
  return layout;
}

void check_weights(const char* op, const CudnnWeightLayout& layout, TensorList weights, const Tensor& like) {
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const Tensor& w = weights[i];
    TORCH_CHECK(
        w.defined() && w.sizes() == layout.places[i].sizes && w.scalar_type() == like.scalar_type() &&
            w.device() == like.device() && w.layout() == kStrided,
        op, ": expected weight ", i, " of sizes ", IntArrayRef(layout.places[i].sizes), " and ", like.scalar_type(),
        " on ", like.device(), ", got ", w.toString(), " of sizes ", w.defined() ? w.sizes() : IntArrayRef());
  }
}

Arguments checked(
    const char* op,
    const Tensor& input,
    TensorList weight,
    int64_t weight_stride0,
    const Tensor& hx,
    const std::optional<Tensor>& cx,
    int64_t mode,
    int64_t hidden_size,
    int64_t proj_size,
    int64_t num_layers,
    bool batch_first,
    bool bidirectional,
    IntArrayRef batch_sizes) {
  const bool packed = !batch_sizes.empty();
  TORCH_CHECK(
      input.dim() == (packed ? 2 : 3) && input.numel() > 0, op, ": expected an input of ", packed ? 2 : 3,
      " dimensions that has elements, got ", input.sizes());
  TORCH_CHECK(mode == CUDNN_LSTM || !given(cx), "rnn: illegal defined cx for non-LSTM RNN");
  TORCH_CHECK(mode != CUDNN_LSTM || given(cx), op, ": an LSTM needs cx");
  Arguments a{
      op,
      checked_network(
          op, input, input.size(-1), static_cast<int64_t>(weight.size()), weight_stride0, mode, hidden_size, proj_size,
          num_layers, bidirectional),
      {},
      nullptr,
      {},
      hx,
      given(cx) ? *cx : Tensor(),
      batch_first && !packed};
  a.input = a.time_first(input).contiguous();
  TORCH_CHECK_NOT_IMPLEMENTED(
      a.input.numel() / a.input.size(-1) <= kMost / std::max(a.network.input_size, 2 * a.network.gates() * hidden_size),
      op, ": cuDNN takes up to 2^31 - 1 elements, got an input of sizes ", input.sizes(), " and hidden size ",
      hidden_size);
  if (packed) {
    a.sequences = packed_sequences(op, batch_sizes, a.input.size(0));
  } else {
    a.sequences = {
        std::vector<int>(static_cast<std::size_t>(a.input.size(1)), static_cast<int>(a.input.size(0))),
        a.input.size(0)};
  }
  const int64_t states = num_layers * a.network.directions();
  a.check("hx", a.hx, {states, a.sequences.batch(), a.network.output_size()});
  TORCH_CHECK(a.hx.is_contiguous(), "rnn: hx is not contiguous");
  if (a.cx.defined()) {
    a.check("cx", a.cx, {states, a.sequences.batch(), hidden_size});
    TORCH_CHECK(a.cx.is_contiguous(), "rnn: cx is not contiguous");
  }
  a.layout = checked_layout(op, a.network, input);
  check_weights(op, *a.layout, weight, input);
  return a;
}

void check_buffer(const Arguments& a, const Tensor& buffer) {
  a.check("weight_buf", buffer, {a.layout->elements});
  TORCH_CHECK(buffer.is_contiguous(), a.op, ": weight_buf must be contiguous");
}

/// The state for dropout between layers, or an undefined tensor where nothing is dropped.
Tensor checked_dropout_state(const Arguments& a, double dropout, bool train, const std::optional<Tensor>& state) {
  TORCH_CHECK(dropout >= 0 && dropout <= 1, a.op, ": dropout must be between 0 and 1, got ", dropout);
  if (!train || dropout == 0) {
    return {};
  }
  std::size_t bytes = 0;
  check_dnn(dropout_state_size(getCudnnHandle(), &bytes), "cudnnDropoutGetStatesSize");
  TORCH_CHECK(
      given(state) && state->scalar_type() == kByte && state->is_contiguous() && state->device() == a.input.device() &&
          state->numel() == static_cast<int64_t>(bytes),
      a.op, ": dropout needs a dropout_state of ", bytes, " bytes on ", a.input.device(),
      ", made by _cudnn_init_dropout_state");
  return *state;
}

/// All that cuDNN is told of a call.
struct Call {
  cudnnHandle_t handle = getCudnnHandle();
  RnnDescriptor rnn;
  DataDescriptor x, y;
  DnnTensor h, c;
  std::size_t work_bytes = 0, reserve_bytes = 0;

  Call(const Arguments& a, cudnnForwardMode_t mode, double dropout, const Tensor& dropout_state) {
    const CudnnNetwork& n = a.network;
    const cudnnDataType_t type = dnn_type(n.dtype);
    const auto describe_data = [&](cudnnRNNDataDescriptor_t descriptor, int64_t width) {
      check_dnn(
          set_rnn_data(
              descriptor, type, CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED, static_cast<int>(a.sequences.steps),
              static_cast<int>(a.sequences.batch()), static_cast<int>(width), a.sequences.lengths.data(), nullptr),
          "cudnnSetRNNDataDescriptor");
    };
    const auto describe_states = [&](cudnnTensorDescriptor_t descriptor, int64_t width) {
      const std::array<int, 3> sizes{
          static_cast<int>(n.num_layers * n.directions()), static_cast<int>(a.sequences.batch()),
          static_cast<int>(width)};
      const std::array<int, 3> strides{sizes[1] * sizes[2], sizes[2], 1};
      check_dnn(set_dnn_tensor(descriptor, type, 3, sizes.data(), strides.data()), "cudnnSetTensorNdDescriptor");
    };
    describe_data(x, n.input_size);
    describe_data(y, a.output_width());
    describe_states(h, n.output_size());
    describe_states(c, n.hidden_size);
    const auto takes = [&](cudnnRNNAlgo_t algorithm) {
      return rnn.set(handle, n, algorithm, dropout, dropout_state) &&
          dnn_succeeds(
                 temp_space_sizes(handle, rnn, mode, x, &work_bytes, &reserve_bytes), "cudnnGetRNNTempSpaceSizes");
    };
    const bool taken = (keeps_weights_on_chip(n, a.sequences) && takes(CUDNN_RNN_ALGO_PERSIST_STATIC)) ||
        takes(CUDNN_RNN_ALGO_STANDARD);
    TORCH_CHECK_NOT_IMPLEMENTED(taken, a.op, ": cuDNN does not take such sequences");
  }

  Workspace workspace() const {
    return {std::max<std::size_t>(work_bytes, 1), c10::cuda::getCurrentCUDAStream().stream()};
  }
};

void check_run(cudnnStatus_t status, const char* op, const char* call) {
  TORCH_CHECK_NOT_IMPLEMENTED(
      dnn_succeeds(status, call), op, ": ", call,
      " does not take such layers or sequences: ", dnn_error_string(status));
}

Tensor contiguous_or_undefined(const std::optional<Tensor>& t) {
  return given(t) ? t->contiguous() : Tensor();
}

} // namespace

} // namespace cuda

// ---- operators
// -----------------------------------------------------------------------------------------------------------------

std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor> cudnn_rnn_cuda(
    const Tensor& input,
    TensorList weight,
    int64_t weight_stride0,
    const std::optional<Tensor>& weight_buf,
    const Tensor& hx,
    const std::optional<Tensor>& cx,
    int64_t mode,
    int64_t hidden_size,
    int64_t proj_size,
    int64_t num_layers,
    bool batch_first,
    double dropout,
    bool train,
    bool bidirectional,
    IntArrayRef batch_sizes,
    const std::optional<Tensor>& dropout_state) {
  using namespace cuda;
  const Arguments a = checked(
      "_cudnn_rnn", input, weight, weight_stride0, hx, cx, mode, hidden_size, proj_size, num_layers, batch_first,
      bidirectional, batch_sizes);
  if (!given(weight_buf)) {
    TORCH_WARN_ONCE(
        "RNN module weights are not part of single contiguous chunk of memory. This means they need to be compacted at "
        "every call, possibly greatly "
        "increasing memory usage. To compact weights again call flatten_parameters().");
  }
  const Tensor buffer = given(weight_buf) ? *weight_buf : copied_weights(*a.layout, weight);
  check_buffer(a, buffer);
  const cudnnForwardMode_t forward_mode = train ? CUDNN_FWD_MODE_TRAINING : CUDNN_FWD_MODE_INFERENCE;
  const Call call(a, forward_mode, dropout, checked_dropout_state(a, dropout, train, dropout_state));
  const TensorOptions options = a.input.options();
  const Tensor output = at::empty(a.sizes_of(a.output_width()), options), hy = at::empty(a.hx.sizes(), options);
  const Tensor cy = at::empty(a.cx.defined() ? a.cx.sizes() : IntArrayRef({0}), options);
  const Tensor reserve = at::empty({train ? static_cast<int64_t>(call.reserve_bytes) : 0}, options.dtype(kByte));
  const Workspace work = call.workspace();
  check_run(
      run_rnn(
          call.handle, call.rnn, forward_mode, nullptr, call.x, address(a.input), call.y, output.mutable_data_ptr(),
          call.h, address(a.hx), hy.mutable_data_ptr(), call.c, address(a.cx),
          a.cx.defined() ? cy.mutable_data_ptr() : nullptr, buffer.nbytes(), address(buffer), call.work_bytes,
          work.data(), reserve.nbytes(), train ? reserve.mutable_data_ptr() : nullptr),
      a.op, "cudnnRNNForward");
  return {a.time_first(output), hy, cy, reserve, buffer};
}

std::tuple<Tensor, Tensor, Tensor, std::vector<Tensor>> cudnn_rnn_backward_cuda(
    const Tensor& input,
    TensorList weight,
    int64_t weight_stride0,
    const Tensor& weight_buf,
    const Tensor& hx,
    const std::optional<Tensor>& cx,
    const Tensor& output,
    const std::optional<Tensor>& grad_output,
    const std::optional<Tensor>& grad_hy,
    const std::optional<Tensor>& grad_cy,
    int64_t mode,
    int64_t hidden_size,
    int64_t proj_size,
    int64_t num_layers,
    bool batch_first,
    double dropout,
    bool train,
    bool bidirectional,
    IntArrayRef batch_sizes,
    const std::optional<Tensor>& dropout_state,
    const Tensor& reserve,
    std::array<bool, 4> output_mask) {
  using namespace cuda;
  std::vector<Tensor> for_weights(weight.size());
  if (!given(grad_output) && !given(grad_hy) && !given(grad_cy)) {
    return {Tensor(), Tensor(), Tensor(), for_weights};
  }
  const Arguments a = checked(
      "_cudnn_rnn_backward", input, weight, weight_stride0, hx, cx, mode, hidden_size, proj_size, num_layers,
      batch_first, bidirectional, batch_sizes);
  TORCH_CHECK(train, "cudnn RNN backward can only be called in training mode");
  check_buffer(a, weight_buf);
  const Call call(a, CUDNN_FWD_MODE_TRAINING, dropout, checked_dropout_state(a, dropout, train, dropout_state));
  TORCH_CHECK(
      reserve.scalar_type() == kByte && reserve.is_contiguous() && reserve.device() == input.device() &&
          reserve.numel() == static_cast<int64_t>(call.reserve_bytes),
      a.op, ": expected a reserve of ", call.reserve_bytes, " bytes on ", input.device(),
      ", as _cudnn_rnn leaves it, got ", reserve.numel(), " elements of ", reserve.scalar_type(), " on ",
      reserve.device());
  const TensorOptions options = a.input.options();
  const DimVector sizes = a.sizes_of(a.output_width());
  const Tensor y = a.time_first(output).contiguous();
  const Tensor dy = given(grad_output) ? a.time_first(*grad_output).contiguous() : at::zeros(sizes, options);
  const Tensor dhy = contiguous_or_undefined(grad_hy),
               dcy = a.cx.defined() ? contiguous_or_undefined(grad_cy) : Tensor();
  a.check("output", y, sizes);
  a.check("grad_output", dy, sizes);
  if (dhy.defined()) {
    a.check("grad_hy", dhy, a.hx.sizes());
  }
  if (dcy.defined()) {
    a.check("grad_cy", dcy, a.cx.sizes());
  }
  const Tensor dx = at::empty(a.input.sizes(), options), dhx = at::empty(a.hx.sizes(), options);
  const Tensor dcx = a.cx.defined() ? at::empty(a.cx.sizes(), options) : Tensor();
  const Workspace work = call.workspace();
  check_run(
      run_rnn_back(
          call.handle, call.rnn, nullptr, call.y, address(y), address(dy), call.x, dx.mutable_data_ptr(), call.h,
          address(a.hx), address(dhy), dhx.mutable_data_ptr(), call.c, address(a.cx), address(dcy),
          dcx.defined() ? dcx.mutable_data_ptr() : nullptr, weight_buf.nbytes(), address(weight_buf), call.work_bytes,
          work.data(), reserve.nbytes(), reserve.mutable_data_ptr()),
      a.op, "cudnnRNNBackwardData_v8");
  if (output_mask[3]) {
    const Tensor grads = at::zeros({a.layout->elements}, options); // to which cuDNN adds
    check_run(
        run_rnn_weights_back(
            call.handle, call.rnn, CUDNN_WGRAD_MODE_ADD, nullptr, call.x, address(a.input), call.h, address(a.hx),
            call.y, address(y), grads.nbytes(), grads.mutable_data_ptr(), call.work_bytes, work.data(),
            reserve.nbytes(), reserve.mutable_data_ptr()),
        a.op, "cudnnRNNBackwardWeights_v8");
    for (std::size_t i = 0; i < for_weights.size(); ++i) {
      for_weights[i] = grads.narrow(0, a.layout->places[i].offset, weight[i].numel()).view(weight[i].sizes());
    }
  }
  return {
      output_mask[0] ? a.time_first(dx) : Tensor(), output_mask[1] ? dhx : Tensor(), output_mask[2] ? dcx : Tensor(),
      std::move(for_weights)};
}

Tensor cudnn_rnn_flatten_weight_cuda(
    TensorList weight_arr,
    int64_t weight_stride0,
    int64_t input_size,
    int64_t mode,
    int64_t hidden_size,
    int64_t proj_size,
    int64_t num_layers,
    bool,
    bool bidirectional) {
  const char* const op = "_cudnn_rnn_flatten_weight";
  TORCH_CHECK(!weight_arr.empty(), op, "_: cannot flatten empty weight list");
  const auto network = cuda::checked_network(
      op, weight_arr[0], input_size, static_cast<int64_t>(weight_arr.size()), weight_stride0, mode, hidden_size,
      proj_size, num_layers, bidirectional);
  const auto layout = cuda::checked_layout(op, network, weight_arr[0]);
  cuda::check_weights(op, *layout, weight_arr, weight_arr[0]);
  const Tensor buffer = cuda::copied_weights(*layout, weight_arr);
  for (std::size_t i = 0; i < weight_arr.size(); ++i) {
    Tensor weight = weight_arr[i];
    weight.set_(buffer.narrow(0, layout->places[i].offset, weight.numel()).view(weight.sizes()));
  }
  return buffer;
}

Tensor cudnn_init_dropout_state_cuda(
    double dropout,
    bool train,
    int64_t dropout_seed,
    std::optional<ScalarType>,
    std::optional<Layout>,
    std::optional<Device> device,
    std::optional<bool>) {
  const auto options = TensorOptions().dtype(kByte).device(device);
  if (!train || dropout == 0) {
    return at::empty({0}, options);
  }
  TORCH_CHECK(dropout > 0 && dropout <= 1, "_cudnn_init_dropout_state: dropout must be between 0 and 1, got ", dropout);
  const cudnnHandle_t handle = getCudnnHandle();
  std::size_t bytes = 0;
  cuda::check_dnn(cuda::dropout_state_size(handle, &bytes), "cudnnDropoutGetStatesSize");
  const Tensor state = at::empty({static_cast<int64_t>(bytes)}, options);
  const cuda::DropoutDescriptor descriptor;
  cuda::check_dnn(
      cuda::set_dropout(
          descriptor, handle, static_cast<float>(dropout), state.mutable_data_ptr(), bytes,
          static_cast<unsigned long long>(dropout_seed)),
      "cudnnSetDropoutDescriptor");
  return state;
}

} // namespace at::native

#else

namespace at::native {

namespace {

[[noreturn]] void throw_without_cudnn(const char* op) {
  TORCH_CHECK_NOT_IMPLEMENTED(false, op, ": this libtensor was built without cuDNN 9");
}

} // namespace

std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor> cudnn_rnn_cuda(
    const Tensor&,
    TensorList,
    int64_t,
    const std::optional<Tensor>&,
    const Tensor&,
    const std::optional<Tensor>&,
    int64_t,
    int64_t,
    int64_t,
    int64_t,
    bool,
    double,
    bool,
    bool,
    IntArrayRef,
    const std::optional<Tensor>&) {
  throw_without_cudnn("_cudnn_rnn");
}

std::tuple<Tensor, Tensor, Tensor, std::vector<Tensor>> cudnn_rnn_backward_cuda(
    const Tensor&,
    TensorList,
    int64_t,
    const Tensor&,
    const Tensor&,
    const std::optional<Tensor>&,
    const Tensor&,
    const std::optional<Tensor>&,
    const std::optional<Tensor>&,
    const std::optional<Tensor>&,
    int64_t,
    int64_t,
    int64_t,
    int64_t,
    bool,
    double,
    bool,
    bool,
    IntArrayRef,
    const std::optional<Tensor>&,
    const Tensor&,
    std::array<bool, 4>) {
  throw_without_cudnn("_cudnn_rnn_backward");
}

Tensor cudnn_rnn_flatten_weight_cuda(TensorList, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, bool, bool) {
  throw_without_cudnn("_cudnn_rnn_flatten_weight");
}

Tensor cudnn_init_dropout_state_cuda(
    double,
    bool,
    int64_t,
    std::optional<ScalarType>,
    std::optional<Layout>,
    std::optional<Device>,
    std::optional<bool>) {
  throw_without_cudnn("_cudnn_init_dropout_state");
}

} // namespace at::native

#endif
