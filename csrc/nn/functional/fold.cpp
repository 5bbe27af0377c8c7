#include <csrc/nn/functional/fold.h>

#include <c10/util/Exception.h>

namespace torch::nn::functional {

Tensor fold(const Tensor& input, const FoldFuncOptions& options) {
  TORCH_CHECK(
      input.dim() == 2 || input.dim() == 3,
      "Input Error: Only unbatched (2D) or batched (3D) input Tensors are supported (got ", input.dim(), "D)");
  return at::col2im(
      input, options.output_size(), options.kernel_size(), options.dilation(), options.padding(), options.stride());
}

Tensor unfold(const Tensor& input, const UnfoldFuncOptions& options) {
  // The operator also takes an image without a batch, as PyTorch's Python side does.
  TORCH_CHECK(
      input.dim() == 3 || input.dim() == 4,
      "Input Error: Only 4D input Tensors are supported, or 3D ones as a single image (got ", input.dim(), "D)");
  return at::im2col(input, options.kernel_size(), options.dilation(), options.padding(), options.stride());
}

} // namespace torch::nn::functional
