#pragma once
// Parameters and steps of recurrent cells with quantized weights.

#include <aten/quantized/packed_params.h>

#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace at::quantized {

using CellLinear = c10::intrusive_ptr<LinearPackedParams>;

/// Weights of a cell, of 8 bits or of halves, whose products take float32 numbers: "rnn.CellParamsBase".
class CellParams : public torch::CustomClassHolder {
 public:
  /// (kind, tensors, numbers, integers, packed weights), as archives have it.
  using State =
      std::tuple<std::string, std::vector<Tensor>, std::vector<double>, std::vector<int64_t>, std::vector<CellLinear>>;
  enum class Kind { Plain, Dynamic, Half };

  CellParams(Kind kind, CellLinear w_ih, CellLinear w_hh, Tensor b_ih, Tensor b_hh, bool reduce_range)
      : kind_(kind),
        w_ih_(std::move(w_ih)),
        w_hh_(std::move(w_hh)),
        b_ih_(std::move(b_ih)),
        b_hh_(std::move(b_hh)),
        reduce_range_(reduce_range) {}

  static c10::intrusive_ptr<CellParams> from_state(const State& state);
  State state() const;

  Tensor inputs(const Tensor& x) const {
    return product(*w_ih_, x);
  }
  Tensor recurrent(const Tensor& hidden) const {
    return product(*w_hh_, hidden);
  }

 private:
  Tensor product(const LinearPackedParams& weight, const Tensor& x) const {
    return kind_ == Kind::Half ? weight.apply_half(x, false) : weight.apply_dynamic(x, false, reduce_range_);
  }

  Kind kind_;
  CellLinear w_ih_, w_hh_;
  Tensor b_ih_, b_hh_; // those of the packed weights, where these have some
  bool reduce_range_;
};
using CellPtr = c10::intrusive_ptr<CellParams>;

/// A weight of 8-bit integers [outputs, inputs] with one scale, packed for products.
CellLinear packed_linear_of(const Tensor& integers, double scale, int64_t zero_point, const Tensor& bias);
/// Sums of each row minus the zero point, which old formats carry along.
Tensor column_offsets(const Tensor& integers, int64_t zero_point);

/// State of a cell: hidden, and for an LSTM the cell's own.
struct CellState {
  Tensor hidden, cell;

  int64_t rows() const {
    return hidden.size(0);
  }
  CellState narrow(int64_t start, int64_t length) const;
  /// The rows of both, below each other.
  CellState above(const CellState& other) const;
};

/// The next state, from the product of the input, with its bias.
using CellStep = CellState(const Tensor& gates, const CellState& state, const CellParams& params);
CellState lstm_step(const Tensor& gates, const CellState& state, const CellParams& params);
CellState gru_step(const Tensor& gates, const CellState& state, const CellParams& params);
CellState tanh_step(const Tensor& gates, const CellState& state, const CellParams& params);
CellState relu_step(const Tensor& gates, const CellState& state, const CellParams& params);
/// Hidden and cell state of an LSTM, which come as two tensors. Throws if there are not two.
CellState lstm_state(TensorList hx);

} // namespace at::quantized
