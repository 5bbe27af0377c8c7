// Options of recurrent layers and cells.
#pragma once

#include <csrc/arg.h>
#include <csrc/nn/enum.h>
#include <csrc/types.h>

#include <cstdint>
#include <variant>

namespace torch::nn {

namespace detail {

/// What RNN, LSTM and GRU are made from.
struct TORCH_API RNNOptionsBase {
  using rnn_options_base_mode_t =
      enumtype::Choice<enumtype::kLSTM, enumtype::kGRU, enumtype::kRNN_TANH, enumtype::kRNN_RELU>;
  RNNOptionsBase(rnn_options_base_mode_t mode, int64_t input_size, int64_t hidden_size);
  /// How values are combined or interpolated.
  TORCH_ARG(rnn_options_base_mode_t, mode);
  /// Features of the input.
  TORCH_ARG(int64_t, input_size);
  /// Features of the hidden state. Must be positive.
  TORCH_ARG(int64_t, hidden_size);
  /// Layers, each on the output of the one before. Must be positive.
  TORCH_ARG(int64_t, num_layers) = 1;
  /// Whether there is a learned bias.
  TORCH_ARG(bool, bias) = true;
  /// Inputs and outputs are [batch, time, features] in place of [time, batch, features].
  TORCH_ARG(bool, batch_first) = false;
  /// Probability of dropout, in training. In [0, 1].
  TORCH_ARG(double, dropout) = 0.0;
  /// A second pass from the end to the begin; outputs have both.
  TORCH_ARG(bool, bidirectional) = false;
  TORCH_ARG(int64_t, proj_size) = 0;
};

/// What RNNCell, LSTMCell and GRUCell are made from; `num_chunks` is the number of gates.
struct TORCH_API RNNCellOptionsBase {
  RNNCellOptionsBase(int64_t input_size, int64_t hidden_size, bool bias, int64_t num_chunks);
  /// Features of the input.
  TORCH_ARG(int64_t, input_size);
  /// Features of the hidden state. Must be positive.
  TORCH_ARG(int64_t, hidden_size);
  /// Whether there is a learned bias.
  TORCH_ARG(bool, bias);
  TORCH_ARG(int64_t, num_chunks);
};

} // namespace detail

/// Options of RNN. Throws unless sizes and layers are positive and dropout is in [0, 1].
struct TORCH_API RNNOptions {
  using nonlinearity_t = enumtype::Choice<enumtype::kTanh, enumtype::kReLU>;
  RNNOptions(int64_t input_size, int64_t hidden_size);
  /// Features of the input.
  TORCH_ARG(int64_t, input_size);
  /// Features of the hidden state. Must be positive.
  TORCH_ARG(int64_t, hidden_size);
  /// Layers, each on the output of the one before. Must be positive.
  TORCH_ARG(int64_t, num_layers) = 1;
  /// kTanh or kReLU.
  TORCH_ARG(nonlinearity_t, nonlinearity) = torch::kTanh;
  /// Whether there is a learned bias.
  TORCH_ARG(bool, bias) = true;
  /// Inputs and outputs are [batch, time, features] in place of [time, batch, features].
  TORCH_ARG(bool, batch_first) = false;
  /// Probability of dropout between layers, in training.
  TORCH_ARG(double, dropout) = 0.0;
  /// A second pass from the end to the begin; outputs have both.
  TORCH_ARG(bool, bidirectional) = false;
};

/// Options of LSTM, with the errors of RNNOptions.
struct TORCH_API LSTMOptions {
  LSTMOptions(int64_t input_size, int64_t hidden_size);
  /// Features of the input.
  TORCH_ARG(int64_t, input_size);
  /// Features of the hidden state. Must be positive.
  TORCH_ARG(int64_t, hidden_size);
  /// Layers, each on the output of the one before. Must be positive.
  TORCH_ARG(int64_t, num_layers) = 1;
  /// Whether there is a learned bias.
  TORCH_ARG(bool, bias) = true;
  /// Inputs and outputs are [batch, time, features] in place of [time, batch, features].
  TORCH_ARG(bool, batch_first) = false;
  /// Probability of dropout between layers, in training.
  TORCH_ARG(double, dropout) = 0.0;
  /// A second pass from the end to the begin; outputs have both.
  TORCH_ARG(bool, bidirectional) = false;
  /// Features that the hidden state is projected to (Sak et al., 2014); 0 for none. Throws unless smaller than
  /// hidden_size.
  TORCH_ARG(int64_t, proj_size) = 0;
};

/// Options of GRU, with the errors of RNNOptions.
struct TORCH_API GRUOptions {
  GRUOptions(int64_t input_size, int64_t hidden_size);
  /// Features of the input.
  TORCH_ARG(int64_t, input_size);
  /// Features of the hidden state. Must be positive.
  TORCH_ARG(int64_t, hidden_size);
  /// Layers, each on the output of the one before. Must be positive.
  TORCH_ARG(int64_t, num_layers) = 1;
  /// Whether there is a learned bias.
  TORCH_ARG(bool, bias) = true;
  /// Inputs and outputs are [batch, time, features] in place of [time, batch, features].
  TORCH_ARG(bool, batch_first) = false;
  /// Probability of dropout between layers, in training.
  TORCH_ARG(double, dropout) = 0.0;
  /// A second pass from the end to the begin; outputs have both.
  TORCH_ARG(bool, bidirectional) = false;
};

/// Options of RNNCell.
struct TORCH_API RNNCellOptions {
  using nonlinearity_t = enumtype::Choice<enumtype::kTanh, enumtype::kReLU>;
  RNNCellOptions(int64_t input_size, int64_t hidden_size);
  /// Features of the input.
  TORCH_ARG(int64_t, input_size);
  /// Features of the hidden state. Must be positive.
  TORCH_ARG(int64_t, hidden_size);
  /// Whether there is a learned bias.
  TORCH_ARG(bool, bias) = true;
  /// kTanh or kReLU.
  TORCH_ARG(nonlinearity_t, nonlinearity) = torch::kTanh;
};

/// Options of LSTMCell.
struct TORCH_API LSTMCellOptions {
  LSTMCellOptions(int64_t input_size, int64_t hidden_size);
  /// Features of the input.
  TORCH_ARG(int64_t, input_size);
  /// Features of the hidden state. Must be positive.
  TORCH_ARG(int64_t, hidden_size);
  /// Whether there is a learned bias.
  TORCH_ARG(bool, bias) = true;
};

/// Options of GRUCell.
struct TORCH_API GRUCellOptions {
  GRUCellOptions(int64_t input_size, int64_t hidden_size);
  /// Features of the input.
  TORCH_ARG(int64_t, input_size);
  /// Features of the hidden state. Must be positive.
  TORCH_ARG(int64_t, hidden_size);
  /// Whether there is a learned bias.
  TORCH_ARG(bool, bias) = true;
};

} // namespace torch::nn
