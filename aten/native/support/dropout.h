// Dropout in one pass, behind the operators in aten/native/composite/dropout.cpp.
#pragma once

#include <aten/core/Generator.h>
#include <aten/core/Tensor.h>

#include <optional>
#include <tuple>

namespace at::native {

/// Whether the functions below take the tensor: floating point, strided, on the CPU, and not a number in disguise.
bool is_dropped_in_one_pass(const Tensor& input);

/// 1 / keep in the precision that elements of the dtype are computed with, rounded to the dtype.
double dropout_scale(c10::ScalarType dtype, double keep);

/// {input * mask * scale, mask} with a mask of bool that is true with probability `keep`. The scale is rounded to
/// input's dtype.
std::tuple<Tensor, Tensor> drop(
    const Tensor& input, double keep, double scale, const std::optional<Generator>& generator);

/// grad * mask * scale, for a mask of bool and of grad's sizes; grad is dense.
Tensor drop_backward(const Tensor& grad, const Tensor& mask, double scale);

/// The same on a CUDA device, for floating tensors of one size; set by the plugin.
using DropBackward = Tensor (*)(const Tensor& grad, const Tensor& mask, double scale);
TORCH_API DropBackward& cuda_drop_backward();

} // namespace at::native
