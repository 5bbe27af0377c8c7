// Convolution on the CPU: operands brought to a layout, oneDNN or own kernels chosen, bias and copies around them.

#include <aten/Functions.h>
#include <aten/core/OpMathType.h>
#include <aten/core/Tensor.h>
#include <aten/core/TensorSpec.h>
#include <aten/core/dtype_dispatch.h>
#include <aten/native/cpu/conv.h>
#include <aten/native/onednn/conv.h>
#include <aten/native/support/conv_epilogue.h>
#include <aten/native/support/cpu_isa.h>
#include <aten/parallel/Parallel.h>
#include <aten/shape/conv_parameters.h>
#include <aten/shape/functions.h>

#include <algorithm>
#include <cmath>

namespace at::native {
namespace {

using onednn::ConvLayout;
using onednn::ConvPass;

constexpr void (*forward_columns_table[])(const ConvProblem&, const void*, const void*, const void*, void*) = {
    v2::conv_forward_columns, v3::conv_forward_columns, v4::conv_forward_columns};
constexpr void (*backward_data_columns_table[])(const ConvProblem&, const void*, const void*, void*) = {
    v2::conv_backward_data_columns, v3::conv_backward_data_columns, v4::conv_backward_data_columns};
constexpr void (*backward_weight_columns_table[])(const ConvProblem&, const void*, const void*, void*) = {
    v2::conv_backward_weight_columns, v3::conv_backward_weight_columns, v4::conv_backward_weight_columns};
constexpr decltype(&v2::conv_forward_shifted) forward_shifted_table[] = {
    v2::conv_forward_shifted, v3::conv_forward_shifted, v4::conv_forward_shifted};

constexpr decltype(&v2::conv_depthwise_forward) depthwise_forward_table[] = {
    v2::conv_depthwise_forward, v3::conv_depthwise_forward, v4::conv_depthwise_forward};
constexpr decltype(&v2::conv_depthwise_backward_data) depthwise_backward_data_table[] = {
    v2::conv_depthwise_backward_data, v3::conv_depthwise_backward_data, v4::conv_depthwise_backward_data};
constexpr decltype(&v2::conv_depthwise_backward_weight) depthwise_backward_weight_table[] = {
    v2::conv_depthwise_backward_weight, v3::conv_depthwise_backward_weight, v4::conv_depthwise_backward_weight};

c10::MemoryFormat channels_last_of(int64_t rank) {
  return rank == 4 ? c10::MemoryFormat::ChannelsLast : c10::MemoryFormat::ChannelsLast3d;
}

/// The problem of a convolution of `image` (its input, or its result if transposed) to `features`.
ConvProblem problem_of(
    IntArrayRef image,
    IntArrayRef features,
    const TensorBase& weight,
    IntArrayRef stride,
    IntArrayRef padding,
    IntArrayRef dilation,
    int64_t groups) {
  ConvProblem p;
  p.dtype = weight.scalar_type();
  p.dims = static_cast<int>(weight.dim() - 2);
  p.batch = image[0];
  p.in_channels = image[1];
  p.out_channels = features[1];
  p.groups = groups;
  const auto at = [](IntArrayRef values, int i) { return values.size() == 1 ? values[0] : values[i]; };
  for (int i = 0; i < p.dims; ++i) {
    const int d = 3 - p.dims + i;
    p.in[d] = image[i + 2];
    p.out[d] = features[i + 2];
    p.kernel[d] = weight.size(i + 2);
    // A single window takes no step, a single weight has no gap: there any number may come, also one that overflows.
    p.stride[d] = p.out[d] == 1 ? 1 : at(stride, i);
    p.padding[d] = at(padding, i);
    p.dilation[d] = p.kernel[d] == 1 ? 1 : at(dilation, i);
  }
  return p;
}

bool onednn_supports(c10::ScalarType dtype) {
  return dtype == kFloat || dtype == kBFloat16;
}

/// Own kernels compute numbers of 16 bits in float.
c10::ScalarType computed_dtype(c10::ScalarType dtype) {
  return dtype == kComplexHalf ? kComplexFloat : dtype == kHalf || dtype == kBFloat16 ? kFloat : dtype;
}

struct Operands {
  Tensor src, weight, dst;
};

/// Runs a pass by own kernels, which want plain layouts; the operand that is written is copied back.
void run_columns(ConvProblem p, ConvPass pass, const Operands& given, const Tensor& bias) {
  const c10::ScalarType dtype = computed_dtype(p.dtype);
  p.dtype = dtype;
  const auto read = [&](const Tensor& t) { return t.to(dtype).contiguous(); };
  const auto fresh = [&](const Tensor& t) {
    return t.scalar_type() == dtype && t.is_contiguous() ? t : at::empty_spec(TensorSpec::like(t, t.sizes(), dtype));
  };
  const auto finish = [](const Tensor& to, const Tensor& from) {
    if (!to.is_same(from)) {
      to.copy_(from);
    }
  };
  const int level = cpu_isa_level();
  if (pass == ConvPass::Forward) {
    const Tensor src = read(given.src), weight = read(given.weight), dst = fresh(given.dst);
    const Tensor start = bias.defined() ? read(bias) : Tensor();
    forward_columns_table[level](
        p, src.const_data_ptr(), weight.const_data_ptr(), start.defined() ? start.const_data_ptr() : nullptr,
        dst.mutable_data_ptr());
    finish(given.dst, dst);
  } else if (pass == ConvPass::BackwardData) {
    const Tensor dst = read(given.dst), weight = read(given.weight), src = fresh(given.src);
    backward_data_columns_table[level](p, dst.const_data_ptr(), weight.const_data_ptr(), src.mutable_data_ptr());
    finish(given.src, src);
  } else {
    const Tensor src = read(given.src), dst = read(given.dst), weight = fresh(given.weight);
    backward_weight_columns_table[level](p, src.const_data_ptr(), dst.const_data_ptr(), weight.mutable_data_ptr());
    finish(given.weight, weight);
  }
}

/// Runs a pass by oneDNN on float or bfloat16, in the layout of the operand that is written.
bool run_onednn(const ConvProblem& p, ConvPass pass, const Operands& given, const void* bias) {
  const int64_t rank = p.dims + 2;
  const auto plain = c10::MemoryFormat::Contiguous;
  const auto format_of = [&](const Tensor& t) {
    if (rank == 3 || t.is_contiguous()) {
      return plain;
    }
    return t.is_contiguous(channels_last_of(rank)) ? channels_last_of(rank) : plain;
  };
  const Tensor& leading = pass == ConvPass::BackwardData ? given.src
      : pass == ConvPass::Forward                        ? given.dst
                                                         : given.src;
  const auto image_format = format_of(leading), weight_format = format_of(given.weight);
  const Tensor src = given.src.contiguous(image_format), dst = given.dst.contiguous(image_format),
               weight = given.weight.contiguous(weight_format);
  const ConvLayout layout{image_format != plain, weight_format != plain};
  // oneDNN takes pointers to mutable data for all operands; it writes to one.
  const auto data = [](const Tensor& t) { return const_cast<void*>(t.const_data_ptr()); };
  if (!onednn::convolution(p, pass, layout, data(src), data(weight), data(dst), bias)) {
    return false;
  }
  const Tensor& written = pass == ConvPass::Forward ? dst : pass == ConvPass::BackwardData ? src : weight;
  const Tensor& wanted = pass == ConvPass::Forward ? given.dst
      : pass == ConvPass::BackwardData             ? given.src
                                                   : given.weight;
  if (!written.is_same(wanted)) {
    wanted.copy_(written);
  }
  return true;
}

/// Where a result reads its source for element k of the kernel, -1 where there is padding or no window.
int64_t source_position(const ConvProblem& p, ConvPass pass, int d, int64_t result, int64_t k) {
  if (pass == ConvPass::Forward) {
    const int64_t position = result * p.stride[d] + k * p.dilation[d] - p.padding[d];
    return position < p.in[d] ? position : -1;
  }
  const int64_t position = result + p.padding[d] - k * p.dilation[d];
  return position >= 0 && position % p.stride[d] == 0 && position / p.stride[d] < p.out[d] ? position / p.stride[d]
                                                                                           : -1;
}

/// A plane of a depthwise convolution, or of the gradient of its input, from the elements that exist.
template <class T>
void convolve_plane(
    const ConvProblem& p, ConvPass pass, const T* source, const T* weight, opmath_type<T> start, T* result) {
  const auto& results = pass == ConvPass::Forward ? p.out : p.in;
  const int64_t source_width = pass == ConvPass::Forward ? p.in[2] : p.out[2];
  for (int64_t y = 0; y < results[1]; ++y) {
    for (int64_t x = 0; x < results[2]; ++x) {
      opmath_type<T> sum = start;
      for (int64_t k = 0; k < p.kernel_size(); ++k) {
        const int64_t row = source_position(p, pass, 1, y, k / p.kernel[2]);
        const int64_t column = source_position(p, pass, 2, x, k % p.kernel[2]);
        if (row >= 0 && column >= 0) {
          sum +=
              static_cast<opmath_type<T>>(weight[k]) * static_cast<opmath_type<T>>(source[row * source_width + column]);
        }
      }
      result[y * results[2] + x] = static_cast<T>(sum);
    }
  }
}

/// Computes the channels anew whose weights are not all finite: the kernels of planes multiply the zeros of the padding
/// too, which stay zeros under finite weights only.
void convolve_infinite_channels(
    const ConvProblem& p, ConvPass pass, const void* source, const void* weight, const void* bias, void* result) {
  const bool forward = pass == ConvPass::Forward;
  const int64_t multiplier = p.out_channels / p.groups;
  const int64_t source_size = forward ? p.in_size() : p.out_size(), result_size = forward ? p.out_size() : p.in_size();
  dispatch("convolution", p.dtype, kFloating, [&]<class T> {
    for (int64_t c = 0; c < p.out_channels; ++c) {
      const T* own = static_cast<const T*>(weight) + c * p.kernel_size();
      const auto is_finite = [](T w) { return std::isfinite(static_cast<opmath_type<T>>(w)); };
      if (std::all_of(own, own + p.kernel_size(), is_finite)) {
        continue;
      }
      const opmath_type<T> start(bias == nullptr ? T(0) : static_cast<const T*>(bias)[c]);
      for (int64_t n = 0; n < p.batch; ++n) {
        convolve_plane<T>(
            p, pass, static_cast<const T*>(source) + (n * p.groups + c / multiplier) * source_size, own, start,
            static_cast<T*>(result) + (n * p.out_channels + c) * result_size);
      }
    }
  });
}

/// Whether own kernels run a pass plane by plane: one or two dimensions in the plain layout, and windows whose steps do
/// not make the buffer of a plane much larger than the plane. Not narrow planes, which do not fill vectors (oneDNN puts
/// channels side by side), nor the gradient of an input whose channel has several features, a sum over them.
bool is_depthwise(const ConvProblem& p, ConvPass pass, const Operands& given) {
  if (p.groups == 1 || p.in_channels != p.groups || p.dims == 3 || !c10::isFloatingType(p.dtype)) {
    return false;
  }
  if (pass == ConvPass::BackwardData && p.out_channels != p.groups) {
    return false;
  }
  constexpr int64_t kNarrow = 16, kLargestStep = 16, kWidestWindow = 1024;
  if (std::min(p.in[2], p.out[2]) < kNarrow) {
    return false;
  }
  for (const int d : {1, 2}) {
    if (p.stride[d] > kLargestStep || p.kernel[d] > kWidestWindow || p.dilation[d] > kWidestWindow / p.kernel[d]) {
      return false;
    }
  }
  return given.src.is_contiguous() && given.dst.is_contiguous();
}

void run_depthwise(const ConvProblem& p, ConvPass pass, const Operands& given, const void* bias) {
  const int level = cpu_isa_level();
  const Tensor weight = given.weight.contiguous();
  if (pass == ConvPass::Forward) {
    const void* src = given.src.const_data_ptr();
    void* dst = given.dst.mutable_data_ptr();
    depthwise_forward_table[level](p, src, weight.const_data_ptr(), bias, dst);
    convolve_infinite_channels(p, pass, src, weight.const_data_ptr(), bias, dst);
  } else if (pass == ConvPass::BackwardData) {
    const void* dst = given.dst.const_data_ptr();
    void* src = given.src.mutable_data_ptr();
    depthwise_backward_data_table[level](p, dst, weight.const_data_ptr(), src);
    convolve_infinite_channels(p, pass, dst, weight.const_data_ptr(), nullptr, src);
  } else {
    depthwise_backward_weight_table[level](
        p, given.src.const_data_ptr(), given.dst.const_data_ptr(), weight.mutable_data_ptr());
    if (!weight.is_same(given.weight)) {
      given.weight.copy_(weight);
    }
  }
}

/// Whether a convolution is a product of each image that the own kernels, with tiles of 512 bits, do faster than
/// oneDNN, which brings images into its blocks of channels: planes fill vectors, and have work for their packing
/// (measured).
bool is_fast_product(const ConvProblem& p, const Operands& given) {
  constexpr int64_t kLanes = 16, kLeastPixels = 7 * kLanes, kLeastChannels = 32;
  return cpu_isa_level() == 2 && p.dtype == kFloat && p.is_product() && p.groups == 1 && p.in_size() >= kLeastPixels &&
      std::min(p.in_channels, p.out_channels) >= kLeastChannels && given.src.is_contiguous() &&
      given.dst.is_contiguous();
}

/// Whether the gradient of the weights is a product of each group's windows that the own kernels do faster than oneDNN
/// or a kernel for planes: the windows of few channels take little memory and leave oneDNN's blocks of channels empty,
/// features are enough for a tile, and groups for the threads (measured).
bool has_few_channels(const ConvProblem& p, ConvPass pass, const Operands& given) {
  constexpr int64_t kFewChannels = 4, kLeastFeatures = 8;
  return pass == ConvPass::BackwardWeight && (p.dtype == kFloat || p.dtype == kDouble) && p.groups > 1 &&
      p.in_channels / p.groups <= kFewChannels && p.out_channels / p.groups >= kLeastFeatures &&
      given.src.is_contiguous() && given.dst.is_contiguous();
}

/// Runs a small convolution by the kernel for these; false where it is none.
bool run_shifted(const ConvProblem& p, ConvPass pass, const Operands& given, const void* bias) {
  if (pass != ConvPass::Forward || !(p.dtype == kFloat || p.dtype == kDouble)) {
    return false;
  }
  if (!given.src.is_contiguous() || !given.weight.is_contiguous() || !given.dst.is_contiguous()) {
    return false;
  }
  return forward_shifted_table[cpu_isa_level()](
      p, given.src.const_data_ptr(), given.weight.const_data_ptr(), bias, given.dst.mutable_data_ptr());
}

/// Adds bias[c] to each channel of `out`, in any dense layout.
void add_bias(const Tensor& out, const Tensor& bias) {
  DimVector sizes(static_cast<size_t>(out.dim()), 1);
  sizes[1] = bias.numel();
  out.add_(bias.view(sizes));
}

void run(const ConvProblem& p, ConvPass pass, const Operands& operands, const Tensor& bias) {
  const void* start = bias.defined() ? bias.const_data_ptr() : nullptr;
  if (has_few_channels(p, pass, operands)) {
    return run_columns(p, pass, operands, bias);
  }
  if (is_depthwise(p, pass, operands)) {
    return run_depthwise(p, pass, operands, start);
  }
  if (is_fast_product(p, operands)) {
    return run_columns(p, pass, operands, bias);
  }
  if (run_shifted(p, pass, operands, start)) {
    return;
  }
  if (onednn_supports(p.dtype) && run_onednn(p, pass, operands, start)) {
    return;
  }
  if (p.dtype == kHalf || p.dtype == kBFloat16) {
    // Through oneDNN as float, rounded once.
    ConvProblem wide = p;
    wide.dtype = kFloat;
    const Tensor src = operands.src.to(kFloat), weight = operands.weight.to(kFloat), dst = operands.dst.to(kFloat);
    run(wide, pass, {src, weight, dst}, bias.defined() ? bias.to(kFloat) : Tensor());
    if (pass == ConvPass::Forward) {
      operands.dst.copy_(dst);
    } else if (pass == ConvPass::BackwardData) {
      operands.src.copy_(src);
    } else {
      operands.weight.copy_(weight);
    }
    return;
  }
  run_columns(p, pass, operands, bias);
}

/// The passes that go backwards conjugate: as gradients must, but a transposed convolution must not.
Tensor conjugated(const Tensor& t) {
  return t.is_complex() ? t.conj_physical() : t;
}

std::tuple<Tensor, Tensor, Tensor> wanted_gradients(
    const Tensor& input, const Tensor& weight, int64_t channels, std::array<bool, 3> mask) {
  const auto format = at::shape::convolution_memory_format(input, weight);
  const auto like = [&](const Tensor& t) {
    TensorSpec spec = TensorSpec::like(t, t.sizes());
    spec.memory_format = format;
    return at::empty_spec(spec);
  };
  return {
      mask[0] ? like(input) : Tensor(), mask[1] ? like(weight) : Tensor(),
      mask[2] ? at::empty_spec(TensorSpec::like(input, {channels})) : Tensor()};
}

/// Channels of the result, and elements of the bias.
int64_t result_channels(const Tensor& weight, bool transposed, int64_t groups) {
  return transposed ? weight.size(1) * groups : weight.size(0);
}

void check_backward(
    const Tensor& grad_output,
    const Tensor& input,
    const Tensor& weight,
    IntArrayRef stride,
    IntArrayRef padding,
    IntArrayRef dilation,
    bool transposed,
    IntArrayRef output_padding,
    int64_t groups) {
  const TensorSpec spec = at::shape::convolution(
      "convolution_backward", input, weight, std::nullopt, stride, padding, dilation, transposed, output_padding,
      groups);
  // A result without channels may come with those of the weight.
  DimVector of_weight(spec.sizes.begin(), spec.sizes.end());
  of_weight[1] = result_channels(weight, transposed, groups);
  TORCH_CHECK(
      grad_output.sizes() == IntArrayRef(spec.sizes) || grad_output.sizes() == IntArrayRef(of_weight),
      "convolution_backward: grad_output must have the sizes of the result, ", IntArrayRef(spec.sizes), "; got ",
      grad_output.sizes());
  TORCH_CHECK(
      grad_output.scalar_type() == input.scalar_type(), "expected scalar type ", input.scalar_type(), " but found ",
      grad_output.scalar_type(), ": grad_output of convolution_backward must have the dtype of the input");
}

} // namespace

void convolution_kernel(
    const TensorBase& input,
    const TensorBase& weight,
    const std::optional<Tensor>& bias,
    IntArrayRef stride,
    IntArrayRef padding,
    IntArrayRef dilation,
    bool transposed,
    IntArrayRef,
    int64_t groups,
    const TensorBase& out) {
  if (out.numel() == 0) {
    return;
  }
  const Tensor x(input), w(weight), y(out);
  const Tensor b = bias.has_value() && bias->defined() ? bias->contiguous() : Tensor();
  if (input.numel() == 0 || weight.numel() == 0) {
    y.zero_();
    if (b.defined()) {
      add_bias(y, b);
    }
    return;
  }
  if (!transposed) {
    run(problem_of(x.sizes(), y.sizes(), w, stride, padding, dilation, groups), ConvPass::Forward, {x, w, y}, b);
    return;
  }
  run(problem_of(y.sizes(), x.sizes(), w, stride, padding, dilation, groups), ConvPass::BackwardData,
      {y, conjugated(w), x}, Tensor());
  if (b.defined()) {
    add_bias(y, b);
  }
}

std::optional<Tensor> convolution_with_epilogue(
    const Tensor& input,
    const Tensor& weight,
    const std::optional<Tensor>& bias,
    IntArrayRef stride,
    IntArrayRef padding,
    IntArrayRef dilation,
    int64_t groups,
    const std::optional<Tensor>& other,
    onednn::Activation activation) {
  TensorSpec spec = at::shape::convolution(
      "convolution", input, weight, bias, stride, padding, dilation, /*transposed=*/false, {0}, groups);
  if (input.dim() != 4 || input.scalar_type() != kFloat || input.numel() == 0 || weight.numel() == 0) {
    return std::nullopt;
  }
  const auto format = c10::MemoryFormat::ChannelsLast;
  spec.memory_format = format;
  const Tensor out = at::empty_spec(spec), x = input.contiguous(format), w = weight.contiguous();
  const Tensor b = bias && bias->defined() ? bias->contiguous() : Tensor();
  const Tensor added = other && other->defined() ? other->contiguous(format) : Tensor();
  if (out.numel() == 0) {
    return std::nullopt;
  }
  const auto data = [](const Tensor& t) { return t.defined() ? const_cast<void*>(t.const_data_ptr()) : nullptr; };
  const ConvProblem p = problem_of(x.sizes(), out.sizes(), w, stride, padding, dilation, groups);
  const bool done = onednn::convolution(
      p, ConvPass::Forward, {true, false}, data(x), data(w), out.mutable_data_ptr(), data(b),
      {data(added), activation});
  return done ? std::optional<Tensor>(out) : std::nullopt;
}

std::tuple<Tensor, Tensor, Tensor> convolution_backward_cpu(
    const Tensor& grad_output,
    const Tensor& input,
    const Tensor& weight,
    IntArrayRef stride,
    IntArrayRef padding,
    IntArrayRef dilation,
    bool transposed,
    IntArrayRef output_padding,
    int64_t groups,
    std::array<bool, 3> output_mask) {
  check_backward(grad_output, input, weight, stride, padding, dilation, transposed, output_padding, groups);
  auto grads = wanted_gradients(input, weight, result_channels(weight, transposed, groups), output_mask);
  const auto& [grad_input, grad_weight, grad_bias] = grads;
  const bool empty = grad_output.numel() == 0 || input.numel() == 0 || weight.numel() == 0;
  if (empty) {
    if (grad_input.defined()) {
      grad_input.zero_();
    }
    if (grad_weight.defined()) {
      grad_weight.zero_();
    }
  } else if (!transposed) {
    const ConvProblem p = problem_of(input.sizes(), grad_output.sizes(), weight, stride, padding, dilation, groups);
    if (grad_input.defined()) {
      run(p, ConvPass::BackwardData, {grad_input, weight, grad_output}, Tensor());
    }
    if (grad_weight.defined()) {
      run(p, ConvPass::BackwardWeight, {input, grad_weight, grad_output}, Tensor());
    }
  } else {
    const ConvProblem p = problem_of(grad_output.sizes(), input.sizes(), weight, stride, padding, dilation, groups);
    if (grad_input.defined()) {
      run(p, ConvPass::Forward, {grad_output, conjugated(weight), grad_input}, Tensor());
    }
    if (grad_weight.defined()) {
      run(p, ConvPass::BackwardWeight, {grad_output, grad_weight, input}, Tensor());
      if (grad_weight.is_complex()) {
        grad_weight.conj_physical_();
      }
    }
  }
  if (grad_bias.defined() && grad_output.numel() == 0) {
    grad_bias.zero_();
  } else if (grad_bias.defined()) {
    DimVector dims;
    for (int64_t d = 0; d < grad_output.dim(); ++d) {
      if (d != 1) {
        dims.push_back(d);
      }
    }
    // Complex numbers of two halves have no sums of their own.
    const Tensor summed = grad_output.scalar_type() == kComplexHalf ? grad_output.to(kComplexFloat) : grad_output;
    grad_bias.copy_(summed.sum(dims));
  }
  return grads;
}

TORCH_API std::tuple<Tensor, Tensor, Tensor> convolution_backward_meta(
    const Tensor& grad_output,
    const Tensor& input,
    const Tensor& weight,
    IntArrayRef stride,
    IntArrayRef padding,
    IntArrayRef dilation,
    bool transposed,
    IntArrayRef output_padding,
    int64_t groups,
    std::array<bool, 3> output_mask) {
  check_backward(grad_output, input, weight, stride, padding, dilation, transposed, output_padding, groups);
  return wanted_gradients(input, weight, result_channels(weight, transposed, groups), output_mask);
}

} // namespace at::native
