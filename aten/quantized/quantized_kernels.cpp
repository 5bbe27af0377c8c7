// Operators of namespace aten on quantized tensors of the CPU: the operator for plain tensors on their integers or on
// the numbers that those stand for.
#include <aten/Functions.h>
#include <aten/core/TensorOperators.h>
#include <aten/core/dispatch/BuiltinRegistration.h>
#include <aten/parallel/Parallel.h>
#include <aten/quantized/QTensorImpl.h>
#include <aten/quantized/max_pool_bytes.h>
#include <aten/quantized/quantized_loops.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>
#include <vector>

namespace at::native {
namespace {

/// Integers in another shape or place, with the scale and zero point of `q`, whose tensor has `sizes`.
Tensor with_quantizer(const QuantizerPtr& q, IntArrayRef sizes, const Tensor& integers) {
  if (q->is_packed()) {
    return make_quantized_packed(integers, sizes, q); // of an alias or a copy alone
  }
  const auto axis = static_cast<size_t>(q->axis);
  TORCH_CHECK(
      !q->is_per_channel() ||
          (q->axis < integers.dim() && integers.dim() == static_cast<int64_t>(sizes.size()) &&
           integers.size(q->axis) == sizes[axis]),
      "Setting strides or sizes is possible only on uniformly quantized tensors, got one that is quantized per "
      "channel ",
      sizes);
  return make_quantized(integers, q);
}
Tensor with_quantizer_of(const Tensor& self, const Tensor& integers) {
  return with_quantizer(get_quantizer(self), self.sizes(), integers);
}

void check_uniform(const char* op, const Quantizer& q) {
  TORCH_CHECK(
      !q.is_per_channel(), op,
      ": only tensors that are quantized per tensor are supported, got one "
      "with a scale for each channel");
}

// ---- operators for plain tensors, called on parts of quantized ones -------------

/// What an operator sees of quantized tensors, and how its results become quantized again.
enum class Seen {
  /// The integers; results of their dtype keep scale and zero point.
  Integers,
  /// The same of tensors with one scale alone.
  UniformIntegers,
  /// The numbers; results of float32 take the scale and zero point of the first quantized argument.
  Numbers,
  /// Integers minus their zero point, in float32; results are rounded back.
  Centered,
  /// The numbers; results lie between 0 and 1.
  NumbersToUnit,
  /// The numbers; results lie between -1 and 1.
  NumbersToSymmetric,
};

struct SeenTensors {
  SeenTensors(Seen seen, const char* op) : seen(seen), op(op) {}

  Tensor replacement(const Tensor& t) {
    if (!t.defined() || !t.is_quantized()) {
      return t;
    }
    if (!quantizer) {
      quantizer = get_quantizer(t);
      sizes = t.sizes();
    }
    switch (seen) {
      case Seen::UniformIntegers:
        check_uniform(op, *get_quantizer(t));
        [[fallthrough]];
      case Seen::Integers:
        return integers_of(t);
      case Seen::Centered:
        check_uniform(op, *get_quantizer(t));
        return integers_of(t).to(kFloat) - static_cast<double>(get_quantizer(t)->zero_point);
      default:
        return at::dequantize(t);
    }
  }

  Tensor result(const Tensor& t) const {
    if (!t.defined() || !quantizer) {
      return t;
    }
    const ScalarType dtype = quantizer->dtype;
    if (seen == Seen::Integers || seen == Seen::UniformIntegers) {
      return t.scalar_type() == c10::toUnderlying(dtype) ? with_quantizer(quantizer, sizes, t) : t;
    }
    if (t.scalar_type() != kFloat) {
      return t; // of a comparison, or indices
    }
    check_uniform(op, *quantizer);
    const auto quantized = [&](double scale, int64_t zero_point) {
      return at::quantize_per_tensor(t, scale, zero_point, dtype);
    };
    const bool is_signed = dtype != kQUInt8;
    switch (seen) {
      case Seen::NumbersToUnit:
        return quantized(1.0 / 256, is_signed ? -128 : 0);
      case Seen::NumbersToSymmetric:
        return quantized(2.0 / 256, is_signed ? 0 : 128);
      case Seen::Centered:
        return make_quantized(integers_of(quantized(1, quantizer->zero_point)), quantizer);
      default:
        return quantized(quantizer->scale, quantizer->zero_point);
    }
  }

  /// Puts what an operator has written in a replacement of `target` into it.
  void write_back(const Tensor& target, const Tensor& written) const {
    if (!target.is_quantized()) {
      return;
    }
    const Tensor integers =
        seen == Seen::Integers || seen == Seen::UniformIntegers ? written : integers_of(result(written));
    if (target.sizes() != integers.sizes()) {
      const Tensor memory = integers_of(target);
      memory.resize_(integers.sizes());
      target.unsafeGetTensorImpl()->set_sizes_and_strides(memory.sizes(), memory.strides(), memory.storage_offset());
    }
    integers_of(target).copy_(integers);
  }

  Seen seen;
  const char* op;
  QuantizerPtr quantizer; // of the first quantized argument
  IntArrayRef sizes;
};

bool writes(const c10::Argument& argument) {
  return argument.alias_info() != nullptr && argument.alias_info()->isWrite();
}

void call_on_seen(Seen seen, const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  const c10::FunctionSchema& schema = op.schema();
  SeenTensors tensors(seen, schema.name().c_str());
  const size_t count = schema.arguments().size(), first = stack->size() - count;
  const std::vector<c10::IValue> arguments(stack->begin() + static_cast<int64_t>(first), stack->end());
  for (size_t i = 0; i < count; ++i) {
    c10::IValue& argument = (*stack)[first + i];
    if (argument.isTensor()) {
      argument = tensors.replacement(arguments[i].toTensor());
    } else if (argument.isTensorList()) {
      std::vector<Tensor> list = arguments[i].toTensorVector();
      for (Tensor& t : list) {
        t = tensors.replacement(t);
      }
      argument = std::move(list);
    }
  }
  op.callBoxed(stack);
  const size_t results = schema.returns().size(), begin = stack->size() - results;
  for (size_t i = 0; i < results; ++i) {
    c10::IValue& result = (*stack)[begin + i];
    if (writes(schema.returns()[i])) {
      for (size_t j = 0; j < count; ++j) {
        const c10::Argument& argument = schema.arguments()[j];
        if (writes(argument) && *argument.alias_info() == *schema.returns()[i].alias_info()) {
          tensors.write_back(arguments[j].toTensor(), result.toTensor());
          result = arguments[j];
          break;
        }
      }
    } else if (result.isTensor()) {
      result = tensors.result(result.toTensor());
    } else if (result.isTensorList()) {
      std::vector<Tensor> list = result.toTensorVector();
      for (Tensor& t : list) {
        t = tensors.result(t);
      }
      result = std::move(list);
    }
  }
}

template <Seen seen>
void call_boxed(c10::OperatorKernel*, const c10::OperatorHandle& op, c10::DispatchKeySet, torch::jit::Stack* stack) {
  call_on_seen(seen, op, stack);
}

template <Seen seen>
constexpr c10::impl::BuiltinKernel kOnSeen{nullptr, &call_boxed<seen>, nullptr, false};

// ---- kernels of their own ------------------------------------------------------

Tensor quantized_select(const Tensor& self, int64_t dim, int64_t index) {
  const QuantizerPtr& q = get_quantizer(self);
  const Tensor integers = integers_of(self).select(dim, index);
  if (!q->is_per_channel()) {
    return make_quantized(integers, q);
  }
  const int64_t selected = dim < 0 ? dim + self.dim() : dim;
  if (selected == q->axis) {
    TORCH_CHECK(
        q->scheme == c10::kPerChannelAffine,
        "select: a channel with a floating zero point cannot be a tensor of its own");
    return make_quantized(
        integers,
        Quantizer::per_tensor(q->scales[index].item<double>(), q->zero_points[index].item<int64_t>(), q->dtype));
  }
  const int64_t axis = q->axis - (selected < q->axis ? 1 : 0);
  return make_quantized(integers, Quantizer::per_channel(q->scales, q->zero_points, axis, q->dtype));
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
  const Tensor numbers = src.expand(self.sizes()).contiguous();
  integers_of(self).copy_(integers_of(
      q->is_per_channel() ? at::quantize_per_channel(numbers, q->scales, q->zero_points, q->axis, q->dtype)
                          : at::quantize_per_tensor(numbers, q->scale, q->zero_point, q->dtype)));
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

Tensor quantized_empty_like(
    const Tensor& self,
    std::optional<ScalarType> dtype,
    std::optional<Layout>,
    std::optional<Device>,
    std::optional<bool>,
    std::optional<MemoryFormat> memory_format) {
  const Tensor integers = integers_of(self);
  if (dtype.has_value() && *dtype != self.scalar_type()) {
    TORCH_CHECK(
        !isQIntType(*dtype), "empty_like: a tensor of ", *dtype, " cannot have the scale and zero point of one of ",
        self.scalar_type());
    return at::empty_like(integers, integers.options().dtype(*dtype), memory_format);
  }
  return with_quantizer_of(self, at::empty_like(integers, integers.options(), memory_format));
}

const Tensor& quantized_resize_(const Tensor& self, IntArrayRef size, std::optional<MemoryFormat> memory_format) {
  check_uniform("resize_", *get_quantizer(self));
  const Tensor memory = integers_of(self);
  memory.resize_(size, memory_format);
  self.unsafeGetTensorImpl()->set_sizes_and_strides(memory.sizes(), memory.strides(), memory.storage_offset());
  return self;
}

/// The number that a single integer stands for.
Scalar quantized_item(const Tensor& self) {
  return at::_local_scalar_dense(at::dequantize(self));
}

// ---- elementwise, which keep scale and zero point ------------------------------

Tensor limited(const Tensor& self, std::optional<double> low, std::optional<double> high) {
  const QuantizerPtr& q = get_quantizer(self);
  check_uniform("clamp", *q);
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
  return make_quantized(integers, q);
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

/// No indices: PyTorch refuses this operator on quantized tensors, and the poolings that are made of it drop them.
Tensor unknown_indices(IntArrayRef sizes) {
  return at::full({}, -1, kLong).expand(sizes);
}

/// Bytes with adjacent channels; other tensors go through float32.
std::tuple<Tensor, Tensor> quantized_max_pool2d(
    const Tensor& self,
    IntArrayRef kernel_size,
    IntArrayRef stride,
    IntArrayRef padding,
    IntArrayRef dilation,
    bool ceil_mode) {
  if (self.dim() == 4 && self.scalar_type() == kQUInt8) {
    const Tensor pooled =
        quantized::max_pool_bytes(integers_of(self), kernel_size, stride, padding, dilation, ceil_mode);
    if (pooled.defined()) {
      return {with_quantizer_of(self, pooled), unknown_indices(pooled.sizes())};
    }
  }
  SeenTensors tensors(Seen::Centered, "max_pool2d");
  const Tensor steps = tensors.replacement(self);
  const Tensor most =
      std::get<0>(at::max_pool2d_with_indices(steps, kernel_size, stride, padding, dilation, ceil_mode));
  return {tensors.result(most), unknown_indices(most.sizes())};
}

/// Integers are interpolated as they are; outside of the image lies the integer 0.
Tensor quantized_grid_sampler_2d(
    const Tensor& self, const Tensor& grid, int64_t interpolation, int64_t padding, bool align_corners) {
  check_uniform("grid_sampler_2d", *get_quantizer(self));
  const Tensor integers = integers_of(self);
  const Tensor sampled = at::grid_sampler_2d(integers.to(kFloat), grid, interpolation, padding, align_corners);
  return make_quantized(sampled.round().to(integers.scalar_type()), get_quantizer(self));
}

/// Where the source of each output lies along one dimension: two neighbours and the weight of the second.
struct LinearSource {
  LinearSource(int64_t in, int64_t out, bool align_corners, std::optional<double> scale) {
    const float step = align_corners      ? (out > 1 ? static_cast<float>(in - 1) / static_cast<float>(out - 1) : 0.0f)
        : scale.has_value() && *scale > 0 ? static_cast<float>(1.0 / *scale)
                                          : static_cast<float>(in) / static_cast<float>(out);
    for (int64_t i = 0; i < out; ++i) {
      const auto at = static_cast<float>(i);
      const float place = align_corners ? step * at : std::max(0.0f, step * (at + 0.5f) - 0.5f);
      const int64_t low = std::min(static_cast<int64_t>(place), in - 1);
      first.push_back(low);
      second.push_back(std::min(low + 1, in - 1));
      weight.push_back(place - static_cast<float>(low));
    }
  }
  std::vector<int64_t> first, second;
  std::vector<float> weight;
};

// In PyTorch's order of additions, on integers: so halves are rounded as there.
Tensor quantized_upsample_bilinear2d(
    const Tensor& self,
    IntArrayRef size,
    bool align_corners,
    std::optional<double> scale_h,
    std::optional<double> scale_w) {
  const QuantizerPtr& q = get_quantizer(self);
  check_uniform("upsample_bilinear2d", *q);
  TORCH_CHECK(
      self.dim() == 4 && size.size() == 2 && self.numel() > 0 && size[0] > 0 && size[1] > 0,
      "upsample_bilinear2d: expected an image of 4 dimensions with elements, and a size of 2, got ", self.sizes(),
      " and ", size);
  const Tensor x = integers_of(self).to(kFloat).contiguous();
  const LinearSource y(self.size(2), size[0], align_corners, scale_h), z(self.size(3), size[1], align_corners, scale_w);
  const Tensor steps = at::empty({self.size(0), self.size(1), size[0], size[1]}, kFloat);
  const int64_t plane = self.size(2) * self.size(3), width = self.size(3);
  const float* from = x.const_data_ptr<float>();
  float* to = steps.mutable_data_ptr<float>();
  const auto zero_point = static_cast<float>(q->zero_point);
  for (int64_t image = 0; image < self.size(0) * self.size(1); ++image, from += plane) {
    for (size_t i = 0; i < y.weight.size(); ++i) {
      const float *above = from + y.first[i] * width, *below = from + y.second[i] * width;
      for (size_t j = 0; j < z.weight.size(); ++j) {
        const int64_t left = z.first[j], right = z.second[j];
        const float b = y.weight[i], a = 1.0f - b, d = z.weight[j], c = 1.0f - d;
        *to++ = a * (c * above[left] + d * above[right]) + b * (c * below[left] + d * below[right]) - zero_point;
      }
    }
  }
  const Tensor integers = (steps.round() + static_cast<double>(q->zero_point)).to(c10::toUnderlying(q->dtype));
  return make_quantized(integers.contiguous(self.suggest_memory_format()), q);
}

// ---- tables --------------------------------------------------------------------

using c10::DispatchKey;
using c10::impl::builtin_kernel;

struct SeenRow {
  const char* name;
  const char* overload_name;
  Seen seen;
};

constexpr const c10::impl::BuiltinKernel* kernel_on(Seen seen) {
  switch (seen) {
    case Seen::Integers:
      return &kOnSeen<Seen::Integers>;
    case Seen::UniformIntegers:
      return &kOnSeen<Seen::UniformIntegers>;
    case Seen::Numbers:
      return &kOnSeen<Seen::Numbers>;
    case Seen::Centered:
      return &kOnSeen<Seen::Centered>;
    case Seen::NumbersToUnit:
      return &kOnSeen<Seen::NumbersToUnit>;
    case Seen::NumbersToSymmetric:
      return &kOnSeen<Seen::NumbersToSymmetric>;
  }
  return nullptr;
}

constexpr SeenRow kSeenRows[] = {
    // views and copies
    {"aten::view", "", Seen::Integers},
    {"aten::_unsafe_view", "", Seen::Integers},
    {"aten::_reshape_alias", "", Seen::Integers},
    {"aten::as_strided", "", Seen::Integers},
    {"aten::slice", "Tensor", Seen::Integers},
    {"aten::split", "Tensor", Seen::Integers},
    {"aten::split_with_sizes", "", Seen::Integers},
    {"aten::alias", "", Seen::Integers},
    {"aten::detach", "", Seen::Integers},
    {"aten::clone", "", Seen::Integers},
    {"aten::permute", "", Seen::UniformIntegers},
    {"aten::transpose", "int", Seen::UniformIntegers},
    {"aten::t", "", Seen::UniformIntegers},
    {"aten::squeeze", "", Seen::UniformIntegers},
    {"aten::squeeze", "dim", Seen::UniformIntegers},
    {"aten::squeeze", "dims", Seen::UniformIntegers},
    {"aten::unsqueeze", "", Seen::UniformIntegers},
    {"aten::expand", "", Seen::UniformIntegers},
    {"aten::unfold", "", Seen::UniformIntegers},
    {"aten::unbind", "int", Seen::UniformIntegers},
    {"aten::diagonal", "", Seen::UniformIntegers},
    {"aten::repeat", "", Seen::UniformIntegers},
    {"aten::pixel_shuffle", "", Seen::UniformIntegers},
    {"aten::pixel_unshuffle", "", Seen::UniformIntegers},
    {"aten::flip", "", Seen::UniformIntegers},
    {"aten::index", "Tensor", Seen::UniformIntegers},
    {"aten::index_select", "", Seen::UniformIntegers},
    {"aten::native_channel_shuffle", "", Seen::UniformIntegers},
    {"aten::channel_shuffle", "", Seen::UniformIntegers},
    {"aten::reflection_pad1d", "", Seen::Centered},
    {"aten::reflection_pad2d", "", Seen::Centered},
    {"aten::fill_", "Scalar", Seen::Numbers},
    {"aten::fill_", "Tensor", Seen::Numbers},
    {"aten::masked_fill_", "Scalar", Seen::Numbers},
    {"aten::masked_fill_", "Tensor", Seen::Numbers},
    {"aten::_index_put_impl_", "", Seen::Numbers},
    {"aten::constant_pad_nd", "", Seen::Numbers},
    {"aten::cat", "", Seen::Numbers},
    {"aten::cat", "out", Seen::Numbers},
    // order and comparisons
    {"aten::max", "", Seen::UniformIntegers},
    {"aten::max", "dim", Seen::UniformIntegers},
    {"aten::min", "", Seen::UniformIntegers},
    {"aten::min", "dim", Seen::UniformIntegers},
    {"aten::sort", "stable", Seen::UniformIntegers},
    {"aten::topk", "", Seen::UniformIntegers},
    {"aten::eq", "Scalar", Seen::Numbers},
    {"aten::eq", "Tensor", Seen::Numbers},
    {"aten::ne", "Scalar", Seen::Numbers},
    {"aten::ne", "Tensor", Seen::Numbers},
    {"aten::lt", "Scalar", Seen::Numbers},
    {"aten::lt", "Tensor", Seen::Numbers},
    {"aten::le", "Scalar", Seen::Numbers},
    {"aten::le", "Tensor", Seen::Numbers},
    {"aten::gt", "Scalar", Seen::Numbers},
    {"aten::gt", "Tensor", Seen::Numbers},
    {"aten::ge", "Scalar", Seen::Numbers},
    {"aten::ge", "Tensor", Seen::Numbers},
    {"aten::eq", "Scalar_out", Seen::Numbers},
    {"aten::eq", "Tensor_out", Seen::Numbers},
    {"aten::ne", "Scalar_out", Seen::Numbers},
    {"aten::ne", "Tensor_out", Seen::Numbers},
    {"aten::lt", "Scalar_out", Seen::Numbers},
    {"aten::lt", "Tensor_out", Seen::Numbers},
    {"aten::le", "Scalar_out", Seen::Numbers},
    {"aten::le", "Tensor_out", Seen::Numbers},
    {"aten::gt", "Scalar_out", Seen::Numbers},
    {"aten::gt", "Tensor_out", Seen::Numbers},
    {"aten::ge", "Scalar_out", Seen::Numbers},
    {"aten::ge", "Tensor_out", Seen::Numbers},
    // activations
    {"aten::sigmoid", "", Seen::NumbersToUnit},
    {"aten::hardsigmoid", "", Seen::NumbersToUnit},
    {"aten::tanh", "", Seen::NumbersToSymmetric},
    {"aten::gelu", "", Seen::Numbers},
    {"aten::gelu_", "", Seen::Numbers},
    {"aten::leaky_relu", "", Seen::Numbers},
    {"aten::leaky_relu_", "", Seen::Numbers},
    {"aten::leaky_relu", "out", Seen::Numbers},
    {"aten::threshold", "", Seen::Numbers},
    {"aten::_prelu_kernel", "", Seen::Numbers},
    // means and pooling
    {"aten::mean", "", Seen::Centered},
    {"aten::mean", "dim", Seen::Centered},
    {"aten::mean", "out", Seen::Centered},
    {"aten::std", "correction", Seen::Numbers},
    {"aten::std", "correction_out", Seen::Numbers},
    {"aten::max_pool3d_with_indices", "", Seen::Centered},
    {"aten::_adaptive_avg_pool2d", "", Seen::Centered},
    {"aten::_adaptive_avg_pool3d", "", Seen::Centered},
    {"aten::avg_pool2d", "", Seen::Centered},
    {"aten::avg_pool3d", "", Seen::Centered},
    {"aten::upsample_nearest2d", "", Seen::Centered},
    {"aten::upsample_nearest3d", "", Seen::Centered},
    {"aten::_upsample_nearest_exact2d", "", Seen::Centered},
    {"aten::_upsample_nearest_exact3d", "", Seen::Centered},
};

constexpr const char* kQuantizedCpuPlace = "aten/quantized/quantized_kernels.cpp";

struct SeenKernels {
  static constexpr size_t kCount = std::size(kSeenRows);
  constexpr SeenKernels() {
    for (size_t i = 0; i < kCount; ++i) {
      const SeenRow& row = kSeenRows[i];
      rows[i] = {row.name, row.overload_name, DispatchKey::QuantizedCPU, kernel_on(row.seen), kQuantizedCpuPlace};
    }
  }
  c10::impl::BuiltinKernelRow rows[kCount]{};
};
constexpr SeenKernels kSeenKernels;

constexpr c10::impl::BuiltinKernelRow kQuantizedCpuKernels[] = {
    {"aten::select", "int", DispatchKey::QuantizedCPU, builtin_kernel<&quantized_select>(), kQuantizedCpuPlace},
    {"aten::copy_", "", DispatchKey::QuantizedCPU, builtin_kernel<&quantized_copy_>(), kQuantizedCpuPlace},
    {"aten::_local_scalar_dense", "", DispatchKey::QuantizedCPU, builtin_kernel<&quantized_item>(), kQuantizedCpuPlace},
    {"aten::equal", "", DispatchKey::QuantizedCPU, builtin_kernel<&quantized_equal>(), kQuantizedCpuPlace},
    {"aten::empty_like", "", DispatchKey::QuantizedCPU, builtin_kernel<&quantized_empty_like>(), kQuantizedCpuPlace},
    {"aten::resize_", "", DispatchKey::QuantizedCPU, builtin_kernel<&quantized_resize_>(), kQuantizedCpuPlace},
    {"aten::relu", "", DispatchKey::QuantizedCPU, builtin_kernel<&quantized_relu>(), kQuantizedCpuPlace},
    {"aten::relu_", "", DispatchKey::QuantizedCPU, builtin_kernel<&quantized_relu_>(), kQuantizedCpuPlace},
    {"aten::hardtanh", "", DispatchKey::QuantizedCPU, builtin_kernel<&quantized_hardtanh>(), kQuantizedCpuPlace},
    {"aten::hardtanh_", "", DispatchKey::QuantizedCPU, builtin_kernel<&quantized_hardtanh_>(), kQuantizedCpuPlace},
    {"aten::clamp", "", DispatchKey::QuantizedCPU, builtin_kernel<&quantized_clamp>(), kQuantizedCpuPlace},
    {"aten::max_pool2d_with_indices", "", DispatchKey::QuantizedCPU, builtin_kernel<&quantized_max_pool2d>(),
     kQuantizedCpuPlace},
    {"aten::grid_sampler_2d", "", DispatchKey::QuantizedCPU, builtin_kernel<&quantized_grid_sampler_2d>(),
     kQuantizedCpuPlace},
    {"aten::upsample_bilinear2d", "", DispatchKey::QuantizedCPU, builtin_kernel<&quantized_upsample_bilinear2d>(),
     kQuantizedCpuPlace},
};
const c10::impl::BuiltinKernels kSeenImplemented(kSeenKernels.rows);
const c10::impl::BuiltinKernels kQuantizedCpuImplemented(kQuantizedCpuKernels);

} // namespace
} // namespace at::native
