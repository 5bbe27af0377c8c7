// Initial values of parameters. Each function fills its tensor without a gradient record and returns it. For the same
// seed the values are those of PyTorch. `generator` is the device's default one if not given.
#pragma once

#include <aten/core/Generator.h>
#include <csrc/namespace.h>
#include <csrc/nn/enum.h>

#include <cstdint>
#include <optional>
#include <tuple>
#include <variant>

namespace torch::nn::init {

using NonlinearityType = enumtype::Choice<
    enumtype::kLinear,
    enumtype::kConv1D,
    enumtype::kConv2D,
    enumtype::kConv3D,
    enumtype::kConvTranspose1D,
    enumtype::kConvTranspose2D,
    enumtype::kConvTranspose3D,
    enumtype::kSigmoid,
    enumtype::kTanh,
    enumtype::kReLU,
    enumtype::kLeakyReLU>;

using FanModeType = enumtype::Choice<enumtype::kFanIn, enumtype::kFanOut>;

/// By how much a nonlinearity shrinks the standard deviation of what passes: sqrt(2) for kReLU, 5/3 for kTanh,
/// sqrt(2 / (1 + param^2)) for kLeakyReLU with slope `param`, else 1.
TORCH_API double calculate_gain(NonlinearityType nonlinearity, double param = 0.01);

TORCH_API Tensor constant_(Tensor tensor, Scalar value);
TORCH_API Tensor ones_(Tensor tensor);
TORCH_API Tensor zeros_(Tensor tensor);

/// The identity matrix, for a tensor of 2 dimensions.
TORCH_API Tensor eye_(Tensor matrix);
/// The weights of a convolution that passes its channels on, those of each group apart, for 3, 4 or 5 dimensions.
TORCH_API Tensor dirac_(Tensor tensor, int64_t groups = 1);

/// Values from U(low, high).
TORCH_API Tensor
uniform_(Tensor tensor, double low = 0, double high = 1, const std::optional<at::Generator>& generator = std::nullopt);
/// Values from N(mean, std^2).
TORCH_API Tensor
normal_(Tensor tensor, double mean = 0, double std = 1, const std::optional<at::Generator>& generator = std::nullopt);
/// Values from N(mean, std^2) within [low, high]. Those outside are drawn again; where little of the distribution is
/// inside, candidates are drawn from U(low, high) and kept by their density.
TORCH_API Tensor trunc_normal_(
    Tensor tensor,
    double mean = 0,
    double std = 1,
    double low = -2,
    double high = 2,
    const std::optional<at::Generator>& generator = std::nullopt);

/// A (semi-)orthogonal matrix times `gain`; dimensions behind the first count as one. Saxe et al. 2013, made uniform
/// after Mezzadri, arXiv:math-ph/0609050.
TORCH_API Tensor
orthogonal_(Tensor tensor, double gain = 1.0, const std::optional<at::Generator>& generator = std::nullopt);
/// A matrix from N(0, std^2) with the fraction `sparsity` of each column set to zero. Martens 2010.
TORCH_API Tensor sparse_(
    Tensor tensor, double sparsity, double std = 0.01, const std::optional<at::Generator>& generator = std::nullopt);

/// Standard deviation gain * sqrt(2 / (fan_in + fan_out)). Glorot and Bengio 2010.
TORCH_API Tensor
xavier_normal_(Tensor tensor, double gain = 1.0, const std::optional<at::Generator>& generator = std::nullopt);
TORCH_API Tensor
xavier_uniform_(Tensor tensor, double gain = 1.0, const std::optional<at::Generator>& generator = std::nullopt);
/// Standard deviation calculate_gain(nonlinearity, a) / sqrt(fan), with the fan that `mode` names. He et al. 2015.
TORCH_API Tensor kaiming_normal_(
    Tensor tensor,
    double a,
    FanModeType mode,
    NonlinearityType nonlinearity,
    const std::optional<at::Generator>& generator = std::nullopt);
TORCH_API Tensor kaiming_normal_(Tensor tensor, double a, FanModeType mode);
TORCH_API Tensor kaiming_normal_(Tensor tensor, double a = 0);
TORCH_API Tensor kaiming_uniform_(
    Tensor tensor,
    double a,
    FanModeType mode,
    NonlinearityType nonlinearity,
    const std::optional<at::Generator>& generator = std::nullopt);
TORCH_API Tensor kaiming_uniform_(Tensor tensor, double a, FanModeType mode);
TORCH_API Tensor kaiming_uniform_(Tensor tensor, double a = 0);

/// How many inputs reach an output and how many outputs an input reaches, for weights [out, in, kernel...].
TORCH_API std::tuple<int64_t, int64_t> _calculate_fan_in_and_fan_out(const Tensor& tensor);

} // namespace torch::nn::init
