#include <csrc/nn/modules/rnn.h>

#include <aten/Functions.h>
#include <c10/core/DeviceGuard.h>
#include <c10/core/GradMode.h>
#include <c10/util/Exception.h>
#include <c10/util/safe_numerics.h>
#include <csrc/nn/init.h>

#include <cmath>
#include <ostream>
#include <set>

using torch::nn::utils::rnn::PackedSequence;

namespace torch::nn {

namespace detail {

namespace {

int64_t num_gates(const RNNOptionsBase::rnn_options_base_mode_t& mode) {
  return std::holds_alternative<enumtype::kLSTM>(mode) ? 4 : std::holds_alternative<enumtype::kGRU>(mode) ? 3 : 1;
}

/// cuDNN's number of the cell.
int64_t cudnn_mode(const RNNOptionsBase::rnn_options_base_mode_t& mode) {
  return std::holds_alternative<enumtype::kRNN_RELU>(mode) ? 0
      : std::holds_alternative<enumtype::kRNN_TANH>(mode)  ? 1
      : std::holds_alternative<enumtype::kLSTM>(mode)      ? 2
                                                           : 3;
}

/// Whether one buffer may take over the weights: parameters on one GPU, of one dtype that cuDNN takes, each with memory
/// of its own.
bool can_be_flattened(const std::vector<Tensor>& weights) {
  std::set<const void*> data;
  for (const Tensor& w : weights) {
    const bool is_like_first = w.defined() && w.is_cuda() && w.is_leaf() && w.device() == weights[0].device() &&
        w.scalar_type() == weights[0].scalar_type();
    if (!is_like_first || w.numel() == 0 || w.layout() != kStrided || !data.insert(w.const_data_ptr()).second) {
      return false;
    }
  }
  const auto dtype = weights[0].scalar_type();
  return dtype == kFloat || dtype == kDouble || dtype == kHalf || dtype == kBFloat16;
}

void check_options(const RNNOptionsBase& options) {
  const double p = options.dropout();
  TORCH_CHECK(
      p >= 0 && p <= 1,
      "dropout should be a number in range [0, 1] representing the probability of an element being zeroed, but is ", p);
  TORCH_CHECK(options.hidden_size() > 0, "hidden_size must be greater than zero, but is ", options.hidden_size());
  TORCH_CHECK(options.num_layers() > 0, "num_layers must be greater than zero, but is ", options.num_layers());
  TORCH_CHECK(
      options.proj_size() >= 0 && options.proj_size() < options.hidden_size(),
      "proj_size has to be a positive integer, smaller than hidden_size, or zero to disable projections; it is ",
      options.proj_size(), ", hidden_size is ", options.hidden_size());
  if (p > 0 && options.num_layers() == 1) {
    TORCH_WARN(
        "dropout option adds dropout after all but last recurrent layer, so non-zero dropout expects num_layers "
        "greater "
        "than 1, but got dropout=",
        p, " and num_layers=", options.num_layers());
  }
}

} // namespace

int64_t gate_rows(int64_t gates, int64_t hidden_size) {
  int64_t rows = 0;
  TORCH_CHECK(
      !c10::mul_overflows(gates, hidden_size, &rows), "hidden_size ", hidden_size, " is too large for ", gates,
      " gates");
  return rows;
}

template <typename Derived>
RNNImplBase<Derived>::RNNImplBase(const RNNOptionsBase& options_) : options_base(options_) {
  RNNImplBase<Derived>::reset();
}

template <typename Derived>
void RNNImplBase<Derived>::reset() {
  check_options(options_base);
  const int64_t gate_size = gate_rows(num_gates(options_base.mode()), options_base.hidden_size());
  const int64_t directions = options_base.bidirectional() ? 2 : 1;
  const int64_t output_size = options_base.proj_size() > 0 ? options_base.proj_size() : options_base.hidden_size();
  flat_weights_names_.clear();
  const auto add = [this](const std::string& name, at::IntArrayRef sizes) {
    this->register_parameter(name, at::empty(sizes));
    flat_weights_names_.push_back(name);
  };
  for (int64_t layer = 0; layer < options_base.num_layers(); ++layer) {
    for (int64_t direction = 0; direction < directions; ++direction) {
      const std::string suffix = "_l" + std::to_string(layer) + (direction == 1 ? "_reverse" : "");
      add("weight_ih" + suffix, {gate_size, layer == 0 ? options_base.input_size() : output_size * directions});
      add("weight_hh" + suffix, {gate_size, output_size});
      if (options_base.bias()) {
        add("bias_ih" + suffix, {gate_size});
        add("bias_hh" + suffix, {gate_size});
      }
      if (options_base.proj_size() > 0) {
        add("weight_hr" + suffix, {options_base.proj_size(), options_base.hidden_size()});
      }
    }
  }
  reset_flat_weights();
  reset_parameters();
}

template <typename Derived>
void RNNImplBase<Derived>::reset_parameters() {
  const double bound = 1.0 / std::sqrt(static_cast<double>(options_base.hidden_size()));
  for (const Tensor& weight : this->parameters()) {
    init::uniform_(weight, -bound, bound);
  }
}

template <typename Derived>
void RNNImplBase<Derived>::reset_flat_weights() {
  flat_weights_.resize(flat_weights_names_.size());
  for (size_t i = 0; i < flat_weights_names_.size(); ++i) {
    // One that is computed (Note [Computed tensors]) is no parameter, and stays the tensor that it was.
    if (const Tensor* weight = this->parameters_.find(flat_weights_names_[i])) {
      flat_weights_[i] = *weight;
    }
  }
}

template <typename Derived>
void RNNImplBase<Derived>::to(torch::Device device, torch::Dtype dtype, bool non_blocking) {
  Module::to(device, dtype, non_blocking);
  flatten_parameters();
}

template <typename Derived>
void RNNImplBase<Derived>::to(torch::Dtype dtype, bool non_blocking) {
  Module::to(dtype, non_blocking);
  flatten_parameters();
}

template <typename Derived>
void RNNImplBase<Derived>::to(torch::Device device, bool non_blocking) {
  Module::to(device, non_blocking);
  flatten_parameters();
}

template <typename Derived>
void RNNImplBase<Derived>::flatten_parameters() {
  reset_flat_weights();
  if (!can_be_flattened(flat_weights_) || !at::_use_cudnn_rnn_flatten_weight()) {
    return;
  }
  const c10::NoGradGuard no_grad;
  const c10::OptionalDeviceGuard guard(flat_weights_[0].device());
  const int64_t each = (options_base.bias() ? 4 : 2) + (options_base.proj_size() > 0 ? 1 : 0);
  try {
    at::_cudnn_rnn_flatten_weight(
        flat_weights_, each, options_base.input_size(), cudnn_mode(options_base.mode()), options_base.hidden_size(),
        options_base.proj_size(), options_base.num_layers(), options_base.batch_first(), options_base.bidirectional());
  } catch (const c10::NotImplementedError&) { // cuDNN does not take such layers: they stay as they are
  }
}

template <typename Derived>
std::vector<Tensor> RNNImplBase<Derived>::all_weights() const {
  return flat_weights_;
}

template <typename Derived>
void RNNImplBase<Derived>::check_input(const Tensor& input, const Tensor& batch_sizes) const {
  const int64_t dims = batch_sizes.defined() ? 2 : 3;
  TORCH_CHECK(
      input.dim() == dims, "input must have ", dims, " dimensions, got ", input.dim(), " (sizes ", input.sizes(), ")");
  TORCH_CHECK(
      input.size(-1) == options_base.input_size(), "input.size(-1) must be equal to input_size. Expected ",
      options_base.input_size(), ", got ", input.size(-1));
}

template <typename Derived>
std::vector<int64_t> RNNImplBase<Derived>::expected_hidden_sizes(
    const Tensor& input, const Tensor& batch_sizes, int64_t hidden_size) const {
  const int64_t batch = batch_sizes.defined() ? batch_sizes.select(0, 0).template item<int64_t>()
                                              : input.size(options_base.batch_first() ? 0 : 1);
  return {options_base.num_layers() * (options_base.bidirectional() ? 2 : 1), batch, hidden_size};
}

template <typename Derived>
void RNNImplBase<Derived>::check_hidden(
    const Tensor& hx, const std::vector<int64_t>& expected, const char* what) const {
  TORCH_CHECK(
      hx.sizes() == at::IntArrayRef(expected), "Expected ", what, " size ", at::IntArrayRef(expected), ", got ",
      hx.sizes());
}

template <typename Derived>
Tensor RNNImplBase<Derived>::permute_hidden(Tensor hx, const Tensor& permutation) const {
  return permutation.defined() ? hx.index_select(1, permutation) : hx;
}

template <typename Derived>
void RNNImplBase<Derived>::pretty_print(std::ostream& stream) const {
  const std::string name = this->name(); // ends in "Impl"
  stream << std::boolalpha << name.substr(0, name.size() - 4) << "(input_size=" << options_base.input_size()
         << ", hidden_size=" << options_base.hidden_size() << ", num_layers=" << options_base.num_layers()
         << ", bias=" << options_base.bias() << ", batch_first=" << options_base.batch_first()
         << ", dropout=" << options_base.dropout() << ", bidirectional=" << options_base.bidirectional();
  if (options_base.proj_size() > 0) {
    stream << ", proj_size=" << options_base.proj_size();
  }
  stream << ")";
}

template class RNNImplBase<RNNImpl>;
template class RNNImplBase<LSTMImpl>;
template class RNNImplBase<GRUImpl>;

namespace {

template <class Options>
RNNOptionsBase base_options(const RNNOptionsBase::rnn_options_base_mode_t& mode, const Options& options) {
  return RNNOptionsBase(mode, options.input_size(), options.hidden_size())
      .num_layers(options.num_layers())
      .bias(options.bias())
      .batch_first(options.batch_first())
      .dropout(options.dropout())
      .bidirectional(options.bidirectional());
}

RNNOptionsBase::rnn_options_base_mode_t mode_of(const RNNOptions::nonlinearity_t& nonlinearity) {
  if (std::holds_alternative<enumtype::kReLU>(nonlinearity)) {
    return torch::kRNN_RELU;
  }
  return torch::kRNN_TANH;
}

// Input without a batch: forward adds a batch of one and takes it away again.
int64_t batch_dim(bool batch_first) {
  return batch_first ? 0 : 1;
}

void check_dims(const char* name, const Tensor& input) {
  TORCH_CHECK(
      input.dim() == 2 || input.dim() == 3, name, ": Expected input to be 2D or 3D, got ", input.dim(),
      "D instead (sizes ", input.sizes(), ")");
}

Tensor with_batch(const char* name, const Tensor& hx, bool batched) {
  TORCH_CHECK(
      hx.dim() == (batched ? 3 : 2), name, ": For ", batched ? "batched 3-D" : "unbatched 2-D",
      " input, hx should also be ", batched ? 3 : 2, "-D but got ", hx.dim(), "-D tensor");
  return batched ? hx : hx.unsqueeze(1);
}

} // namespace
} // namespace detail

RNNImpl::RNNImpl(int64_t input_size, int64_t hidden_size) : RNNImpl(RNNOptions(input_size, hidden_size)) {}

RNNImpl::RNNImpl(const RNNOptions& options_)
    : RNNImplBase(detail::base_options(detail::mode_of(options_.nonlinearity()), options_)), options(options_) {}

std::tuple<Tensor, Tensor> RNNImpl::forward(const Tensor& input, Tensor hx) {
  detail::check_dims("RNN", input);
  const bool batched = input.dim() == 3;
  const int64_t batch_dim = detail::batch_dim(options.batch_first());
  const Tensor full = batched ? input : input.unsqueeze(batch_dim);
  if (hx.defined()) {
    hx = detail::with_batch("RNN", hx, batched);
  }
  auto [output, hidden] = forward_helper(full, Tensor(), Tensor(), full.size(batch_dim), hx);
  if (batched) {
    return {output, hidden};
  }
  return {output.squeeze(batch_dim), hidden.squeeze(1)};
}

std::tuple<Tensor, Tensor> RNNImpl::forward_helper(
    const Tensor& input, const Tensor& batch_sizes, const Tensor& sorted_indices, int64_t max_batch_size, Tensor hx) {
  check_input(input, batch_sizes);
  const std::vector<int64_t> sizes = expected_hidden_sizes(input, batch_sizes, options.hidden_size());
  if (hx.defined()) {
    hx = permute_hidden(hx, sorted_indices);
  } else {
    hx = at::zeros({sizes[0], max_batch_size, sizes[2]}, input.options().requires_grad(false));
  }
  check_hidden(hx, sizes, "hidden");
  const bool relu = std::holds_alternative<enumtype::kReLU>(options.nonlinearity());
  if (batch_sizes.defined()) {
    const auto run = [&](auto rnn) {
      return rnn(
          input, batch_sizes, hx, flat_weights_, options.bias(), options.num_layers(), options.dropout(), is_training(),
          options.bidirectional());
    };
    return relu ? run([](auto&&... args) { return at::rnn_relu(args...); })
                : run([](auto&&... args) { return at::rnn_tanh(args...); });
  }
  const auto run = [&](auto rnn) {
    return rnn(
        input, hx, flat_weights_, options.bias(), options.num_layers(), options.dropout(), is_training(),
        options.bidirectional(), options.batch_first());
  };
  return relu ? run([](auto&&... args) { return at::rnn_relu(args...); })
              : run([](auto&&... args) { return at::rnn_tanh(args...); });
}

std::tuple<PackedSequence, Tensor> RNNImpl::forward_with_packed_input(const PackedSequence& packed_input, Tensor hx) {
  auto [output, hidden] = forward_helper(
      packed_input.data(), packed_input.batch_sizes(), packed_input.sorted_indices(),
      packed_input.batch_sizes().select(0, 0).item<int64_t>(), std::move(hx));
  return {
      PackedSequence(
          output, packed_input.batch_sizes(), packed_input.sorted_indices(), packed_input.unsorted_indices()),
      permute_hidden(hidden, packed_input.unsorted_indices())};
}

GRUImpl::GRUImpl(int64_t input_size, int64_t hidden_size) : GRUImpl(GRUOptions(input_size, hidden_size)) {}

GRUImpl::GRUImpl(const GRUOptions& options_)
    : RNNImplBase(detail::base_options(torch::kGRU, options_)), options(options_) {}

std::tuple<Tensor, Tensor> GRUImpl::forward(const Tensor& input, Tensor hx) {
  detail::check_dims("GRU", input);
  const bool batched = input.dim() == 3;
  const int64_t batch_dim = detail::batch_dim(options.batch_first());
  const Tensor full = batched ? input : input.unsqueeze(batch_dim);
  if (hx.defined()) {
    hx = detail::with_batch("GRU", hx, batched);
  }
  auto [output, hidden] = forward_helper(full, Tensor(), Tensor(), full.size(batch_dim), hx);
  if (batched) {
    return {output, hidden};
  }
  return {output.squeeze(batch_dim), hidden.squeeze(1)};
}

std::tuple<Tensor, Tensor> GRUImpl::forward_helper(
    const Tensor& input, const Tensor& batch_sizes, const Tensor& sorted_indices, int64_t max_batch_size, Tensor hx) {
  check_input(input, batch_sizes);
  const std::vector<int64_t> sizes = expected_hidden_sizes(input, batch_sizes, options.hidden_size());
  if (hx.defined()) {
    hx = permute_hidden(hx, sorted_indices);
  } else {
    hx = at::zeros({sizes[0], max_batch_size, sizes[2]}, input.options().requires_grad(false));
  }
  check_hidden(hx, sizes, "hidden");
  if (batch_sizes.defined()) {
    return at::gru(
        input, batch_sizes, hx, flat_weights_, options.bias(), options.num_layers(), options.dropout(), is_training(),
        options.bidirectional());
  }
  return at::gru(
      input, hx, flat_weights_, options.bias(), options.num_layers(), options.dropout(), is_training(),
      options.bidirectional(), options.batch_first());
}

std::tuple<PackedSequence, Tensor> GRUImpl::forward_with_packed_input(const PackedSequence& packed_input, Tensor hx) {
  auto [output, hidden] = forward_helper(
      packed_input.data(), packed_input.batch_sizes(), packed_input.sorted_indices(),
      packed_input.batch_sizes().select(0, 0).item<int64_t>(), std::move(hx));
  return {
      PackedSequence(
          output, packed_input.batch_sizes(), packed_input.sorted_indices(), packed_input.unsorted_indices()),
      permute_hidden(hidden, packed_input.unsorted_indices())};
}

LSTMImpl::LSTMImpl(int64_t input_size, int64_t hidden_size) : LSTMImpl(LSTMOptions(input_size, hidden_size)) {}

LSTMImpl::LSTMImpl(const LSTMOptions& options_)
    : RNNImplBase(detail::base_options(torch::kLSTM, options_).proj_size(options_.proj_size())), options(options_) {}

std::tuple<Tensor, std::tuple<Tensor, Tensor>> LSTMImpl::forward(
    const Tensor& input, std::optional<std::tuple<Tensor, Tensor>> hx_opt) {
  detail::check_dims("LSTM", input);
  const bool batched = input.dim() == 3;
  const int64_t batch_dim = detail::batch_dim(options.batch_first());
  const Tensor full = batched ? input : input.unsqueeze(batch_dim);
  if (hx_opt) {
    hx_opt = std::make_tuple(
        detail::with_batch("LSTM", std::get<0>(*hx_opt), batched),
        detail::with_batch("LSTM", std::get<1>(*hx_opt), batched));
  }
  auto [output, hidden] = forward_helper(full, Tensor(), Tensor(), full.size(batch_dim), std::move(hx_opt));
  if (batched) {
    return {output, hidden};
  }
  return {output.squeeze(batch_dim), {std::get<0>(hidden).squeeze(1), std::get<1>(hidden).squeeze(1)}};
}

std::tuple<Tensor, std::tuple<Tensor, Tensor>> LSTMImpl::forward_helper(
    const Tensor& input,
    const Tensor& batch_sizes,
    const Tensor& sorted_indices,
    int64_t max_batch_size,
    std::optional<std::tuple<Tensor, Tensor>> hx_opt) {
  check_input(input, batch_sizes);
  const int64_t output_size = options.proj_size() > 0 ? options.proj_size() : options.hidden_size();
  const std::vector<int64_t> h_sizes = expected_hidden_sizes(input, batch_sizes, output_size);
  const std::vector<int64_t> c_sizes = expected_hidden_sizes(input, batch_sizes, options.hidden_size());
  std::vector<Tensor> hx;
  if (hx_opt) {
    hx = {permute_hidden(std::get<0>(*hx_opt), sorted_indices), permute_hidden(std::get<1>(*hx_opt), sorted_indices)};
  } else {
    const at::TensorOptions tensor_options = input.options().requires_grad(false);
    hx = {
        at::zeros({h_sizes[0], max_batch_size, h_sizes[2]}, tensor_options),
        at::zeros({c_sizes[0], max_batch_size, c_sizes[2]}, tensor_options)};
  }
  check_hidden(hx[0], h_sizes, "hidden[0]");
  check_hidden(hx[1], c_sizes, "hidden[1]");
  const auto [output, h, c] = batch_sizes.defined()
      ? at::lstm(
            input, batch_sizes, hx, flat_weights_, options.bias(), options.num_layers(), options.dropout(),
            is_training(), options.bidirectional())
      : at::lstm(
            input, hx, flat_weights_, options.bias(), options.num_layers(), options.dropout(), is_training(),
            options.bidirectional(), options.batch_first());
  return {output, {h, c}};
}

std::tuple<PackedSequence, std::tuple<Tensor, Tensor>> LSTMImpl::forward_with_packed_input(
    const PackedSequence& packed_input, std::optional<std::tuple<Tensor, Tensor>> hx_opt) {
  auto [output, hidden] = forward_helper(
      packed_input.data(), packed_input.batch_sizes(), packed_input.sorted_indices(),
      packed_input.batch_sizes().select(0, 0).item<int64_t>(), std::move(hx_opt));
  return {
      PackedSequence(
          output, packed_input.batch_sizes(), packed_input.sorted_indices(), packed_input.unsorted_indices()),
      {permute_hidden(std::get<0>(hidden), packed_input.unsorted_indices()),
       permute_hidden(std::get<1>(hidden), packed_input.unsorted_indices())}};
}

Module::DefaultArgs RNNImpl::_forward_default_args() {
  return {{1, AnyValue(Tensor())}};
}

Module::DefaultArgs LSTMImpl::_forward_default_args() {
  return {{1, AnyValue(std::optional<std::tuple<Tensor, Tensor>>())}};
}

Module::DefaultArgs GRUImpl::_forward_default_args() {
  return {{1, AnyValue(torch::Tensor())}};
}

} // namespace torch::nn
