// Copies, conversions, filling and resizing, on every backend.
#include <aten/Functions.h>
#include <aten/core/TensorSpec.h>
#include <aten/core/pinned_memory.h>
#include <aten/iterator/ExpandUtils.h>
#include <aten/iterator/MemoryOverlap.h>
#include <aten/iterator/TensorIterator.h>
#include <aten/native/support/convert.h>
#include <aten/native/support/index_rows.h>
#include <aten/native/support/resize.h>
#include <aten/native/support/store_scalar.h>
#include <aten/native/support/streamed.h>
#include <aten/native/support/view_support.h>
#include <aten/parallel/Parallel.h>
#include <c10/core/Allocator.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <c10/util/complex.h>
#include <c10/util/safe_numerics.h>

#include <cstring>

namespace at::native {

using c10::DimVector;

namespace {

constexpr int64_t kBytesPerThread = int64_t{1} << 20;
constexpr size_t kLongCopy = size_t{1} << 20;

/// The elements of `t` as they lie in memory, without the lazy bits.
Tensor without_bits(const Tensor& t) {
  if (!t.is_conj() && !t.is_neg()) {
    return t;
  }
  Tensor plain = make_view(t, t.sizes(), t.strides());
  plain._set_conj(false);
  plain._set_neg(false);
  return plain;
}

/// Both tensors hold the same elements in the same order of memory.
bool is_one_block(const TensorBase& dst, const TensorBase& src) {
  return dst.scalar_type() == src.scalar_type() && dst.sizes() == src.sizes() && dst.strides() == src.strides() &&
      dst.is_non_overlapping_and_dense();
}

void copy_bytes(void* dst, const void* src, size_t bytes) {
  const auto to = reinterpret_cast<uintptr_t>(dst), from = reinterpret_cast<uintptr_t>(src);
  if (to < from + bytes && from < to + bytes) {
    std::memmove(dst, src, bytes);
    return;
  }
  at::parallel_for(0, static_cast<int64_t>(bytes), kBytesPerThread, [&](int64_t begin, int64_t end) {
    char* part = static_cast<char*>(dst) + begin;
    const char* source = static_cast<const char*>(src) + begin;
    if (bytes < kLongCopy) {
      std::memcpy(part, source, end - begin);
    } else if (bytes < static_cast<size_t>(kStreamedBytes)) {
      copy_block(part, source, end - begin);
    } else {
      const ResultStream stream;
      ResultStream::write(part, source, end - begin);
    }
  });
}

void copy_cpu(Tensor& dst, const Tensor& src) {
  if (is_one_block(dst, src)) {
    copy_bytes(dst.mutable_data_ptr(), src.const_data_ptr(), src.nbytes());
    return;
  }
  convert_tensor(dst, *at::expand_inplace(dst, src));
}

void check_shapes(const Tensor& self, const Tensor& src) {
  TORCH_CHECK(
      at::is_expandable_to(src.sizes(), self.sizes()), "output with shape ", self.sizes(),
      " doesn't match the broadcast shape ", IntArrayRef(at::infer_size(self.sizes(), src.sizes())), " (in copy_)");
}

} // namespace

Tensor& copy_(Tensor& self, const Tensor& src, bool non_blocking) {
  TORCH_CHECK(self.defined(), "copy_: self is undefined");
  TORCH_CHECK(src.defined(), "copy_: src is undefined");
  if (self.is_same(src)) {
    return self;
  }
  check_shapes(self, src);
  at::assert_no_internal_overlap(self);
  at::assert_no_partial_overlap(self, src);
  if (self.numel() == 0 || self.is_meta()) {
    return self;
  }
  TORCH_CHECK(!src.is_meta(), "Cannot copy out of meta tensor; no data!");
  if (src.is_complex() && !self.is_complex() && self.scalar_type() != kBool) {
    TORCH_WARN_ONCE("Casting complex values to real discards the imaginary part");
  }
  const bool conjugate = src.is_conj() != self.is_conj() && self.is_complex();
  // A bool says whether a number is zero, whatever its sign.
  const bool negate = src.is_neg() != self.is_neg() && self.scalar_type() != kBool;
  if (self.is_cpu() && src.is_cpu()) {
    copy_cpu(self, src);
  } else {
    at::_copy_from(without_bits(src), without_bits(self), non_blocking);
  }
  if (conjugate || negate) {
    // Not through self, whose bits would send these operators back here.
    Tensor elements = without_bits(self);
    if (conjugate) {
      at::conj_physical_(elements);
    }
    if (negate) {
      at::neg_(elements);
    }
  }
  return self;
}

Tensor _copy_from_cpu(const Tensor& self, const Tensor& dst, bool non_blocking) {
  // Reached with two CPU tensors only: a backend's own _copy_from has the higher key.
  Tensor target = dst;
  return at::native::copy_(target, self, non_blocking);
}

Tensor _copy_from_meta(const Tensor& self, const Tensor& dst, bool /*non_blocking*/) {
  TORCH_CHECK(
      dst.is_meta(), "Cannot copy out of meta tensor; no data! (from ", self.sizes(), " to ", dst.device(), ")");
  return dst;
}

Tensor clone(const Tensor& self, std::optional<MemoryFormat> memory_format) {
  const MemoryFormat format = memory_format.value_or(MemoryFormat::Preserve);
  Tensor result;
  if (self.is_cpu() || self.is_meta()) {
    TensorSpec spec = TensorSpec::like(self, self.sizes());
    if (format == MemoryFormat::Preserve) {
      spec.strides = dense_strides_like(self.sizes(), self.strides(), self.is_non_overlapping_and_dense());
    } else {
      spec.memory_format = format;
    }
    result = format == MemoryFormat::Preserve && has_strides_of_new(self)
        ? empty_contiguous(self.sizes(), self.scalar_type(), self.device())
        : empty_spec(spec);
  } else {
    result = at::empty_like(self, self.options(), format);
  }
  return at::native::copy_(result, self, false);
}

Tensor contiguous(const Tensor& self, MemoryFormat memory_format) {
  return self.contiguous(memory_format);
}

// ---- to ----------------------------------------------------------------------------

Tensor _to_copy(
    const Tensor& self,
    std::optional<ScalarType> dtype,
    std::optional<Layout> layout,
    std::optional<Device> device,
    std::optional<bool> pin_memory,
    bool non_blocking,
    std::optional<MemoryFormat> memory_format) {
  TORCH_CHECK(
      !layout || *layout == self.layout(), "to(options) doesn't support converting to a different layout, but got ",
      "self.layout being ", self.layout(), " and options.layout set as ", *layout);
  const MemoryFormat format = memory_format.value_or(MemoryFormat::Preserve);
  const bool dense_result =
      format == MemoryFormat::Contiguous || (format == MemoryFormat::Preserve && has_strides_of_new(self));
  const ScalarType result_dtype = dtype.value_or(self.scalar_type());
  // A quantized tensor needs a factory of its own, which says that there is none, also where no element is converted.
  if (dense_result && !c10::isQIntType(result_dtype) && !pin_memory &&
      self.key_set().highestBackendKey() == BackendComponent::CPUBit && (!device || device->is_cpu()) &&
      self.layout() == kStrided && !self.is_conj() && !self.is_neg()) {
    // The common conversion on the CPU, without calls for its two steps.
    Tensor result = empty_contiguous(self.sizes(), result_dtype, kCPU);
    convert_tensor(result, self);
    return result;
  }
  const auto options =
      self.options().dtype(result_dtype).device(device.value_or(self.device())).pinned_memory(pin_memory);
  Tensor result = format == MemoryFormat::Preserve
      ? at::empty_strided(
            self.sizes(), dense_strides_like(self.sizes(), self.strides(), self.is_non_overlapping_and_dense()),
            options)
      : at::empty(self.sizes(), options, format);
  result.copy_(self, non_blocking);
  return result;
}

Tensor to_dtype_layout(
    const Tensor& self,
    std::optional<ScalarType> dtype,
    std::optional<Layout> layout,
    std::optional<Device> device,
    std::optional<bool> pin_memory,
    bool non_blocking,
    bool copy,
    std::optional<MemoryFormat> memory_format) {
  if (device && !device->has_index() && device->type() == self.device().type()) {
    device = self.device();
  }
  const MemoryFormat format = memory_format.value_or(MemoryFormat::Preserve);
  const bool same = (!dtype || *dtype == self.scalar_type()) && (!device || *device == self.device()) &&
      (!layout || *layout == self.layout()) &&
      (format == MemoryFormat::Preserve || self.suggest_memory_format() == format);
  if (same && !copy) {
    return self;
  }
  return at::_to_copy(self, dtype, layout, device, pin_memory, non_blocking, memory_format);
}

Tensor to_device(
    const Tensor& self,
    Device device,
    ScalarType dtype,
    bool non_blocking,
    bool copy,
    std::optional<MemoryFormat> memory_format) {
  return at::native::to_dtype_layout(
      self, dtype, std::nullopt, device, std::nullopt, non_blocking, copy, memory_format);
}

Tensor to_dtype(
    const Tensor& self, ScalarType dtype, bool non_blocking, bool copy, std::optional<MemoryFormat> memory_format) {
  return at::native::to_dtype_layout(
      self, dtype, std::nullopt, std::nullopt, std::nullopt, non_blocking, copy, memory_format);
}

Tensor to_other(
    const Tensor& self, const Tensor& other, bool non_blocking, bool copy, std::optional<MemoryFormat> memory_format) {
  return at::native::to_dtype_layout(
      self, other.scalar_type(), other.layout(), other.device(), std::nullopt, non_blocking, copy, memory_format);
}

Tensor type_as(const Tensor& self, const Tensor& other) {
  return self.to(other.options());
}

// ---- fill ----------------------------------------------------------------------------

namespace {

void fill_cpu(const Tensor& self, const Scalar& value) {
  const ScalarType dtype = self.scalar_type();
  alignas(16) char from[16];
  store_scalar("fill_", value, dtype, from);
  if (self.is_non_overlapping_and_dense()) {
    const auto size = static_cast<int64_t>(self.itemsize());
    char* const to = static_cast<char*>(self.mutable_data_ptr());
    at::parallel_for(0, self.numel(), at::internal::GRAIN_SIZE, [&](int64_t begin, int64_t end) {
      convert_elements(dtype, to + begin * size, size, dtype, from, 0, end - begin);
    });
    return;
  }
  auto iter = TensorIteratorConfig().set_check_mem_overlap(false).resize_outputs(false).add_output(self).build();
  iter.for_each([&](char** data, const int64_t* strides, int64_t n) {
    convert_elements(dtype, data[0], strides[0], dtype, from, 0, n);
  });
}

} // namespace

// Elements that share memory may be filled: the value is one and the same.
Tensor& fill_(Tensor& self, const Scalar& value) {
  TORCH_CHECK(self.defined(), "fill_: self is an undefined tensor; make it first, by at::empty or another factory");
  if (self.numel() == 0 || self.is_meta()) {
    return self;
  }
  if (self.is_cpu()) {
    fill_cpu(self, value);
    return self;
  }
  // The value crosses over once, and is repeated by the device's copy.
  const Tensor element = at::scalar_tensor(value, self.options().device(kCPU));
  if (self.dim() == 0) {
    return self.copy_(element);
  }
  Tensor one = at::empty({}, self.options());
  one.copy_(element);
  return self.copy_(one.expand(self.sizes()));
}

Tensor& fill_tensor_(Tensor& self, const Tensor& value) {
  TORCH_CHECK(
      value.dim() == 0, "fill_ only supports 0-dimension value tensor but got tensor with ", value.dim(),
      " dimensions.");
  // An element of its own is read before it is written.
  const bool own = self.has_storage() && value.has_storage() && self.is_alias_of(value);
  return self.copy_(own ? value.clone() : value);
}

Tensor fill(const Tensor& self, const Scalar& value) {
  return at::empty_like(self).fill_(value);
}

Tensor fill_tensor(const Tensor& self, const Tensor& value) {
  return at::empty_like(self).fill_(value);
}

Tensor& zero_(Tensor& self) {
  if (self.is_cpu() && self.is_non_overlapping_and_dense()) {
    char* data = static_cast<char*>(self.mutable_data_ptr());
    at::parallel_for(0, static_cast<int64_t>(self.nbytes()), kBytesPerThread, [data](int64_t begin, int64_t end) {
      std::memset(data + begin, 0, end - begin);
    });
    return self;
  }
  return self.fill_(0);
}

// ---- resize and set ---------------------------------------------------------------------

namespace {

int64_t storage_bytes_needed(const char* op, IntArrayRef sizes, IntArrayRef strides, int64_t offset, size_t itemsize) {
  int64_t last = 1;
  bool overflow = false;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == 0) {
      return 0;
    }
    int64_t step = 0;
    overflow |= c10::mul_overflows(sizes[i] - 1, strides[i], &step);
    overflow |= c10::add_overflows(last, step, &last);
  }
  overflow |= c10::add_overflows(last, offset, &last);
  overflow |= c10::mul_overflows(last, static_cast<int64_t>(itemsize), &last);
  TORCH_CHECK(!overflow, op, ": Storage size calculation overflowed with sizes=", sizes, " and strides=", strides);
  return last;
}

} // namespace

void resize_storage_bytes(c10::StorageImpl* storage, int64_t bytes) {
  TORCH_CHECK(storage->resizable(), "Trying to resize storage that is not resizable");
  if (storage->device_type() == c10::DeviceType::Meta) {
    storage->set_nbytes(bytes);
    return;
  }
  c10::Allocator* allocator = storage->allocator();
  TORCH_CHECK(allocator != nullptr, "Trying to resize storage without an allocator");
  c10::DataPtr fresh = allocator->allocate(bytes);
  const size_t kept = std::min<size_t>(bytes, storage->nbytes());
  if (kept > 0) {
    allocator->copy_data(fresh.get(), storage->data(), kept);
  }
  storage->set_data_ptr_noswap(std::move(fresh));
  storage->set_nbytes(bytes);
}

void grow_storage(const Tensor& self, int64_t bytes) {
  c10::StorageImpl* storage = self.unsafeGetTensorImpl()->unsafe_storage().unsafeGetStorageImpl();
  if (bytes > static_cast<int64_t>(storage->nbytes())) {
    resize_storage_bytes(storage, bytes);
  }
}

Tensor& resize_(Tensor& self, IntArrayRef size, std::optional<MemoryFormat> memory_format) {
  TORCH_CHECK(self.layout() == kStrided, "resize_: only strided tensors can be resized, got layout ", self.layout());
  for (const int64_t s : size) {
    TORCH_CHECK(s >= 0, "numel: integer multiplication overflow; resize_ got sizes ", size);
  }
  const MemoryFormat format = memory_format.value_or(MemoryFormat::Contiguous);
  TORCH_CHECK(format != MemoryFormat::Preserve, "Unsupported memory format ", format, " in resize_");
  c10::TensorImpl* impl = self.unsafeGetTensorImpl();
  TORCH_CHECK(
      !impl->has_named_tensor_meta() || self.sizes() == size,
      "Cannot resize named tensor with resize_ or resize_as_ (tried to resize Tensor",
      static_cast<const NamedTensorMeta*>(impl->named_tensor_meta())->names(), " with size ", self.sizes(), " to ",
      size,
      "). This may be caused by passing a named tensor as an `out=` argument; please ensure that the sizes are the "
      "same. ");
  if (self.sizes() != size || memory_format) {
    DimVector strides(size.size());
    int64_t step = 1;
    bool overflow = false;
    for (size_t i = size.size(); i-- > 0;) {
      strides[i] = step;
      overflow |= c10::mul_overflows(step, std::max<int64_t>(size[i], 1), &step);
    }
    TORCH_CHECK(!overflow, "Storage size calculation overflowed with sizes=", size);
    if (format == MemoryFormat::ChannelsLast) {
      TORCH_CHECK(size.size() == 4, "required rank 4 tensor to use channels_last format");
      const auto nhwc = c10::get_channels_last_strides_2d(size);
      strides.assign(nhwc.begin(), nhwc.end());
    } else if (format == MemoryFormat::ChannelsLast3d) {
      TORCH_CHECK(size.size() == 5, "required rank 5 tensor to use channels_last_3d format");
      const auto ndhwc = c10::get_channels_last_strides_3d(size);
      strides.assign(ndhwc.begin(), ndhwc.end());
    }
    grow_storage(self, storage_bytes_needed("resize_", size, strides, self.storage_offset(), self.itemsize()));
    const DimVector sizes(size.begin(), size.end());
    impl->set_sizes_and_strides(sizes, strides);
  }
  return self;
}

Tensor& resize_as_(Tensor& self, const Tensor& the_template, std::optional<MemoryFormat> memory_format) {
  if (memory_format == MemoryFormat::Preserve) {
    memory_format = the_template.suggest_memory_format();
  }
  return self.resize_(the_template.sizes(), memory_format);
}

static void check_there(const Tensor& self, const Storage& source) {
  TORCH_CHECK(self.defined() && source, "set_: expected a defined tensor and a storage that is not null");
}

Tensor& set_storage_offset_(
    Tensor& self, Storage source, int64_t storage_offset, IntArrayRef size, IntArrayRef stride) {
  check_there(self, source);
  TORCH_CHECK(storage_offset >= 0, "Tensor: invalid storage offset ", storage_offset);
  TORCH_CHECK(
      stride.empty() || stride.size() == size.size(), "unequal size length (", size.size(), ") and stride length (",
      stride.size(), ")");
  TORCH_CHECK(
      source.device() == self.device(), "Attempted to set the storage of a tensor on device \"", self.device(),
      "\" to a storage on different device \"", source.device(),
      "\".  This is no longer allowed; the devices must match.");
  DimVector strides(stride.begin(), stride.end());
  if (stride.empty() && !size.empty()) {
    strides.resize(size.size());
    int64_t step = 1;
    bool overflow = false;
    for (size_t i = size.size(); i-- > 0;) {
      strides[i] = step;
      overflow |= c10::mul_overflows(step, std::max<int64_t>(size[i], 1), &step);
    }
    TORCH_CHECK(!overflow, "Storage size calculation overflowed with sizes=", size);
  }
  for (size_t i = 0; i < size.size(); ++i) {
    TORCH_CHECK(size[i] >= 0, "Trying to create tensor with negative dimension ", size[i], ": ", size);
    TORCH_CHECK(strides[i] >= 0, "set_: Negative strides are not supported at the moment, got strides: ", stride);
  }
  const int64_t needed = storage_bytes_needed("set_", size, strides, storage_offset, self.itemsize());
  if (needed > static_cast<int64_t>(source.nbytes())) {
    resize_storage_bytes(source.unsafeGetStorageImpl(), needed);
  }
  const DimVector sizes(size.begin(), size.end());
  c10::TensorImpl* impl = self.unsafeGetTensorImpl();
  impl->set_storage_keep_dtype(std::move(source));
  impl->set_storage_offset(storage_offset);
  impl->set_sizes_and_strides(sizes, strides);
  return self;
}

Tensor& set_storage_(Tensor& self, Storage source) {
  check_there(self, source);
  const auto elements = static_cast<int64_t>(source.nbytes() / self.itemsize());
  return at::native::set_storage_offset_(self, std::move(source), 0, {elements}, {});
}

Tensor& set_tensor_(Tensor& self, const Tensor& source) {
  if (self.is_same(source)) {
    return self;
  }
  return at::native::set_storage_offset_(
      self, source.storage(), source.storage_offset(), source.sizes(), source.strides());
}

// As in PyTorch self keeps its dtype: bytes of another one are read as what they are not.
Tensor& set_tensor_offset_(
    Tensor& self, const Tensor& source, int64_t storage_offset, IntArrayRef size, IntArrayRef stride) {
  return at::native::set_storage_offset_(self, source.storage(), storage_offset, size, stride);
}

Tensor& set_empty_(Tensor& self) {
  c10::Storage fresh(
      c10::Storage::use_byte_size_t(), 0,
      self.storage().allocator() ? self.storage().allocator() : c10::GetAllocator(self.device().type()),
      /*resizable=*/true);
  return at::native::set_storage_offset_(self, std::move(fresh), 0, {0}, {});
}

// ---- values and properties --------------------------------------------------------------

Scalar item(const Tensor& self) {
  TORCH_CHECK(self.numel() == 1, "a Tensor with ", self.numel(), " elements cannot be converted to Scalar");
  return at::_local_scalar_dense(self);
}

Scalar _local_scalar_dense_meta(const Tensor& self) {
  TORCH_CHECK(
      false, "Tensor.item() cannot be called on meta tensors (a tensor of shape ", self.sizes(), " without data)");
}

bool is_nonzero(const Tensor& self) {
  const int64_t n = self.numel();
  TORCH_CHECK(n != 0, "Boolean value of Tensor with no values is ambiguous");
  TORCH_CHECK(n < 2, "Boolean value of Tensor with more than one value is ambiguous");
  const Scalar value = self.item();
  if (value.isFloatingPoint()) {
    return value.to<double>() != 0;
  }
  if (value.isComplex()) {
    return value.to<c10::complex<double>>() != c10::complex<double>(0.0, 0.0);
  }
  return value.to<int64_t>() != 0;
}

int64_t size(const Tensor& self, int64_t dim) {
  return self.size(dim);
}
int64_t stride(const Tensor& self, int64_t dim) {
  return self.stride(dim);
}
bool is_same_size(const Tensor& self, const Tensor& other) {
  return self.sizes() == other.sizes();
}
bool is_complex(const Tensor& self) {
  return self.is_complex();
}
bool is_floating_point(const Tensor& self) {
  return self.is_floating_point();
}

bool is_pinned(const Tensor& self, std::optional<Device> device) {
  const c10::DeviceType type = device ? device->type() : c10::DeviceType::CUDA;
  if (!self.is_cpu()) {
    return false;
  }
  // The values of a sparse tensor stand for all of it.
  const bool compressed = self.unsafeGetTensorImpl()->is_sparse_compressed();
  const Tensor stored = self.is_sparse() ? self._values() : compressed ? self.values() : self;
  return at::detail::is_pinned_memory(type, stored.const_data_ptr());
}

void record_stream(Tensor& self, Stream s) {
  TORCH_CHECK(
      s.device_type() == self.device().type() && !self.is_cpu(),
      "record_stream: needs a tensor on a device with streams and a stream of that device type, got a tensor on ",
      self.device(), " and a stream of ", s.device());
  c10::impl::getDeviceGuardImpl(s.device_type())->recordDataPtrOnStream(self.storage().data_ptr(), s);
}

Tensor pin_memory(const Tensor& self, std::optional<Device> device) {
  return self.is_pinned(device) ? self : at::_pin_memory(self, device);
}

Tensor _pin_memory(const Tensor& self, std::optional<Device> device) {
  TORCH_CHECK(
      !device || !(device->is_cpu() || device->is_meta()), DeviceTypeName(device->type()),
      " device type not an accelerator.");
  TORCH_CHECK(self.is_cpu(), "cannot pin '", self.toString(), "' only dense CPU tensors can be pinned");
  return at::_to_copy(self, std::nullopt, std::nullopt, std::nullopt, /*pin_memory=*/true, false, std::nullopt);
}

} // namespace at::native
