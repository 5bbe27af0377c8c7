// Checks that normalizations share.
#pragma once

#include <aten/core/TensorBase.h>

#include <c10/core/ScalarType.h>

#include <optional>

namespace at {
class Tensor;
}

namespace at::shape {

/// Throws unless weight and bias, where given, have the sizes `normalized_shape` that end the sizes of `input`.
/// Returns the number of leading dimensions.
int64_t check_layer_norm(
    const TensorBase& input,
    IntArrayRef normalized_shape,
    const std::optional<Tensor>& weight,
    const std::optional<Tensor>& bias);

/// Throws unless the parameters have the dtype of the input, or are both float beside a 16-bit input.
/// Returns the dtype of mean and rstd.
c10::ScalarType check_norm_dtypes(
    const TensorBase& input, const std::optional<Tensor>& weight, const std::optional<Tensor>& bias);

} // namespace at::shape
