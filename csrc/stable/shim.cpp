#include <csrc/stable/shim.h>

#include <aten/core/DeviceAccelerator.h>
#include <aten/core/Generator.h>
#include <aten/core/Tensor.h>
#include <aten/core/dispatch/Dispatcher.h>
#include <aten/core/from_blob.h>
#include <aten/core/jit_type.h>
#include <aten/core/stack.h>
#include <aten/library/library.h>
#include <aten/ops/empty_strided.h>
#include <aten/parallel/Parallel.h>
#include <c10/core/DeviceGuard.h>
#include <c10/core/DispatchKey.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <c10/util/Exception.h>
#include <csrc/stable/guarded.h>
#include <csrc/stable/stable_value.h>
#include <csrc/stable/version.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace {

using c10::IValue;
using c10::TypeKind;
using c10::TypePtr;

using torch::stable::detail::guarded;

struct StableError {
  std::string what;
  std::string what_without_backtrace;
};

StableError& stable_error() {
  static thread_local StableError error;
  return error;
}

at::Tensor& tensor_of(AtenTensorHandle handle) {
  TORCH_CHECK(handle, "the handle of a tensor is null");
  return *reinterpret_cast<at::Tensor*>(handle);
}
AtenTensorHandle new_handle(at::Tensor tensor) {
  return reinterpret_cast<AtenTensorHandle>(new at::Tensor(std::move(tensor)));
}
at::Generator& generator_of(AtenGeneratorHandle handle) {
  TORCH_CHECK(handle, "the handle of a generator is null");
  return *reinterpret_cast<at::Generator*>(handle);
}
std::vector<StableIValue>& list_of(StableListHandle handle) {
  TORCH_CHECK(handle, "the handle of a list is null");
  return *reinterpret_cast<std::vector<StableIValue>*>(handle);
}
std::string& string_of(StringHandle handle) {
  TORCH_CHECK(handle, "the handle of a string is null");
  return *reinterpret_cast<std::string*>(handle);
}
torch::Library& library_of(TorchLibraryHandle handle) {
  TORCH_CHECK(handle, "the handle of a library is null");
  return *reinterpret_cast<torch::Library*>(handle);
}
c10::Stream& stream_of(StreamHandle handle) {
  TORCH_CHECK(handle, "the handle of a stream is null");
  return *reinterpret_cast<c10::Stream*>(handle);
}
c10::OptionalDeviceGuard& guard_of(DeviceGuardHandle handle) {
  TORCH_CHECK(handle, "the handle of a device guard is null");
  return *reinterpret_cast<c10::OptionalDeviceGuard*>(handle);
}

c10::Device accelerator_device(int32_t index) {
  return c10::Device(at::getAccelerator(/*checked=*/true).value(), static_cast<c10::DeviceIndex>(index));
}

c10::TensorOptions stable_options(int32_t dtype, int32_t device_type, int32_t device_index) {
  TORCH_CHECK(dtype >= 0 && dtype < c10::NumScalarTypes, dtype, " is not the number of a dtype");
  return c10::TensorOptions()
      .dtype(static_cast<c10::ScalarType>(dtype))
      .device(c10::Device(static_cast<c10::DeviceType>(device_type), static_cast<c10::DeviceIndex>(device_index)));
}

[[noreturn]] void refuse_type(const c10::Type& type) {
  TORCH_CHECK_NOT_IMPLEMENTED(
      false, "the stable interface cannot carry a value of type ", type.annotation_str(),
      "; supported: Tensor, int, float, bool, str, Device, Generator, and lists and optionals of them");
}

/// The value as a word of the schema's type.
StableIValue to_word(const c10::Type& type, const IValue& value) {
  namespace stable = torch::stable::detail;
  switch (type.kind()) {
    case TypeKind::TensorType:
      return reinterpret_cast<StableIValue>(new_handle(value.toTensor()));
    case TypeKind::IntType:
    case TypeKind::SymIntType:
    case TypeKind::ScalarTypeType:
    case TypeKind::LayoutType:
    case TypeKind::MemoryFormatType:
      return stable::from(value.toInt());
    case TypeKind::FloatType:
    case TypeKind::SymFloatType:
      return stable::from(value.toDouble());
    case TypeKind::BoolType:
    case TypeKind::SymBoolType:
      return stable::from(value.toBool());
    case TypeKind::StringType:
      return stable::from_string(value.toStringRef());
    case TypeKind::DeviceObjType:
      return stable::from(torch::stable::Device(value.toDevice().type(), value.toDevice().index()));
    case TypeKind::GeneratorType:
      return reinterpret_cast<StableIValue>(new at::Generator(value.toGenerator()));
    case TypeKind::OptionalType:
      return value.isNone() ? 0
                            : stable::from_some(to_word(*type.expectRef<c10::OptionalType>().getElementType(), value));
    case TypeKind::ListType: {
      const c10::Type& element = *type.expectRef<c10::ListType>().getElementType();
      std::vector<StableIValue> words;
      for (const IValue& item : value.toListRef()) {
        words.push_back(to_word(element, item));
      }
      return stable::from_words(words.data(), words.size());
    }
    default:
      refuse_type(type);
  }
}

/// Takes over what the word owns.
IValue from_word(const TypePtr& type, StableIValue word) {
  namespace stable = torch::stable::detail;
  switch (type->kind()) {
    case TypeKind::TensorType: {
      const std::unique_ptr<at::Tensor> tensor(&tensor_of(reinterpret_cast<AtenTensorHandle>(word)));
      return std::move(*tensor);
    }
    case TypeKind::IntType:
    case TypeKind::SymIntType:
    case TypeKind::ScalarTypeType:
    case TypeKind::LayoutType:
    case TypeKind::MemoryFormatType:
      return stable::to<int64_t>(word);
    case TypeKind::FloatType:
    case TypeKind::SymFloatType:
      return stable::to<double>(word);
    case TypeKind::BoolType:
    case TypeKind::SymBoolType:
      return stable::to<bool>(word);
    case TypeKind::StringType:
      return stable::to_string(word);
    case TypeKind::DeviceObjType: {
      const auto device = stable::to<torch::stable::Device>(word);
      return c10::Device(device.type(), static_cast<c10::DeviceIndex>(device.index()));
    }
    case TypeKind::GeneratorType: {
      const std::unique_ptr<at::Generator> generator(&generator_of(reinterpret_cast<AtenGeneratorHandle>(word)));
      return std::move(*generator);
    }
    case TypeKind::OptionalType: {
      const auto some = stable::to_some(word);
      return some ? from_word(type->expectRef<c10::OptionalType>().getElementType(), *some) : IValue();
    }
    case TypeKind::ListType: {
      const TypePtr element = type->expectRef<c10::ListType>().getElementType();
      c10::impl::GenericList list(element);
      for (StableIValue item : stable::to_words(word)) {
        list.push_back(from_word(element, item));
      }
      return list;
    }
    default:
      refuse_type(*type);
  }
}

/// A kernel of the stable interface as one of the dispatcher's.
class StableKernel : public c10::OperatorKernel {
 public:
  using Function = void (*)(StableIValue*, uint64_t, uint64_t);
  explicit StableKernel(Function function) : function_(function) {}

  void operator()(const c10::OperatorHandle& op, c10::DispatchKeySet /*keys*/, torch::jit::Stack* stack) {
    const c10::FunctionSchema& schema = op.schema();
    const size_t inputs = schema.arguments().size(), outputs = schema.returns().size();
    std::vector<StableIValue> words(std::max(inputs, outputs));
    for (size_t i = 0; i < inputs; ++i) {
      words[i] = to_word(*schema.arguments()[i].type(), torch::jit::peek(*stack, i, inputs));
    }
    torch::jit::drop(*stack, inputs);
    function_(words.data(), inputs, outputs);
    for (size_t i = 0; i < outputs; ++i) {
      stack->push_back(from_word(schema.returns()[i].type(), words[i]));
    }
  }

 private:
  Function function_;
};

AOTITorchError new_library(
    torch::Library::Kind kind,
    const char* ns,
    std::optional<c10::DispatchKey> key,
    const char* file,
    uint32_t line,
    TorchLibraryHandle* ret) {
  return guarded([&] { *ret = reinterpret_cast<TorchLibraryHandle>(new torch::Library(kind, ns, key, file, line)); });
}

template <class T>
AOTITorchError delete_handle(T* object) {
  return guarded([&] { delete object; });
}

} // namespace

namespace torch::stable::detail {

void set_error(std::string what, std::string what_without_backtrace) {
  stable_error() = {std::move(what), std::move(what_without_backtrace)};
}

StableIValue from_string(std::string_view text) {
  return reinterpret_cast<StableIValue>(new std::string(text));
}
std::string to_string(StableIValue value) {
  const std::unique_ptr<std::string> text(&string_of(reinterpret_cast<StringHandle>(value)));
  return std::move(*text);
}
StableIValue from_words(const StableIValue* words, size_t count) {
  return reinterpret_cast<StableIValue>(new std::vector<StableIValue>(words, words + count));
}
std::vector<StableIValue> to_words(StableIValue list) {
  const std::unique_ptr<std::vector<StableIValue>> words(&list_of(reinterpret_cast<StableListHandle>(list)));
  return std::move(*words);
}
StableIValue from_some(StableIValue value) {
  return reinterpret_cast<StableIValue>(new StableIValue(value));
}
std::optional<StableIValue> to_some(StableIValue value) {
  const std::unique_ptr<StableIValue> some(reinterpret_cast<StableIValue*>(value));
  return some ? std::optional<StableIValue>(*some) : std::nullopt;
}

} // namespace torch::stable::detail

const char* torch_exception_get_what() {
  return stable_error().what.c_str();
}
const char* torch_exception_get_what_without_backtrace() {
  return stable_error().what_without_backtrace.c_str();
}

uint64_t aoti_torch_abi_version() {
  return TORCH_ABI_VERSION;
}

#define STABLE_NUMBER_(name, value)     \
  int32_t name() {                      \
    return static_cast<int32_t>(value); \
  }
STABLE_NUMBER_(aoti_torch_device_type_cpu, c10::kCPU)
STABLE_NUMBER_(aoti_torch_device_type_cuda, c10::kCUDA)
STABLE_NUMBER_(aoti_torch_device_type_meta, c10::kMeta)
STABLE_NUMBER_(aoti_torch_device_type_mps, c10::kMPS)
STABLE_NUMBER_(aoti_torch_device_type_xpu, c10::kXPU)
STABLE_NUMBER_(aoti_torch_device_type_privateuse1, c10::kPrivateUse1)
STABLE_NUMBER_(aoti_torch_dtype_float8_e5m2, c10::kFloat8_e5m2)
STABLE_NUMBER_(aoti_torch_dtype_float8_e4m3fn, c10::kFloat8_e4m3fn)
STABLE_NUMBER_(aoti_torch_dtype_float8_e5m2fnuz, c10::kFloat8_e5m2fnuz)
STABLE_NUMBER_(aoti_torch_dtype_float8_e4m3fnuz, c10::kFloat8_e4m3fnuz)
STABLE_NUMBER_(torch_dtype_float8_e8m0fnu, c10::kFloat8_e8m0fnu)
STABLE_NUMBER_(torch_dtype_float4_e2m1fn_x2, c10::kFloat4_e2m1fn_x2)
STABLE_NUMBER_(aoti_torch_dtype_bfloat16, c10::kBFloat16)
STABLE_NUMBER_(aoti_torch_dtype_float16, c10::kHalf)
STABLE_NUMBER_(aoti_torch_dtype_float32, c10::kFloat)
STABLE_NUMBER_(aoti_torch_dtype_float64, c10::kDouble)
STABLE_NUMBER_(aoti_torch_dtype_uint8, c10::kByte)
STABLE_NUMBER_(aoti_torch_dtype_uint16, c10::kUInt16)
STABLE_NUMBER_(aoti_torch_dtype_uint32, c10::kUInt32)
STABLE_NUMBER_(aoti_torch_dtype_uint64, c10::kUInt64)
STABLE_NUMBER_(aoti_torch_dtype_int8, c10::kChar)
STABLE_NUMBER_(aoti_torch_dtype_int16, c10::kShort)
STABLE_NUMBER_(aoti_torch_dtype_int32, c10::kInt)
STABLE_NUMBER_(aoti_torch_dtype_int64, c10::kLong)
STABLE_NUMBER_(aoti_torch_dtype_bool, c10::kBool)
STABLE_NUMBER_(aoti_torch_dtype_complex32, c10::kComplexHalf)
STABLE_NUMBER_(aoti_torch_dtype_complex64, c10::kComplexFloat)
STABLE_NUMBER_(aoti_torch_dtype_complex128, c10::kComplexDouble)
STABLE_NUMBER_(aoti_torch_layout_strided, c10::kStrided)
STABLE_NUMBER_(aoti_torch_layout_sparse_coo, c10::kSparse)
STABLE_NUMBER_(aoti_torch_layout_sparse_csr, c10::kSparseCsr)
STABLE_NUMBER_(aoti_torch_layout_sparse_csc, c10::kSparseCsc)
STABLE_NUMBER_(aoti_torch_layout_sparse_bsr, c10::kSparseBsr)
STABLE_NUMBER_(aoti_torch_layout_sparse_bsc, c10::kSparseBsc)
STABLE_NUMBER_(aoti_torch_memory_format_contiguous_format, c10::MemoryFormat::Contiguous)
STABLE_NUMBER_(aoti_torch_memory_format_channels_last, c10::MemoryFormat::ChannelsLast)
STABLE_NUMBER_(aoti_torch_memory_format_channels_last_3d, c10::MemoryFormat::ChannelsLast3d)
STABLE_NUMBER_(aoti_torch_memory_format_preserve_format, c10::MemoryFormat::Preserve)
#undef STABLE_NUMBER_

size_t aoti_torch_dtype_element_size(int32_t dtype) {
  return c10::elementSize(static_cast<c10::ScalarType>(dtype));
}

AOTITorchError aoti_torch_new_uninitialized_tensor(AtenTensorHandle* ret) {
  return guarded([&] { *ret = new_handle(at::Tensor()); });
}
AOTITorchError aoti_torch_new_tensor_handle(AtenTensorHandle tensor, AtenTensorHandle* ret) {
  return guarded([&] { *ret = new_handle(tensor_of(tensor)); });
}
AOTITorchError aoti_torch_delete_tensor_object(AtenTensorHandle tensor) {
  return delete_handle(reinterpret_cast<at::Tensor*>(tensor));
}
AOTITorchError aoti_torch_is_defined(AtenTensorHandle tensor, bool* ret) {
  return guarded([&] { *ret = tensor_of(tensor).defined(); });
}
AOTITorchError aoti_torch_get_data_ptr(AtenTensorHandle tensor, void** ret) {
  return guarded([&] { *ret = tensor_of(tensor).data_ptr(); });
}
AOTITorchError torch_get_mutable_data_ptr(AtenTensorHandle tensor, void** ret) {
  return guarded([&] { *ret = tensor_of(tensor).mutable_data_ptr(); });
}
AOTITorchError torch_get_const_data_ptr(AtenTensorHandle tensor, const void** ret) {
  return guarded([&] { *ret = tensor_of(tensor).const_data_ptr(); });
}
AOTITorchError torch_has_storage(AtenTensorHandle tensor, bool* ret) {
  return guarded([&] { *ret = tensor_of(tensor).has_storage(); });
}
AOTITorchError aoti_torch_get_storage_size(AtenTensorHandle tensor, int64_t* ret) {
  return guarded([&] { *ret = static_cast<int64_t>(tensor_of(tensor).storage().nbytes()); });
}
AOTITorchError aoti_torch_get_storage_offset(AtenTensorHandle tensor, int64_t* ret) {
  return guarded([&] { *ret = tensor_of(tensor).storage_offset(); });
}
AOTITorchError aoti_torch_get_dim(AtenTensorHandle tensor, int64_t* ret) {
  return guarded([&] { *ret = tensor_of(tensor).dim(); });
}
AOTITorchError aoti_torch_get_numel(AtenTensorHandle tensor, int64_t* ret) {
  return guarded([&] { *ret = tensor_of(tensor).numel(); });
}
AOTITorchError aoti_torch_get_sizes(AtenTensorHandle tensor, int64_t** ret) {
  return guarded([&] { *ret = const_cast<int64_t*>(tensor_of(tensor).sizes().data()); });
}
AOTITorchError aoti_torch_get_size(AtenTensorHandle tensor, int64_t dim, int64_t* ret) {
  return guarded([&] { *ret = tensor_of(tensor).size(dim); });
}
AOTITorchError aoti_torch_get_strides(AtenTensorHandle tensor, int64_t** ret) {
  return guarded([&] { *ret = const_cast<int64_t*>(tensor_of(tensor).strides().data()); });
}
AOTITorchError aoti_torch_get_stride(AtenTensorHandle tensor, int64_t dim, int64_t* ret) {
  return guarded([&] { *ret = tensor_of(tensor).stride(dim); });
}
AOTITorchError aoti_torch_is_contiguous(AtenTensorHandle tensor, bool* ret) {
  return guarded([&] { *ret = tensor_of(tensor).is_contiguous(); });
}
AOTITorchError aoti_torch_get_dtype(AtenTensorHandle tensor, int32_t* ret) {
  return guarded([&] { *ret = static_cast<int32_t>(tensor_of(tensor).scalar_type()); });
}
AOTITorchError aoti_torch_get_device_type(AtenTensorHandle tensor, int32_t* ret) {
  return guarded([&] { *ret = static_cast<int32_t>(tensor_of(tensor).device().type()); });
}
AOTITorchError aoti_torch_get_device_index(AtenTensorHandle tensor, int32_t* ret) {
  return guarded([&] { *ret = tensor_of(tensor).device().index(); });
}
AOTITorchError aoti_torch_get_layout(AtenTensorHandle tensor, int32_t* ret) {
  return guarded([&] { *ret = static_cast<int32_t>(tensor_of(tensor).layout()); });
}
AOTITorchError torch_set_requires_grad(AtenTensorHandle tensor, bool requires_grad) {
  return guarded([&] { tensor_of(tensor).set_requires_grad(requires_grad); });
}
AOTITorchError aoti_torch_empty_strided(
    int64_t ndim,
    const int64_t* sizes,
    const int64_t* strides,
    int32_t dtype,
    int32_t device_type,
    int32_t device_index,
    AtenTensorHandle* ret) {
  return guarded([&] {
    *ret = new_handle(at::empty_strided(
        c10::IntArrayRef(sizes, ndim), c10::IntArrayRef(strides, ndim),
        stable_options(dtype, device_type, device_index)));
  });
}
AOTITorchError aoti_torch_create_tensor_from_blob(
    void* data,
    int64_t ndim,
    const int64_t* sizes,
    const int64_t* strides,
    int64_t storage_offset,
    int32_t dtype,
    int32_t device_type,
    int32_t device_index,
    AtenTensorHandle* ret) {
  return torch_from_blob(
      data, ndim, sizes, strides, storage_offset, dtype, device_type, device_index, ret, aoti_torch_layout_strided(),
      nullptr, 0, nullptr, nullptr);
}
AOTITorchError torch_from_blob(
    void* data,
    int64_t ndim,
    const int64_t* sizes,
    const int64_t* strides,
    int64_t storage_offset,
    int32_t dtype,
    int32_t device_type,
    int32_t device_index,
    AtenTensorHandle* ret,
    int32_t layout,
    const uint8_t* /*opaque_metadata*/,
    int64_t /*opaque_metadata_size*/,
    void (*deleter)(void* data, void* ctx),
    void* deleter_ctx) {
  return guarded([&] {
    TORCH_CHECK(layout == aoti_torch_layout_strided(), "torch_from_blob: the layout must be strided, got ", layout);
    const c10::TensorOptions options = stable_options(dtype, device_type, device_index);
    at::TensorMaker maker = at::for_blob(data, c10::IntArrayRef(sizes, ndim));
    maker.strides(c10::IntArrayRef(strides, ndim))
        .storage_offset(storage_offset)
        .options(options)
        .target_device(options.device());
    if (deleter) {
      maker.deleter([deleter, deleter_ctx](void* memory) { deleter(memory, deleter_ctx); });
    }
    *ret = new_handle(maker.make_tensor());
  });
}

AOTITorchError torch_new_list_reserve_size(size_t size, StableListHandle* ret) {
  return guarded([&] {
    auto list = std::make_unique<std::vector<StableIValue>>();
    list->reserve(size);
    *ret = reinterpret_cast<StableListHandle>(list.release());
  });
}
AOTITorchError torch_list_size(StableListHandle list, size_t* size) {
  return guarded([&] { *size = list_of(list).size(); });
}
AOTITorchError torch_list_get_item(StableListHandle list, size_t index, StableIValue* element) {
  return guarded([&] { *element = list_of(list).at(index); });
}
AOTITorchError torch_list_set_item(StableListHandle list, size_t index, StableIValue element) {
  return guarded([&] { list_of(list).at(index) = element; });
}
AOTITorchError torch_list_push_back(StableListHandle list, StableIValue element) {
  return guarded([&] { list_of(list).push_back(element); });
}
AOTITorchError torch_delete_list(StableListHandle list) {
  return delete_handle(reinterpret_cast<std::vector<StableIValue>*>(list));
}
AOTITorchError torch_new_string_handle(const char* data, size_t length, StringHandle* handle) {
  return guarded([&] { *handle = reinterpret_cast<StringHandle>(new std::string(data, length)); });
}
AOTITorchError torch_delete_string(StringHandle handle) {
  return delete_handle(reinterpret_cast<std::string*>(handle));
}
AOTITorchError torch_string_length(StringHandle handle, size_t* length) {
  return guarded([&] { *length = string_of(handle).size(); });
}
AOTITorchError torch_string_c_str(StringHandle handle, const char** data) {
  return guarded([&] { *data = string_of(handle).c_str(); });
}
AOTITorchError torch_new_stable_ivalue(StableIValue** ret) {
  return guarded([&] { *ret = new StableIValue(0); });
}
AOTITorchError torch_delete_stable_ivalue(StableIValue* value) {
  return delete_handle(value);
}

AOTITorchError torch_new_generator_handle(AtenGeneratorHandle generator, AtenGeneratorHandle* ret) {
  return guarded([&] { *ret = reinterpret_cast<AtenGeneratorHandle>(new at::Generator(generator_of(generator))); });
}
AOTITorchError torch_delete_generator(AtenGeneratorHandle generator) {
  return delete_handle(reinterpret_cast<at::Generator*>(generator));
}
AOTITorchError torch_generator_get_device(AtenGeneratorHandle generator, int32_t* device_type, int32_t* device_index) {
  return guarded([&] {
    const c10::Device device = generator_of(generator).device();
    *device_type = static_cast<int32_t>(device.type());
    *device_index = device.index();
  });
}
AOTITorchError torch_parse_device_string(const char* text, uint32_t* device_type, int32_t* device_index) {
  return guarded([&] {
    const c10::Device device{std::string(text)};
    *device_type = static_cast<uint32_t>(device.type());
    *device_index = device.index();
  });
}
AOTITorchError aoti_torch_create_device_guard(int32_t device_index, DeviceGuardHandle* ret) {
  return guarded([&] {
    *ret = reinterpret_cast<DeviceGuardHandle>(new c10::OptionalDeviceGuard(accelerator_device(device_index)));
  });
}
AOTITorchError aoti_torch_delete_device_guard(DeviceGuardHandle guard) {
  return delete_handle(reinterpret_cast<c10::OptionalDeviceGuard*>(guard));
}
AOTITorchError aoti_torch_device_guard_set_index(DeviceGuardHandle guard, int32_t device_index) {
  return guarded([&] { guard_of(guard).reset_device(accelerator_device(device_index)); });
}
AOTITorchError aoti_torch_get_current_device_index(int32_t* ret) {
  return guarded([&] { *ret = c10::impl::VirtualGuardImpl(accelerator_device(0).type()).getDevice().index(); });
}
AOTITorchError aoti_torch_get_current_stream(int32_t device_index, StreamHandle* ret) {
  return guarded([&] {
    const c10::Device device = accelerator_device(device_index);
    *ret =
        reinterpret_cast<StreamHandle>(new c10::Stream(c10::impl::VirtualGuardImpl(device.type()).getStream(device)));
  });
}
AOTITorchError aoti_torch_delete_stream(StreamHandle stream) {
  return delete_handle(reinterpret_cast<c10::Stream*>(stream));
}
AOTITorchError aoti_torch_stream_id(StreamHandle stream, int64_t* ret) {
  return guarded([&] { *ret = stream_of(stream).id(); });
}
AOTITorchError torch_stream_native_handle(StreamHandle stream, void** ret) {
  return guarded([&] { *ret = stream_of(stream).native_handle(); });
}

AOTITorchError aoti_torch_library_init_def(const char* ns, const char* file, uint32_t line, TorchLibraryHandle* ret) {
  return new_library(torch::Library::DEF, ns, std::nullopt, file, line, ret);
}
AOTITorchError aoti_torch_library_init_fragment(
    const char* ns, const char* file, uint32_t line, TorchLibraryHandle* ret) {
  return new_library(torch::Library::FRAGMENT, ns, std::nullopt, file, line, ret);
}
AOTITorchError aoti_torch_library_init_impl(
    const char* ns, const char* k, const char* file, uint32_t line, TorchLibraryHandle* ret) {
  return guarded([&] {
    const c10::DispatchKey key = c10::parseDispatchKey(k);
    *ret = reinterpret_cast<TorchLibraryHandle>(new torch::Library(torch::Library::IMPL, ns, key, file, line));
  });
}
AOTITorchError aoti_torch_delete_library_object(TorchLibraryHandle library) {
  return delete_handle(reinterpret_cast<torch::Library*>(library));
}
AOTITorchError aoti_torch_library_def(TorchLibraryHandle library, const char* schema) {
  return guarded([&] { library_of(library).def(schema); });
}
AOTITorchError torch_library_def_with_tags(
    TorchLibraryHandle library, const char* schema, const int32_t* tags, int32_t num_tags) {
  return guarded([&] {
    std::vector<at::Tag> all;
    for (int32_t i = 0; i < num_tags; ++i) {
      all.push_back(static_cast<at::Tag>(tags[i]));
    }
    library_of(library).def(schema, std::as_const(all));
  });
}
AOTITorchError torch_library_set_python_module(TorchLibraryHandle library, const char* module, const char* context) {
  return guarded([&] { library_of(library).set_python_module(module, context); });
}
AOTITorchError aoti_torch_library_impl(
    TorchLibraryHandle library, const char* name, void (*kernel)(StableIValue*, uint64_t, uint64_t)) {
  return guarded([&] {
    library_of(library).impl(name, torch::CppFunction::makeFromBoxedFunctor(std::make_unique<StableKernel>(kernel)));
  });
}
AOTITorchError torch_library_impl(
    TorchLibraryHandle library,
    const char* name,
    void (*kernel)(StableIValue*, uint64_t, uint64_t),
    uint64_t /*build_version*/) {
  return aoti_torch_library_impl(library, name, kernel);
}
AOTITorchError aoti_torch_call_dispatcher(const char* name, const char* overload, StableIValue* stack) {
  return guarded([&] {
    const c10::OperatorHandle op = c10::Dispatcher::singleton().findSchemaOrThrow(name, overload);
    torch::jit::Stack values;
    for (size_t i = 0; i < op.schema().arguments().size(); ++i) {
      values.push_back(from_word(op.schema().arguments()[i].type(), stack[i]));
    }
    op.callBoxed(values);
    for (size_t i = 0; i < values.size(); ++i) {
      stack[i] = to_word(*op.schema().returns()[i].type(), values[i]);
    }
  });
}
AOTITorchError torch_call_dispatcher(
    const char* name, const char* overload, StableIValue* stack, uint64_t /*build_version*/) {
  return aoti_torch_call_dispatcher(name, overload, stack);
}

AOTITorchError torch_parallel_for(int64_t begin, int64_t end, int64_t grain_size, ParallelFunc func, void* ctx) {
  return guarded(
      [&] { at::parallel_for(begin, end, grain_size, [&](int64_t from, int64_t to) { func(from, to, ctx); }); });
}
AOTITorchError torch_get_thread_idx(uint32_t* ret) {
  return guarded([&] { *ret = static_cast<uint32_t>(at::get_thread_num()); });
}
AOTITorchError torch_get_num_threads(uint32_t* ret) {
  return guarded([&] { *ret = static_cast<uint32_t>(at::get_num_threads()); });
}
