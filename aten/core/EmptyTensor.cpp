#include <aten/core/EmptyTensor.h>

#include <aten/core/Tensor.h>
#include <c10/core/MemoryFormat.h>
#include <c10/util/safe_numerics.h>

namespace at::native {

// The kernels of these operators, aten/native/explicit/factory.cpp.
Tensor empty_cpu(
    IntArrayRef,
    std::optional<ScalarType>,
    std::optional<Layout>,
    std::optional<Device>,
    std::optional<bool>,
    std::optional<MemoryFormat>);
Tensor empty_meta(
    IntArrayRef,
    std::optional<ScalarType>,
    std::optional<Layout>,
    std::optional<Device>,
    std::optional<bool>,
    std::optional<MemoryFormat>);
Tensor empty_strided_cpu(
    IntArrayRef,
    IntArrayRef,
    std::optional<ScalarType>,
    std::optional<Layout>,
    std::optional<Device>,
    std::optional<bool>);
Tensor empty_strided_meta(
    IntArrayRef,
    IntArrayRef,
    std::optional<ScalarType>,
    std::optional<Layout>,
    std::optional<Device>,
    std::optional<bool>);

} // namespace at::native

namespace at::detail {
namespace {

void check_device(std::optional<c10::Device> device, c10::DeviceType expected, const char* name) {
  TORCH_CHECK(
      !device || device->type() == expected, name, ": got device ", device.value_or(c10::Device(expected)),
      ", must be ", expected);
}

TensorBase allocate(size_t bytes, c10::Allocator* allocator, c10::DispatchKeySet ks, c10::ScalarType scalar_type) {
  TORCH_CHECK(allocator != nullptr, "empty: the backend gave no allocator");
  c10::Storage storage(c10::Storage::use_byte_size_t(), bytes, allocator, /*resizable=*/true);
  return make_tensor_base<c10::TensorImpl>(std::move(storage), ks, c10::scalarTypeToTypeMeta(scalar_type));
}

/// Gives a tensor its shape in a memory format. Throws when the rank does not fit.
void shape_as(const TensorBase& tensor, c10::IntArrayRef size, c10::MemoryFormat format) {
  c10::TensorImpl* impl = tensor.unsafeGetTensorImpl();
  if (format == c10::MemoryFormat::ChannelsLast) {
    TORCH_CHECK(size.size() == 4, "required rank 4 tensor to use channels_last format, got sizes ", size);
    impl->set_sizes_and_strides(size, c10::get_channels_last_strides_2d(size));
  } else if (format == c10::MemoryFormat::ChannelsLast3d) {
    TORCH_CHECK(size.size() == 5, "required rank 5 tensor to use channels_last_3d format, got sizes ", size);
    impl->set_sizes_and_strides(size, c10::get_channels_last_strides_3d(size));
  } else {
    TORCH_CHECK(
        format == c10::MemoryFormat::Contiguous, "empty: memory format ", format,
        " is not supported; give contiguous, channels_last or channels_last_3d");
    impl->set_sizes_contiguous(size);
  }
}

} // namespace

void check_size_nonnegative(c10::IntArrayRef size) {
  for (const int64_t s : size) {
    TORCH_CHECK(s >= 0, "Trying to create tensor with negative dimension ", s, ": ", size);
  }
}

size_t computeStorageNbytesContiguous(c10::IntArrayRef sizes, size_t itemsize, size_t storage_offset) {
  uint64_t bytes = 1;
  bool overflow = false;
  for (const int64_t s : sizes) {
    overflow |= c10::mul_overflows(bytes, static_cast<uint64_t>(s), &bytes);
  }
  overflow |= c10::add_overflows(bytes, static_cast<uint64_t>(storage_offset), &bytes);
  overflow |= c10::mul_overflows(bytes, static_cast<uint64_t>(itemsize), &bytes);
  TORCH_CHECK(
      !overflow && bytes <= static_cast<uint64_t>(INT64_MAX), "Storage size calculation overflowed with sizes=", sizes);
  return bytes;
}

size_t computeStorageNbytes(c10::IntArrayRef sizes, c10::IntArrayRef strides, size_t itemsize, size_t storage_offset) {
  TORCH_CHECK(
      sizes.size() == strides.size(), "dimensionality of sizes (", sizes.size(),
      ") must match dimensionality of strides (", strides.size(), ")");
  uint64_t elements = storage_offset + 1;
  bool overflow = false;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == 0) {
      return 0;
    }
    uint64_t step = 0;
    overflow |= c10::mul_overflows(static_cast<uint64_t>(strides[i]), static_cast<uint64_t>(sizes[i] - 1), &step);
    overflow |= c10::add_overflows(elements, step, &elements);
  }
  overflow |= c10::mul_overflows(elements, static_cast<uint64_t>(itemsize), &elements);
  TORCH_CHECK(
      !overflow && elements <= static_cast<uint64_t>(INT64_MAX),
      "Storage size calculation overflowed with sizes=", sizes, " and strides=", strides);
  return elements;
}

TensorBase empty_generic(
    c10::IntArrayRef size,
    c10::Allocator* allocator,
    c10::DispatchKeySet ks,
    c10::ScalarType scalar_type,
    std::optional<c10::MemoryFormat> memory_format_opt) {
  check_size_nonnegative(size);
  const size_t bytes = computeStorageNbytesContiguous(size, c10::elementSize(scalar_type));
  TensorBase result = allocate(bytes, allocator, ks, scalar_type);
  shape_as(result, size, memory_format_opt.value_or(c10::MemoryFormat::Contiguous));
  return result;
}

TensorBase empty_strided_generic(
    c10::IntArrayRef size,
    c10::IntArrayRef stride,
    c10::Allocator* allocator,
    c10::DispatchKeySet ks,
    c10::ScalarType scalar_type) {
  check_size_nonnegative(size);
  for (const int64_t s : stride) {
    TORCH_CHECK(s >= 0, "Storage size calculation overflowed with sizes=", size, " and strides=", stride);
  }
  TensorBase result =
      allocate(computeStorageNbytes(size, stride, c10::elementSize(scalar_type)), allocator, ks, scalar_type);
  result.unsafeGetTensorImpl()->set_sizes_and_strides(size, stride);
  return result;
}

TensorBase empty_cpu(
    c10::IntArrayRef size, c10::ScalarType dtype, bool pin_memory, std::optional<c10::MemoryFormat> memory_format_opt) {
  return native::empty_cpu(size, dtype, std::nullopt, std::nullopt, pin_memory, memory_format_opt);
}

TensorBase empty_cpu(
    c10::IntArrayRef size,
    std::optional<c10::ScalarType> dtype_opt,
    std::optional<c10::Layout> layout_opt,
    std::optional<c10::Device> device_opt,
    std::optional<bool> pin_memory_opt,
    std::optional<c10::MemoryFormat> memory_format_opt) {
  check_device(device_opt, c10::kCPU, "empty_cpu");
  return native::empty_cpu(size, dtype_opt, layout_opt, device_opt, pin_memory_opt, memory_format_opt);
}

TensorBase empty_cpu(c10::IntArrayRef size, const c10::TensorOptions& options) {
  return empty_cpu(
      size, options.scalar_type_opt(), options.layout_opt(), options.device_opt(), options.pinned_memory_opt(),
      options.memory_format_opt());
}

TensorBase empty_strided_cpu(c10::IntArrayRef size, c10::IntArrayRef stride, c10::ScalarType dtype, bool pin_memory) {
  return native::empty_strided_cpu(size, stride, dtype, std::nullopt, std::nullopt, pin_memory);
}

TensorBase empty_strided_cpu(
    c10::IntArrayRef size,
    c10::IntArrayRef stride,
    std::optional<c10::ScalarType> dtype_opt,
    std::optional<c10::Layout> layout_opt,
    std::optional<c10::Device> device_opt,
    std::optional<bool> pin_memory_opt) {
  check_device(device_opt, c10::kCPU, "empty_strided_cpu");
  return native::empty_strided_cpu(size, stride, dtype_opt, layout_opt, device_opt, pin_memory_opt);
}

TensorBase empty_strided_cpu(c10::IntArrayRef size, c10::IntArrayRef stride, const c10::TensorOptions& options) {
  return empty_strided_cpu(
      size, stride, options.scalar_type_opt(), options.layout_opt(), options.device_opt(), options.pinned_memory_opt());
}

TensorBase empty_meta(
    c10::IntArrayRef size, c10::ScalarType dtype, std::optional<c10::MemoryFormat> memory_format_opt) {
  return native::empty_meta(size, dtype, std::nullopt, std::nullopt, std::nullopt, memory_format_opt);
}

TensorBase empty_meta(c10::IntArrayRef size, const c10::TensorOptions& options) {
  check_device(options.device_opt(), c10::kMeta, "empty_meta");
  return native::empty_meta(
      size, options.scalar_type_opt(), options.layout_opt(), options.device_opt(), std::nullopt,
      options.memory_format_opt());
}

TensorBase empty_strided_meta(c10::IntArrayRef size, c10::IntArrayRef stride, c10::ScalarType dtype) {
  return native::empty_strided_meta(size, stride, dtype, std::nullopt, std::nullopt, std::nullopt);
}

TensorBase empty_strided_meta(c10::IntArrayRef size, c10::IntArrayRef stride, const c10::TensorOptions& options) {
  check_device(options.device_opt(), c10::kMeta, "empty_strided_meta");
  return native::empty_strided_meta(
      size, stride, options.scalar_type_opt(), options.layout_opt(), options.device_opt(), std::nullopt);
}

} // namespace at::detail
