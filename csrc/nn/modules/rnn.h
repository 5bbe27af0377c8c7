// Recurrent layers and cells.
#pragma once

#include <csrc/nn/cloneable.h>
#include <csrc/nn/modules/common.h>
#include <csrc/nn/options/rnn.h>
#include <csrc/nn/utils/rnn.h>

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace torch::nn {

namespace detail {

/// Rows of the weights of all gates. Throws where 64 bits do not hold their number.
int64_t gate_rows(int64_t gates, int64_t hidden_size);

/// What RNN, LSTM and GRU have in common. The weights of layer k are weight_ih_lk, weight_hh_lk, bias_ih_lk, bias_hh_lk
/// and weight_hr_lk (with a projection), those of the other direction end in "_reverse".
template <typename Derived>
class TORCH_API RNNImplBase : public Cloneable<Derived> {
 public:
  explicit RNNImplBase(const RNNOptionsBase& options_);

  void reset() override;
  /// Draws all weights from U(-k, k), k = 1 / sqrt(hidden_size).
  void reset_parameters();

  void to(torch::Device device, torch::Dtype dtype, bool non_blocking = false) override;
  void to(torch::Dtype dtype, bool non_blocking = false) override;
  void to(torch::Device device, bool non_blocking = false) override;
  void pretty_print(std::ostream& stream) const override;

  /// On a GPU with cuDNN: moves the weights into one buffer, as cuDNN takes them; from others it copies them in each
  /// call. Done after `to`; for programs that have given the parameters new tensors.
  void flatten_parameters();
  std::vector<Tensor> all_weights() const;

  RNNOptionsBase options_base;

 protected:
  // Takes the weights from the parameters again, after those may have been replaced.
  void reset_flat_weights();
  void check_input(const Tensor& input, const Tensor& batch_sizes) const;
  /// The sizes that a hidden state must have; `hidden_size` is that of the projection for the h of an LSTM that has
  /// one.
  std::vector<int64_t> expected_hidden_sizes(const Tensor& input, const Tensor& batch_sizes, int64_t hidden_size) const;
  void check_hidden(const Tensor& hx, const std::vector<int64_t>& expected, const char* what) const;
  Tensor permute_hidden(Tensor hx, const Tensor& permutation) const;

  std::vector<std::string> flat_weights_names_;
  std::vector<Tensor> flat_weights_;
};

} // namespace detail

/// h' = tanh(weight_ih x + bias_ih + weight_hh h + bias_hh), or with ReLU. Input [L, N, input_size], or [N, L,
/// input_size] with batch_first, or without N; hidden state [num_layers * directions, N, hidden_size], zeros if not
/// given.
class TORCH_API RNNImpl : public detail::RNNImplBase<RNNImpl> {
 public:
  RNNImpl(int64_t input_size, int64_t hidden_size);
  explicit RNNImpl(const RNNOptions& options_);

  /// The outputs of the last layer and the hidden state at the end.
  std::tuple<Tensor, Tensor> forward(const Tensor& input, Tensor hx = {});
  std::tuple<torch::nn::utils::rnn::PackedSequence, Tensor> forward_with_packed_input(
      const torch::nn::utils::rnn::PackedSequence& packed_input, Tensor hx = {});

  RNNOptions options;

 protected:
  DefaultArgs _forward_default_args() override;
  std::tuple<Tensor, Tensor> forward_helper(
      const Tensor& input, const Tensor& batch_sizes, const Tensor& sorted_indices, int64_t max_batch_size, Tensor hx);
};
using RNN = BuiltinHolder<RNNImpl>;

/// Long short-term memory (Hochreiter and Schmidhuber 1997); shapes as for RNN, with a hidden state (h, c).
class TORCH_API LSTMImpl : public detail::RNNImplBase<LSTMImpl> {
 public:
  LSTMImpl(int64_t input_size, int64_t hidden_size);
  explicit LSTMImpl(const LSTMOptions& options_);

  std::tuple<Tensor, std::tuple<Tensor, Tensor>> forward(
      const Tensor& input, std::optional<std::tuple<Tensor, Tensor>> hx_opt = {});
  std::tuple<torch::nn::utils::rnn::PackedSequence, std::tuple<Tensor, Tensor>> forward_with_packed_input(
      const torch::nn::utils::rnn::PackedSequence& packed_input, std::optional<std::tuple<Tensor, Tensor>> hx_opt = {});

  LSTMOptions options;

 protected:
  DefaultArgs _forward_default_args() override;
  std::tuple<Tensor, std::tuple<Tensor, Tensor>> forward_helper(
      const Tensor& input,
      const Tensor& batch_sizes,
      const Tensor& sorted_indices,
      int64_t max_batch_size,
      std::optional<std::tuple<Tensor, Tensor>> hx_opt);
};
using LSTM = BuiltinHolder<LSTMImpl>;

/// Gated recurrent units (Cho et al. 2014); shapes as for RNN.
class TORCH_API GRUImpl : public detail::RNNImplBase<GRUImpl> {
 public:
  GRUImpl(int64_t input_size, int64_t hidden_size);
  explicit GRUImpl(const GRUOptions& options_);

  std::tuple<Tensor, Tensor> forward(const Tensor& input, Tensor hx = {});
  std::tuple<torch::nn::utils::rnn::PackedSequence, Tensor> forward_with_packed_input(
      const torch::nn::utils::rnn::PackedSequence& packed_input, Tensor hx = {});

  GRUOptions options;

 protected:
  DefaultArgs _forward_default_args() override;
  std::tuple<Tensor, Tensor> forward_helper(
      const Tensor& input, const Tensor& batch_sizes, const Tensor& sorted_indices, int64_t max_batch_size, Tensor hx);
};
using GRU = BuiltinHolder<GRUImpl>;

namespace detail {

/// What the cells have in common.
template <typename Derived>
class TORCH_API RNNCellImplBase : public Cloneable<Derived> {
 public:
  explicit RNNCellImplBase(const RNNCellOptionsBase& options_);

  void reset() override;
  /// Draws all weights from U(-k, k), k = 1 / sqrt(hidden_size).
  void reset_parameters();
  void pretty_print(std::ostream& stream) const override;

  RNNCellOptionsBase options_base;
  /// [gates * hidden_size, input_size] and [gates * hidden_size, hidden_size].
  Tensor weight_ih;
  Tensor weight_hh;
  /// [gates * hidden_size]; undefined without a bias.
  Tensor bias_ih;
  Tensor bias_hh;

 protected:
  void check_forward_input(const Tensor& input, const std::string& name) const;
  virtual std::string get_nonlinearity_str() const;
};

} // namespace detail

/// One step of an RNN: input [N, input_size] or [input_size], hidden state [N, hidden_size] or [hidden_size], zeros if
/// not given.
class TORCH_API RNNCellImpl : public detail::RNNCellImplBase<RNNCellImpl> {
 public:
  RNNCellImpl(int64_t input_size, int64_t hidden_size);
  explicit RNNCellImpl(const RNNCellOptions& options_);

  Tensor forward(const Tensor& input, const Tensor& hx = {});

  RNNCellOptions options;

 protected:
  DefaultArgs _forward_default_args() override;
  std::string get_nonlinearity_str() const override;
};
using RNNCell = BuiltinHolder<RNNCellImpl>;

/// One step of an LSTM, with a hidden state (h, c).
class TORCH_API LSTMCellImpl : public detail::RNNCellImplBase<LSTMCellImpl> {
 public:
  LSTMCellImpl(int64_t input_size, int64_t hidden_size);
  explicit LSTMCellImpl(const LSTMCellOptions& options_);

  std::tuple<Tensor, Tensor> forward(const Tensor& input, std::optional<std::tuple<Tensor, Tensor>> hx_opt = {});

  LSTMCellOptions options;

 protected:
  DefaultArgs _forward_default_args() override;
};
using LSTMCell = BuiltinHolder<LSTMCellImpl>;

/// One step of a GRU.
class TORCH_API GRUCellImpl : public detail::RNNCellImplBase<GRUCellImpl> {
 public:
  GRUCellImpl(int64_t input_size, int64_t hidden_size);
  explicit GRUCellImpl(const GRUCellOptions& options_);

  Tensor forward(const Tensor& input, const Tensor& hx = {});

  GRUCellOptions options;

 protected:
  DefaultArgs _forward_default_args() override;
};
using GRUCell = BuiltinHolder<GRUCellImpl>;

} // namespace torch::nn
