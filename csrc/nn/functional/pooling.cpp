#include <csrc/nn/functional/pooling.h>

#include <c10/util/Exception.h>

namespace torch::nn::functional {
namespace {

/// `output_size` with the input's size where none was given.
template <size_t D>
std::vector<int64_t> filled_sizes(
    const char* name, const ExpandingArrayWithOptionalElem<D>& output_size, const Tensor& input) {
  TORCH_CHECK(
      input.dim() > static_cast<int64_t>(D), name, ": Expected ", D + 1, "D or ", D + 2,
      "D tensor, but got input of sizes ", input.sizes());
  std::vector<int64_t> sizes;
  for (size_t i = 0; i < D; ++i) {
    sizes.push_back((*output_size)[i].value_or(input.size(static_cast<int64_t>(i) - static_cast<int64_t>(D))));
  }
  return sizes;
}

} // namespace

Tensor avg_pool1d(const Tensor& input, const AvgPool1dFuncOptions& options) {
  return at::avg_pool1d(
      input, options.kernel_size(), options.stride(), options.padding(), options.ceil_mode(),
      options.count_include_pad());
}

Tensor avg_pool2d(const Tensor& input, const AvgPool2dFuncOptions& options) {
  return at::avg_pool2d(
      input, options.kernel_size(), options.stride(), options.padding(), options.ceil_mode(),
      options.count_include_pad(), options.divisor_override());
}

Tensor avg_pool3d(const Tensor& input, const AvgPool3dFuncOptions& options) {
  return at::avg_pool3d(
      input, options.kernel_size(), options.stride(), options.padding(), options.ceil_mode(),
      options.count_include_pad(), options.divisor_override());
}

Tensor max_pool1d(const Tensor& input, const MaxPool1dFuncOptions& options) {
  return at::max_pool1d(
      input, options.kernel_size(), options.stride(), options.padding(), options.dilation(), options.ceil_mode());
}

Tensor max_pool2d(const Tensor& input, const MaxPool2dFuncOptions& options) {
  return at::max_pool2d(
      input, options.kernel_size(), options.stride(), options.padding(), options.dilation(), options.ceil_mode());
}

Tensor max_pool3d(const Tensor& input, const MaxPool3dFuncOptions& options) {
  return at::max_pool3d(
      input, options.kernel_size(), options.stride(), options.padding(), options.dilation(), options.ceil_mode());
}

std::tuple<Tensor, Tensor> max_pool1d_with_indices(const Tensor& input, const MaxPool1dFuncOptions& options) {
  return at::max_pool1d_with_indices(
      input, options.kernel_size(), options.stride(), options.padding(), options.dilation(), options.ceil_mode());
}

std::tuple<Tensor, Tensor> max_pool2d_with_indices(const Tensor& input, const MaxPool2dFuncOptions& options) {
  return at::max_pool2d_with_indices(
      input, options.kernel_size(), options.stride(), options.padding(), options.dilation(), options.ceil_mode());
}

std::tuple<Tensor, Tensor> max_pool3d_with_indices(const Tensor& input, const MaxPool3dFuncOptions& options) {
  return at::max_pool3d_with_indices(
      input, options.kernel_size(), options.stride(), options.padding(), options.dilation(), options.ceil_mode());
}

std::tuple<Tensor, Tensor> adaptive_max_pool1d_with_indices(
    const Tensor& input, const AdaptiveMaxPool1dFuncOptions& options) {
  return at::adaptive_max_pool1d(input, options.output_size());
}

std::tuple<Tensor, Tensor> adaptive_max_pool2d_with_indices(
    const Tensor& input, const AdaptiveMaxPool2dFuncOptions& options) {
  return at::adaptive_max_pool2d(input, filled_sizes<2>("adaptive_max_pool2d", options.output_size(), input));
}

std::tuple<Tensor, Tensor> adaptive_max_pool3d_with_indices(
    const Tensor& input, const AdaptiveMaxPool3dFuncOptions& options) {
  return at::adaptive_max_pool3d(input, filled_sizes<3>("adaptive_max_pool3d", options.output_size(), input));
}

Tensor adaptive_max_pool1d(const Tensor& input, const AdaptiveMaxPool1dFuncOptions& options) {
  return std::get<0>(functional::adaptive_max_pool1d_with_indices(input, options));
}

Tensor adaptive_max_pool2d(const Tensor& input, const AdaptiveMaxPool2dFuncOptions& options) {
  return std::get<0>(functional::adaptive_max_pool2d_with_indices(input, options));
}

Tensor adaptive_max_pool3d(const Tensor& input, const AdaptiveMaxPool3dFuncOptions& options) {
  return std::get<0>(functional::adaptive_max_pool3d_with_indices(input, options));
}

Tensor adaptive_avg_pool1d(const Tensor& input, const AdaptiveAvgPool1dFuncOptions& options) {
  return at::adaptive_avg_pool1d(input, options.output_size());
}

Tensor adaptive_avg_pool2d(const Tensor& input, const AdaptiveAvgPool2dFuncOptions& options) {
  return at::adaptive_avg_pool2d(input, filled_sizes<2>("adaptive_avg_pool2d", options.output_size(), input));
}

Tensor adaptive_avg_pool3d(const Tensor& input, const AdaptiveAvgPool3dFuncOptions& options) {
  return at::adaptive_avg_pool3d(input, filled_sizes<3>("adaptive_avg_pool3d", options.output_size(), input));
}

} // namespace torch::nn::functional
