// Host side of pool.cu; arguments are checked by aten/shape/pool.cpp.
#include <aten/Functions.h>
#include <aten/core/Tensor.h>
#include <aten/core/dtype_dispatch.h>
#include <aten/native/cuda/copy.h>
#include <aten/native/cuda/index_walk.h>
#include <aten/native/cuda/pool.h>
#include <c10/cuda/CUDAStream.h>

#include <algorithm>
#include <optional>

namespace at::native::cuda {

namespace {

constexpr auto kMaxDtypes = kIntegral | kFloating;
constexpr auto kAvgDtypes = dtype_set<c10::ScalarType::Long> | kFloating;

template <std::uint64_t Dtypes>
void check_dtype(const char* op, const TensorBase& t, DtypeSet<Dtypes> set) {
  if (!set.contains(t.scalar_type())) {
    at::detail::dtype_not_supported(op, t.scalar_type(), Dtypes);
  }
}

/// The windows of `dims` dimensions from `x` to `y`.
struct Windows {
  const char* op;
  const TensorBase &x, &y;
  int dims;

  void adaptive(PoolDim (&dim)[3]) const {
    for (int d = 0; d < dims; ++d) {
      PoolDim& to = dim[3 - dims + d];
      to.in = static_cast<std::int32_t>(x.size(x.dim() - dims + d));
      to.out = static_cast<std::int32_t>(y.size(y.dim() - dims + d));
    }
  }

  void fixed(
      PoolDim (&dim)[3], IntArrayRef kernel, IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation) const {
    adaptive(dim);
    for (int d = 0; d < dims; ++d) {
      PoolDim& to = dim[3 - dims + d];
      to.kind = PoolDim::Fixed;
      to.kernel = number(at_or_only(kernel, d));
      // A single window takes no step, a single element has no gap: there any number may come.
      to.stride = to.out == 1 ? 1 : number(at_or_only(stride.empty() ? kernel : stride, d));
      to.padding = number(at_or_only(padding, d));
      to.dilation = to.kernel == 1 ? 1 : number(at_or_only(dilation, d));
      // Kernels step over the input by 32-bit numbers.
      TORCH_CHECK(
          std::int64_t{to.in} + to.dilation <= INT32_MAX, op,
          ": on CUDA a dimension and the dilation are below 2^31 together, got ", to.in, " and ", to.dilation);
    }
  }

 private:
  std::int32_t number(int64_t value) const {
    TORCH_CHECK(value < (1 << 30), op, ": on CUDA sizes, strides and padding of windows are below 2^30, got ", value);
    return static_cast<std::int32_t>(value);
  }
};

void max_pool(
    MaxPool& p, const char* op, const TensorBase& self, int dims, const TensorBase& out, const TensorBase& indices) {
  check_dtype(op, self, kMaxDtypes);
  p.x = image_of(op, self, dims);
  p.y = image_of(op, out, dims);
  p.places = image_of(op, indices, dims);
  p.dtype = self.scalar_type();
  p.stream = c10::cuda::getCurrentCUDAStream();
  launch_max_pool(p, self.const_data_ptr(), out.mutable_data_ptr(), indices.mutable_data_ptr<int64_t>());
}

void max_pool_backward(
    MaxPool& p,
    const char* op,
    const TensorBase& grad_output,
    int dims,
    const TensorBase& indices,
    const TensorBase& grad_input) {
  check_dtype(op, grad_input, kMaxDtypes);
  if (grad_output.numel() == 0) {
    grad_input.zero_();
    return;
  }
  p.x = image_of(op, grad_input, dims);
  p.y = image_of(op, grad_output, dims);
  p.places = image_of(op, indices, dims);
  p.dtype = grad_input.scalar_type();
  p.stream = c10::cuda::getCurrentCUDAStream();
  launch_max_pool_backward(
      p, grad_output.const_data_ptr(), indices.const_data_ptr<int64_t>(), grad_input.mutable_data_ptr());
}

void avg_pool(AvgPool& p, const char* op, const TensorBase& self, int dims, const TensorBase& out) {
  check_dtype(op, self, kAvgDtypes);
  p.x = image_of(op, self, dims);
  p.y = image_of(op, out, dims);
  p.dtype = self.scalar_type();
  p.stream = c10::cuda::getCurrentCUDAStream();
  launch_avg_pool(p, self.const_data_ptr(), out.mutable_data_ptr());
}

void avg_pool_backward(
    AvgPool& p, const char* op, const TensorBase& grad_output, int dims, const TensorBase& grad_input) {
  check_dtype(op, grad_input, kAvgDtypes);
  if (grad_output.numel() == 0) {
    grad_input.zero_();
    return;
  }
  p.x = image_of(op, grad_input, dims);
  p.y = image_of(op, grad_output, dims);
  p.dtype = grad_input.scalar_type();
  p.stream = c10::cuda::getCurrentCUDAStream();
  launch_avg_pool_backward(p, grad_output.const_data_ptr(), grad_input.mutable_data_ptr());
}

struct FixedWindows {
  int dims;
  IntArrayRef kernel, stride, padding, dilation;
};

void fixed_max_pool(
    const char* op, const TensorBase& self, const FixedWindows& w, const TensorBase& out, const TensorBase& indices) {
  if (out.numel() == 0) {
    return;
  }
  MaxPool p;
  Windows{op, self, out, w.dims}.fixed(p.dim, w.kernel, w.stride, w.padding, w.dilation);
  max_pool(p, op, self, w.dims, out, indices);
}

void fixed_max_pool_backward(
    const char* op,
    const TensorBase& grad_output,
    const FixedWindows& w,
    const TensorBase& indices,
    const TensorBase& grad_input) {
  if (grad_input.numel() == 0) {
    return;
  }
  MaxPool p;
  Windows{op, grad_input, grad_output, w.dims}.fixed(p.dim, w.kernel, w.stride, w.padding, w.dilation);
  max_pool_backward(p, op, grad_output, w.dims, indices, grad_input);
}

void adaptive_max_pool(
    const char* op, const TensorBase& self, int dims, const TensorBase& out, const TensorBase& indices) {
  if (out.numel() == 0) {
    return;
  }
  MaxPool p;
  Windows{op, self, out, dims}.adaptive(p.dim);
  max_pool(p, op, self, dims, out, indices);
}

void adaptive_max_pool_backward(
    const char* op, const TensorBase& grad_output, int dims, const TensorBase& indices, const TensorBase& grad_input) {
  if (grad_input.numel() == 0) {
    return;
  }
  MaxPool p;
  Windows{op, grad_input, grad_output, dims}.adaptive(p.dim);
  max_pool_backward(p, op, grad_output, dims, indices, grad_input);
}

struct AvgSettings {
  bool count_padding;
  std::optional<int64_t> divisor;
};

void fixed_avg_pool(
    const char* op, const TensorBase& self, const FixedWindows& w, const AvgSettings& settings, const TensorBase& out) {
  if (out.numel() == 0) {
    return;
  }
  AvgPool p;
  Windows{op, self, out, w.dims}.fixed(p.dim, w.kernel, w.stride, w.padding, {1});
  p.count_padding = settings.count_padding;
  p.divisor = settings.divisor.value_or(0);
  avg_pool(p, op, self, w.dims, out);
}

void fixed_avg_pool_backward(
    const char* op,
    const TensorBase& grad_output,
    const FixedWindows& w,
    const AvgSettings& settings,
    const TensorBase& grad_input) {
  if (grad_input.numel() == 0) {
    return;
  }
  AvgPool p;
  Windows{op, grad_input, grad_output, w.dims}.fixed(p.dim, w.kernel, w.stride, w.padding, {1});
  p.count_padding = settings.count_padding;
  p.divisor = settings.divisor.value_or(0);
  avg_pool_backward(p, op, grad_output, w.dims, grad_input);
}

void adaptive_avg_pool(const char* op, const TensorBase& self, int dims, const TensorBase& out) {
  if (out.numel() == 0) {
    return;
  }
  AvgPool p;
  Windows{op, self, out, dims}.adaptive(p.dim);
  avg_pool(p, op, self, dims, out);
}

void adaptive_avg_pool_backward(const char* op, const TensorBase& grad_output, int dims, const TensorBase& grad_input) {
  if (grad_input.numel() == 0) {
    return;
  }
  AvgPool p;
  Windows{op, grad_input, grad_output, dims}.adaptive(p.dim);
  avg_pool_backward(p, op, grad_output, dims, grad_input);
}

void fractional_max_pool(
    const char* op,
    const TensorBase& self,
    int dims,
    IntArrayRef kernel,
    const TensorBase& samples,
    const TensorBase& out,
    const TensorBase& indices) {
  check_dtype(op, self, kFloating);
  if (out.numel() == 0) {
    return;
  }
  const TensorBase chances = samples.contiguous();
  MaxPool p;
  Windows{op, self, out, dims}.adaptive(p.dim);
  for (int d = 0; d < dims; ++d) {
    p.dim[3 - dims + d].kind = PoolDim::Fractional;
    p.dim[3 - dims + d].kernel = static_cast<std::int32_t>(at_or_only(kernel, d));
  }
  p.samples = chances.const_data_ptr();
  p.sample_channels = static_cast<std::int32_t>(chances.size(1));
  p.sample_dims = dims;
  max_pool(p, op, self, dims, out, indices);
}

/// The planes of the last `dims` dimensions, a row each.
Tensor planes_of(const TensorBase& t, int dims) {
  int64_t planes = 1;
  for (int64_t d = 0; d < t.dim() - dims; ++d) {
    planes *= t.size(d);
  }
  return Tensor(t.contiguous()).view({planes, planes == 0 ? 0 : t.numel() / planes});
}

/// To the index in its plane, of `planes`, that `indices` tell for each element of `values`. All contiguous.
Walk walk_to_places(const char* op, const Tensor& planes, const Tensor& places, const Tensor& values) {
  Walk w{op,
         {values.size(0), values.size(1)},
         {values.size(1), 1},
         {planes.size(1), 0},
         {places.size(1), 1},
         planes.size(1),
         1};
  w.argument = "indices";
  return w;
}

void fractional_max_pool_backward(
    const TensorBase& grad_output, int dims, const TensorBase& indices, const TensorBase& grad_input) {
  grad_input.zero_();
  if (grad_input.numel() == 0 || grad_output.numel() == 0) {
    return;
  }
  // Windows lie by chance, so what covers an element is not known: sums are scattered, of 16-bit numbers in float.
  const Tensor grad = planes_of(grad_output, dims), places = planes_of(indices, dims);
  const Tensor sums = at::zeros(
      {grad.size(0), grad_input.numel() / grad.size(0)}, grad.options().dtype(c10::toOpMathType(grad.scalar_type())));
  const Tensor wide = grad.to(sums.scalar_type());
  const char* const op = dims == 2 ? "fractional_max_pool2d_backward" : "fractional_max_pool3d_backward";
  scatter_op_to(walk_to_places(op, sums, places, wide), places, ScatterOp::Add, sums, wide);
  copy_on_device(grad_input, sums.view(grad_input.sizes()));
}

void max_unpool(const TensorBase& self, const TensorBase& indices, int dims, const TensorBase& out) {
  TORCH_CHECK(
      out.numel() > 0 || self.numel() == 0, "max_unpool", dims, "d: no index fits output volumes of size ",
      out.sizes().slice(out.dim() - dims), ", got ", self.numel(), " elements");
  out.zero_();
  if (self.numel() == 0) {
    return;
  }
  const Tensor result = planes_of(out, dims), places = planes_of(indices, dims), values = planes_of(self, dims);
  scatter_to(
      walk_to_places(dims == 2 ? "max_unpool2d" : "max_unpool3d", result, places, values), places, result, values);
  if (!out.is_contiguous()) {
    copy_on_device(out, result.view(out.sizes()));
  }
}

} // namespace

void max_pool2d_kernel(
    const TensorBase& self,
    IntArrayRef kernel_size,
    IntArrayRef stride,
    IntArrayRef padding,
    IntArrayRef dilation,
    bool,
    const TensorBase& out,
    const TensorBase& indices) {
  fixed_max_pool("max_pool2d", self, {2, kernel_size, stride, padding, dilation}, out, indices);
}

void max_pool3d_kernel(
    const TensorBase& self,
    IntArrayRef kernel_size,
    IntArrayRef stride,
    IntArrayRef padding,
    IntArrayRef dilation,
    bool,
    const TensorBase& out,
    const TensorBase& indices) {
  fixed_max_pool("max_pool3d", self, {3, kernel_size, stride, padding, dilation}, out, indices);
}

void max_pool2d_backward_kernel(
    const TensorBase& grad_output,
    const TensorBase&,
    IntArrayRef kernel_size,
    IntArrayRef stride,
    IntArrayRef padding,
    IntArrayRef dilation,
    bool,
    const TensorBase& indices,
    const TensorBase& grad_input) {
  fixed_max_pool_backward(
      "max_pool2d_backward", grad_output, {2, kernel_size, stride, padding, dilation}, indices, grad_input);
}

void max_pool3d_backward_kernel(
    const TensorBase& grad_output,
    const TensorBase&,
    IntArrayRef kernel_size,
    IntArrayRef stride,
    IntArrayRef padding,
    IntArrayRef dilation,
    bool,
    const TensorBase& indices,
    const TensorBase& grad_input) {
  fixed_max_pool_backward(
      "max_pool3d_backward", grad_output, {3, kernel_size, stride, padding, dilation}, indices, grad_input);
}

void avg_pool2d_kernel(
    const TensorBase& self,
    IntArrayRef kernel_size,
    IntArrayRef stride,
    IntArrayRef padding,
    bool,
    bool count_include_pad,
    std::optional<int64_t> divisor_override,
    const TensorBase& out) {
  fixed_avg_pool("avg_pool2d", self, {2, kernel_size, stride, padding, {}}, {count_include_pad, divisor_override}, out);
}

void avg_pool3d_kernel(
    const TensorBase& self,
    IntArrayRef kernel_size,
    IntArrayRef stride,
    IntArrayRef padding,
    bool,
    bool count_include_pad,
    std::optional<int64_t> divisor_override,
    const TensorBase& out) {
  fixed_avg_pool("avg_pool3d", self, {3, kernel_size, stride, padding, {}}, {count_include_pad, divisor_override}, out);
}

void avg_pool2d_backward_kernel(
    const TensorBase& grad_output,
    const TensorBase&,
    IntArrayRef kernel_size,
    IntArrayRef stride,
    IntArrayRef padding,
    bool,
    bool count_include_pad,
    std::optional<int64_t> divisor_override,
    const TensorBase& grad_input) {
  fixed_avg_pool_backward(
      "avg_pool2d_backward", grad_output, {2, kernel_size, stride, padding, {}}, {count_include_pad, divisor_override},
      grad_input);
}

void avg_pool3d_backward_kernel(
    const TensorBase& grad_output,
    const TensorBase&,
    IntArrayRef kernel_size,
    IntArrayRef stride,
    IntArrayRef padding,
    bool,
    bool count_include_pad,
    std::optional<int64_t> divisor_override,
    const TensorBase& grad_input) {
  fixed_avg_pool_backward(
      "avg_pool3d_backward", grad_output, {3, kernel_size, stride, padding, {}}, {count_include_pad, divisor_override},
      grad_input);
}

void adaptive_avg_pool2d_kernel(const TensorBase& self, IntArrayRef, const TensorBase& out) {
  adaptive_avg_pool("adaptive_avg_pool2d", self, 2, out);
}

void adaptive_avg_pool3d_kernel(const TensorBase& self, IntArrayRef, const TensorBase& out) {
  adaptive_avg_pool("adaptive_avg_pool3d", self, 3, out);
}

void adaptive_avg_pool2d_backward_kernel(
    const TensorBase& grad_output, const TensorBase&, const TensorBase& grad_input) {
  adaptive_avg_pool_backward("adaptive_avg_pool2d_backward", grad_output, 2, grad_input);
}

void adaptive_avg_pool3d_backward_kernel(
    const TensorBase& grad_output, const TensorBase&, const TensorBase& grad_input) {
  adaptive_avg_pool_backward("adaptive_avg_pool3d_backward", grad_output, 3, grad_input);
}

void adaptive_max_pool2d_kernel(const TensorBase& self, IntArrayRef, const TensorBase& out, const TensorBase& indices) {
  adaptive_max_pool("adaptive_max_pool2d", self, 2, out, indices);
}

void adaptive_max_pool3d_kernel(const TensorBase& self, IntArrayRef, const TensorBase& out, const TensorBase& indices) {
  adaptive_max_pool("adaptive_max_pool3d", self, 3, out, indices);
}

void adaptive_max_pool2d_backward_kernel(
    const TensorBase& grad_output, const TensorBase&, const TensorBase& indices, const TensorBase& grad_input) {
  adaptive_max_pool_backward("adaptive_max_pool2d_backward", grad_output, 2, indices, grad_input);
}

void adaptive_max_pool3d_backward_kernel(
    const TensorBase& grad_output, const TensorBase&, const TensorBase& indices, const TensorBase& grad_input) {
  adaptive_max_pool_backward("adaptive_max_pool3d_backward", grad_output, 3, indices, grad_input);
}

void fractional_max_pool2d_kernel(
    const TensorBase& self,
    IntArrayRef kernel_size,
    IntArrayRef,
    const TensorBase& random_samples,
    const TensorBase& out,
    const TensorBase& indices) {
  fractional_max_pool("fractional_max_pool2d", self, 2, kernel_size, random_samples, out, indices);
}

void fractional_max_pool3d_kernel(
    const TensorBase& self,
    IntArrayRef kernel_size,
    IntArrayRef,
    const TensorBase& random_samples,
    const TensorBase& out,
    const TensorBase& indices) {
  fractional_max_pool("fractional_max_pool3d", self, 3, kernel_size, random_samples, out, indices);
}

void fractional_max_pool2d_backward_kernel(
    const TensorBase& grad_output,
    const TensorBase&,
    IntArrayRef,
    IntArrayRef,
    const TensorBase& indices,
    const TensorBase& grad_input) {
  fractional_max_pool_backward(grad_output, 2, indices, grad_input);
}

void fractional_max_pool3d_backward_kernel(
    const TensorBase& grad_output,
    const TensorBase&,
    IntArrayRef,
    IntArrayRef,
    const TensorBase& indices,
    const TensorBase& grad_input) {
  fractional_max_pool_backward(grad_output, 3, indices, grad_input);
}

void max_unpool2d_kernel(const TensorBase& self, const TensorBase& indices, IntArrayRef, const TensorBase& out) {
  max_unpool(self, indices, 2, out);
}

void max_unpool3d_kernel(
    const TensorBase& self, const TensorBase& indices, IntArrayRef, IntArrayRef, IntArrayRef, const TensorBase& out) {
  max_unpool(self, indices, 3, out);
}

} // namespace at::native::cuda
