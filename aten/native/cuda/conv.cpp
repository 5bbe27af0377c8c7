// Convolution: by cuDNN where that is found (conv_cudnn.cpp), else by products of our own (conv_product.cpp).
// Depthwise convolution has kernels of its own. Arguments are checked by aten/shape/conv.cpp.
#include <aten/Functions.h>
#include <aten/core/Tensor.h>
#include <aten/core/dtype_dispatch.h>
#include <aten/native/cuda/conv_cudnn.h>
#include <aten/native/cuda/conv_product.h>
#include <aten/native/cuda/copy.h>
#include <aten/native/cuda/im2col.h>
#include <aten/native/support/optional_tensor.h>
#include <c10/cuda/CUDAStream.h>

#include <algorithm>
#include <array>
#include <tuple>

namespace at::native {

namespace cuda {

namespace {

constexpr auto kConvolutionDtypes = kFloating | kComplex;

std::int32_t window_number(const char* op, int64_t value) {
  TORCH_CHECK(value < (1 << 30), op, ": on CUDA sizes, strides and padding of windows are below 2^30, got ", value);
  return static_cast<std::int32_t>(value);
}

/// A convolution of `image` (its input, or its result if transposed) to `features`.
struct Problem {
  const char* op;
  SlidingDim dim[3];
  int dims;
  int64_t groups, image_channels, feature_channels;
  DimVector steps; // as they were given, also where there is none

  Problem(
      const char* op,
      IntArrayRef image,
      IntArrayRef features,
      IntArrayRef weight,
      IntArrayRef stride,
      IntArrayRef padding,
      IntArrayRef dilation,
      int64_t groups)
      : op(op),
        dims(static_cast<int>(weight.size()) - 2),
        groups(groups),
        image_channels(image[1]),
        feature_channels(features[1]) {
    for (int i = 0; i < dims; ++i) {
      SlidingDim& d = dim[3 - dims + i];
      d.kernel = window_number(op, weight[i + 2]);
      d.out = window_number(op, features[i + 2]);
      steps.push_back(at_or_only(stride, i));
      // A single window takes no step, a single weight has no gap: there any number may come.
      d.stride = d.out == 1 ? 1 : window_number(op, at_or_only(stride, i));
      d.dilation = d.kernel == 1 ? 1 : window_number(op, at_or_only(dilation, i));
      d.padding = window_number(op, at_or_only(padding, i));
      window_number(op, image[i + 2] + 2 * int64_t{d.padding});
    }
  }

  bool is_depthwise(c10::ScalarType dtype) const {
    return groups == image_channels && groups > 1 && kFloating.contains(dtype);
  }
  ConvolutionProduct product(
      const Tensor& image, const Tensor& weight, const Tensor& features, const Tensor& bias) const {
    return {op, image, weight, features, bias, dim, dims, groups};
  }
  Depthwise depthwise(const Tensor& image, const Tensor& features) const {
    Depthwise p;
    std::copy(dim, dim + 3, p.dim);
    p.image = image_of(op, image, dims);
    p.result = image_of(op, features, dims);
    p.multiplier = static_cast<std::int32_t>(feature_channels / groups);
    p.dtype = image.scalar_type();
    p.stream = c10::cuda::getCurrentCUDAStream();
    return p;
  }
};

/// Whether cuDNN has filled what the pass is named after.
bool by_cudnn(
    ConvolutionPass pass, const Problem& p, const Tensor& image, const Tensor& weight, const Tensor& features) {
  CudnnConvolution c{image, weight, features, p.steps, {}, {}, p.groups};
  for (int i = 3 - p.dims; i < 3; ++i) {
    c.padding.push_back(p.dim[i].padding);
    c.dilation.push_back(p.dim[i].dilation);
  }
  return cudnn_convolve(pass, c);
}

void add_bias(Tensor out, const Tensor& bias) {
  if (bias.defined()) {
    DimVector sizes(static_cast<size_t>(out.dim()), 1);
    sizes[1] = bias.numel();
    out.add_(bias.view(sizes));
  }
}

void convolve(const Problem& p, const Tensor& image, const Tensor& weight, const Tensor& features, const Tensor& bias) {
  if (p.is_depthwise(image.scalar_type())) {
    const Tensor w = weight.contiguous();
    launch_depthwise(
        p.depthwise(image, features), image.const_data_ptr(), w.const_data_ptr(), features.mutable_data_ptr());
  } else if (!by_cudnn(ConvolutionPass::Features, p, image, weight, features)) {
    return convolve_by_product(ConvolutionPass::Features, p.product(image, weight, features, bias));
  }
  add_bias(features, bias);
}

/// The way back to the image, by the weight as it is: who wants a gradient conjugates it.
void convolve_back(
    const Problem& p, const Tensor& features, const Tensor& weight, const Tensor& image, const Tensor& bias) {
  if (p.is_depthwise(image.scalar_type())) {
    const Tensor w = weight.contiguous();
    launch_depthwise_backward_image(
        p.depthwise(image, features), features.const_data_ptr(), w.const_data_ptr(), image.mutable_data_ptr());
  } else if (!by_cudnn(ConvolutionPass::Image, p, image, weight, features)) {
    return convolve_by_product(ConvolutionPass::Image, p.product(image, weight, features, bias));
  }
  add_bias(image, bias);
}

/// weight = the sum of what features and windows of the image give, without conjugation.
void convolve_for_weight(const Problem& p, const Tensor& image, const Tensor& features, const Tensor& weight) {
  if (p.is_depthwise(image.scalar_type())) {
    const Tensor w = weight.is_contiguous() ? weight : at::empty_like(weight, MemoryFormat::Contiguous);
    launch_depthwise_backward_weight(
        p.depthwise(image, features), image.const_data_ptr(), features.const_data_ptr(), w.mutable_data_ptr());
    if (!w.is_same(weight)) {
      copy_on_device(weight, w);
    }
  } else if (!by_cudnn(ConvolutionPass::Weight, p, image, weight, features)) {
    convolve_by_product(ConvolutionPass::Weight, p.product(image, weight, features, Tensor()));
  }
}

/// Conjugates where an operator's gradient does.
Tensor conjugated(const Tensor& t) {
  return t.is_complex() ? t.conj_physical() : t;
}

void check_convolution_dtype(const char* op, const TensorBase& t) {
  if (!kConvolutionDtypes.contains(t.scalar_type())) {
    at::detail::dtype_not_supported(op, t.scalar_type(), kConvolutionDtypes.bits);
  }
}

/// The windows of im2col and col2im as a convolution's.
Columns windows_2d(
    const char* op,
    const TensorBase& image,
    const TensorBase& columns,
    IntArrayRef kernel,
    IntArrayRef dilation,
    IntArrayRef padding,
    IntArrayRef stride) {
  Columns p;
  p.image = image_of(op, image, 2);
  for (int i = 0; i < 2; ++i) {
    SlidingDim& d = p.dim[i + 1];
    const int64_t size = image.size(image.dim() - 2 + i);
    const int64_t windows = (size + 2 * padding[i] - dilation[i] * (kernel[i] - 1) - 1) / stride[i] + 1;
    d.kernel = window_number(op, kernel[i]);
    d.out = window_number(op, windows);
    d.stride = d.out == 1 ? 1 : window_number(op, stride[i]);
    d.dilation = d.kernel == 1 ? 1 : window_number(op, dilation[i]);
    d.padding = window_number(op, padding[i]);
    window_number(op, size + 2 * padding[i]);
  }
  p.of_row = columns.size(-1);
  p.of_batch = columns.size(-2) * p.of_row;
  p.stream = c10::cuda::getCurrentCUDAStream();
  return p;
}

constexpr auto kColumnDtypes = kFloating | kComplex | kBooleans;

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
  check_convolution_dtype("convolution", input);
  if (out.numel() == 0) {
    return;
  }
  const Tensor x(input), w(weight), y(out), b = defined_or_empty(bias);
  if (x.numel() == 0 || w.numel() == 0) {
    Tensor(y).zero_();
    add_bias(y, b);
  } else if (!transposed) {
    convolve(Problem("convolution", x.sizes(), y.sizes(), w.sizes(), stride, padding, dilation, groups), x, w, y, b);
  } else {
    convolve_back(
        Problem("convolution", y.sizes(), x.sizes(), w.sizes(), stride, padding, dilation, groups), x, w, y, b);
  }
}

void im2col_kernel(
    const TensorBase& self,
    IntArrayRef kernel_size,
    IntArrayRef dilation,
    IntArrayRef padding,
    IntArrayRef stride,
    const TensorBase& out) {
  if (!kColumnDtypes.contains(self.scalar_type())) {
    at::detail::dtype_not_supported("im2col_out_cuda", self.scalar_type(), kColumnDtypes.bits);
  }
  if (out.numel() != 0) {
    launch_gather_columns(
        windows_2d("im2col", self, out, kernel_size, dilation, padding, stride), self.itemsize(), self.const_data_ptr(),
        out.mutable_data_ptr());
  }
}

void col2im_kernel(
    const TensorBase& self,
    IntArrayRef,
    IntArrayRef kernel_size,
    IntArrayRef dilation,
    IntArrayRef padding,
    IntArrayRef stride,
    const TensorBase& out) {
  if (!kColumnDtypes.contains(self.scalar_type())) {
    at::detail::dtype_not_supported("col2im_out_cuda", self.scalar_type(), kColumnDtypes.bits);
  }
  if (out.numel() == 0) {
    return;
  }
  // A sum of flags tells whether there is one.
  const bool flags = self.scalar_type() == kBool;
  const TensorBase columns = (flags ? self.to(c10::TensorOptions().dtype(kFloat)) : self).contiguous();
  const Tensor sums = flags ? at::empty(out.sizes(), Tensor(columns).options()) : Tensor(out);
  launch_sum_columns(
      windows_2d("col2im", sums, columns, kernel_size, dilation, padding, stride), columns.scalar_type(),
      columns.const_data_ptr(), sums.mutable_data_ptr());
  if (flags) {
    copy_on_device(out, sums);
  }
}

} // namespace cuda

// Checks, and gradients that are allocated but not filled.
std::tuple<Tensor, Tensor, Tensor> convolution_backward_meta(
    const Tensor& grad_output,
    const Tensor& input,
    const Tensor& weight,
    IntArrayRef stride,
    IntArrayRef padding,
    IntArrayRef dilation,
    bool transposed,
    IntArrayRef output_padding,
    int64_t groups,
    std::array<bool, 3> output_mask);

std::tuple<Tensor, Tensor, Tensor> convolution_backward_cuda(
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
  using namespace cuda;
  check_convolution_dtype("convolution_backward", input);
  auto grads = convolution_backward_meta(
      grad_output, input, weight, stride, padding, dilation, transposed, output_padding, groups, output_mask);
  auto& [grad_input, grad_weight, grad_bias] = grads;
  if (grad_output.numel() == 0 || input.numel() == 0 || weight.numel() == 0) {
    for (Tensor* t : {&grad_input, &grad_weight}) {
      if (t->defined()) {
        t->zero_();
      }
    }
  } else {
    const Tensor &image = transposed ? grad_output : input, &features = transposed ? input : grad_output;
    const Problem p(
        "convolution_backward", image.sizes(), features.sizes(), weight.sizes(), stride, padding, dilation, groups);
    if (grad_input.defined()) {
      const Tensor w = conjugated(weight);
      transposed ? convolve(p, grad_output, w, grad_input, Tensor())
                 : convolve_back(p, grad_output, w, grad_input, Tensor());
    }
    if (grad_weight.defined()) {
      convolve_for_weight(
          p, transposed ? image : conjugated(image), transposed ? conjugated(features) : features, grad_weight);
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
    copy_on_device(grad_bias, grad_output.sum(dims));
  }
  return grads;
}

} // namespace at::native
