// Shape functions of resizing and grid sampling.
#include <aten/core/TensorSpec.h>
#include <aten/shape/operand_checks.h>

#include <initializer_list>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace at::shape {
namespace {

using c10::DimVector;

/// "(H: 2, W: 3)".
std::string named(IntArrayRef sizes) {
  static constexpr const char* kNames[] = {"D", "H", "W"};
  std::string text = "(";
  for (size_t i = 0; i < sizes.size(); ++i) {
    text += std::string(i == 0 ? "" : ", ") + kNames[3 - sizes.size() + i] + ": " + std::to_string(sizes[i]);
  }
  return text + ")";
}

DimVector resized(const char* op, int64_t dims, IntArrayRef input, IntArrayRef output_size) {
  TORCH_CHECK(
      static_cast<int64_t>(output_size.size()) == dims, "It is expected output_size equals to ", dims,
      ", but got size ", output_size.size(), " (in ", op, ")");
  TORCH_CHECK(
      static_cast<int64_t>(input.size()) == dims + 2, "It is expected input_size equals to ", dims + 2,
      ", but got size ", input.size(), " (in ", op, ")");
  bool positive = true;
  for (int64_t d = 0; d < dims; ++d) {
    positive = positive && input[d + 2] > 0 && output_size[d] > 0;
  }
  TORCH_CHECK(
      positive, "Input and output sizes should be greater than 0, but got input ", named(input.slice(2)),
      dims == 1 ? " and" : "", " output ", named(output_size));
  TORCH_CHECK(input[0] >= 0 && input[1] >= 0, op, ": sizes must not be negative, got ", input);
  DimVector sizes{input[0], input[1]};
  sizes.append(output_size.begin(), output_size.end());
  return sizes;
}

TensorSpec forward(const char* op, int64_t dims, const TensorBase& self, IntArrayRef output_size) {
  const DimVector sizes = resized(op, dims, self.sizes(), output_size);
  TORCH_CHECK(
      self.size(1) != 0, "Non-empty ", dims + 2, "D data tensor expected but got a tensor with sizes ", self.sizes(),
      " (in ", op, ")");
  TensorSpec spec = TensorSpec::like(self, sizes);
  spec.memory_format = self.suggest_memory_format();
  return spec;
}

TensorSpec backward(
    const char* op, int64_t dims, const TensorBase& grad_output, IntArrayRef output_size, IntArrayRef input_size) {
  const DimVector sizes = resized(op, dims, input_size, output_size);
  if (dims == 1) {
    for (int64_t d = 0; d < 3; ++d) {
      TORCH_CHECK(
          grad_output.dim() == 3 && grad_output.size(d) == sizes[d],
          "Expected a tensor of dimension 3 and tensor.size[", d, "] == ", sizes[d], " but got: dimension ",
          grad_output.dim(), " and tensor.size[", d, "] = ", grad_output.size(d), " (grad_output of ", op, ")");
    }
  }
  TORCH_CHECK(
      grad_output.dim() == dims + 2, "Expected grad_output to be a tensor of dimension ", dims + 2,
      " but got: dimension ", grad_output.dim(), " (in ", op, ")");
  for (int64_t d = 0; d < dims + 2; ++d) {
    TORCH_CHECK(
        grad_output.size(d) == sizes[d], "Expected grad_output to have the same shape as output; output.size(", d,
        ") = ", sizes[d], " but got grad_output.size(", d, ") = ", grad_output.size(d));
  }
  TensorSpec spec = TensorSpec::like(grad_output, input_size);
  // Gradients of cubic interpolation, and those of volumes by the nearest element, are row-major.
  const std::string_view name = op;
  const bool by_rows = name.find("bicubic") != name.npos || (dims == 3 && name.find("nearest") != name.npos);
  if (!by_rows) {
    spec.memory_format = grad_output.suggest_memory_format();
  }
  return spec;
}

TensorSpec grid_sampler(
    const char* op,
    int64_t dims,
    const TensorBase& input,
    const TensorBase& grid,
    int64_t interpolation_mode,
    int64_t padding_mode) {
  check_same_device(op, {&input, &grid});
  TORCH_CHECK(
      input.size(0) == grid.size(0),
      "grid_sampler(): expected grid and input to have same batch size, but got input with sizes ", input.sizes(),
      " and grid with sizes ", grid.sizes());
  TORCH_CHECK(
      grid.size(-1) == input.dim() - 2, "grid_sampler(): expected grid to have size ", input.dim() - 2,
      " in last dimension, but got grid with sizes ", grid.sizes());
  for (int64_t d = 2; d < input.dim(); ++d) {
    TORCH_CHECK(
        input.size(d) > 0, "grid_sampler(): expected input to have non-empty spatial dimensions, but input has sizes ",
        input.sizes(), " with dimension ", d, " being empty");
  }
  TORCH_CHECK(
      input.dim() == dims + 2 && input.dim() == grid.dim(), "grid_sampler(): expected ", dims == 2 ? "4D" : "5D",
      " input and grid with same number of dimensions, but got input with sizes ", input.sizes(),
      " and grid with sizes ", grid.sizes());
  int64_t volume = 1;
  for (int64_t d = 2; d < input.dim(); ++d) {
    TORCH_CHECK(
        !__builtin_mul_overflow(volume, input.size(d), &volume) && volume <= std::numeric_limits<int32_t>::max(), op,
        ": an image or volume of more than 2^31 - 1 elements is not supported; got input with sizes ", input.sizes());
  }
  TORCH_CHECK(
      input.scalar_type() == grid.scalar_type(), "expected scalar type ", input.scalar_type(), " but found ",
      grid.scalar_type(), ": the grid of ", op, " must have the dtype of its input");
  TORCH_CHECK(
      interpolation_mode >= 0 && interpolation_mode <= 2, op,
      ": interpolation_mode must be 0 (bilinear), 1 (nearest) or 2 (bicubic), got ", interpolation_mode);
  TORCH_CHECK(
      padding_mode >= 0 && padding_mode <= 2, op,
      ": padding_mode must be 0 (zeros), 1 (border) or 2 (reflection), got ", padding_mode);
  DimVector sizes{input.size(0), input.size(1)};
  for (int64_t d = 0; d < dims; ++d) {
    sizes.push_back(grid.size(d + 1));
  }
  return TensorSpec::like(input, sizes);
}

} // namespace

/// An output that is resized lies as a new result would.
void keep_memory_format(std::initializer_list<const TensorBase*> outs, TensorSpec* specs) {
  for (size_t i = 0; i < outs.size(); ++i) {
    if (c10::checked_numel(IntArrayRef(specs[i].sizes)) == 0) {
      continue; // its strides may be beyond 64 bits
    }
    const std::vector<int64_t> strides = specs[i].memory_format == c10::MemoryFormat::ChannelsLast
        ? c10::get_channels_last_strides_2d(specs[i].sizes)
        : specs[i].memory_format == c10::MemoryFormat::ChannelsLast3d
        ? c10::get_channels_last_strides_3d(specs[i].sizes)
        : std::vector<int64_t>();
    if (!strides.empty()) {
      specs[i].strides = DimVector(strides.begin(), strides.end());
    }
  }
}

TensorSpec upsample_nearest1d(const char* op, const TensorBase& self, IntArrayRef output_size, std::optional<double>) {
  return forward(op, 1, self, output_size);
}

TensorSpec upsample_nearest2d(
    const char* op, const TensorBase& self, IntArrayRef output_size, std::optional<double>, std::optional<double>) {
  return forward(op, 2, self, output_size);
}

TensorSpec upsample_nearest3d(
    const char* op,
    const TensorBase& self,
    IntArrayRef output_size,
    std::optional<double>,
    std::optional<double>,
    std::optional<double>) {
  return forward(op, 3, self, output_size);
}

TensorSpec upsample_linear1d(
    const char* op, const TensorBase& self, IntArrayRef output_size, bool, std::optional<double>) {
  return forward(op, 1, self, output_size);
}

TensorSpec upsample_linear2d(
    const char* op,
    const TensorBase& self,
    IntArrayRef output_size,
    bool,
    std::optional<double>,
    std::optional<double>) {
  return forward(op, 2, self, output_size);
}

TensorSpec upsample_linear3d(
    const char* op,
    const TensorBase& self,
    IntArrayRef output_size,
    bool,
    std::optional<double>,
    std::optional<double>,
    std::optional<double>) {
  return forward(op, 3, self, output_size);
}

TensorSpec upsample_nearest1d_backward(
    const char* op,
    const TensorBase& grad_output,
    IntArrayRef output_size,
    IntArrayRef input_size,
    std::optional<double>) {
  return backward(op, 1, grad_output, output_size, input_size);
}

TensorSpec upsample_nearest2d_backward(
    const char* op,
    const TensorBase& grad_output,
    IntArrayRef output_size,
    IntArrayRef input_size,
    std::optional<double>,
    std::optional<double>) {
  return backward(op, 2, grad_output, output_size, input_size);
}

TensorSpec upsample_nearest3d_backward(
    const char* op,
    const TensorBase& grad_output,
    IntArrayRef output_size,
    IntArrayRef input_size,
    std::optional<double>,
    std::optional<double>,
    std::optional<double>) {
  return backward(op, 3, grad_output, output_size, input_size);
}

TensorSpec upsample_linear1d_backward(
    const char* op,
    const TensorBase& grad_output,
    IntArrayRef output_size,
    IntArrayRef input_size,
    bool,
    std::optional<double>) {
  return backward(op, 1, grad_output, output_size, input_size);
}

TensorSpec upsample_linear2d_backward(
    const char* op,
    const TensorBase& grad_output,
    IntArrayRef output_size,
    IntArrayRef input_size,
    bool,
    std::optional<double>,
    std::optional<double>) {
  return backward(op, 2, grad_output, output_size, input_size);
}

TensorSpec upsample_linear3d_backward(
    const char* op,
    const TensorBase& grad_output,
    IntArrayRef output_size,
    IntArrayRef input_size,
    bool,
    std::optional<double>,
    std::optional<double>,
    std::optional<double>) {
  return backward(op, 3, grad_output, output_size, input_size);
}

TensorSpec grid_sampler_2d(
    const char* op,
    const TensorBase& input,
    const TensorBase& grid,
    int64_t interpolation_mode,
    int64_t padding_mode,
    bool) {
  return grid_sampler(op, 2, input, grid, interpolation_mode, padding_mode);
}

TensorSpec grid_sampler_3d(
    const char* op,
    const TensorBase& input,
    const TensorBase& grid,
    int64_t interpolation_mode,
    int64_t padding_mode,
    bool) {
  return grid_sampler(op, 3, input, grid, interpolation_mode, padding_mode);
}

} // namespace at::shape
