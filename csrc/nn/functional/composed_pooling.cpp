// Poolings that are made of other operators: fractional, and of a p-norm.
#include <csrc/nn/functional/pooling.h>

#include <c10/util/Exception.h>

namespace torch::nn::functional {
namespace {

/// Calls `pool` with the output size and the random numbers, [batch, channels, D], that place the windows.
template <size_t D, class Pool>
std::tuple<Tensor, Tensor> fractional_pool(
    const char* name, Pool pool, const Tensor& input, const FractionalMaxPoolOptions<D>& options) {
  const auto dims = static_cast<int64_t>(D);
  TORCH_CHECK(
      input.dim() == dims + 1 || input.dim() == dims + 2, name, ": Expected ", D + 1, "D or ", D + 2,
      "D tensor, but got input of sizes ", input.sizes());
  TORCH_CHECK(
      options.output_size().has_value() || options.output_ratio().has_value(), name,
      " requires specifying either an output_size or an output_ratio");
  std::array<int64_t, D> output_size;
  for (size_t i = 0; i < D; ++i) {
    output_size[i] = options.output_size().has_value()
        ? (**options.output_size())[i]
        : static_cast<int64_t>(
              static_cast<double>(input.size(static_cast<int64_t>(i) - dims)) * (**options.output_ratio())[i]);
  }
  Tensor samples = options._random_samples();
  if (!samples.defined()) {
    const int64_t batch = input.dim() == dims + 1 ? 1 : input.size(0);
    samples = at::rand({batch, input.size(-dims - 1), dims}, input.options());
  }
  return pool(input, options.kernel_size(), IntArrayRef(output_size), samples);
}

/// The p-th root of a sum of p-th powers, from their mean.
Tensor root_of_sum(const Tensor& mean, int64_t window, double p) {
  // The sign and relu leave the value as it is, and give gradient 0 in place of infinity where it is 0.
  return (at::sign(mean) * at::relu(at::abs(mean))).mul(window).pow(1. / p);
}

} // namespace

std::tuple<Tensor, Tensor> fractional_max_pool2d_with_indices(
    const Tensor& input, const FractionalMaxPool2dFuncOptions& options) {
  const auto pool = [](const auto&... args) { return at::fractional_max_pool2d(args...); };
  return fractional_pool("fractional_max_pool2d", pool, input, options);
}

std::tuple<Tensor, Tensor> fractional_max_pool3d_with_indices(
    const Tensor& input, const FractionalMaxPool3dFuncOptions& options) {
  const auto pool = [](const auto&... args) { return at::fractional_max_pool3d(args...); };
  return fractional_pool("fractional_max_pool3d", pool, input, options);
}

Tensor fractional_max_pool2d(const Tensor& input, const FractionalMaxPool2dFuncOptions& options) {
  return std::get<0>(fractional_max_pool2d_with_indices(input, options));
}

Tensor fractional_max_pool3d(const Tensor& input, const FractionalMaxPool3dFuncOptions& options) {
  return std::get<0>(fractional_max_pool3d_with_indices(input, options));
}

Tensor lp_pool1d(const Tensor& input, const LPPool1dFuncOptions& options) {
  const double p = options.norm_type();
  const auto& kernel = *options.kernel_size();
  const Tensor mean =
      at::avg_pool1d(input.pow(p), options.kernel_size(), options.stride(), /*padding=*/0, options.ceil_mode());
  return root_of_sum(mean, kernel[0], p);
}

Tensor lp_pool2d(const Tensor& input, const LPPool2dFuncOptions& options) {
  const double p = options.norm_type();
  const auto& kernel = *options.kernel_size();
  const Tensor mean =
      at::avg_pool2d(input.pow(p), options.kernel_size(), options.stride(), /*padding=*/0, options.ceil_mode());
  return root_of_sum(mean, kernel[0] * kernel[1], p);
}

Tensor lp_pool3d(const Tensor& input, const LPPool3dFuncOptions& options) {
  const double p = options.norm_type();
  const auto& kernel = *options.kernel_size();
  const Tensor mean =
      at::avg_pool3d(input.pow(p), options.kernel_size(), options.stride(), /*padding=*/0, options.ceil_mode());
  return root_of_sum(mean, kernel[0] * kernel[1] * kernel[2], p);
}

} // namespace torch::nn::functional
