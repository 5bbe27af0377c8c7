#include <aten/core/TensorSpec.h>

#include <aten/core/Tensor.h>
#include <aten/ops/empty_strided_ops.h>
#include <c10/core/Allocator.h>
#include <c10/core/DispatchKeySet.h>
#include <c10/core/StorageImpl.h>
#include <c10/core/impl/RecycledTensors.h>
#include <c10/util/safe_numerics.h>

namespace at {
namespace {

constexpr c10::DispatchKeySet key_set_of(c10::DeviceType type) {
  switch (type) {
    case c10::DeviceType::CPU:
      return c10::DispatchKeySet(c10::DispatchKey::CPU);
    case c10::DeviceType::CUDA:
      return c10::DispatchKeySet(c10::DispatchKey::CUDA);
    case c10::DeviceType::Meta:
      return c10::DispatchKeySet(c10::DispatchKey::Meta);
    default:
      return {};
  }
}

[[noreturn]] C10_NOINLINE void throw_bad_sizes(c10::IntArrayRef sizes) {
  for (const int64_t size : sizes) {
    TORCH_CHECK(size >= 0, "Trying to create tensor with negative dimension ", size, ": ", sizes);
  }
  TORCH_CHECK(false, "Storage size calculation overflowed with sizes=", sizes);
}

C10_ALWAYS_INLINE size_t bytes_of(c10::IntArrayRef sizes, size_t itemsize) {
  int64_t bytes = static_cast<int64_t>(itemsize);
  bool bad = false;
  for (const int64_t size : sizes) {
    bad |= size < 0;
    bad |= c10::mul_overflows(bytes, size, &bytes);
  }
  if (C10_UNLIKELY(bad)) {
    throw_bad_sizes(sizes);
  }
  return static_cast<size_t>(bytes);
}

size_t strided_bytes_of(c10::IntArrayRef sizes, c10::IntArrayRef strides, c10::ScalarType dtype) {
  uint64_t last = 1;
  bool overflows = false;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == 0) {
      return 0;
    }
    uint64_t reach = 0;
    overflows |= c10::mul_overflows(static_cast<uint64_t>(strides[i]), static_cast<uint64_t>(sizes[i] - 1), &reach);
    overflows |= c10::add_overflows(last, reach, &last);
  }
  overflows |= c10::mul_overflows(last, static_cast<uint64_t>(c10::elementSize(dtype)), &last);
  TORCH_CHECK(
      !overflows && last <= static_cast<uint64_t>(INT64_MAX), "Storage size calculation overflowed with sizes=", sizes,
      " and strides=", strides);
  return static_cast<size_t>(last);
}

/// Meta tensors have sizes and no memory.
struct MetaAllocator final : public c10::Allocator {
  c10::DataPtr allocate(size_t /*bytes*/) override {
    return c10::DataPtr(nullptr, c10::Device(c10::DeviceType::Meta));
  }
  void copy_data(void* /*dest*/, const void* /*src*/, std::size_t /*count*/) const override {}
};

c10::Allocator* allocator_of(c10::Device device) {
  static MetaAllocator meta;
  return device.is_meta() ? &meta : c10::GetAllocator(device.type());
}

C10_NOINLINE Tensor allocate_elsewhere(size_t bytes, caffe2::TypeMeta type, c10::Device device) {
  c10::Allocator* allocator = allocator_of(device);
  auto storage = c10::make_intrusive<c10::StorageImpl>(
      c10::StorageImpl::use_byte_size_t(), static_cast<int64_t>(bytes), allocator->allocate(bytes), allocator,
      /*resizable=*/true);
  return detail::make_tensor<c10::TensorImpl>(c10::Storage(std::move(storage)), key_set_of(device.type()), type);
}

C10_ALWAYS_INLINE Tensor allocate(size_t bytes, caffe2::TypeMeta type, c10::Device device) {
  return C10_LIKELY(device.is_cpu()) ? Tensor(c10::impl::RecycledTensors::make(bytes, type))
                                     : allocate_elsewhere(bytes, type, device);
}

} // namespace

TensorSpec TensorSpec::like(const TensorBase& t, c10::IntArrayRef sizes) {
  return like(t, sizes, t.scalar_type());
}

TensorSpec TensorSpec::like(const TensorBase& t, c10::IntArrayRef sizes, c10::ScalarType dtype) {
  TensorSpec spec{{}, dtype, t.device()};
  // Dimensions are few: a loop beats the call to memcpy.
  for (const int64_t size : sizes) {
    spec.sizes.push_back(size);
  }
  return spec;
}

namespace {

C10_NOINLINE Tensor empty_contiguous_slow(c10::IntArrayRef sizes, c10::ScalarType dtype, c10::Device device) {
  if (C10_UNLIKELY(!device.is_cpu() && key_set_of(device.type()).empty())) {
    return empty_spec({c10::DimVector(sizes.begin(), sizes.end()), dtype, device});
  }
  const caffe2::TypeMeta type = c10::scalarTypeToTypeMeta(dtype);
  Tensor result = allocate(bytes_of(sizes, type.itemsize()), type, device);
  if (sizes.size() != 1 || sizes[0] != 0) {
    result.unsafeGetTensorImpl()->set_sizes_contiguous(sizes);
  }
  return result;
}

} // namespace

Tensor empty_contiguous(c10::IntArrayRef sizes, c10::ScalarType dtype, c10::Device device) {
  if (C10_LIKELY(device.is_cpu())) {
    if (c10::TensorImpl* spare = c10::impl::RecycledTensors::take(sizes, c10::scalarTypeToTypeMeta(dtype))) {
      return Tensor(c10::intrusive_ptr<c10::TensorImpl, c10::UndefinedTensorImpl>::reclaim(spare));
    }
  }
  return empty_contiguous_slow(sizes, dtype, device);
}

Tensor empty_spec(const TensorSpec& spec) {
  const c10::IntArrayRef sizes(spec.sizes);
  const bool known_backend = !key_set_of(spec.device.type()).empty();
  if (known_backend && !spec.strides && spec.memory_format == c10::MemoryFormat::Contiguous) {
    return empty_contiguous(sizes, spec.dtype, spec.device);
  }
  (void)bytes_of(sizes, c10::elementSize(spec.dtype));
  c10::DimVector strides;
  if (spec.strides) {
    strides = *spec.strides;
  } else if (spec.memory_format == c10::MemoryFormat::ChannelsLast) {
    TORCH_CHECK(sizes.size() == 4, "required rank 4 tensor to use channels_last format, got sizes ", sizes);
    const auto computed = c10::get_channels_last_strides_2d(sizes);
    strides.assign(computed.begin(), computed.end());
  } else if (spec.memory_format == c10::MemoryFormat::ChannelsLast3d) {
    TORCH_CHECK(sizes.size() == 5, "required rank 5 tensor to use channels_last_3d format, got sizes ", sizes);
    const auto computed = c10::get_channels_last_strides_3d(sizes);
    strides.assign(computed.begin(), computed.end());
  } else {
    strides.resize(sizes.size());
    int64_t step = 1;
    for (size_t i = sizes.size(); i-- > 0;) {
      strides[i] = step;
      step *= std::max<int64_t>(sizes[i], 1);
    }
  }
  if (!known_backend) {
    // A backend of somebody else's allocates through its own empty_strided.
    return at::_ops::empty_strided::call(
        c10::fromIntArrayRefSlow(sizes), c10::fromIntArrayRefSlow(strides), spec.dtype, std::nullopt, spec.device,
        std::nullopt);
  }
  Tensor result =
      allocate(strided_bytes_of(sizes, strides, spec.dtype), c10::scalarTypeToTypeMeta(spec.dtype), spec.device);
  result.unsafeGetTensorImpl()->set_sizes_and_strides(sizes, strides);
  return result;
}

} // namespace at
