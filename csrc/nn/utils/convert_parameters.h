// All parameters as one vector, and back.
#pragma once

#include <csrc/namespace.h>

#include <vector>

namespace torch::nn::utils {

/// The elements of all parameters one after the other. Throws when they are on several devices, and for parameters
/// whose memory is not in order.
TORCH_API Tensor parameters_to_vector(const std::vector<Tensor>& parameters);

/// Makes the parameters, in order, views of parts of `vec`. Throws, before anything is changed, when `vec` has too few
/// elements or the parameters are on several devices.
TORCH_API void vector_to_parameters(const Tensor& vec, const std::vector<Tensor>& parameters);

} // namespace torch::nn::utils
