// Factories: what is common to every backend, and the CPU and Meta allocation underneath.
#include <aten/Functions.h>
#include <aten/core/Context.h>
#include <aten/core/OpMathType.h>
#include <aten/core/TensorSpec.h>
#include <aten/core/dtype_dispatch.h>
#include <aten/core/pinned_memory.h>
#include <aten/native/support/convert.h>
#include <aten/native/support/factory_options.h>
#include <aten/native/support/replace_output.h>
#include <aten/native/support/resize.h>
#include <aten/native/support/store_scalar.h>
#include <aten/native/support/empty_fast_path.h>
#include <aten/parallel/Parallel.h>
#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>
#include <c10/core/DefaultDtype.h>
#include <c10/core/DeviceGuard.h>
#include <c10/core/impl/RecycledTensors.h>
#include <c10/util/safe_numerics.h>

#include <cmath>
#include <limits>

namespace at::native {

using c10::DimVector;

namespace {

using OptDtype = std::optional<ScalarType>;
using OptLayout = std::optional<Layout>;
using OptDevice = std::optional<Device>;
using OptBool = std::optional<bool>;
using OptFormat = std::optional<MemoryFormat>;

ScalarType given_or_default(OptDtype dtype) {
  return dtype.value_or(c10::get_default_dtype_as_scalartype());
}

void check_strided(const char* op, OptLayout layout) {
  TORCH_CHECK(
      layout.value_or(kStrided) == kStrided, op, ": layout ", layout.value_or(kStrided),
      " is not supported; supported: torch.strided");
}

/// A CPU tensor from an allocator of choice: pinned memory comes from a device's.
Tensor empty_from(c10::Allocator* allocator, IntArrayRef size, IntArrayRef stride, ScalarType dtype) {
  int64_t last = 1;
  bool overflow = false;
  bool empty = false;
  for (size_t i = 0; i < size.size(); ++i) {
    int64_t step = 0;
    empty = empty || size[i] == 0;
    overflow |= c10::mul_overflows(size[i] - 1, stride[i], &step);
    overflow |= c10::add_overflows(last, step, &last);
  }
  overflow |= c10::mul_overflows(last, static_cast<int64_t>(c10::elementSize(dtype)), &last);
  TORCH_CHECK(empty || !overflow, "Storage size calculation overflowed with sizes=", size, " and strides=", stride);
  const int64_t bytes = empty ? 0 : last;
  c10::Storage storage(c10::Storage::use_byte_size_t(), bytes, allocator, /*resizable=*/true);
  Tensor result = at::detail::make_tensor<c10::TensorImpl>(
      std::move(storage), c10::DispatchKeySet(c10::DispatchKey::CPU), c10::scalarTypeToTypeMeta(dtype));
  result.unsafeGetTensorImpl()->set_sizes_and_strides(size, stride);
  return result;
}

DimVector contiguous_strides(IntArrayRef size) {
  DimVector strides(size.size());
  int64_t step = 1;
  for (size_t i = size.size(); i-- > 0;) {
    strides[i] = step;
    TORCH_CHECK(
        !c10::mul_overflows(step, std::max<int64_t>(size[i], 1), &step),
        "Storage size calculation overflowed with sizes=", size);
  }
  return strides;
}

void check_sizes(IntArrayRef size) {
  for (const int64_t s : size) {
    TORCH_CHECK(s >= 0, "Trying to create tensor with negative dimension ", s, ": ", size);
  }
}

Tensor empty_on(Device device, IntArrayRef size, OptDtype dtype, OptBool pin_memory, OptFormat memory_format) {
  const MemoryFormat format = memory_format.value_or(MemoryFormat::Contiguous);
  const bool pinned = pin_memory.value_or(false);
  if (C10_LIKELY(format == MemoryFormat::Contiguous && !pinned)) {
    return empty_contiguous(size, given_or_default(dtype), device);
  }
  check_sizes(size);
  TORCH_CHECK(
      format != MemoryFormat::Preserve,
      "empty: memory format Preserve is not supported; give contiguous, channels_last or channels_last_3d");
  if (pinned) {
    TORCH_CHECK(device.is_cpu(), "Only dense CPU tensors can be pinned, got device ", device);
    return empty_from(at::detail::pinned_memory_allocator(), size, contiguous_strides(size), given_or_default(dtype));
  }
  TensorSpec spec{DimVector(size.begin(), size.end()), given_or_default(dtype), device};
  TORCH_CHECK(
      size.size() == (format == MemoryFormat::ChannelsLast ? 4u : 5u), "required rank ",
      format == MemoryFormat::ChannelsLast ? 4 : 5, " tensor to use ",
      format == MemoryFormat::ChannelsLast ? "channels_last" : "channels_last_3d", " format, got sizes ", size);
  spec.memory_format = format;
  return empty_spec(spec);
}

Tensor empty_strided_on(Device device, IntArrayRef size, IntArrayRef stride, OptDtype dtype, OptBool pin_memory) {
  check_sizes(size);
  TORCH_CHECK(
      size.size() == stride.size(), "dimensionality of sizes (", size.size(),
      ") must match dimensionality of strides (", stride.size(), ")");
  for (const int64_t s : stride) {
    TORCH_CHECK(
        s >= 0, "Storage size calculation overflowed with sizes=", size, " and strides=", stride, ": ", s,
        " is negative");
  }
  if (pin_memory.value_or(false)) {
    return empty_from(at::detail::pinned_memory_allocator(), size, stride, given_or_default(dtype));
  }
  return empty_spec(
      {DimVector(size.begin(), size.end()), given_or_default(dtype), device, DimVector(stride.begin(), stride.end())});
}

} // namespace

namespace {

C10_NOINLINE void fill_with_known_value(const Tensor& fresh) {
  const ScalarType dtype = fresh.scalar_type();
  if (c10::isFloatingType(dtype) || c10::isComplexType(dtype)) {
    fresh.fill_(std::numeric_limits<double>::quiet_NaN());
  } else if (dtype == kBool) {
    fresh.fill_(true);
  } else {
    dispatch("empty", dtype, at::kIntegral | at::kUnsigned, [&]<class T> {
      fresh.fill_(Scalar(std::numeric_limits<T>::max()));
    });
  }
}

/// With deterministic algorithms fresh memory has a known value: NaN, or the largest integer, so that its use is seen.
C10_ALWAYS_INLINE Tensor uninitialized(Tensor fresh) {
  if (C10_UNLIKELY(at::detail::fill_uninitialized_memory.load(std::memory_order_relaxed))) {
    fill_with_known_value(fresh);
  }
  return fresh;
}

} // namespace

c10::TensorImpl* empty_fast_path(IntArrayRef size, TensorOptions options, OptFormat memory_format) noexcept {
  // A requires_grad is refused elsewhere.
  if (C10_UNLIKELY(
          options.has_layout() || options.has_pinned_memory() || options.has_memory_format() ||
          options.has_requires_grad() || memory_format || (options.has_device() && !options.device().is_cpu()) ||
          at::detail::fill_uninitialized_memory.load(std::memory_order_relaxed))) {
    return nullptr;
  }
  const caffe2::TypeMeta dtype = options.dtype();
  const bool quantized = dtype.isScalarType() && c10::isQIntType(c10::typeMetaToScalarType(dtype));
  return C10_UNLIKELY(quantized) ? nullptr : c10::impl::RecycledTensors::take(size, dtype);
}

Tensor empty_cpu(
    IntArrayRef size,
    OptDtype dtype,
    OptLayout layout,
    OptDevice /*device*/,
    OptBool pin_memory,
    OptFormat memory_format) {
  if (C10_LIKELY(!layout && !pin_memory && !memory_format)) {
    return uninitialized(empty_contiguous(size, given_or_default(dtype), kCPU));
  }
  check_strided("empty", layout);
  return uninitialized(empty_on(kCPU, size, dtype, pin_memory, memory_format));
}

TORCH_API Tensor empty_cuda(
    IntArrayRef size, OptDtype dtype, OptLayout layout, OptDevice device, OptBool pin_memory, OptFormat memory_format) {
  check_strided("empty", layout);
  const c10::OptionalDeviceGuard guard(device && device->has_index() ? device : std::nullopt);
  return empty_on(device.value_or(Device(kCUDA)), size, dtype, pin_memory, memory_format);
}

Tensor empty_meta(
    IntArrayRef size,
    OptDtype dtype,
    OptLayout layout,
    OptDevice /*device*/,
    OptBool /*pin_memory*/,
    OptFormat memory_format) {
  check_strided("empty", layout);
  return empty_on(Device(kMeta), size, dtype, std::nullopt, memory_format);
}

Tensor& empty_out(IntArrayRef size, OptFormat memory_format, Tensor& out) {
  check_sizes(size);
  if (out.is_contiguous() && !memory_format) {
    resize_output(out, size);
    return out;
  }
  return out.resize_(size, memory_format);
}

Tensor empty_strided_cpu(
    IntArrayRef size, IntArrayRef stride, OptDtype dtype, OptLayout layout, OptDevice /*device*/, OptBool pin_memory) {
  check_strided("empty_strided", layout);
  return uninitialized(empty_strided_on(kCPU, size, stride, dtype, pin_memory));
}

TORCH_API Tensor empty_strided_cuda(
    IntArrayRef size, IntArrayRef stride, OptDtype dtype, OptLayout layout, OptDevice device, OptBool pin_memory) {
  check_strided("empty_strided", layout);
  TORCH_CHECK(!pin_memory.value_or(false), "Only dense CPU tensors can be pinned");
  const c10::OptionalDeviceGuard guard(device && device->has_index() ? device : std::nullopt);
  return empty_strided_on(device.value_or(Device(kCUDA)), size, stride, dtype, std::nullopt);
}

Tensor empty_strided_meta(
    IntArrayRef size,
    IntArrayRef stride,
    OptDtype dtype,
    OptLayout layout,
    OptDevice /*device*/,
    OptBool /*pin_memory*/) {
  check_strided("empty_strided", layout);
  return empty_strided_on(Device(kMeta), size, stride, dtype, std::nullopt);
}

// ---- after a model -----------------------------------------------------------------

Tensor empty_like(
    const Tensor& self,
    OptDtype dtype,
    OptLayout layout,
    OptDevice device,
    OptBool pin_memory,
    OptFormat memory_format) {
  check_strided("empty_like", layout);
  const MemoryFormat format = memory_format.value_or(MemoryFormat::Preserve);
  const auto options =
      make_options(dtype.value_or(self.scalar_type()), layout, device.value_or(self.device()), pin_memory);
  if (format != MemoryFormat::Preserve) {
    return at::empty(self.sizes(), options, format);
  }
  if (has_strides_of_new(self)) {
    return at::empty(self.sizes(), options);
  }
  return at::empty_strided(
      self.sizes(), dense_strides_like(self.sizes(), self.strides(), self.is_non_overlapping_and_dense()), options);
}

Tensor new_empty(
    const Tensor& self, IntArrayRef size, OptDtype dtype, OptLayout layout, OptDevice device, OptBool pin_memory) {
  return at::empty(
      size, make_options(dtype.value_or(self.scalar_type()), layout, device.value_or(self.device()), pin_memory));
}

Tensor new_empty_strided(
    const Tensor& self,
    IntArrayRef size,
    IntArrayRef stride,
    OptDtype dtype,
    OptLayout layout,
    OptDevice device,
    OptBool pin_memory) {
  return at::empty_strided(
      size, stride,
      make_options(dtype.value_or(self.scalar_type()), layout, device.value_or(self.device()), pin_memory));
}

Tensor new_full(
    const Tensor& self,
    IntArrayRef size,
    const Scalar& fill_value,
    OptDtype dtype,
    OptLayout layout,
    OptDevice device,
    OptBool pin_memory) {
  return at::native::new_empty(self, size, dtype, layout, device, pin_memory).fill_(fill_value);
}

Tensor new_zeros(
    const Tensor& self, IntArrayRef size, OptDtype dtype, OptLayout layout, OptDevice device, OptBool pin_memory) {
  return at::native::new_empty(self, size, dtype, layout, device, pin_memory).zero_();
}

Tensor new_ones(
    const Tensor& self, IntArrayRef size, OptDtype dtype, OptLayout layout, OptDevice device, OptBool pin_memory) {
  return at::native::new_empty(self, size, dtype, layout, device, pin_memory).fill_(1);
}

Tensor zeros_like(
    const Tensor& self,
    OptDtype dtype,
    OptLayout layout,
    OptDevice device,
    OptBool pin_memory,
    OptFormat memory_format) {
  return at::native::empty_like(self, dtype, layout, device, pin_memory, memory_format).zero_();
}

Tensor ones_like(
    const Tensor& self,
    OptDtype dtype,
    OptLayout layout,
    OptDevice device,
    OptBool pin_memory,
    OptFormat memory_format) {
  return at::native::empty_like(self, dtype, layout, device, pin_memory, memory_format).fill_(1);
}

Tensor full_like(
    const Tensor& self,
    const Scalar& fill_value,
    OptDtype dtype,
    OptLayout layout,
    OptDevice device,
    OptBool pin_memory,
    OptFormat memory_format) {
  return at::native::empty_like(self, dtype, layout, device, pin_memory, memory_format).fill_(fill_value);
}

// ---- constant ------------------------------------------------------------------------

Tensor zeros(IntArrayRef size, OptDtype dtype, OptLayout layout, OptDevice device, OptBool pin_memory) {
  return at::empty(size, make_options(dtype, layout, device, pin_memory)).zero_();
}

Tensor& zeros_out(IntArrayRef size, Tensor& out) {
  check_sizes(size);
  return fill_sized(out, size, [&](Tensor& to) { to.zero_(); });
}

Tensor ones(IntArrayRef size, OptDtype dtype, OptLayout layout, OptDevice device, OptBool pin_memory) {
  return at::empty(size, make_options(dtype, layout, device, pin_memory)).fill_(1);
}

Tensor& ones_out(IntArrayRef size, Tensor& out) {
  check_sizes(size);
  return fill_sized(out, size, [&](Tensor& to) { to.fill_(1); });
}

namespace {

ScalarType dtype_of_value(const Scalar& value) {
  if (value.isBoolean()) {
    return kBool;
  }
  if (value.isIntegral(false)) {
    return kLong;
  }
  return value.isComplex() ? c10::toComplexType(c10::get_default_dtype_as_scalartype())
                           : c10::get_default_dtype_as_scalartype();
}

} // namespace

Tensor full(
    IntArrayRef size,
    const Scalar& fill_value,
    OptDtype dtype,
    OptLayout layout,
    OptDevice device,
    OptBool pin_memory) {
  TORCH_CHECK(!layout || *layout == kStrided, "full(...) is not implemented for layout ", layout.value_or(kStrided));
  return at::empty(size, make_options(dtype.value_or(dtype_of_value(fill_value)), layout, device, pin_memory))
      .fill_(fill_value);
}

Tensor& full_out(IntArrayRef size, const Scalar& fill_value, Tensor& out) {
  check_sizes(size);
  return fill_sized(out, size, [&](Tensor& to) { to.fill_(fill_value); });
}

void store_scalar(const char* op, const Scalar& number, ScalarType dtype, void* place) {
  dispatch(op, dtype, at::kAll | at::kUnsigned | at::kComplexHalves | at::kFloat8, [&]<class T> {
    if constexpr (std::is_unsigned_v<T> && !std::is_same_v<T, bool>) {
      // What is below 0 wraps if it is an integer, and is refused otherwise, with the message that Scalar::to has for
      // it.
      if (number.isFloatingPoint() && number.toDouble() < 0) {
        (void)Scalar(std::numeric_limits<double>::lowest()).to<T>();
      }
    }
    *static_cast<T*>(place) = number.to<T>();
  });
}

void check_unsigned_scalar(const char* op, const Scalar& number, ScalarType dtype) {
  if (number.isFloatingPoint() && number.toDouble() < 0 && (dtype == kByte || c10::isBarebonesUnsignedType(dtype))) {
    alignas(16) char place[16];
    store_scalar(op, number, dtype, place);
  }
}

void check_floating_scalar(const char* op, const Scalar& number, ScalarType dtype) {
  if (number.isFloatingPoint() && c10::isFloatingType(dtype) && dtype != kDouble) {
    alignas(16) char place[16];
    store_scalar(op, number, dtype, place);
  }
}

Tensor scalar_tensor(const Scalar& s, OptDtype dtype, OptLayout layout, OptDevice device, OptBool pin_memory) {
  if (device && !device->is_cpu()) {
    // One number lies the same way in a jagged tensor.
    const OptLayout plain = layout == kJagged ? OptLayout(kStrided) : layout;
    return at::empty({}, make_options(dtype, plain, device, pin_memory)).fill_(s);
  }
  Tensor result = empty_contiguous({}, given_or_default(dtype), kCPU);
  store_scalar("scalar_tensor", s, result.scalar_type(), result.mutable_data_ptr());
  return result;
}

// ---- sequences ---------------------------------------------------------------------------

namespace {

/// Everything integral gives int64, else the default dtype.
ScalarType dtype_of_range(std::initializer_list<const Scalar*> values) {
  for (const Scalar* value : values) {
    if (!value->isIntegral(/*includeBool=*/true)) {
      return c10::get_default_dtype_as_scalartype();
    }
  }
  return kLong;
}

void check_range(const char* op, const Scalar& start, const Scalar& end, const Scalar& step) {
  TORCH_CHECK(!start.isComplex() && !end.isComplex() && !step.isComplex(), op, ": complex bounds are not supported");
  const double first = start.to<double>();
  const double last = end.to<double>();
  const double by = step.to<double>();
  TORCH_CHECK(by > 0 || by < 0, "step must be nonzero");
  TORCH_CHECK(std::isfinite(first) && std::isfinite(last), "unsupported range: ", first, " -> ", last);
  TORCH_CHECK(
      (by > 0) == (last >= first) || last == first, "upper bound and ",
      op == std::string_view("range") ? "lower" : "larger", " bound inconsistent with step sign: ", first, " -> ", last,
      " by ", by);
}

int64_t arange_length(const Scalar& start, const Scalar& end, const Scalar& step, ScalarType dtype) {
  check_range("arange", start, end, step);
  double count = 0;
  if (dtype == kLong && start.isIntegral(true) && end.isIntegral(true) && step.isIntegral(true)) {
    const int64_t first = start.to<int64_t>();
    const int64_t last = end.to<int64_t>();
    const int64_t by = step.to<int64_t>();
    int64_t span = 0;
    TORCH_CHECK(
        !c10::sub_overflows(last, first, &span) && !(span == std::numeric_limits<int64_t>::min() && by == -1),
        "arange: the range ", first, " -> ", last, " overflows");
    return span / by + (span % by != 0 ? 1 : 0);
  }
  count = std::ceil((end.to<double>() - start.to<double>()) / step.to<double>());
  TORCH_CHECK(
      count >= 0 && count < static_cast<double>(INT64_MAX), "invalid size, possible overflow? (arange of ", count,
      " elements)");
  return static_cast<int64_t>(count);
}

int64_t range_length(const Scalar& start, const Scalar& end, const Scalar& step) {
  check_range("range", start, end, step);
  const double count = std::floor((end.to<double>() - start.to<double>()) / step.to<double>()) + 1;
  TORCH_CHECK(
      count < static_cast<double>(INT64_MAX), "invalid size, possible overflow? (range of ", count, " elements)");
  return static_cast<int64_t>(count);
}

/// Sizes the output of a sequence factory: an output with the right element count keeps its shape.
void size_sequence(Tensor& out, int64_t length) {
  if (out.numel() != length) {
    resize_output(out, {length});
  }
}

/// The same, with the elements that `fill` writes.
template <class Fill>
Tensor& fill_sequence_out(Tensor& out, int64_t length, const Fill& fill) {
  return fill_sized(out, out.numel() == length ? out.sizes() : IntArrayRef(&length, 1), fill);
}

/// out[i] = value(i), through a contiguous temporary when `out` has gaps.
template <class T, class F>
void fill_sequence(Tensor& out, F value) {
  Tensor dense = out.is_contiguous() ? out : at::empty_like(out, MemoryFormat::Contiguous);
  T* data = dense.mutable_data_ptr<T>();
  at::parallel_for(0, dense.numel(), at::internal::GRAIN_SIZE, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      data[i] = value(i);
    }
  });
  if (!dense.is_same(out)) {
    out.copy_(dense);
  }
}

constexpr auto kRangeDtypes = at::kIntegral | at::kFloating;

} // namespace

Tensor& arange_out(const Scalar& start, const Scalar& end, const Scalar& step, Tensor& out) {
  const int64_t length = arange_length(start, end, step, out.scalar_type());
  return fill_sequence_out(out, length, [&](Tensor& to) {
    dispatch("arange_cpu", to.scalar_type(), kRangeDtypes, [&]<class T> {
      using Acc = std::conditional_t<std::is_integral_v<T>, int64_t, double>;
      const Acc first = start.to<Acc>();
      const Acc by = step.to<Acc>();
      fill_sequence<T>(to, [=](int64_t i) { return static_cast<T>(first + static_cast<Acc>(i) * by); });
    });
  });
}

TORCH_API Tensor& arange_out_meta(const Scalar& start, const Scalar& end, const Scalar& step, Tensor& out) {
  size_sequence(out, arange_length(start, end, step, out.scalar_type()));
  return out;
}

Tensor& arange_end_out(const Scalar& end, Tensor& out) {
  return at::arange_out(out, 0, end, 1);
}

Tensor arange_step(
    const Scalar& start,
    const Scalar& end,
    const Scalar& step,
    OptDtype dtype,
    OptLayout layout,
    OptDevice device,
    OptBool pin_memory) {
  const ScalarType type = dtype.value_or(dtype_of_range({&start, &end, &step}));
  Tensor result = at::empty({arange_length(start, end, step, type)}, make_options(type, layout, device, pin_memory));
  return at::arange_out(result, start, end, step);
}

Tensor arange_start(
    const Scalar& start, const Scalar& end, OptDtype dtype, OptLayout layout, OptDevice device, OptBool pin_memory) {
  return at::native::arange_step(start, end, 1, dtype, layout, device, pin_memory);
}

Tensor arange(const Scalar& end, OptDtype dtype, OptLayout layout, OptDevice device, OptBool pin_memory) {
  return at::native::arange_step(0, end, 1, dtype, layout, device, pin_memory);
}

Tensor range_step(
    const Scalar& start,
    const Scalar& end,
    const Scalar& step,
    OptDtype dtype,
    OptLayout layout,
    OptDevice device,
    OptBool pin_memory) {
  const TensorOptions options = make_options(dtype, layout, kCPU, pin_memory);
  Tensor result;
  dispatch("range_cpu", c10::typeMetaToScalarType(options.dtype()), kRangeDtypes, [&]<class T> {
    // Integers count from and by whole numbers: what is behind the point is gone before the elements are counted.
    using Acc = std::conditional_t<std::is_integral_v<T>, int64_t, double>;
    check_range("range", start, end, step);
    const Acc first = start.to<Acc>(), by = step.to<Acc>();
    result = at::empty({range_length(first, end.to<Acc>(), by)}, options);
    fill_sequence<T>(result, [=](int64_t i) { return static_cast<T>(first + static_cast<Acc>(i) * by); });
  });
  return device && !device->is_cpu() ? result.to(*device) : result;
}

Tensor range(
    const Scalar& start, const Scalar& end, OptDtype dtype, OptLayout layout, OptDevice device, OptBool pin_memory) {
  return at::native::range_step(start, end, 1, dtype, layout, device, pin_memory);
}

TORCH_API Tensor& linspace_out_meta(const Scalar& /*start*/, const Scalar& /*end*/, int64_t steps, Tensor& out) {
  TORCH_CHECK(steps >= 0, "number of steps must be non-negative, got ", steps);
  size_sequence(out, steps);
  return out;
}

namespace {

void fill_linspace(const Scalar& start, const Scalar& end, int64_t steps, Tensor& out) {
  if (steps == 0) {
    return;
  }
  if (steps == 1) {
    out.fill_(start);
    return;
  }
  dispatch("linspace", out.scalar_type(), kRangeDtypes | at::kComplex, [&]<class T> {
    // Integers step in double, as PyTorch does; both ends are met exactly by counting from the nearer one.
    using Step = std::conditional_t<std::is_integral_v<T>, double, at::opmath_type<T>>;
    const T first = start.to<T>();
    const T last = end.to<T>();
    const Step by = (static_cast<Step>(last) - static_cast<Step>(first)) / static_cast<Step>(steps - 1);
    const int64_t half = steps / 2;
    fill_sequence<T>(out, [=](int64_t i) {
      return static_cast<T>(
          i < half ? static_cast<Step>(first) + by * static_cast<Step>(i)
                   : static_cast<Step>(last) - by * static_cast<Step>(steps - i - 1));
    });
  });
}

void fill_complex_logspace(const Scalar& start, const Scalar& end, int64_t steps, double base, Tensor& out) {
  dispatch("logspace", out.scalar_type(), at::kComplex, [&]<class T> {
    using Exact = c10::complex<double>;
    const Exact first = start.to<Exact>(), last = end.to<Exact>();
    const Exact by = steps > 1 ? (last - first) / static_cast<double>(steps - 1) : Exact(0);
    const int64_t half = (steps + 1) / 2;
    fill_sequence<T>(out, [=](int64_t i) {
      const Exact exponent =
          i < half ? first + by * static_cast<double>(i) : last - by * static_cast<double>(steps - i - 1);
      return static_cast<T>(std::pow(Exact(base), exponent));
    });
  });
}

void fill_logspace(const Scalar& start, const Scalar& end, int64_t steps, double base, Tensor& out) {
  if (steps == 0) {
    return;
  }
  if (out.is_complex()) {
    fill_complex_logspace(start, end, steps, base, out);
    return;
  }
  dispatch("logspace", out.scalar_type(), kRangeDtypes, [&]<class T> {
    // Exponents of an integral result are integers at both ends.
    const double first = std::is_integral_v<T> ? static_cast<double>(start.to<int64_t>()) : start.to<double>();
    const double last = std::is_integral_v<T> ? static_cast<double>(end.to<int64_t>()) : end.to<double>();
    const double by = steps > 1 ? (last - first) / static_cast<double>(steps - 1) : 0;
    const int64_t half = (steps + 1) / 2;
    fill_sequence<T>(out, [=](int64_t i) {
      const double exponent =
          i < half ? first + by * static_cast<double>(i) : last - by * static_cast<double>(steps - i - 1);
      return static_cast<T>(std::pow(base, exponent));
    });
  });
}

} // namespace

Tensor& linspace_out(const Scalar& start, const Scalar& end, int64_t steps, Tensor& out) {
  TORCH_CHECK(steps >= 0, "number of steps must be non-negative, got ", steps);
  return fill_sequence_out(out, steps, [&](Tensor& to) { fill_linspace(start, end, steps, to); });
}

namespace {

/// The dtype of a line between two numbers: complex where one of them is.
ScalarType line_dtype(const char* op, const Scalar& start, const Scalar& end, OptDtype dtype) {
  const bool complex = start.isComplex() || end.isComplex();
  const ScalarType standard =
      complex ? c10::toComplexType(c10::get_default_dtype_as_scalartype()) : c10::get_default_dtype_as_scalartype();
  TORCH_CHECK(
      !complex || !dtype || c10::isComplexType(*dtype), "torch.", op, "(): inferred dtype ",
      c10::scalarTypeToTypeMeta(standard).name(), " can't be safely cast to passed dtype ", dtype.value_or(standard));
  return dtype.value_or(standard);
}

} // namespace

Tensor linspace(
    const Scalar& start,
    const Scalar& end,
    int64_t steps,
    OptDtype dtype,
    OptLayout layout,
    OptDevice device,
    OptBool pin_memory) {
  TORCH_CHECK(steps >= 0, "number of steps must be non-negative, got ", steps);
  Tensor result =
      at::empty({steps}, make_options(line_dtype("linspace", start, end, dtype), layout, device, pin_memory));
  return at::linspace_out(result, start, end, steps);
}

TORCH_API Tensor& logspace_out_meta(
    const Scalar& start, const Scalar& end, int64_t steps, double /*base*/, Tensor& out) {
  return at::native::linspace_out_meta(start, end, steps, out);
}

Tensor& logspace_out(const Scalar& start, const Scalar& end, int64_t steps, double base, Tensor& out) {
  TORCH_CHECK(steps >= 0, "number of steps must be non-negative, got ", steps);
  return fill_sequence_out(out, steps, [&](Tensor& to) { fill_logspace(start, end, steps, base, to); });
}

Tensor logspace(
    const Scalar& start,
    const Scalar& end,
    int64_t steps,
    double base,
    OptDtype dtype,
    OptLayout layout,
    OptDevice device,
    OptBool pin_memory) {
  TORCH_CHECK(steps >= 0, "number of steps must be non-negative, got ", steps);
  Tensor result =
      at::empty({steps}, make_options(line_dtype("logspace", start, end, dtype), layout, device, pin_memory));
  return at::logspace_out(result, start, end, steps, base);
}

// ---- matrices ------------------------------------------------------------------------------

Tensor& eye_m_out(int64_t n, int64_t m, Tensor& out) {
  TORCH_CHECK(n >= 0, "n must be greater or equal to 0, got ", n);
  TORCH_CHECK(m >= 0, "m must be greater or equal to 0, got ", m);
  return fill_sized(out, {n, m}, [](Tensor& to) {
    to.zero_();
    to.diagonal().fill_(1);
  });
}

Tensor& eye_out(int64_t n, Tensor& out) {
  return at::native::eye_m_out(n, n, out);
}

Tensor eye_m(int64_t n, int64_t m, OptDtype dtype, OptLayout layout, OptDevice device, OptBool pin_memory) {
  TORCH_CHECK(n >= 0, "n must be greater or equal to 0, got ", n);
  TORCH_CHECK(m >= 0, "m must be greater or equal to 0, got ", m);
  Tensor result = at::empty({n, m}, make_options(dtype, layout, device, pin_memory));
  return at::native::eye_m_out(n, m, result);
}

Tensor eye(int64_t n, OptDtype dtype, OptLayout layout, OptDevice device, OptBool pin_memory) {
  return at::native::eye_m(n, n, dtype, layout, device, pin_memory);
}

} // namespace at::native
