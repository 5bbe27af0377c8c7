#include <aten/core/DLConvertor.h>

#include <aten/Functions.h>
#include <aten/core/from_blob.h>
#include <c10/util/Exception.h>

#include <memory>
#include <vector>

namespace at {

namespace {

struct DtypePair {
  ScalarType dtype;
  DLDataTypeCode code;
  uint8_t bits;
};

constexpr DtypePair kDtypes[] = {
    {ScalarType::Byte, kDLUInt, 8},
    {ScalarType::UInt16, kDLUInt, 16},
    {ScalarType::UInt32, kDLUInt, 32},
    {ScalarType::UInt64, kDLUInt, 64},
    {ScalarType::Char, kDLInt, 8},
    {ScalarType::Short, kDLInt, 16},
    {ScalarType::Int, kDLInt, 32},
    {ScalarType::Long, kDLInt, 64},
    {ScalarType::Half, kDLFloat, 16},
    {ScalarType::Float, kDLFloat, 32},
    {ScalarType::Double, kDLFloat, 64},
    {ScalarType::BFloat16, kDLBfloat, 16},
    {ScalarType::ComplexHalf, kDLComplex, 32},
    {ScalarType::ComplexFloat, kDLComplex, 64},
    {ScalarType::ComplexDouble, kDLComplex, 128},
    {ScalarType::Bool, kDLBool, 8},
    {ScalarType::Float8_e4m3fn, kDLFloat8_e4m3fn, 8},
    {ScalarType::Float8_e4m3fnuz, kDLFloat8_e4m3fnuz, 8},
    {ScalarType::Float8_e5m2, kDLFloat8_e5m2, 8},
    {ScalarType::Float8_e5m2fnuz, kDLFloat8_e5m2fnuz, 8},
    {ScalarType::Float8_e8m0fnu, kDLFloat8_e8m0fnu, 8},
};

struct DevicePair {
  DeviceType device;
  DLDeviceType type;
};

// The first row of a device is what it is sent as.
constexpr DevicePair kDevices[] = {
    {DeviceType::CPU, kDLCPU},          {DeviceType::CPU, kDLCUDAHost},       {DeviceType::CUDA, kDLCUDA},
    {DeviceType::CUDA, kDLCUDAManaged}, {DeviceType::HIP, kDLROCM},           {DeviceType::XPU, kDLOneAPI},
    {DeviceType::MAIA, kDLMAIA},        {DeviceType::PrivateUse1, kDLExtDev},
};

constexpr int32_t kMaxDims = 64;

void check_exportable(const Tensor& src) {
  TORCH_CHECK(src.defined(), "toDLPack: the tensor is undefined");
  TORCH_CHECK(
      src.layout() == kStrided, "Can't export tensors with layout ", src.layout(),
      " to DLPack: only strided ones; see to_dense()");
  TORCH_CHECK(!src.is_conj(), "Can't export tensors with the conjugate bit set to DLPack: use tensor.resolve_conj()");
  TORCH_CHECK(!src.is_neg(), "Can't export tensors with the negative bit set to DLPack: use tensor.resolve_neg()");
}

/// Keeps tensor, shape and strides alive, and holds the struct itself.
template <class Managed>
struct Exported {
  Tensor tensor;
  std::vector<int64_t> shape;
  std::vector<int64_t> strides;
  Managed managed{};
};

void fill(DLTensor& out, const Tensor& src, void* data, int64_t* shape, int64_t* strides) {
  out.data = data;
  out.device = torchDeviceToDLDevice(src.device());
  out.ndim = static_cast<int32_t>(src.dim());
  out.dtype = getDLDataType(src);
  out.shape = shape;
  out.strides = strides;
  out.byte_offset = 0;
}

template <class Managed>
Managed* export_tensor(const Tensor& src, bool read_only) {
  check_exportable(src);
  auto exported = std::make_unique<Exported<Managed>>();
  exported->tensor = src.detach();
  exported->shape = src.sizes().vec();
  exported->strides = src.strides().vec();
  // Strides of dimensions of size 1 say nothing, but some consumers look at them to tell a contiguous tensor.
  for (size_t dim = 0; dim < exported->shape.size(); ++dim) {
    if (exported->shape[dim] < 2) {
      exported->strides[dim] = 1;
    }
  }
  void* data = read_only ? const_cast<void*>(src.const_data_ptr()) : src.mutable_data_ptr();
  fill(exported->managed.dl_tensor, src, data, exported->shape.data(), exported->strides.data());
  exported->managed.manager_ctx = exported.get();
  exported->managed.deleter = [](Managed* self) { delete static_cast<Exported<Managed>*>(self->manager_ctx); };
  return &exported.release()->managed;
}

DLManagedTensorVersioned* export_versioned(const Tensor& src, bool read_only) {
  DLManagedTensorVersioned* managed = export_tensor<DLManagedTensorVersioned>(src, read_only);
  managed->version = DLPackVersion{DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION};
  managed->flags = read_only ? DLPACK_FLAG_BITMASK_READ_ONLY : 0;
  return managed;
}

Tensor import_tensor(const DLTensor& source, std::function<void(void*)> release) {
  TORCH_CHECK(
      source.ndim >= 0 && source.ndim <= kMaxDims, "fromDLPack: ndim is ", source.ndim, ", must be 0 to ", kMaxDims);
  TORCH_CHECK(source.ndim == 0 || source.shape, "fromDLPack: shape is null with ndim = ", source.ndim);
  const ScalarType dtype = toScalarType(source.dtype);
  const IntArrayRef sizes(source.shape, static_cast<size_t>(source.ndim));
  bool empty = false;
  for (const int64_t size : sizes) {
    TORCH_CHECK(size >= 0, "fromDLPack: shape ", sizes, " has a negative size");
    empty |= size == 0;
  }
  TORCH_CHECK(empty || source.data, "fromDLPack: data is null, but shape ", sizes, " is not empty");
  char* data = source.data ? static_cast<char*>(source.data) + source.byte_offset : nullptr;
  const size_t alignment = std::min<size_t>(c10::elementSize(dtype), alignof(std::max_align_t));
  TORCH_CHECK(
      reinterpret_cast<uintptr_t>(data) % alignment == 0, "fromDLPack: data with byte_offset ", source.byte_offset,
      " is not aligned to ", alignment, " bytes, as elements of ", dtype, " must be");
  const Device device = dlDeviceToTorchDevice(
      source.device.device_type, static_cast<c10::DeviceIndex>(source.device.device_id), source.data);
  TensorMaker maker = for_blob(data, sizes);
  if (source.strides && source.ndim > 0) {
    maker.strides(IntArrayRef(source.strides, sizes.size()));
  }
  return maker.deleter(std::move(release))
      .options(TensorOptions(dtype).device(device))
      .target_device(device)
      .make_tensor();
}

} // namespace

ScalarType toScalarType(const DLDataType& dtype) {
  TORCH_CHECK_BUFFER(dtype.lanes == 1, "ATen does not support lanes != 1: fromDLPack got ", dtype.lanes);
  for (const DtypePair& pair : kDtypes) {
    if (pair.code == dtype.code && pair.bits == dtype.bits) {
      return pair.dtype;
    }
  }
  TORCH_CHECK_BUFFER(
      false, "fromDLPack: type code ", int(dtype.code), " with ", int(dtype.bits), " bits is not supported; ",
      "supported: int and uint of 8 to 64 bits, float 16 to 64, bfloat 16, complex 32 to 128, bool 8, and 8-bit "
      "floats");
}

DLDataType getDLDataType(const Tensor& t) {
  for (const DtypePair& pair : kDtypes) {
    if (pair.dtype == t.scalar_type()) {
      return DLDataType{static_cast<uint8_t>(pair.code), pair.bits, 1};
    }
  }
  TORCH_CHECK_BUFFER(false, "toDLPack: dtype ", t.scalar_type(), " is not supported by DLPack");
}

DLDevice torchDeviceToDLDevice(Device device) {
  for (const DevicePair& pair : kDevices) {
    if (pair.device == device.type()) {
      return DLDevice{pair.type, device.has_index() ? device.index() : 0};
    }
  }
  TORCH_CHECK_BUFFER(false, "Cannot pack tensors on ", device.str());
}

DLDevice getDLContext(const Tensor& tensor, const int64_t& device_id) {
  DLDevice context = torchDeviceToDLDevice(tensor.device());
  if (!tensor.device().is_cpu()) {
    context.device_id = static_cast<int32_t>(device_id);
  }
  return context;
}

Device dlDeviceToTorchDevice(DLDeviceType type, c10::DeviceIndex index, void*) {
  for (const DevicePair& pair : kDevices) {
    if (pair.type != type) {
      continue;
    }
    return pair.device == DeviceType::CPU ? Device(DeviceType::CPU) : Device(pair.device, index);
  }
  TORCH_CHECK_BUFFER(false, "Unsupported device_type: ", int(type), " in DLPack");
}

DLManagedTensor* toDLPack(const Tensor& src) {
  return export_tensor<DLManagedTensor>(src, /*read_only=*/false);
}

DLManagedTensorVersioned* toDLPackVersioned(const Tensor& src) {
  return export_versioned(src, /*read_only=*/false);
}

DLManagedTensorVersioned* toDLPackVersionedReadOnly(const Tensor& src) {
  return export_versioned(src, /*read_only=*/true);
}

void toDLPackNonOwning(const Tensor& src, DLTensor* out, bool read_only) {
  check_exportable(src);
  void* data = read_only ? const_cast<void*>(src.const_data_ptr()) : src.mutable_data_ptr();
  fill(*out, src, data, const_cast<int64_t*>(src.sizes().data()), const_cast<int64_t*>(src.strides().data()));
}

namespace {

template <class Managed>
Tensor import_managed(Managed* src, std::function<void(void*)> deleter) {
  // Until the tensor is made, the struct stays the caller's: an error must not delete it.
  auto owned = std::make_shared<bool>(false);
  auto release = [src, owned, deleter = std::move(deleter)](void*) {
    if (!*owned) {
      return;
    }
    if (deleter) {
      deleter(src);
    } else if (src->deleter) {
      src->deleter(src);
    }
  };
  Tensor tensor = import_tensor(src->dl_tensor, std::move(release));
  *owned = true;
  return tensor;
}

} // namespace

Tensor fromDLPack(DLManagedTensor* src, std::function<void(void*)> deleter) {
  TORCH_CHECK(src, "fromDLPack: the struct is null");
  return import_managed(src, std::move(deleter));
}

Tensor fromDLPackVersioned(DLManagedTensorVersioned* src, std::function<void(void*)> deleter) {
  TORCH_CHECK(src, "fromDLPackVersioned: the struct is null");
  TORCH_CHECK_BUFFER(
      src->version.major == DLPACK_MAJOR_VERSION, "fromDLPackVersioned: the struct has DLPack version ",
      src->version.major, ".", src->version.minor, ", only ", DLPACK_MAJOR_VERSION, ".x is supported");
  return import_managed(src, std::move(deleter));
}

Tensor maybeCopyTensor(const Tensor& data, std::optional<DLDevice> optional_dl_device, std::optional<bool> copy) {
  const bool must_copy = copy.value_or(false), may_copy = copy.value_or(true);
  if (optional_dl_device) {
    const Device device = dlDeviceToTorchDevice(
        optional_dl_device->device_type, static_cast<c10::DeviceIndex>(optional_dl_device->device_id));
    if (device != data.device()) {
      TORCH_CHECK_VALUE(
          may_copy, "cannot move (i.e. copy) tensor from ", data.device(), " to ", device, " without copying.");
      return data.to(device);
    }
  }
  return must_copy ? data.clone() : data;
}

} // namespace at
