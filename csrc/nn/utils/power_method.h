// The largest singular value of a weight by the power method. For the sources of spectral_norm.
#pragma once

#include <csrc/nn/Module.h>

#include <optional>

namespace torch::nn::utils::detail {

/// Throws unless it is positive.
void check_power_iterations(int64_t n_power_iterations);

/// `dim` within the dimensions of the weight, or the default of the module's class.
int64_t output_dim(const Module& module, const Tensor& weight, const std::optional<int64_t>& dim);

/// The weight with the rows of `dim`.
Tensor weight_matrix(const Tensor& weight, int64_t dim);

/// A vector of length 1 in a random direction.
Tensor random_direction(const Tensor& like, int64_t size, double eps);

/// value / |value|, written to `vector`.
void set_direction(Tensor& vector, const Tensor& value, double eps);

/// weight / (u . matrix v), with copies of u and v, which go on to change in later calls.
Tensor divided_by_norm(const Tensor& weight, const Tensor& matrix, const Tensor& u, const Tensor& v);

} // namespace torch::nn::utils::detail
