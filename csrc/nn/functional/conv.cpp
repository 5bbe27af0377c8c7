#include <csrc/nn/functional/conv.h>

#include <string_view>
#include <variant>

namespace torch::nn::functional {
namespace {

/// Calls an operator of `D` dimensions, which takes padding as numbers or as a word.
template <size_t D, class Conv>
Tensor convolve(Conv conv, const Tensor& input, const Tensor& weight, const ConvFuncOptions<D>& options) {
  const auto call = [&](auto padding) {
    return conv(input, weight, options.bias(), options.stride(), padding, options.dilation(), options.groups());
  };
  if (const auto* padding = std::get_if<ExpandingArray<D>>(&options.padding())) {
    return call(IntArrayRef(*padding));
  }
  return call(std::string_view(std::holds_alternative<enumtype::kValid>(options.padding()) ? "valid" : "same"));
}

template <size_t D, class Conv>
Tensor convolve_transposed(
    Conv conv, const Tensor& input, const Tensor& weight, const ConvTransposeFuncOptions<D>& options) {
  return conv(
      input, weight, options.bias(), options.stride(), options.padding(), options.output_padding(), options.groups(),
      options.dilation());
}

} // namespace

Tensor conv1d(const Tensor& input, const Tensor& weight, const Conv1dFuncOptions& options) {
  return convolve([](const auto&... args) { return at::conv1d(args...); }, input, weight, options);
}

Tensor conv2d(const Tensor& input, const Tensor& weight, const Conv2dFuncOptions& options) {
  return convolve([](const auto&... args) { return at::conv2d(args...); }, input, weight, options);
}

Tensor conv3d(const Tensor& input, const Tensor& weight, const Conv3dFuncOptions& options) {
  return convolve([](const auto&... args) { return at::conv3d(args...); }, input, weight, options);
}

Tensor conv_transpose1d(const Tensor& input, const Tensor& weight, const ConvTranspose1dFuncOptions& options) {
  return convolve_transposed([](const auto&... args) { return at::conv_transpose1d(args...); }, input, weight, options);
}

Tensor conv_transpose2d(const Tensor& input, const Tensor& weight, const ConvTranspose2dFuncOptions& options) {
  return convolve_transposed([](const auto&... args) { return at::conv_transpose2d(args...); }, input, weight, options);
}

Tensor conv_transpose3d(const Tensor& input, const Tensor& weight, const ConvTranspose3dFuncOptions& options) {
  return convolve_transposed([](const auto&... args) { return at::conv_transpose3d(args...); }, input, weight, options);
}

} // namespace torch::nn::functional
