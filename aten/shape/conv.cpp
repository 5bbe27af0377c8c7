// Shape functions of convolutions and of the windows they slide.
#include <aten/shape/conv_parameters.h>

#include <aten/core/Tensor.h>
#include <aten/core/TensorSpec.h>
#include <aten/shape/operand_checks.h>

#include <c10/util/safe_numerics.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

namespace at::shape {
namespace {

using c10::DimVector;

bool given(const std::optional<Tensor>& t) {
  return t.has_value() && t->defined();
}

bool any_below(IntArrayRef values, int64_t least) {
  return std::any_of(values.begin(), values.end(), [&](int64_t v) { return v < least; });
}

std::string joined(IntArrayRef values) {
  std::string text;
  for (size_t i = 0; i < values.size(); ++i) {
    text += (i == 0 ? "" : " x ") + std::to_string(values[i]);
  }
  return text;
}

/// a * b + c; throws when that does not fit 64 bits.
int64_t multiply_add(int64_t a, int64_t b, int64_t c) {
  int64_t product = 0, sum = 0;
  TORCH_CHECK(
      !__builtin_mul_overflow(a, b, &product) && !__builtin_add_overflow(product, c, &sum),
      "convolution: the size of the result overflows: ", a, " * ", b, " + ", c);
  return sum;
}

void check_channels(
    const TensorBase& input,
    const TensorBase& weight,
    const std::optional<Tensor>& bias,
    bool transposed,
    int64_t groups) {
  const IntArrayRef w = weight.sizes();
  const int64_t rank = weight.dim();
  TORCH_CHECK(
      rank == input.dim(), "Expected ", rank, "-dimensional input for ", rank, "-dimensional weight ", w, ", but got ",
      input.dim(), "-dimensional input of size ", input.sizes(), " instead");
  TORCH_CHECK(
      w[0] >= groups, "Given groups=", groups, ", expected weight to be at least ", groups,
      " at dimension 0, but got weight of size ", w, " instead");
  TORCH_CHECK(
      w[0] % groups == 0, "Given groups=", groups, ", expected weight to be divisible by ", groups,
      " at dimension 0, but got weight of size [", w, "] instead");
  if (transposed) {
    TORCH_CHECK(
        input.size(1) == w[0], "Given transposed=", transposed, ", weight of size ", w, ", expected input",
        input.sizes(), " to have ", w[0], " channels, but got ", input.size(1), " channels instead");
    TORCH_CHECK(
        !given(bias) || (bias->dim() == 1 && bias->size(0) == w[1] * groups), "Given transposed=", transposed,
        ", weight of size ", w, ", expected bias to be 1-dimensional with ", w[1] * groups,
        " elements, but got bias of size ", given(bias) ? bias->sizes() : IntArrayRef(), " instead");
  } else {
    TORCH_CHECK(
        input.size(1) == multiply_add(w[1], groups, 0), "Given groups=", groups, ", weight of size ", w,
        ", expected input", input.sizes(), " to have ", w[1] * groups, " channels, but got ", input.size(1),
        " channels instead");
    TORCH_CHECK(
        !given(bias) || (bias->dim() == 1 && bias->size(0) == w[0]), "Given weight of size ", w,
        ", expected bias to be 1-dimensional with ", w[0], " elements, but got bias of size ",
        given(bias) ? bias->sizes() : IntArrayRef(), " instead");
  }
}

void check_dtypes(
    const char* op, const TensorBase& input, const TensorBase& weight, const std::optional<Tensor>& bias) {
  TORCH_CHECK(
      input.scalar_type() == weight.scalar_type(), "expected scalar type ", input.scalar_type(), " but found ",
      weight.scalar_type(), ": the weight of ", op, " must have the dtype of its input");
  if (!given(bias)) {
    return;
  }
  TORCH_CHECK(
      input.scalar_type() == bias->scalar_type(), "Input type (", input.dtype().name(), ") and bias type (",
      bias->dtype().name(), ") should be the same");
  check_same_device(op, {&input, &weight, &*bias});
}

} // namespace

DimVector conv_parameter(IntArrayRef values, const char* name, int64_t dims) {
  if (values.size() == 1) {
    return DimVector(static_cast<size_t>(dims), values[0]);
  }
  TORCH_CHECK(
      static_cast<int64_t>(values.size()) == dims, "expected ", name, " to be a single integer value or a list of ",
      dims, " values to match the convolution dimensions, but got ", name, "=", values);
  return DimVector(values.begin(), values.end());
}

c10::MemoryFormat convolution_memory_format(const TensorBase& input, const TensorBase& weight) {
  const auto either = [&](c10::MemoryFormat format) {
    return input.suggest_memory_format() == format || weight.suggest_memory_format() == format;
  };
  if (input.dim() == 4 && either(c10::MemoryFormat::ChannelsLast)) {
    return c10::MemoryFormat::ChannelsLast;
  }
  // Three dimensions in double are computed, and returned, contiguous.
  if (input.dim() == 5 && input.scalar_type() != kDouble && either(c10::MemoryFormat::ChannelsLast3d)) {
    return c10::MemoryFormat::ChannelsLast3d;
  }
  return c10::MemoryFormat::Contiguous;
}

namespace {

/// The parameter as PyTorch's kernels see it: one spatial dimension is two of which the first has size one.
DimVector at_least_two(IntArrayRef values, int64_t first = 1) {
  DimVector out(values.size() == 1 ? 1 : 0, first);
  out.append(values.begin(), values.end());
  return out;
}

/// "NAME_height: 1 NAME_width: 2".
std::string by_axis(const char* name, IntArrayRef values, const char* between, int64_t first = 1) {
  constexpr const char* kAxes[] = {"depth", "height", "width"};
  const DimVector all = at_least_two(values, first);
  std::string text;
  for (size_t i = 0; i < all.size(); ++i) {
    text += c10::str(i == 0 ? "" : between, name, "_", kAxes[3 - all.size() + i], ": ", all[i]);
  }
  return text;
}

} // namespace

TensorSpec convolution(
    const char* op,
    const TensorBase& input,
    const TensorBase& weight,
    const std::optional<Tensor>& bias,
    IntArrayRef stride_arg,
    IntArrayRef padding_arg,
    IntArrayRef dilation_arg,
    bool transposed,
    IntArrayRef output_padding_arg,
    int64_t groups) {
  const int64_t dims = weight.dim() - 2;
  TORCH_CHECK(dims > 0, "weight should have at least three dimensions; ", op, " got ", weight.sizes());
  TORCH_CHECK(dims <= 3, op, ": at most 3 spatial dimensions are supported; weight has sizes ", weight.sizes());
  const DimVector stride = conv_parameter(stride_arg, "stride", dims),
                  padding = conv_parameter(padding_arg, "padding", dims),
                  dilation = conv_parameter(dilation_arg, "dilation", dims),
                  output_padding = conv_parameter(output_padding_arg, "output_padding", dims);
  TORCH_CHECK(!any_below(padding, 0), "negative padding is not supported");
  TORCH_CHECK(!any_below(output_padding, 0), "negative output_padding is not supported");
  TORCH_CHECK(!any_below(stride, 1), "non-positive stride is not supported");
  TORCH_CHECK(
      !any_below(dilation, 1), "dilation should be greater than zero, but got ",
      transposed ? by_axis("dilation", dilation, ", ") : c10::str(at_least_two(dilation)));
  TORCH_CHECK(groups > 0, "non-positive groups is not supported");
  check_channels(input, weight, bias, transposed, groups);
  check_same_device(op, {&input, &weight});
  check_dtypes(op, input, weight, bias);

  // Of no channels PyTorch makes none, whatever the weight says.
  const bool without_channels = !transposed && input.size(1) == 0;
  DimVector sizes{
      input.size(0),
      without_channels ? 0
          : transposed ? multiply_add(weight.size(1), groups, 0)
                       : weight.size(0)};
  DimVector padded, kernel;
  bool fits = true;
  for (int64_t d = 0; d < dims; ++d) {
    const int64_t in = input.size(d + 2), k = weight.size(d + 2);
    TORCH_CHECK(
        k > 0, "kernel size should be greater than zero, but got ", by_axis("kernel", weight.sizes().slice(2), " "),
        " (in ", op, ")");
    const int64_t reach = multiply_add(dilation[d], k - 1, 1);
    if (transposed) {
      TORCH_CHECK(
          output_padding[d] < stride[d] || output_padding[d] < dilation[d],
          "output padding must be smaller than either stride or dilation, but got ",
          by_axis("output_padding", output_padding, " ", 0), " ", by_axis("stride", stride, " "), " ",
          by_axis("dilation", dilation, " "));
      const int64_t spread = multiply_add(in - 1, stride[d], multiply_add(1, reach, output_padding[d]));
      sizes.push_back(multiply_add(-2, padding[d], spread));
      fits &= sizes.back() > 0 || in == 0;
    } else {
      padded.push_back(multiply_add(2, padding[d], in));
      kernel.push_back(reach);
      fits &= padded.back() >= reach;
      sizes.push_back(fits ? (padded.back() - reach) / stride[d] + 1 : 0);
    }
  }
  TORCH_CHECK(
      fits || transposed, "Calculated padded input size per channel: (", joined(padded), "). Kernel size: (",
      joined(kernel), "). Kernel size can't be greater than actual input size");
  TORCH_CHECK(
      !transposed || fits, "Given input size per channel: (", joined(at_least_two(input.sizes().slice(2))),
      "). Calculated output size per channel: (", joined(at_least_two(IntArrayRef(sizes).slice(2))),
      "). Output size is too small");
  if (input.numel() == 0 && input.size(0) != 0 && input.size(1) != 0) {
    DimVector seen{input.size(0), input.size(1)};
    seen.append(at_least_two(input.sizes().slice(2)));
    TORCH_CHECK(
        false, "Only zero batch or zero channel inputs are supported, but got input shape: ", seen, " (in ", op, ")");
  }
  TensorSpec spec = TensorSpec::like(input, sizes);
  spec.memory_format = convolution_memory_format(input, weight);
  if (dims == 3 && !transposed) {
    // PyTorch hands large or batched volumes to oneDNN, which keeps their format, and computes small ones by rows.
    const int64_t front = input.size(0) * input.size(1) * input.size(2) * input.size(3);
    const bool handed =
        groups > 1 || (weight.size(-1) > 3 && weight.size(-2) > 3) || input.size(0) > 1 || front > 20480;
    if (!handed || std::string_view(op).starts_with("slow_")) {
      spec.memory_format = c10::MemoryFormat::Contiguous;
    }
  }
  return spec;
}

// ---- sliding windows -----------------------------------------------------------------------------------------------

namespace {

struct Windows2d {
  int64_t kernel[2], dilation[2], padding[2], stride[2];

  Windows2d(
      const char* op,
      IntArrayRef kernel_size,
      IntArrayRef dilation_size,
      IntArrayRef padding_size,
      IntArrayRef stride_size) {
    const auto pair = [&](IntArrayRef values, const char* name, int64_t least, int64_t* out, const char* phrase) {
      TORCH_CHECK(
          values.size() == 2, "It is expected ", name, " equals to 2, but got size ", values.size(), " (in ", op, ")");
      TORCH_CHECK(values[0] >= least && values[1] >= least, phrase, values[0], " ", name, "_width: ", values[1]);
      out[0] = values[0];
      out[1] = values[1];
    };
    pair(kernel_size, "kernel_size", 1, kernel, "kernel size should be greater than zero, but got kernel_height: ");
    pair(dilation_size, "dilation", 1, dilation, "dilation should be greater than zero, but got dilation_height: ");
    pair(padding_size, "padding", 0, padding, "padding should be non-negative, but got pad_height: ");
    pair(stride_size, "stride", 1, stride, "stride should be greater than zero, but got stride_height: ");
  }

  int64_t count(int64_t size, int d) const {
    const int64_t room = multiply_add(2, padding[d], size) - multiply_add(dilation[d], kernel[d] - 1, 1);
    return (room < 0 ? (room + 1) / stride[d] - 1 : room / stride[d]) + 1; // rounded down
  }
};

std::string tuple(int64_t a, int64_t b) {
  return c10::str("(", a, ", ", b, ")");
}

} // namespace

TensorSpec im2col(
    const char* op,
    const TensorBase& self,
    IntArrayRef kernel_size,
    IntArrayRef dilation,
    IntArrayRef padding,
    IntArrayRef stride) {
  const Windows2d w(op, kernel_size, dilation, padding, stride);
  const bool batched = self.dim() == 4;
  TORCH_CHECK(
      (batched || self.dim() == 3) && self.size(-1) != 0 && self.size(-2) != 0 && self.size(-3) != 0,
      "Expected 3D or 4D (batch mode) tensor with possibly 0 batch size and other non-zero dimensions for input, but "
      "got: ",
      self.sizes());
  const int64_t height = self.size(-2), width = self.size(-1), rows = w.count(height, 0), cols = w.count(width, 1);
  TORCH_CHECK(
      rows >= 1 && cols >= 1, "Given input with spatial size ", tuple(height, width),
      ", kernel_size=", tuple(w.kernel[0], w.kernel[1]), ", dilation=", tuple(w.dilation[0], w.dilation[1]),
      ", padding=", tuple(w.padding[0], w.padding[1]), ", calculated shape of the array of sliding blocks as ",
      tuple(rows, cols), ", but its components must be at least one.");
  const int64_t depth = multiply_add(multiply_add(self.size(-3), w.kernel[0], 0), w.kernel[1], 0);
  DimVector sizes;
  if (batched) {
    sizes.push_back(self.size(0));
  }
  sizes.append({depth, multiply_add(rows, cols, 0)});
  return TensorSpec::like(self, sizes);
}

TensorSpec col2im(
    const char* op,
    const TensorBase& self,
    IntArrayRef output_size,
    IntArrayRef kernel_size,
    IntArrayRef dilation,
    IntArrayRef padding,
    IntArrayRef stride) {
  const Windows2d w(op, kernel_size, dilation, padding, stride);
  TORCH_CHECK(output_size.size() == 2, "It is expected output_size equals to 2, but got size ", output_size.size());
  const bool batched = self.dim() == 3;
  TORCH_CHECK(
      (batched || self.dim() == 2) && self.size(-1) != 0 && self.size(-2) != 0,
      "Expected 2D or 3D (batch mode) tensor for input with possibly 0 batch size and non-zero dimensions for input, "
      "but got: ",
      self.sizes());
  const int64_t area = multiply_add(w.kernel[0], w.kernel[1], 0);
  TORCH_CHECK(
      self.size(-2) % area == 0,
      "Expected size of input's dimension 1 to be divisible by the product of kernel_size, but got input.size(1)=",
      self.size(-2), " and kernel_size=", tuple(w.kernel[0], w.kernel[1]), ".");
  const int64_t rows = w.count(output_size[0], 0), cols = w.count(output_size[1], 1);
  const auto geometry = [&] {
    return c10::str(
        "Given output_size=", tuple(output_size[0], output_size[1]), ", kernel_size=", tuple(w.kernel[0], w.kernel[1]),
        ", dilation=", tuple(w.dilation[0], w.dilation[1]), ", padding=", tuple(w.padding[0], w.padding[1]),
        ", stride=", tuple(w.stride[0], w.stride[1]));
  };
  const int64_t blocks = multiply_add(rows, cols, 0);
  TORCH_CHECK(
      self.size(-1) == blocks, geometry(),
      ", expected size of input's dimension 2 to match the calculated number of sliding blocks ", rows, " * ", cols,
      " = ", blocks, ", but got input.size(2)=", self.size(-1), ".");
  TORCH_CHECK(
      rows >= 1 && cols >= 1, geometry(), ", calculated shape of the array of sliding blocks as ", tuple(rows, cols),
      ", which is too small (non-positive)");
  TORCH_CHECK(output_size[0] > 0 && output_size[1] > 0, op, ": output_size must be positive, got ", output_size);
  DimVector sizes;
  if (batched) {
    sizes.push_back(self.size(0));
  }
  sizes.append({self.size(-2) / area, output_size[0], output_size[1]});
  return TensorSpec::like(self, sizes);
}

} // namespace at::shape
