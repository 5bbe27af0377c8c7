#include <csrc/nn/functional/vision.h>

#include <c10/util/Exception.h>

namespace torch::nn::functional {

Tensor affine_grid(const Tensor& theta, const IntArrayRef& size, bool align_corners) {
  TORCH_CHECK(theta.is_floating_point(), "Expected theta to have floating point type, but got ", theta.dtype());
  TORCH_CHECK(
      size.size() == 4 || size.size() == 5,
      "affine_grid only supports 4D and 5D sizes, for 2D and 3D affine transforms, respectively. Got size ", size);
  const int64_t dims = static_cast<int64_t>(size.size()) - 2;
  TORCH_CHECK(
      theta.dim() == 3 && theta.size(1) == dims && theta.size(2) == dims + 1, "Expected a batch of ", dims,
      "D affine matrices of shape Nx", dims, "x", dims + 1, " for size ", size, ". Got ", theta.sizes(), ".");
  for (const int64_t extent : size) {
    TORCH_CHECK(extent > 0, "Expected non-zero, positive output size. Got ", size);
  }
  return at::affine_grid_generator(theta, size, align_corners);
}

Tensor grid_sample(const Tensor& input, const Tensor& grid, const GridSampleFuncOptions& options) {
  // The operator counts modes and paddings in the order in which the variants list them.
  return at::grid_sampler(
      input, grid, static_cast<int64_t>(options.mode().index()), static_cast<int64_t>(options.padding_mode().index()),
      options.align_corners().value_or(false));
}

} // namespace torch::nn::functional
