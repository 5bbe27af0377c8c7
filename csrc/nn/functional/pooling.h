// Pooling. Inputs are [N, C, ...] or, without a batch, [C, ...]. Functions whose name ends in _with_indices also return
// where in the input each maximum was, which max_unpool takes.
#pragma once

#include <csrc/nn/options/pooling.h>
#include <csrc/types.h>

#include <tuple>

namespace torch::nn::functional {

/// Means over windows of `input` [N, C, L] or [C, L]. The result has floor((L + 2 * padding - kernel_size) / stride) +
/// 1 positions. Throws if the padding is larger than half the kernel, if a stride is not positive and if the result has
/// no positions.
TORCH_API Tensor avg_pool1d(const Tensor& input, const AvgPool1dFuncOptions& options);
/// As avg_pool1d over [N, C, H, W] or [C, H, W]. Throws also if `divisor_override` is 0.
TORCH_API Tensor avg_pool2d(const Tensor& input, const AvgPool2dFuncOptions& options);
/// As avg_pool2d over [N, C, D, H, W] or [C, D, H, W].
TORCH_API Tensor avg_pool3d(const Tensor& input, const AvgPool3dFuncOptions& options);

/// Maxima over windows of `input` [N, C, L] or [C, L]. The result has floor((L + 2 * padding - dilation * (kernel_size
/// - 1) - 1) / stride) + 1 positions. Padding counts as minus infinity. Throws as avg_pool1d does, and if a dilation is
/// not positive.
TORCH_API Tensor max_pool1d(const Tensor& input, const MaxPool1dFuncOptions& options);
/// As max_pool1d over [N, C, H, W] or [C, H, W].
TORCH_API Tensor max_pool2d(const Tensor& input, const MaxPool2dFuncOptions& options);
/// As max_pool1d over [N, C, D, H, W] or [C, D, H, W].
TORCH_API Tensor max_pool3d(const Tensor& input, const MaxPool3dFuncOptions& options);
/// max_pool1d, and the position in L of each maximum.
TORCH_API std::tuple<Tensor, Tensor> max_pool1d_with_indices(const Tensor& input, const MaxPool1dFuncOptions& options);
/// max_pool2d, and the position in H * W of each maximum.
TORCH_API std::tuple<Tensor, Tensor> max_pool2d_with_indices(const Tensor& input, const MaxPool2dFuncOptions& options);
/// max_pool3d, and the position in D * H * W of each maximum.
TORCH_API std::tuple<Tensor, Tensor> max_pool3d_with_indices(const Tensor& input, const MaxPool3dFuncOptions& options);

/// Maxima over windows that are placed such that `input` [N, C, L] or [C, L] gives `output_size` positions: window i
/// goes from floor(i * L / output_size) to ceil((i + 1) * L / output_size). Throws for empty inputs with a batch that
/// is not.
TORCH_API Tensor adaptive_max_pool1d(const Tensor& input, const AdaptiveMaxPool1dFuncOptions& options);
/// As adaptive_max_pool1d over [N, C, H, W] or [C, H, W].
TORCH_API Tensor adaptive_max_pool2d(const Tensor& input, const AdaptiveMaxPool2dFuncOptions& options);
/// As adaptive_max_pool1d over [N, C, D, H, W] or [C, D, H, W].
TORCH_API Tensor adaptive_max_pool3d(const Tensor& input, const AdaptiveMaxPool3dFuncOptions& options);
/// adaptive_max_pool1d, and the position in L of each maximum.
TORCH_API std::tuple<Tensor, Tensor> adaptive_max_pool1d_with_indices(
    const Tensor& input, const AdaptiveMaxPool1dFuncOptions& options);
/// adaptive_max_pool2d, and the position in H * W of each maximum.
TORCH_API std::tuple<Tensor, Tensor> adaptive_max_pool2d_with_indices(
    const Tensor& input, const AdaptiveMaxPool2dFuncOptions& options);
/// adaptive_max_pool3d, and the position in D * H * W of each maximum.
TORCH_API std::tuple<Tensor, Tensor> adaptive_max_pool3d_with_indices(
    const Tensor& input, const AdaptiveMaxPool3dFuncOptions& options);

/// Means over the windows of adaptive_max_pool1d. Throws for negative output sizes.
TORCH_API Tensor adaptive_avg_pool1d(const Tensor& input, const AdaptiveAvgPool1dFuncOptions& options);
/// As adaptive_avg_pool1d over [N, C, H, W] or [C, H, W].
TORCH_API Tensor adaptive_avg_pool2d(const Tensor& input, const AdaptiveAvgPool2dFuncOptions& options);
/// As adaptive_avg_pool1d over [N, C, D, H, W] or [C, D, H, W].
TORCH_API Tensor adaptive_avg_pool3d(const Tensor& input, const AdaptiveAvgPool3dFuncOptions& options);

/// Puts each element of `input` [N, C, L] or [C, L] at the position that `indices`, of the same sizes, names; all else
/// is zero. Throws for indices outside the result, and unless pooling `output_size`, if given, can have had the input's
/// sizes.
TORCH_API Tensor max_unpool1d(const Tensor& input, const Tensor& indices, const MaxUnpool1dFuncOptions& options);
/// As max_unpool1d over [N, C, H, W] or [C, H, W].
TORCH_API Tensor max_unpool2d(const Tensor& input, const Tensor& indices, const MaxUnpool2dFuncOptions& options);
/// As max_unpool1d over [N, C, D, H, W] or [C, D, H, W].
TORCH_API Tensor max_unpool3d(const Tensor& input, const Tensor& indices, const MaxUnpool3dFuncOptions& options);

/// Maxima over windows at random positions of `input` [N, C, H, W] or [C, H, W] (Graham, 2014). Throws if neither
/// `output_size` nor `output_ratio` is given, and if the windows do not fit.
TORCH_API Tensor fractional_max_pool2d(const Tensor& input, const FractionalMaxPool2dFuncOptions& options);
/// As fractional_max_pool2d over [N, C, D, H, W] or [C, D, H, W].
TORCH_API Tensor fractional_max_pool3d(const Tensor& input, const FractionalMaxPool3dFuncOptions& options);
/// fractional_max_pool2d, and the position in H * W of each maximum.
TORCH_API std::tuple<Tensor, Tensor> fractional_max_pool2d_with_indices(
    const Tensor& input, const FractionalMaxPool2dFuncOptions& options);
/// fractional_max_pool3d, and the position in D * H * W of each maximum.
TORCH_API std::tuple<Tensor, Tensor> fractional_max_pool3d_with_indices(
    const Tensor& input, const FractionalMaxPool3dFuncOptions& options);

/// (sum of x^p)^(1 / p) over windows of `input` [N, C, L] or [C, L], p being `norm_type`. Sizes and errors are those of
/// avg_pool1d without padding.
TORCH_API Tensor lp_pool1d(const Tensor& input, const LPPool1dFuncOptions& options);
/// As lp_pool1d over [N, C, H, W] or [C, H, W].
TORCH_API Tensor lp_pool2d(const Tensor& input, const LPPool2dFuncOptions& options);
/// As lp_pool1d over [N, C, D, H, W] or [C, D, H, W].
TORCH_API Tensor lp_pool3d(const Tensor& input, const LPPool3dFuncOptions& options);

} // namespace torch::nn::functional
