#include <csrc/nn/modules/rnn.h>

#include <aten/Functions.h>
#include <c10/util/Exception.h>
#include <csrc/nn/init.h>

#include <cmath>
#include <ostream>

namespace torch::nn {

namespace detail {

template <typename Derived>
RNNCellImplBase<Derived>::RNNCellImplBase(const RNNCellOptionsBase& options_) : options_base(options_) {
  RNNCellImplBase<Derived>::reset();
}

template <typename Derived>
void RNNCellImplBase<Derived>::reset() {
  TORCH_CHECK(
      options_base.hidden_size() > 0, "hidden_size must be greater than zero, but is ", options_base.hidden_size());
  const int64_t gate_size = gate_rows(options_base.num_chunks(), options_base.hidden_size());
  const bool with_bias = options_base.bias();
  weight_ih = this->register_parameter("weight_ih", at::empty({gate_size, options_base.input_size()}));
  weight_hh = this->register_parameter("weight_hh", at::empty({gate_size, options_base.hidden_size()}));
  bias_ih = this->register_parameter("bias_ih", with_bias ? at::empty({gate_size}) : Tensor(), with_bias);
  bias_hh = this->register_parameter("bias_hh", with_bias ? at::empty({gate_size}) : Tensor(), with_bias);
  reset_parameters();
}

template <typename Derived>
void RNNCellImplBase<Derived>::reset_parameters() {
  const double bound = 1.0 / std::sqrt(static_cast<double>(options_base.hidden_size()));
  for (const Tensor& weight : this->parameters()) {
    init::uniform_(weight, -bound, bound);
  }
}

template <typename Derived>
void RNNCellImplBase<Derived>::pretty_print(std::ostream& stream) const {
  const std::string name = this->name();
  stream << name.substr(0, name.size() - 4) << "(" << options_base.input_size() << ", " << options_base.hidden_size();
  if (!options_base.bias()) {
    stream << ", bias=" << std::boolalpha << options_base.bias();
  }
  const std::string nonlinearity = get_nonlinearity_str();
  if (!nonlinearity.empty() && nonlinearity != "kTanh") {
    stream << ", nonlinearity=" << nonlinearity;
  }
  stream << ")";
}

template <typename Derived>
void RNNCellImplBase<Derived>::check_forward_input(const Tensor& input, const std::string& name) const {
  TORCH_CHECK(
      input.dim() == 1 || input.dim() == 2, "Expected ", name, " to be 1D or 2D, got ", input.dim(),
      "D instead (sizes ", input.sizes(), ")");
}

template <typename Derived>
std::string RNNCellImplBase<Derived>::get_nonlinearity_str() const {
  return "";
}

template class RNNCellImplBase<RNNCellImpl>;
template class RNNCellImplBase<LSTMCellImpl>;
template class RNNCellImplBase<GRUCellImpl>;

namespace {

// [1, size] of an input [size] without a batch.
Tensor batch_of(const Tensor& tensor) {
  return tensor.dim() == 2 ? tensor : tensor.unsqueeze(0);
}

Tensor hidden_for(const Tensor& hx, const Tensor& batch, int64_t hidden_size) {
  return hx.defined() ? batch_of(hx) : at::zeros({batch.size(0), hidden_size}, batch.options().requires_grad(false));
}

Tensor unbatch(const Tensor& result, const Tensor& input) {
  return input.dim() == 2 ? result : result.squeeze(0);
}

} // namespace
} // namespace detail

RNNCellImpl::RNNCellImpl(int64_t input_size, int64_t hidden_size)
    : RNNCellImpl(RNNCellOptions(input_size, hidden_size)) {}

RNNCellImpl::RNNCellImpl(const RNNCellOptions& options_)
    : RNNCellImplBase(
          detail::RNNCellOptionsBase(options_.input_size(), options_.hidden_size(), options_.bias(), /*num_chunks=*/1)),
      options(options_) {}

Tensor RNNCellImpl::forward(const Tensor& input, const Tensor& hx) {
  check_forward_input(input, "input");
  if (hx.defined()) {
    check_forward_input(hx, "hidden");
  }
  const Tensor batch = detail::batch_of(input);
  const Tensor hidden = detail::hidden_for(hx, batch, options.hidden_size());
  const Tensor next = std::holds_alternative<enumtype::kReLU>(options.nonlinearity())
      ? at::rnn_relu_cell(batch, hidden, weight_ih, weight_hh, bias_ih, bias_hh)
      : at::rnn_tanh_cell(batch, hidden, weight_ih, weight_hh, bias_ih, bias_hh);
  return detail::unbatch(next, input);
}

std::string RNNCellImpl::get_nonlinearity_str() const {
  return enumtype::get_enum_name(options.nonlinearity());
}

LSTMCellImpl::LSTMCellImpl(int64_t input_size, int64_t hidden_size)
    : LSTMCellImpl(LSTMCellOptions(input_size, hidden_size)) {}

LSTMCellImpl::LSTMCellImpl(const LSTMCellOptions& options_)
    : RNNCellImplBase(
          detail::RNNCellOptionsBase(options_.input_size(), options_.hidden_size(), options_.bias(), /*num_chunks=*/4)),
      options(options_) {}

std::tuple<Tensor, Tensor> LSTMCellImpl::forward(
    const Tensor& input, std::optional<std::tuple<Tensor, Tensor>> hx_opt) {
  check_forward_input(input, "input");
  Tensor h;
  Tensor c;
  if (hx_opt) {
    std::tie(h, c) = *hx_opt;
    check_forward_input(h, "hidden[0]");
    check_forward_input(c, "hidden[1]");
  }
  const Tensor batch = detail::batch_of(input);
  const std::vector<Tensor> hidden = {
      detail::hidden_for(h, batch, options.hidden_size()), detail::hidden_for(c, batch, options.hidden_size())};
  const auto [next_h, next_c] = at::lstm_cell(batch, hidden, weight_ih, weight_hh, bias_ih, bias_hh);
  return {detail::unbatch(next_h, input), detail::unbatch(next_c, input)};
}

GRUCellImpl::GRUCellImpl(int64_t input_size, int64_t hidden_size)
    : GRUCellImpl(GRUCellOptions(input_size, hidden_size)) {}

GRUCellImpl::GRUCellImpl(const GRUCellOptions& options_)
    : RNNCellImplBase(
          detail::RNNCellOptionsBase(options_.input_size(), options_.hidden_size(), options_.bias(), /*num_chunks=*/3)),
      options(options_) {}

Tensor GRUCellImpl::forward(const Tensor& input, const Tensor& hx) {
  check_forward_input(input, "input");
  if (hx.defined()) {
    check_forward_input(hx, "hidden");
  }
  const Tensor batch = detail::batch_of(input);
  const Tensor hidden = detail::hidden_for(hx, batch, options.hidden_size());
  return detail::unbatch(at::gru_cell(batch, hidden, weight_ih, weight_hh, bias_ih, bias_hh), input);
}

Module::DefaultArgs RNNCellImpl::_forward_default_args() {
  return {{1, AnyValue(Tensor())}};
}

Module::DefaultArgs LSTMCellImpl::_forward_default_args() {
  return {{1, AnyValue(std::optional<std::tuple<Tensor, Tensor>>())}};
}

Module::DefaultArgs GRUCellImpl::_forward_default_args() {
  return {{1, AnyValue(Tensor())}};
}

} // namespace torch::nn
