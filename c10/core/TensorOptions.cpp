#include <c10/core/TensorOptions.h>

#include <c10/core/DispatchKeySet.h>
#include <c10/core/impl/checked_memory_format.h>
#include <c10/util/Exception.h>

#include <ostream>
#include <sstream>

namespace c10 {

namespace {

// Key of a functionality on a device; Undefined if the device is not among the backends.
DispatchKey on_device(DispatchKey functionality, Device device) {
  // These two name a library rather than a place: they had tensors of their own once.
  if (device.type() == DeviceType::MKLDNN || device.type() == DeviceType::IDEEP) {
    return DispatchKey::Undefined;
  }
  const BackendComponent backend = toBackendComponent(device.type());
  return backend == BackendComponent::InvalidBit ? DispatchKey::Undefined
                                                 : toRuntimePerBackendFunctionalityKey(functionality, backend);
}

} // namespace

DispatchKey computeDispatchKey(
    std::optional<ScalarType> dtype, std::optional<Layout> layout, std::optional<Device> device) {
  const Layout wanted = layout_or_default(layout);
  const Device place = device_or_default(device);
  DispatchKey key = DispatchKey::Undefined;
  switch (wanted) {
    case Layout::Strided:
    case Layout::Jagged:
      key = on_device(dtype && isQIntType(*dtype) ? DispatchKey::Quantized : DispatchKey::Dense, place);
      if (key == DispatchKey::Undefined) {
        key = place.type() == DeviceType::FPGA   ? DispatchKey::FPGA
            : place.type() == DeviceType::Vulkan ? DispatchKey::Vulkan
            : place.type() == DeviceType::Metal  ? DispatchKey::Metal
                                                 : DispatchKey::Undefined;
      }
      TORCH_CHECK_NOT_IMPLEMENTED(
          key != DispatchKey::Undefined, "Unsupported device type for dense layout: ", place.type());
      return key;
    case Layout::Sparse:
      key = on_device(DispatchKey::Sparse, place);
      TORCH_CHECK_NOT_IMPLEMENTED(
          key != DispatchKey::Undefined, "Unsupported device type for sparse layout: ", place.type());
      return key;
    case Layout::SparseCsr:
    case Layout::SparseCsc:
    case Layout::SparseBsr:
    case Layout::SparseBsc:
      key = on_device(DispatchKey::SparseCsr, place);
      TORCH_CHECK_NOT_IMPLEMENTED(
          key != DispatchKey::Undefined, "Unsupported device type for ", wanted, " layout: ", place.type());
      return key;
    case Layout::Mkldnn:
      TORCH_CHECK_NOT_IMPLEMENTED(
          place.type() == DeviceType::CPU, "Unsupported device type for mkldnn layout: ", place.type());
      return DispatchKey::MkldnnCPU;
    default:
      TORCH_CHECK(false, "Unsupported layout: ", wanted);
  }
}

TensorOptions TensorOptions::merge_in(TensorOptions options) const noexcept {
  TensorOptions merged = *this;
  if (options.has_device()) {
    merged.set_device(options.device_opt());
  }
  if (options.has_dtype()) {
    merged.set_dtype(options.dtype());
  }
  if (options.has_layout()) {
    merged.set_layout(options.layout_opt());
  }
  if (options.has_requires_grad()) {
    merged.set_requires_grad(options.requires_grad_opt());
  }
  if (options.has_pinned_memory()) {
    merged.set_pinned_memory(options.pinned_memory_opt());
  }
  if (options.has_memory_format()) {
    merged.set_memory_format(options.memory_format_opt());
  }
  return merged;
}

std::ostream& operator<<(std::ostream& stream, const TensorOptions& options) {
  const auto mark = [](bool has) { return has ? "" : " (default)"; };
  const auto word = [](bool value) { return value ? "true" : "false"; };
  stream << "TensorOptions(dtype=" << options.dtype() << mark(options.has_dtype()) << ", device=" << options.device()
         << mark(options.has_device()) << ", layout=" << options.layout() << mark(options.has_layout())
         << ", requires_grad=" << word(options.requires_grad()) << mark(options.has_requires_grad())
         << ", pinned_memory=" << word(options.pinned_memory()) << mark(options.has_pinned_memory())
         << ", memory_format=";
  if (options.has_memory_format()) {
    return stream << *options.memory_format_opt() << ")";
  }
  return stream << "(nullopt))";
}

std::string toString(const TensorOptions& options) {
  std::ostringstream stream;
  stream << options;
  return stream.str();
}

Layout dispatchKeyToLayout(DispatchKey dispatch_key) {
  switch (toFunctionalityKey(dispatch_key)) {
    case DispatchKey::Sparse:
      return Layout::Sparse;
    case DispatchKey::SparseCsr:
      TORCH_CHECK(false, "Cannot map DispatchKey ", dispatch_key, " to a unique layout.");
    case DispatchKey::MkldnnCPU:
      return Layout::Mkldnn;
    default:
      return Layout::Strided;
  }
}

DeviceType dispatchKeyToDeviceType(DispatchKey dispatch_key) {
  switch (dispatch_key) {
    case DispatchKey::MkldnnCPU:
      return DeviceType::CPU;
    case DispatchKey::Vulkan:
      return DeviceType::Vulkan;
    case DispatchKey::Metal:
      return DeviceType::Metal;
    case DispatchKey::FPGA:
      return DeviceType::FPGA;
    default:
      break;
  }
  // Its cases are uses of a macro.
  // clang-format off
  switch (toBackendComponent(dispatch_key)) {
#define DEVICE_OF(name, _)          \
  case BackendComponent::name##Bit: \
    return DeviceType::name;
    DEVICE_OF(CPU, ) DEVICE_OF(CUDA, ) DEVICE_OF(HIP, ) DEVICE_OF(XLA, ) DEVICE_OF(MPS, ) DEVICE_OF(IPU, )
    DEVICE_OF(XPU, ) DEVICE_OF(HPU, ) DEVICE_OF(VE, ) DEVICE_OF(Lazy, ) DEVICE_OF(MTIA, ) DEVICE_OF(MAIA, )
    DEVICE_OF(PrivateUse1, ) DEVICE_OF(Meta, )
#undef DEVICE_OF
    default:
      TORCH_CHECK(false, "DispatchKey ", dispatch_key, " doesn't correspond to a device");
  }
  // clang-format on
}

TensorOptions dispatchKeyToTensorOptions(DispatchKey dispatch_key) {
  return TensorOptions().layout(dispatchKeyToLayout(dispatch_key)).device(dispatchKeyToDeviceType(dispatch_key));
}

namespace impl {

std::optional<MemoryFormat> check_tensor_options_and_extract_memory_format(
    const TensorOptions& options, std::optional<MemoryFormat> memory_format) {
  TORCH_CHECK(
      !options.requires_grad(),
      "Operators taking TensorOptions cannot take a TensorOptions with options.requires_grad set as true. This isn't "
      "implemented yet. The factories of namespace torch take it, or call requires_grad_() on the result.");
  TORCH_CHECK(
      !(options.has_memory_format() && memory_format.has_value()),
      "Cannot set memory_format both in TensorOptions and explicit argument; please delete the redundant setter.");
  return memory_format ? memory_format : options.memory_format_opt();
}

} // namespace impl

} // namespace c10
