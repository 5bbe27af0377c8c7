// Operators on DTensors: each computes on local parts, after it has moved its operands to where that is right.
#pragma once

#include <csrc/distributed/tensor/dtensor.h>

#include <functional>
#include <vector>

namespace torch::distributed {

/// An operator that works element by element, with broadcasting. Operands become cut alike where one of them is cut.
/// Sums that are not reduced yet are reduced first, unless the operator is `linear` (f(a + b) = f(a) + f(b) for all
/// operands together) and all operands are such sums.
TORCH_API DTensor pointwise(
    const std::function<at::Tensor(const std::vector<at::Tensor>&)>& op,
    const std::vector<DTensor>& operands,
    bool linear = false);

TORCH_API DTensor operator+(const DTensor& a, const DTensor& b);
TORCH_API DTensor operator-(const DTensor& a, const DTensor& b);
TORCH_API DTensor operator*(const DTensor& a, const DTensor& b);
TORCH_API DTensor operator/(const DTensor& a, const DTensor& b);
TORCH_API DTensor operator*(const DTensor& a, double factor);
TORCH_API DTensor relu(const DTensor& x);
TORCH_API DTensor gelu(const DTensor& x);
TORCH_API DTensor tanh(const DTensor& x);

/// [m, k] x [k, n]. Rows of the first, columns of the second and the shared dimension may be cut; where that is cut,
/// the result is a sum that is not reduced yet.
TORCH_API DTensor matmul(const DTensor& a, const DTensor& b);
/// x [..., k] with weight [n, k]: x weight' + bias.
TORCH_API DTensor linear(const DTensor& x, const DTensor& weight, const DTensor& bias = {});
/// The sum over a dimension, or over all; over a cut one it is not reduced yet.
TORCH_API DTensor sum(const DTensor& x, std::optional<int64_t> dim = std::nullopt, bool keepdim = false);
TORCH_API DTensor mean(const DTensor& x, std::optional<int64_t> dim = std::nullopt, bool keepdim = false);
TORCH_API DTensor transpose(const DTensor& x, int64_t dim0, int64_t dim1);
/// Over a dimension that is not cut; a cut one is gathered first.
TORCH_API DTensor softmax(const DTensor& x, int64_t dim);

namespace detail {
/// A tensor that all ranks of the group have alike and use for different parts of the result: its gradients are added
/// up.
TORCH_API at::Tensor shared_by(const at::Tensor& tensor, const GroupPtr& group);
} // namespace detail

} // namespace torch::distributed
