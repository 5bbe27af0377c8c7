// Resizing by sizes or factors, grids, and sampling by them.

#include <aten/Functions.h>
#include <aten/core/Tensor.h>
#include <aten/core/TensorOperators.h>
#include <aten/core/TensorSpec.h>
#include <aten/native/cpu/grid_sampler.h>
#include <aten/native/support/cpu_isa.h>
#include <aten/shape/functions.h>
#include <c10/core/WrapDimMinimal.h>

#include <cmath>

namespace at::native {
namespace {

constexpr void (*grid_sampler_backward_table[])(const GridSampler&) = {
    v2::grid_sampler_backward_kernel, v3::grid_sampler_backward_kernel, v4::grid_sampler_backward_kernel};

DimVector output_size_of(
    const char* op,
    int64_t dims,
    IntArrayRef input_size,
    OptionalIntArrayRef output_size,
    std::optional<ArrayRef<double>> scale_factors) {
  TORCH_CHECK(
      output_size.has_value() != scale_factors.has_value(),
      "Must specify exactly one of output_size and scale_factors (in ", op, ")");
  const auto spatial_dimensions = static_cast<int64_t>(input_size.size()) - 2;
  if (output_size.has_value()) {
    TORCH_CHECK(
        static_cast<int64_t>(output_size->size()) == spatial_dimensions,
        "Expected static_cast<int64_t>(output_size->size()) == spatial_dimensions to be true, but got false.  ",
        "(Could this error message be improved?  If so, please report an enhancement request to PyTorch.) ", op,
        " of an input of sizes ", input_size, " got output_size ", *output_size);
    return DimVector(output_size->begin(), output_size->end());
  }
  TORCH_CHECK(
      static_cast<int64_t>(scale_factors->size()) == spatial_dimensions,
      "Expected static_cast<int64_t>(scale_factors->size()) == spatial_dimensions to be true, but got false.  ",
      "(Could this error message be improved?  If so, please report an enhancement request to PyTorch.) ", op,
      " of an input of sizes ", input_size, " got ", scale_factors->size(), " scale_factors");
  TORCH_CHECK(
      static_cast<int64_t>(input_size.size()) == dims + 2, "It is expected input_size equals to ", dims + 2,
      ", but got size ", input_size.size(), " (in ", op, ")");
  DimVector size;
  for (int64_t d = 0; d < dims; ++d) {
    const double scaled = static_cast<double>(input_size[d + 2]) * (*scale_factors)[d];
    TORCH_CHECK(
        std::abs(scaled) < 9e18, op, ": size ", input_size[d + 2], " cannot be scaled by ", (*scale_factors)[d]);
    size.push_back(static_cast<int64_t>(scaled));
  }
  return size;
}

std::optional<double> factor(std::optional<ArrayRef<double>> scale_factors, size_t d) {
  return scale_factors.has_value() ? std::optional<double>((*scale_factors)[d]) : std::nullopt;
}

using Two = std::tuple<Tensor, Tensor>;

Two sampler_gradients(const Tensor& input, const Tensor& grid, std::array<bool, 2> mask) {
  // The gradient of the input is contiguous, whatever the input is.
  return {
      mask[0] ? at::empty_spec(TensorSpec::like(input, input.sizes())) : Tensor(),
      mask[1] ? at::empty_spec(TensorSpec::like(grid, grid.sizes())) : Tensor()};
}

void check_sampler_backward(const char* op, const Tensor& grad_output, const Tensor& input, const TensorSpec& spec) {
  TORCH_CHECK(
      grad_output.sizes() == IntArrayRef(spec.sizes) && grad_output.scalar_type() == input.scalar_type(), op,
      ": grad_output must be like the result, ", IntArrayRef(spec.sizes), " of ", input.scalar_type(), "; got ",
      grad_output.sizes(), " of ", grad_output.scalar_type());
}

Two run_sampler_backward(
    const Tensor& grad_output,
    const Tensor& input,
    const Tensor& grid,
    int64_t interpolation_mode,
    int64_t padding_mode,
    bool align_corners,
    std::array<bool, 2> mask) {
  const Two grads = sampler_gradients(input, grid, mask);
  GridSampler p;
  p.input = static_cast<const TensorBase&>(input).contiguous();
  p.grid = static_cast<const TensorBase&>(grid).contiguous();
  p.grad_output = static_cast<const TensorBase&>(grad_output).contiguous();
  p.interpolation = interpolation_mode;
  p.padding = padding_mode;
  p.align_corners = align_corners;
  p.grad_input = std::get<0>(grads);
  p.grad_grid = std::get<1>(grads);
  grid_sampler_backward_table[cpu_isa_level()](p);
  return grads;
}

} // namespace

// ---- resizing ------------------------------------------------------------------------------------------------------

Tensor upsample_nearest1d_vec(
    const Tensor& input, OptionalIntArrayRef output_size, std::optional<ArrayRef<double>> scale_factors) {
  const DimVector size = output_size_of("upsample_nearest1d", 1, input.sizes(), output_size, scale_factors);
  return at::upsample_nearest1d(input, size, factor(scale_factors, 0));
}

Tensor upsample_nearest2d_vec(
    const Tensor& input, OptionalIntArrayRef output_size, std::optional<ArrayRef<double>> scale_factors) {
  const DimVector size = output_size_of("upsample_nearest2d", 2, input.sizes(), output_size, scale_factors);
  return at::upsample_nearest2d(input, size, factor(scale_factors, 0), factor(scale_factors, 1));
}

Tensor upsample_nearest3d_vec(
    const Tensor& input, OptionalIntArrayRef output_size, std::optional<ArrayRef<double>> scale_factors) {
  const DimVector size = output_size_of("upsample_nearest3d", 3, input.sizes(), output_size, scale_factors);
  return at::upsample_nearest3d(
      input, size, factor(scale_factors, 0), factor(scale_factors, 1), factor(scale_factors, 2));
}

Tensor upsample_nearest_exact1d_vec(
    const Tensor& input, OptionalIntArrayRef output_size, std::optional<ArrayRef<double>> scale_factors) {
  const DimVector size = output_size_of("_upsample_nearest_exact1d", 1, input.sizes(), output_size, scale_factors);
  return at::_upsample_nearest_exact1d(input, size, factor(scale_factors, 0));
}

Tensor upsample_nearest_exact2d_vec(
    const Tensor& input, OptionalIntArrayRef output_size, std::optional<ArrayRef<double>> scale_factors) {
  const DimVector size = output_size_of("_upsample_nearest_exact2d", 2, input.sizes(), output_size, scale_factors);
  return at::_upsample_nearest_exact2d(input, size, factor(scale_factors, 0), factor(scale_factors, 1));
}

Tensor upsample_nearest_exact3d_vec(
    const Tensor& input, OptionalIntArrayRef output_size, std::optional<ArrayRef<double>> scale_factors) {
  const DimVector size = output_size_of("_upsample_nearest_exact3d", 3, input.sizes(), output_size, scale_factors);
  return at::_upsample_nearest_exact3d(
      input, size, factor(scale_factors, 0), factor(scale_factors, 1), factor(scale_factors, 2));
}

Tensor upsample_linear1d_vec(
    const Tensor& input,
    OptionalIntArrayRef output_size,
    bool align_corners,
    std::optional<ArrayRef<double>> scale_factors) {
  const DimVector size = output_size_of("upsample_linear1d", 1, input.sizes(), output_size, scale_factors);
  return at::upsample_linear1d(input, size, align_corners, factor(scale_factors, 0));
}

Tensor upsample_bilinear2d_vec(
    const Tensor& input,
    OptionalIntArrayRef output_size,
    bool align_corners,
    std::optional<ArrayRef<double>> scale_factors) {
  const DimVector size = output_size_of("upsample_bilinear2d", 2, input.sizes(), output_size, scale_factors);
  return at::upsample_bilinear2d(input, size, align_corners, factor(scale_factors, 0), factor(scale_factors, 1));
}

Tensor upsample_trilinear3d_vec(
    const Tensor& input,
    OptionalIntArrayRef output_size,
    bool align_corners,
    std::optional<ArrayRef<double>> scale_factors) {
  const DimVector size = output_size_of("upsample_trilinear3d", 3, input.sizes(), output_size, scale_factors);
  return at::upsample_trilinear3d(
      input, size, align_corners, factor(scale_factors, 0), factor(scale_factors, 1), factor(scale_factors, 2));
}

Tensor upsample_bicubic2d_vec(
    const Tensor& input,
    OptionalIntArrayRef output_size,
    bool align_corners,
    std::optional<ArrayRef<double>> scale_factors) {
  const DimVector size = output_size_of("upsample_bicubic2d", 2, input.sizes(), output_size, scale_factors);
  return at::upsample_bicubic2d(input, size, align_corners, factor(scale_factors, 0), factor(scale_factors, 1));
}

Tensor upsample_bilinear2d_aa_vec(
    const Tensor& input,
    OptionalIntArrayRef output_size,
    bool align_corners,
    std::optional<ArrayRef<double>> scale_factors) {
  const DimVector size = output_size_of("_upsample_bilinear2d_aa", 2, input.sizes(), output_size, scale_factors);
  return at::_upsample_bilinear2d_aa(input, size, align_corners, factor(scale_factors, 0), factor(scale_factors, 1));
}

Tensor upsample_bicubic2d_aa_vec(
    const Tensor& input,
    OptionalIntArrayRef output_size,
    bool align_corners,
    std::optional<ArrayRef<double>> scale_factors) {
  const DimVector size = output_size_of("_upsample_bicubic2d_aa", 2, input.sizes(), output_size, scale_factors);
  return at::_upsample_bicubic2d_aa(input, size, align_corners, factor(scale_factors, 0), factor(scale_factors, 1));
}

Tensor upsample_lanczos2d_aa_vec(
    const Tensor& input,
    OptionalIntArrayRef output_size,
    bool align_corners,
    std::optional<ArrayRef<double>> scale_factors) {
  const DimVector size = output_size_of("_upsample_lanczos2d_aa", 2, input.sizes(), output_size, scale_factors);
  return at::_upsample_lanczos2d_aa(input, size, align_corners, factor(scale_factors, 0), factor(scale_factors, 1));
}

// ---- gradients of resizing, by name only: a function would make calls with nullopt ambiguous ------------------------

Tensor upsample_nearest1d_backward_vec(
    const Tensor& grad_output,
    OptionalIntArrayRef output_size,
    IntArrayRef input_size,
    std::optional<ArrayRef<double>> scale_factors) {
  const DimVector size = output_size_of("upsample_nearest1d_backward", 1, input_size, output_size, scale_factors);
  return at::upsample_nearest1d_backward(grad_output, size, input_size, factor(scale_factors, 0));
}

Tensor upsample_nearest2d_backward_vec(
    const Tensor& grad_output,
    OptionalIntArrayRef output_size,
    IntArrayRef input_size,
    std::optional<ArrayRef<double>> scale_factors) {
  const DimVector size = output_size_of("upsample_nearest2d_backward", 2, input_size, output_size, scale_factors);
  return at::upsample_nearest2d_backward(
      grad_output, size, input_size, factor(scale_factors, 0), factor(scale_factors, 1));
}

Tensor upsample_nearest3d_backward_vec(
    const Tensor& grad_output,
    OptionalIntArrayRef output_size,
    IntArrayRef input_size,
    std::optional<ArrayRef<double>> scale_factors) {
  const DimVector size = output_size_of("upsample_nearest3d_backward", 3, input_size, output_size, scale_factors);
  return at::upsample_nearest3d_backward(
      grad_output, size, input_size, factor(scale_factors, 0), factor(scale_factors, 1), factor(scale_factors, 2));
}

Tensor upsample_nearest_exact1d_backward_vec(
    const Tensor& grad_output,
    OptionalIntArrayRef output_size,
    IntArrayRef input_size,
    std::optional<ArrayRef<double>> scale_factors) {
  const DimVector size =
      output_size_of("_upsample_nearest_exact1d_backward", 1, input_size, output_size, scale_factors);
  return at::_upsample_nearest_exact1d_backward(grad_output, size, input_size, factor(scale_factors, 0));
}

Tensor upsample_nearest_exact2d_backward_vec(
    const Tensor& grad_output,
    OptionalIntArrayRef output_size,
    IntArrayRef input_size,
    std::optional<ArrayRef<double>> scale_factors) {
  const DimVector size =
      output_size_of("_upsample_nearest_exact2d_backward", 2, input_size, output_size, scale_factors);
  return at::_upsample_nearest_exact2d_backward(
      grad_output, size, input_size, factor(scale_factors, 0), factor(scale_factors, 1));
}

Tensor upsample_nearest_exact3d_backward_vec(
    const Tensor& grad_output,
    OptionalIntArrayRef output_size,
    IntArrayRef input_size,
    std::optional<ArrayRef<double>> scale_factors) {
  const DimVector size =
      output_size_of("_upsample_nearest_exact3d_backward", 3, input_size, output_size, scale_factors);
  return at::_upsample_nearest_exact3d_backward(
      grad_output, size, input_size, factor(scale_factors, 0), factor(scale_factors, 1), factor(scale_factors, 2));
}

Tensor upsample_linear1d_backward_vec(
    const Tensor& grad_output,
    OptionalIntArrayRef output_size,
    IntArrayRef input_size,
    bool align_corners,
    std::optional<ArrayRef<double>> scale_factors) {
  const DimVector size = output_size_of("upsample_linear1d_backward", 1, input_size, output_size, scale_factors);
  return at::upsample_linear1d_backward(grad_output, size, input_size, align_corners, factor(scale_factors, 0));
}

Tensor upsample_bilinear2d_backward_vec(
    const Tensor& grad_output,
    OptionalIntArrayRef output_size,
    IntArrayRef input_size,
    bool align_corners,
    std::optional<ArrayRef<double>> scale_factors) {
  const DimVector size = output_size_of("upsample_bilinear2d_backward", 2, input_size, output_size, scale_factors);
  return at::upsample_bilinear2d_backward(
      grad_output, size, input_size, align_corners, factor(scale_factors, 0), factor(scale_factors, 1));
}

Tensor upsample_trilinear3d_backward_vec(
    const Tensor& grad_output,
    OptionalIntArrayRef output_size,
    IntArrayRef input_size,
    bool align_corners,
    std::optional<ArrayRef<double>> scale_factors) {
  const DimVector size = output_size_of("upsample_trilinear3d_backward", 3, input_size, output_size, scale_factors);
  return at::upsample_trilinear3d_backward(
      grad_output, size, input_size, align_corners, factor(scale_factors, 0), factor(scale_factors, 1),
      factor(scale_factors, 2));
}

Tensor upsample_bicubic2d_backward_vec(
    const Tensor& grad_output,
    OptionalIntArrayRef output_size,
    IntArrayRef input_size,
    bool align_corners,
    std::optional<ArrayRef<double>> scale_factors) {
  const DimVector size = output_size_of("upsample_bicubic2d_backward", 2, input_size, output_size, scale_factors);
  return at::upsample_bicubic2d_backward(
      grad_output, size, input_size, align_corners, factor(scale_factors, 0), factor(scale_factors, 1));
}

Tensor upsample_bilinear2d_aa_backward_vec(
    const Tensor& grad_output,
    OptionalIntArrayRef output_size,
    IntArrayRef input_size,
    bool align_corners,
    std::optional<ArrayRef<double>> scale_factors) {
  const DimVector size = output_size_of("_upsample_bilinear2d_aa_backward", 2, input_size, output_size, scale_factors);
  return at::_upsample_bilinear2d_aa_backward(
      grad_output, size, input_size, align_corners, factor(scale_factors, 0), factor(scale_factors, 1));
}

Tensor upsample_bicubic2d_aa_backward_vec(
    const Tensor& grad_output,
    OptionalIntArrayRef output_size,
    IntArrayRef input_size,
    bool align_corners,
    std::optional<ArrayRef<double>> scale_factors) {
  const DimVector size = output_size_of("_upsample_bicubic2d_aa_backward", 2, input_size, output_size, scale_factors);
  return at::_upsample_bicubic2d_aa_backward(
      grad_output, size, input_size, align_corners, factor(scale_factors, 0), factor(scale_factors, 1));
}

// ---- sampling ------------------------------------------------------------------------------------------------------

Tensor grid_sampler(
    const Tensor& input, const Tensor& grid, int64_t interpolation_mode, int64_t padding_mode, bool align_corners) {
  if (input.dim() == 5) {
    return at::grid_sampler_3d(input, grid, interpolation_mode, padding_mode, align_corners);
  }
  return at::grid_sampler_2d(input, grid, interpolation_mode, padding_mode, align_corners);
}

Two grid_sampler_2d_backward(
    const Tensor& grad_output,
    const Tensor& input,
    const Tensor& grid,
    int64_t interpolation_mode,
    int64_t padding_mode,
    bool align_corners,
    std::array<bool, 2> output_mask) {
  check_sampler_backward(
      "grid_sampler_2d_backward", grad_output, input,
      at::shape::grid_sampler_2d(
          "grid_sampler_2d_backward", input, grid, interpolation_mode, padding_mode, align_corners));
  return run_sampler_backward(grad_output, input, grid, interpolation_mode, padding_mode, align_corners, output_mask);
}

TORCH_API Two grid_sampler_2d_backward_meta(
    const Tensor& grad_output,
    const Tensor& input,
    const Tensor& grid,
    int64_t interpolation_mode,
    int64_t padding_mode,
    bool align_corners,
    std::array<bool, 2> output_mask) {
  check_sampler_backward(
      "grid_sampler_2d_backward", grad_output, input,
      at::shape::grid_sampler_2d(
          "grid_sampler_2d_backward", input, grid, interpolation_mode, padding_mode, align_corners));
  return sampler_gradients(input, grid, output_mask);
}

Two grid_sampler_3d_backward(
    const Tensor& grad_output,
    const Tensor& input,
    const Tensor& grid,
    int64_t interpolation_mode,
    int64_t padding_mode,
    bool align_corners,
    std::array<bool, 2> output_mask) {
  check_sampler_backward(
      "grid_sampler_3d_backward", grad_output, input,
      at::shape::grid_sampler_3d(
          "grid_sampler_3d_backward", input, grid, interpolation_mode, padding_mode, align_corners));
  return run_sampler_backward(grad_output, input, grid, interpolation_mode, padding_mode, align_corners, output_mask);
}

TORCH_API Two grid_sampler_3d_backward_meta(
    const Tensor& grad_output,
    const Tensor& input,
    const Tensor& grid,
    int64_t interpolation_mode,
    int64_t padding_mode,
    bool align_corners,
    std::array<bool, 2> output_mask) {
  check_sampler_backward(
      "grid_sampler_3d_backward", grad_output, input,
      at::shape::grid_sampler_3d(
          "grid_sampler_3d_backward", input, grid, interpolation_mode, padding_mode, align_corners));
  return sampler_gradients(input, grid, output_mask);
}

namespace {

/// Places from -1 to 1: of the first and last corner, or of the centres of elements.
Tensor places(const Tensor& like, int64_t steps, bool align_corners) {
  if (steps <= 1) {
    return at::zeros({steps}, like.options());
  }
  const Tensor range = at::linspace(-1, 1, steps, like.options());
  return align_corners ? range
                       : (range * (static_cast<double>(steps - 1) / static_cast<double>(steps))).to(like.scalar_type());
}

/// Homogeneous coordinates of all elements, [batch, elements, dims + 1].
Tensor base_grid(const Tensor& like, IntArrayRef size, bool align_corners) {
  const int64_t dims = static_cast<int64_t>(size.size()) - 2;
  DimVector shape(size.begin() + 2, size.end());
  std::vector<Tensor> columns;
  for (int64_t d = dims - 1; d >= 0; --d) {
    DimVector one(static_cast<size_t>(dims), 1);
    one[d] = size[d + 2];
    columns.push_back(places(like, size[d + 2], align_corners).view(one).expand(shape));
  }
  columns.push_back(at::ones({1}, like.options()).view(DimVector(static_cast<size_t>(dims), 1)).expand(shape));
  const Tensor grid = at::stack(columns, -1).view({-1, dims + 1});
  return grid.unsqueeze(0).expand({size[0], grid.size(0), dims + 1});
}

void check_affine(const Tensor* theta, IntArrayRef size) {
  TORCH_CHECK(
      size.size() == 4 || size.size() == 5, "AffineGridGenerator needs 4d (spatial) or 5d (volumetric) inputs.");
  for (const int64_t s : size) {
    TORCH_CHECK(s >= 0, "affine_grid_generator: Trying to create tensor with negative dimension ", s, ": ", size);
  }
  const int64_t dims = static_cast<int64_t>(size.size()) - 2;
  if (theta == nullptr) {
    return;
  }
  c10::maybe_wrap_dim(2, theta->dim()); // throws unless it is a dimension
  TORCH_CHECK(
      theta->dim() != 3 || (theta->size(0) == size[0] && theta->size(2) == dims + 1),
      "Expected size for first two dimensions of batch2 tensor to be: ", IntArrayRef{size[0], dims + 1},
      " but got: ", IntArrayRef{theta->size(0), theta->size(2)},
      ". (in affine_grid_generator: batch2 is theta.transpose(1, 2))");
  TORCH_CHECK(
      theta->dim() == 3 && theta->size(1) == dims, "Expected a batch of ", dims, "D affine matrices of shape Nx", dims,
      "x", dims + 1, " for size ", size, ". Got ", theta->sizes(), ".");
}

} // namespace

Tensor affine_grid_generator(const Tensor& theta, IntArrayRef size, bool align_corners) {
  check_affine(&theta, size);
  DimVector shape{size[0]};
  shape.append(size.begin() + 2, size.end());
  shape.push_back(static_cast<int64_t>(size.size()) - 2);
  return base_grid(theta, size, align_corners).bmm(theta.transpose(1, 2)).view(shape);
}

Tensor affine_grid_generator_backward(const Tensor& grad, IntArrayRef size, bool align_corners) {
  check_affine(nullptr, size);
  const int64_t dims = static_cast<int64_t>(size.size()) - 2;
  return base_grid(grad, size, align_corners).transpose(1, 2).bmm(grad.reshape({size[0], -1, dims})).transpose(1, 2);
}

// ---- by the names of cuDNN's forms
// -----------------------------------------------------------------------------------------

namespace {

constexpr int64_t kBilinear = 0, kZeros = 0;

void check_cudnn_sampler(const char* op, const Tensor& input, const Tensor& grid) {
  TORCH_CHECK(
      input.dim() == 4 && grid.dim() == 4 && input.size(0) == grid.size(0) && grid.size(3) == 2, op,
      ": expected 4-D input and grid with the same batch size, and a grid of pairs in its last dimension, but got "
      "input ",
      input.sizes(), " and grid ", grid.sizes());
}

} // namespace

Tensor cudnn_grid_sampler(const Tensor& self, const Tensor& grid) {
  check_cudnn_sampler("cudnn_grid_sampler", self, grid);
  return at::grid_sampler_2d(self, grid, kBilinear, kZeros, true);
}

Two cudnn_grid_sampler_backward(const Tensor& self, const Tensor& grid, const Tensor& grad_output) {
  check_cudnn_sampler("cudnn_grid_sampler_backward", self, grid);
  return at::grid_sampler_2d_backward(grad_output, self, grid, kBilinear, kZeros, true, {true, true});
}

Tensor cudnn_affine_grid_generator(const Tensor& theta, int64_t N, int64_t C, int64_t H, int64_t W) {
  return at::affine_grid_generator(theta, {N, C, H, W}, true);
}

Tensor cudnn_affine_grid_generator_backward(const Tensor& grad, int64_t N, int64_t C, int64_t H, int64_t W) {
  return at::affine_grid_generator_backward(grad, {N, C, H, W}, true);
}

Tensor _grid_sampler_2d_cpu_fallback(
    const Tensor& input, const Tensor& grid, int64_t interpolation_mode, int64_t padding_mode, bool align_corners) {
  return at::grid_sampler_2d(input, grid, interpolation_mode, padding_mode, align_corners);
}

std::tuple<Tensor, Tensor> _grid_sampler_2d_cpu_fallback_backward(
    const Tensor& grad_output,
    const Tensor& input,
    const Tensor& grid,
    int64_t interpolation_mode,
    int64_t padding_mode,
    bool align_corners) {
  return at::grid_sampler_2d_backward(
      grad_output, input, grid, interpolation_mode, padding_mode, align_corners, {true, true});
}

} // namespace at::native
