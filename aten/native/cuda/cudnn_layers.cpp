// The way of LSTM, GRU and simple recurrent networks to cuDNN (rnn_cudnn.cpp), where it is found, switched on and takes
// them. Otherwise their steps are taken by recurrence.cpp.
#if __has_include(<cudnn.h>)
#include <cudnn.h>
#endif

#if defined(CUDNN_MAJOR) && CUDNN_MAJOR == 9 // aten/cuda/Libraries.cpp opens that

#include <aten/Functions.h>
#include <aten/core/Context.h>
#include <aten/cuda/CUDAGeneratorImpl.h>
#include <aten/cuda/Libraries.h>
#include <aten/native/cuda/rnn_cudnn.h>
#include <aten/native/support/recurrence.h>
#include <c10/core/DeviceGuard.h>
#include <c10/core/GradMode.h>
#include <c10/cuda/CUDAEvent.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAGraphsC10Utils.h>

#include <algorithm>
#include <array>
#include <limits>
#include <mutex>
#include <optional>
#include <utility>

namespace at::native::cuda {

namespace {

/// The state of cuDNN's random numbers on one device. Every call that drops goes on with it, so they take turns, on
/// whatever streams they run. It begins anew when the device's generator has been seeded.
class DropoutState {
 public:
  static DropoutState& of_current_device() {
    static auto* const states = new std::array<DropoutState, C10_COMPILE_TIME_MAX_GPUS>();
    return (*states)[static_cast<std::size_t>(c10::cuda::current_device())];
  }

  /// f(state), in turn.
  template <class F>
  auto use(double dropout, const TensorOptions& options, const F& f) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const c10::cuda::CUDAStream stream = c10::cuda::getCurrentCUDAStream();
    // A capture must not wait for what is outside of it, nor make a state; its stream has waited before it began.
    const bool captured = c10::cuda::captures_underway() != 0;
    if (!captured) {
      used_.block(stream);
    }
    if (!state_.defined() || (!captured && was_seeded_since())) {
      // Drawn on the device, so that a seed gives the same numbers again.
      const auto seed = at::empty({}, options.dtype(kLong)).random_().item<int64_t>();
      state_ = at::_cudnn_init_dropout_state(dropout, true, seed, options.dtype(kByte));
      drawn_ = generator_place();
    }
    auto result = f(state_);
    if (!captured) {
      used_.record(stream);
    }
    return result;
  }

 private:
  struct Place {
    uint64_t seed, offset;
  };
  static Place generator_place() {
    Generator generator = at::cuda::detail::getDefaultCUDAGenerator();
    const std::lock_guard<std::mutex> lock(generator.mutex());
    return {generator.current_seed(), generator.get_offset()};
  }
  /// Seeds begin at offset 0, and offsets only grow.
  bool was_seeded_since() {
    const Place before = std::exchange(drawn_, generator_place());
    return drawn_.seed != before.seed || drawn_.offset < before.offset;
  }

  std::mutex mutex_;
  Tensor state_;
  Place drawn_{};
  c10::cuda::CUDAEvent used_;
};

int64_t mode_of(RecurrentCell cell) {
  return cell == RecurrentCell::lstm ? CUDNN_LSTM
      : cell == RecurrentCell::gru   ? CUDNN_GRU
      : cell == RecurrentCell::relu  ? CUDNN_RNN_RELU
                                     : CUDNN_RNN_TANH;
}

/// What cuDNN is told of the layers; nothing where their sizes, dtypes or devices do not fit together, which
/// recurrence.cpp's way says better, or cuDNN's ints.
std::optional<CudnnNetwork> network_of(const RecurrentLayers& l) {
  constexpr int64_t kMost = std::numeric_limits<int>::max();
  const ScalarType dtype = l.input.scalar_type();
  if ((dtype != kFloat && dtype != kDouble && dtype != kHalf && dtype != kBFloat16) || l.input.numel() == 0 ||
      l.input.dim() != (l.batch_sizes.empty() ? 3 : 2) || l.hx.dim() != 3 || l.hx.numel() == 0 ||
      (l.cx.defined() && l.cx.dim() != 3)) {
    return std::nullopt;
  }
  const auto fits = [&](const TensorBase& t) {
    return t.defined() && t.device() == l.input.device() && t.scalar_type() == dtype && t.layout() == kStrided;
  };
  const int64_t state = l.hx.size(2), hidden = l.cx.defined() ? l.cx.size(2) : state;
  const CudnnNetwork n{mode_of(l.cell), dtype,        l.input.size(-1), hidden, state == hidden ? 0 : state,
                       l.num_layers,    l.has_biases, l.bidirectional};
  const int64_t rows = l.input.numel() / n.input_size,
                batch = l.batch_sizes.empty() ? l.input.size(1) : l.batch_sizes[0];
  const bool states_fit = fits(l.hx) && l.hx.size(1) == batch && l.hx.size(0) == n.num_layers * n.directions() &&
      (!l.cx.defined() || (fits(l.cx) && l.cx.size(0) == l.hx.size(0) && l.cx.size(1) == batch));
  if (!fits(l.input) || !states_fit || hidden == 0 || hidden > kMost / 16 ||
      rows > kMost / std::max(n.input_size, 2 * n.gates() * hidden) ||
      !std::all_of(l.weights.begin(), l.weights.end(), fits)) {
    return std::nullopt;
  }
  return n;
}

bool weights_fit(const CudnnWeightLayout& layout, TensorList weights) {
  return std::equal(
      weights.begin(), weights.end(), layout.places.begin(), layout.places.end(),
      [](const Tensor& w, const CudnnWeightLayout::Place& place) { return w.sizes() == IntArrayRef(place.sizes); });
}

bool records_gradients(const RecurrentLayers& l) {
  const auto wants = [](const TensorBase& t) { return t.defined() && t.requires_grad(); };
  return c10::GradMode::is_enabled() &&
      (wants(l.input) || wants(l.hx) || wants(l.cx) || std::any_of(l.weights.begin(), l.weights.end(), wants));
}

std::optional<RecurrentStates> layers_by_cudnn(const RecurrentLayers& l) {
  const Context& context = at::globalContext();
  const double dropout = l.train && l.num_layers > 1 ? l.dropout : 0;
  // Its sums are not promised to come in one order, and with dropout of 1 it would scale zeros by infinity.
  if (!context.userEnabledCuDNN() || context.deterministicAlgorithms() || dropout < 0 || dropout >= 1 ||
      !at::cuda::has_library(at::cuda::Library::cuDNN)) {
    return std::nullopt;
  }
  const auto network = network_of(l);
  if (!network) {
    return std::nullopt;
  }
  const c10::OptionalDeviceGuard guard(l.input.device());
  const Tensor input(l.input);
  const TensorOptions options = input.options().requires_grad(false);
  const auto layout = cudnn_weight_layout(*network, options);
  if (layout == nullptr || !weights_fit(*layout, l.weights)) {
    return std::nullopt;
  }
  Tensor buffer;
  {
    const at::NoGradGuard no_grad;
    buffer = shared_weight_buffer(*layout, l.weights);
    if (!buffer.defined() && l.weights_are_made) {
      buffer = copied_weights(*layout, l.weights);
    }
  }
  // What the way back needs is kept wherever there may be one, also in evaluation.
  const bool train = dropout > 0 || records_gradients(l);
  const Tensor hx = Tensor(l.hx).contiguous(), cx = l.cx.defined() ? Tensor(l.cx).contiguous() : Tensor();
  const auto run = [&](const Tensor& dropout_state) {
    return at::_cudnn_rnn(
        input, l.weights, network->weights(), buffer, hx, cx, network->mode, network->hidden_size, network->proj_size,
        network->num_layers, false, dropout, train, network->bidirectional, l.batch_sizes, dropout_state);
  };
  try {
    const auto [output, hy, cy, reserve, flat] =
        dropout > 0 ? DropoutState::of_current_device().use(dropout, options, run) : run({});
    return RecurrentStates{output, hy, cy};
  } catch (const c10::NotImplementedError&) {
    refuse_cudnn_network(*network);
    return std::nullopt;
  }
}

[[maybe_unused]] const bool layers_registered =
    (register_recurrent_layers(c10::DeviceType::CUDA, &layers_by_cudnn), true);

} // namespace

} // namespace at::native::cuda

#endif
