// Pooling. Inputs are [N, C, ...] or, without a batch, [C, ...]. Functions whose name ends in _with_indices also return
// where in the input each maximum was, which max_unpool takes.
#pragma once

#include <csrc/nn/options/pooling.h>
#include <csrc/types.h>

#include <tuple>

namespace torch::nn::functional {

TORCH_API Tensor avg_pool1d(const Tensor& input, const AvgPool1dFuncOptions& options);
TORCH_API Tensor avg_pool2d(const Tensor& input, const AvgPool2dFuncOptions& options);
TORCH_API Tensor avg_pool3d(const Tensor& input, const AvgPool3dFuncOptions& options);

TORCH_API Tensor max_pool1d(const Tensor& input, const MaxPool1dFuncOptions& options);
TORCH_API Tensor max_pool2d(const Tensor& input, const MaxPool2dFuncOptions& options);
TORCH_API Tensor max_pool3d(const Tensor& input, const MaxPool3dFuncOptions& options);
TORCH_API std::tuple<Tensor, Tensor> max_pool1d_with_indices(const Tensor& input, const MaxPool1dFuncOptions& options);
TORCH_API std::tuple<Tensor, Tensor> max_pool2d_with_indices(const Tensor& input, const MaxPool2dFuncOptions& options);
TORCH_API std::tuple<Tensor, Tensor> max_pool3d_with_indices(const Tensor& input, const MaxPool3dFuncOptions& options);

TORCH_API Tensor adaptive_max_pool1d(const Tensor& input, const AdaptiveMaxPool1dFuncOptions& options);
TORCH_API Tensor adaptive_max_pool2d(const Tensor& input, const AdaptiveMaxPool2dFuncOptions& options);
TORCH_API Tensor adaptive_max_pool3d(const Tensor& input, const AdaptiveMaxPool3dFuncOptions& options);
TORCH_API std::tuple<Tensor, Tensor>
adaptive_max_pool1d_with_indices(const Tensor& input, const AdaptiveMaxPool1dFuncOptions& options);
TORCH_API std::tuple<Tensor, Tensor>
adaptive_max_pool2d_with_indices(const Tensor& input, const AdaptiveMaxPool2dFuncOptions& options);
TORCH_API std::tuple<Tensor, Tensor>
adaptive_max_pool3d_with_indices(const Tensor& input, const AdaptiveMaxPool3dFuncOptions& options);

TORCH_API Tensor adaptive_avg_pool1d(const Tensor& input, const AdaptiveAvgPool1dFuncOptions& options);
TORCH_API Tensor adaptive_avg_pool2d(const Tensor& input, const AdaptiveAvgPool2dFuncOptions& options);
TORCH_API Tensor adaptive_avg_pool3d(const Tensor& input, const AdaptiveAvgPool3dFuncOptions& options);

/// Puts each element where its maximum was; all else is zero.
TORCH_API Tensor max_unpool1d(const Tensor& input, const Tensor& indices, const MaxUnpool1dFuncOptions& options);
TORCH_API Tensor max_unpool2d(const Tensor& input, const Tensor& indices, const MaxUnpool2dFuncOptions& options);
TORCH_API Tensor max_unpool3d(const Tensor& input, const Tensor& indices, const MaxUnpool3dFuncOptions& options);

/// Maxima over windows at random places (Graham, 2014).
TORCH_API Tensor fractional_max_pool2d(const Tensor& input, const FractionalMaxPool2dFuncOptions& options);
TORCH_API Tensor fractional_max_pool3d(const Tensor& input, const FractionalMaxPool3dFuncOptions& options);
TORCH_API std::tuple<Tensor, Tensor>
fractional_max_pool2d_with_indices(const Tensor& input, const FractionalMaxPool2dFuncOptions& options);
TORCH_API std::tuple<Tensor, Tensor>
fractional_max_pool3d_with_indices(const Tensor& input, const FractionalMaxPool3dFuncOptions& options);

TORCH_API Tensor lp_pool1d(const Tensor& input, const LPPool1dFuncOptions& options);
TORCH_API Tensor lp_pool2d(const Tensor& input, const LPPool2dFuncOptions& options);
TORCH_API Tensor lp_pool3d(const Tensor& input, const LPPool3dFuncOptions& options);

} // namespace torch::nn::functional
