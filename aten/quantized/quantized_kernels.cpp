// Operators of namespace aten on quantized tensors of the CPU: views, copies, and what keeps scale and zero point.
#include <aten/Functions.h>
#include <aten/core/TensorOperators.h>
#include <aten/core/dispatch/BuiltinRegistration.h>
#include <aten/quantized/QTensorImpl.h>
#include <c10/util/Exception.h>

#include <cmath>
#include <tuple>
#include <vector>

namespace at::native {
namespace {

/// Integers in another shape or place, with self's scale and zero point.
Tensor with_quantizer_of(const Tensor& self, const Tensor& integers) {
  const QuantizerPtr& q = get_quantizer(self);
  TORCH_CHECK(
      !q->is_per_channel() ||
          (q->axis < integers.dim() && integers.dim() == self.dim() && integers.size(q->axis) == self.size(q->axis)),
      "Setting strides or sizes is possible only on uniformly quantized tensors, got one that is quantized per "
      "channel ",
      self.sizes());
  return make_quantized(integers, q);
}

// ---- views and copies ----------------------------------------------------------

Tensor quantized_view(const Tensor& self, IntArrayRef size) {
  return with_quantizer_of(self, integers_of(self).view(size));
}
Tensor quantized_reshape_alias(const Tensor& self, IntArrayRef size, IntArrayRef stride) {
  return with_quantizer_of(self, integers_of(self).as_strided(size, stride));
}
Tensor quantized_as_strided(
    const Tensor& self, IntArrayRef size, IntArrayRef stride, std::optional<int64_t> storage_offset) {
  return with_quantizer_of(self, integers_of(self).as_strided(size, stride, storage_offset));
}
void check_uniform(const char* op, const Tensor& self) {
  TORCH_CHECK(
      !get_quantizer(self)->is_per_channel(), op,
      ": only tensors that are quantized per tensor are supported, got one "
      "with a scale for each channel");
}
Tensor quantized_permute(const Tensor& self, IntArrayRef dims) {
  check_uniform("permute", self);
  return with_quantizer_of(self, integers_of(self).permute(dims));
}
Tensor quantized_transpose(const Tensor& self, int64_t dim0, int64_t dim1) {
  check_uniform("transpose", self);
  return with_quantizer_of(self, integers_of(self).transpose(dim0, dim1));
}
Tensor quantized_t(const Tensor& self) {
  check_uniform("t", self);
  return with_quantizer_of(self, integers_of(self).t());
}
Tensor quantized_select(const Tensor& self, int64_t dim, int64_t index) {
  check_uniform("select", self);
  return with_quantizer_of(self, integers_of(self).select(dim, index));
}
Tensor quantized_slice(
    const Tensor& self, int64_t dim, std::optional<int64_t> start, std::optional<int64_t> end, int64_t step) {
  return with_quantizer_of(self, integers_of(self).slice(dim, start, end, step));
}
Tensor quantized_squeeze(const Tensor& self) {
  check_uniform("squeeze", self);
  return with_quantizer_of(self, integers_of(self).squeeze());
}
Tensor quantized_squeeze_dim(const Tensor& self, int64_t dim) {
  check_uniform("squeeze", self);
  return with_quantizer_of(self, integers_of(self).squeeze(dim));
}
Tensor quantized_unsqueeze(const Tensor& self, int64_t dim) {
  check_uniform("unsqueeze", self);
  return with_quantizer_of(self, integers_of(self).unsqueeze(dim));
}
Tensor quantized_expand(const Tensor& self, IntArrayRef size, bool implicit) {
  check_uniform("expand", self);
  return with_quantizer_of(self, integers_of(self).expand(size, implicit));
}
Tensor quantized_alias(const Tensor& self) {
  return with_quantizer_of(self, integers_of(self));
}
Tensor quantized_clone(const Tensor& self, std::optional<MemoryFormat> memory_format) {
  return with_quantizer_of(self, integers_of(self).clone(memory_format));
}

Tensor& quantized_copy_(Tensor& self, const Tensor& src, bool non_blocking) {
  const QuantizerPtr& q = get_quantizer(self);
  if (src.is_quantized()) {
    TORCH_CHECK(
        src.scalar_type() == self.scalar_type(),
        "Quantized Copy only works with Quantized Tensors having the same dtype, got ", src.scalar_type(), " for ",
        self.scalar_type());
    integers_of(self).copy_(integers_of(src), non_blocking);
    static_cast<QTensorImpl*>(self.unsafeGetTensorImpl())->set_quantizer(get_quantizer(src));
    return self;
  }
  TORCH_CHECK(
      src.scalar_type() == kFloat, "Quantized copy only works with kFloat as source Tensor, got ", src.scalar_type());
  check_uniform("copy_", self);
  integers_of(self).copy_(
      integers_of(at::quantize_per_tensor(src.expand(self.sizes()).contiguous(), q->scale, q->zero_point, q->dtype)));
  return self;
}

bool quantized_equal(const Tensor& self, const Tensor& other) {
  if (!other.is_quantized()) {
    return false;
  }
  const QuantizerPtr &a = get_quantizer(self), &b = get_quantizer(other);
  const bool same = a->scheme == b->scheme && a->dtype == b->dtype &&
      (a->is_per_channel()
           ? a->axis == b->axis && at::equal(a->scales, b->scales) && at::equal(a->zero_points, b->zero_points)
           : a->scale == b->scale && a->zero_point == b->zero_point);
  return same && at::equal(integers_of(self), integers_of(other));
}

// ---- elementwise, which keep scale and zero point ------------------------------

Tensor limited(const Tensor& self, std::optional<double> low, std::optional<double> high) {
  check_uniform("clamp", self);
  const QuantizerPtr& q = get_quantizer(self);
  const auto integer = [&](double x) {
    const double value =
        std::nearbyint(static_cast<float>(x) / static_cast<float>(q->scale)) + static_cast<double>(q->zero_point);
    const double least = q->dtype == kQUInt8 ? 0 : q->dtype == kQInt8 ? -128 : -2147483648.0;
    const double most = q->dtype == kQUInt8 ? 255 : q->dtype == kQInt8 ? 127 : 2147483647.0;
    return static_cast<int64_t>(std::min(std::max(value, least), most));
  };
  Tensor integers = integers_of(self);
  if (low.has_value()) {
    integers = integers.clamp_min(integer(*low));
  }
  if (high.has_value()) {
    integers = integers.clamp_max(integer(*high));
  }
  return with_quantizer_of(self, integers);
}

Tensor quantized_relu(const Tensor& self) {
  return limited(self, 0.0, std::nullopt);
}
Tensor& quantized_relu_(Tensor& self) {
  integers_of(self).copy_(integers_of(quantized_relu(self)));
  return self;
}
Tensor quantized_hardtanh(const Tensor& self, const Scalar& low, const Scalar& high) {
  return limited(self, low.toDouble(), high.toDouble());
}
Tensor& quantized_hardtanh_(Tensor& self, const Scalar& low, const Scalar& high) {
  integers_of(self).copy_(integers_of(quantized_hardtanh(self, low, high)));
  return self;
}
Tensor quantized_clamp(const Tensor& self, const std::optional<Scalar>& low, const std::optional<Scalar>& high) {
  const auto number = [](const std::optional<Scalar>& s) {
    return s.has_value() ? std::optional<double>(s->toDouble()) : std::nullopt;
  };
  return limited(self, number(low), number(high));
}

// ---- pooling -------------------------------------------------------------------

std::tuple<Tensor, Tensor> quantized_max_pool2d_with_indices(
    const Tensor& self,
    IntArrayRef kernel_size,
    IntArrayRef stride,
    IntArrayRef padding,
    IntArrayRef dilation,
    bool ceil_mode) {
  check_uniform("max_pool2d", self);
  const Tensor integers = integers_of(self);
  auto [pooled, indices] =
      at::max_pool2d_with_indices(integers.to(kFloat), kernel_size, stride, padding, dilation, ceil_mode);
  return {with_quantizer_of(self, pooled.to(integers.scalar_type())), indices};
}

/// A mean of integers minus their zero point, taken in float, as integers again.
Tensor mean_as_integers(const Tensor& self, const Tensor& mean) {
  const QuantizerPtr& q = get_quantizer(self);
  const ScalarType dtype = c10::toUnderlying(q->dtype);
  const double low = dtype == kByte ? 0 : -128, high = dtype == kByte ? 255 : 127;
  return with_quantizer_of(self, (mean.round() + static_cast<double>(q->zero_point)).clamp(low, high).to(dtype));
}
Tensor centered(const char* op, const Tensor& self) {
  check_uniform(op, self);
  TORCH_CHECK(self.scalar_type() != kQInt32, op, ": quantized tensors must be of qint8 or quint8, got qint32");
  return integers_of(self).to(kFloat) - static_cast<double>(get_quantizer(self)->zero_point);
}

Tensor quantized_adaptive_avg_pool2d(const Tensor& self, IntArrayRef output_size) {
  return mean_as_integers(self, at::adaptive_avg_pool2d(centered("adaptive_avg_pool2d", self), output_size));
}
Tensor quantized_avg_pool2d(
    const Tensor& self,
    IntArrayRef kernel_size,
    IntArrayRef stride,
    IntArrayRef padding,
    bool ceil_mode,
    bool count_include_pad,
    std::optional<int64_t> divisor_override) {
  return mean_as_integers(
      self,
      at::avg_pool2d(
          centered("avg_pool2d", self), kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override));
}
Tensor quantized_mean(const Tensor& self, OptionalIntArrayRef dim, bool keepdim, std::optional<ScalarType>) {
  return mean_as_integers(self, at::mean(centered("mean", self), dim, keepdim));
}

Tensor quantized_cat(TensorList tensors, int64_t dim) {
  std::vector<Tensor> numbers;
  for (const Tensor& t : tensors) {
    numbers.push_back(at::dequantize(t));
  }
  TORCH_CHECK(!tensors.empty(), "expected a non-empty list of Tensors");
  const Tensor& first = tensors[0];
  return at::quantize_per_tensor(
      at::cat(numbers, dim), at::q_scale(first), at::q_zero_point(first), first.scalar_type());
}

// ---- table ---------------------------------------------------------------------

using c10::DispatchKey;
using c10::impl::builtin_kernel;

constexpr const char* kQuantizedCpuPlace = "aten/quantized/quantized_kernels.cpp";

const c10::impl::BuiltinKernelRow kQuantizedCpuKernels[] = {
    {"aten::view", "", DispatchKey::QuantizedCPU, builtin_kernel<&quantized_view>(), kQuantizedCpuPlace},
    {"aten::_unsafe_view", "", DispatchKey::QuantizedCPU, builtin_kernel<&quantized_view>(), kQuantizedCpuPlace},
    {"aten::_reshape_alias", "", DispatchKey::QuantizedCPU, builtin_kernel<&quantized_reshape_alias>(),
     kQuantizedCpuPlace},
    {"aten::as_strided", "", DispatchKey::QuantizedCPU, builtin_kernel<&quantized_as_strided>(), kQuantizedCpuPlace},
    {"aten::permute", "", DispatchKey::QuantizedCPU, builtin_kernel<&quantized_permute>(), kQuantizedCpuPlace},
    {"aten::transpose", "int", DispatchKey::QuantizedCPU, builtin_kernel<&quantized_transpose>(), kQuantizedCpuPlace},
    {"aten::t", "", DispatchKey::QuantizedCPU, builtin_kernel<&quantized_t>(), kQuantizedCpuPlace},
    {"aten::select", "int", DispatchKey::QuantizedCPU, builtin_kernel<&quantized_select>(), kQuantizedCpuPlace},
    {"aten::slice", "Tensor", DispatchKey::QuantizedCPU, builtin_kernel<&quantized_slice>(), kQuantizedCpuPlace},
    {"aten::squeeze", "", DispatchKey::QuantizedCPU, builtin_kernel<&quantized_squeeze>(), kQuantizedCpuPlace},
    {"aten::squeeze", "dim", DispatchKey::QuantizedCPU, builtin_kernel<&quantized_squeeze_dim>(), kQuantizedCpuPlace},
    {"aten::unsqueeze", "", DispatchKey::QuantizedCPU, builtin_kernel<&quantized_unsqueeze>(), kQuantizedCpuPlace},
    {"aten::expand", "", DispatchKey::QuantizedCPU, builtin_kernel<&quantized_expand>(), kQuantizedCpuPlace},
    {"aten::alias", "", DispatchKey::QuantizedCPU, builtin_kernel<&quantized_alias>(), kQuantizedCpuPlace},
    {"aten::detach", "", DispatchKey::QuantizedCPU, builtin_kernel<&quantized_alias>(), kQuantizedCpuPlace},
    {"aten::clone", "", DispatchKey::QuantizedCPU, builtin_kernel<&quantized_clone>(), kQuantizedCpuPlace},
    {"aten::copy_", "", DispatchKey::QuantizedCPU, builtin_kernel<&quantized_copy_>(), kQuantizedCpuPlace},
    {"aten::equal", "", DispatchKey::QuantizedCPU, builtin_kernel<&quantized_equal>(), kQuantizedCpuPlace},
    {"aten::relu", "", DispatchKey::QuantizedCPU, builtin_kernel<&quantized_relu>(), kQuantizedCpuPlace},
    {"aten::relu_", "", DispatchKey::QuantizedCPU, builtin_kernel<&quantized_relu_>(), kQuantizedCpuPlace},
    {"aten::hardtanh", "", DispatchKey::QuantizedCPU, builtin_kernel<&quantized_hardtanh>(), kQuantizedCpuPlace},
    {"aten::hardtanh_", "", DispatchKey::QuantizedCPU, builtin_kernel<&quantized_hardtanh_>(), kQuantizedCpuPlace},
    {"aten::clamp", "", DispatchKey::QuantizedCPU, builtin_kernel<&quantized_clamp>(), kQuantizedCpuPlace},
    {"aten::max_pool2d_with_indices", "", DispatchKey::QuantizedCPU,
     builtin_kernel<&quantized_max_pool2d_with_indices>(), kQuantizedCpuPlace},
    {"aten::_adaptive_avg_pool2d", "", DispatchKey::QuantizedCPU, builtin_kernel<&quantized_adaptive_avg_pool2d>(),
     kQuantizedCpuPlace},
    {"aten::avg_pool2d", "", DispatchKey::QuantizedCPU, builtin_kernel<&quantized_avg_pool2d>(), kQuantizedCpuPlace},
    {"aten::mean", "dim", DispatchKey::QuantizedCPU, builtin_kernel<&quantized_mean>(), kQuantizedCpuPlace},
    {"aten::cat", "", DispatchKey::QuantizedCPU, builtin_kernel<&quantized_cat>(), kQuantizedCpuPlace},
};
const c10::impl::BuiltinKernels kQuantizedCpuImplemented(kQuantizedCpuKernels);

} // namespace
} // namespace at::native
