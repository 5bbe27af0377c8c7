// Shape functions of the gates of recurrent cells.
#pragma once

#include <aten/core/TensorSpec.h>

#include <array>
#include <optional>

namespace at {
class Tensor;
}

namespace at::shape {

std::array<TensorSpec, 3> fused_lstm_cell(const char* op, const TensorBase& input_gates, const TensorBase& hidden_gates, const TensorBase& cx, const std::optional<Tensor>& input_bias, const std::optional<Tensor>& hidden_bias);
std::array<TensorSpec, 3> fused_lstm_cell_backward(const char* op, const std::optional<Tensor>& grad_hy, const std::optional<Tensor>& grad_cy, const TensorBase& cx, const TensorBase& cy, const TensorBase& workspace, bool has_bias);
std::array<TensorSpec, 2> fused_gru_cell(const char* op, const TensorBase& input_gates, const TensorBase& hidden_gates, const TensorBase& hx, const std::optional<Tensor>& input_bias, const std::optional<Tensor>& hidden_bias);
std::array<TensorSpec, 5> fused_gru_cell_backward(const char* op, const TensorBase& grad_hy, const TensorBase& workspace, bool has_bias);

} // namespace at::shape
