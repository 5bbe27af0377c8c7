// Shape functions of softmax, normalizations, embedding and losses over class indices.
#pragma once

#include <aten/core/TensorSpec.h>
#include <c10/core/Scalar.h>

#include <array>
#include <optional>

namespace at {
class Tensor;
}

namespace at::shape {

TensorSpec softmax(const char* op, const TensorBase& self, int64_t dim, bool half_to_float);
TensorSpec softmax_backward(const char* op, const TensorBase& grad_output, const TensorBase& output, int64_t dim, c10::ScalarType input_dtype);

std::array<TensorSpec, 3> native_layer_norm(const char* op, const TensorBase& input, IntArrayRef normalized_shape, const std::optional<Tensor>& weight, const std::optional<Tensor>& bias, double eps);
std::array<TensorSpec, 3> native_group_norm(const char* op, const TensorBase& input, const std::optional<Tensor>& weight, const std::optional<Tensor>& bias, int64_t N, int64_t C, int64_t HxW, int64_t group, double eps);

TensorSpec embedding(const char* op, const TensorBase& weight, const TensorBase& indices, int64_t padding_idx, bool scale_grad_by_freq, bool sparse);
TensorSpec embedding_dense_backward(const char* op, const TensorBase& grad_output, const TensorBase& indices, int64_t num_weights, int64_t padding_idx, bool scale_grad_by_freq);

std::array<TensorSpec, 2> nll_loss_forward(const char* op, const TensorBase& self, const TensorBase& target, const std::optional<Tensor>& weight, int64_t reduction, int64_t ignore_index);
TensorSpec nll_loss_backward(const char* op, const TensorBase& grad_output, const TensorBase& self, const TensorBase& target, const std::optional<Tensor>& weight, int64_t reduction, int64_t ignore_index, const TensorBase& total_weight);
std::array<TensorSpec, 2> nll_loss2d_forward(const char* op, const TensorBase& self, const TensorBase& target, const std::optional<Tensor>& weight, int64_t reduction, int64_t ignore_index);
TensorSpec nll_loss2d_backward(const char* op, const TensorBase& grad_output, const TensorBase& self, const TensorBase& target, const std::optional<Tensor>& weight, int64_t reduction, int64_t ignore_index, const TensorBase& total_weight);

/// Throw unless the output has the dtype of self.
void multi_margin_loss_out(const char* op, const TensorBase& self, const TensorBase& target, const c10::Scalar& p, const c10::Scalar& margin, const std::optional<Tensor>& weight, int64_t reduction, const TensorBase& out);
void multilabel_margin_loss_out(const char* op, const TensorBase& self, const TensorBase& target, int64_t reduction, const TensorBase& out);

/// Throws unless weight and bias, where given, have the sizes `normalized_shape` that end the sizes of `input`.
/// Returns the number of leading dimensions.
int64_t check_layer_norm(const TensorBase& input, IntArrayRef normalized_shape, const std::optional<Tensor>& weight, const std::optional<Tensor>& bias);

/// Throws unless the parameters have the dtype of the input, or are both float beside a 16-bit input.
/// Returns the dtype of mean and rstd.
c10::ScalarType check_norm_dtypes(const TensorBase& input, const std::optional<Tensor>& weight, const std::optional<Tensor>& bias);

} // namespace at::shape
