#include <csrc/stable/accelerator.h>
#include <csrc/stable/library.h>
#include <csrc/stable/tensor.h>
#include <csrc/stable/version.h>

#include <c10/util/Exception.h>

#include <limits>
#include <stdexcept>

namespace torch::stable {

namespace {

/// What a function of the shim writes through its last parameter.
template <class Result, class Function, class... Args>
Result ask(const char* name, Function function, Args... args) {
  Result result{};
  if (function(args..., &result) != TORCH_SUCCESS) {
    detail::throw_exception(name, __FILE__, __LINE__);
  }
  return result;
}

void delete_tensor(AtenTensorHandle handle) {
  aoti_torch_delete_tensor_object(handle);
}
void delete_generator(AtenGeneratorHandle handle) {
  torch_delete_generator(handle);
}
void delete_guard(DeviceGuardHandle handle) {
  aoti_torch_delete_device_guard(handle);
}
void delete_stream(StreamHandle handle) {
  aoti_torch_delete_stream(handle);
}

} // namespace

namespace detail {

void throw_exception(const char* call, const char* file, int64_t line) {
  throw std::runtime_error(c10::str(
      torch_exception_get_what_without_backtrace(), " (originally from ", call, " API call failed at ", file, ", line ",
      line, ")"));
}

void check_boxed_count(const char* what, uint64_t schema, uint64_t kernel) {
  TORCH_CHECK(schema == kernel, "TORCH_BOX: the schema has ", schema, " ", what, ", but the kernel has ", kernel);
}

StableLibrary::StableLibrary(Kind kind, const char* ns, const char* k, const char* file, uint32_t line) {
  if (kind == Kind::IMPL) {
    STABLE_TORCH_ERROR_CODE_CHECK(aoti_torch_library_init_impl(ns, k, file, line, &library_));
  } else if (kind == Kind::DEF) {
    STABLE_TORCH_ERROR_CODE_CHECK(aoti_torch_library_init_def(ns, file, line, &library_));
  } else {
    STABLE_TORCH_ERROR_CODE_CHECK(aoti_torch_library_init_fragment(ns, file, line, &library_));
  }
}
StableLibrary::~StableLibrary() {
  aoti_torch_delete_library_object(library_);
}
StableLibrary& StableLibrary::def(const char* schema) {
  STABLE_TORCH_ERROR_CODE_CHECK(aoti_torch_library_def(library_, schema));
  return *this;
}
StableLibrary& StableLibrary::def(const char* schema, const std::vector<at::Tag>& tags) {
  std::vector<int32_t> numbers;
  for (at::Tag tag : tags) {
    numbers.push_back(static_cast<int32_t>(tag));
  }
  STABLE_TORCH_ERROR_CODE_CHECK(
      torch_library_def_with_tags(library_, schema, numbers.data(), static_cast<int32_t>(numbers.size())));
  return *this;
}
StableLibrary& StableLibrary::impl(const char* name, void (*kernel)(StableIValue*, uint64_t, uint64_t)) {
  STABLE_TORCH_ERROR_CODE_CHECK(torch_library_impl(library_, name, kernel, TORCH_ABI_VERSION));
  return *this;
}
StableLibrary& StableLibrary::set_python_module(const char* module, const char* context) {
  STABLE_TORCH_ERROR_CODE_CHECK(torch_library_set_python_module(library_, module, context));
  return *this;
}

} // namespace detail

Device::Device(DeviceType type, DeviceIndex index) : type_(type), index_(index) {
  TORCH_CHECK(index >= -1, "Device index must be -1 or non-negative, got ", index);
  TORCH_CHECK(type != DeviceType::CPU || index <= 0, "CPU device index must be -1 or zero, got ", index);
}
Device::Device(const std::string& text) : type_(DeviceType::CPU), index_(-1) {
  uint32_t type = 0;
  STABLE_TORCH_ERROR_CODE_CHECK(torch_parse_device_string(text.c_str(), &type, &index_));
  type_ = static_cast<DeviceType>(type);
}

Tensor::Tensor()
    : Tensor(ask<AtenTensorHandle>("aoti_torch_new_uninitialized_tensor", aoti_torch_new_uninitialized_tensor)) {}
Tensor::Tensor(AtenTensorHandle handle) : handle_(handle, delete_tensor) {}

bool Tensor::defined() const {
  return ask<bool>("aoti_torch_is_defined", aoti_torch_is_defined, get());
}
void* Tensor::data_ptr() const {
  return ask<void*>("aoti_torch_get_data_ptr", aoti_torch_get_data_ptr, get());
}
void* Tensor::mutable_data_ptr() const {
  return ask<void*>("torch_get_mutable_data_ptr", torch_get_mutable_data_ptr, get());
}
const void* Tensor::const_data_ptr() const {
  return ask<const void*>("torch_get_const_data_ptr", torch_get_const_data_ptr, get());
}
void Tensor::check_dtype(ScalarType expected) const {
  TORCH_CHECK(scalar_type() == expected, "expected scalar type ", expected, " but found ", scalar_type());
}
const Tensor& Tensor::set_requires_grad(bool requires_grad) const {
  STABLE_TORCH_ERROR_CODE_CHECK(torch_set_requires_grad(get(), requires_grad));
  return *this;
}
int64_t Tensor::dim() const {
  return ask<int64_t>("aoti_torch_get_dim", aoti_torch_get_dim, get());
}
int64_t Tensor::numel() const {
  return ask<int64_t>("aoti_torch_get_numel", aoti_torch_get_numel, get());
}
c10::IntArrayRef Tensor::sizes() const {
  return {ask<int64_t*>("aoti_torch_get_sizes", aoti_torch_get_sizes, get()), static_cast<size_t>(dim())};
}
c10::IntArrayRef Tensor::strides() const {
  return {ask<int64_t*>("aoti_torch_get_strides", aoti_torch_get_strides, get()), static_cast<size_t>(dim())};
}
int64_t Tensor::size(int64_t dim) const {
  return ask<int64_t>("aoti_torch_get_size", aoti_torch_get_size, get(), dim);
}
int64_t Tensor::stride(int64_t dim) const {
  return ask<int64_t>("aoti_torch_get_stride", aoti_torch_get_stride, get(), dim);
}
bool Tensor::is_contiguous() const {
  return ask<bool>("aoti_torch_is_contiguous", aoti_torch_is_contiguous, get());
}
bool Tensor::has_storage() const {
  return ask<bool>("torch_has_storage", torch_has_storage, get());
}
int64_t Tensor::storage_offset() const {
  return ask<int64_t>("aoti_torch_get_storage_offset", aoti_torch_get_storage_offset, get());
}
size_t Tensor::element_size() const {
  return c10::elementSize(scalar_type());
}
ScalarType Tensor::scalar_type() const {
  return static_cast<ScalarType>(ask<int32_t>("aoti_torch_get_dtype", aoti_torch_get_dtype, get()));
}
Layout Tensor::layout() const {
  return static_cast<Layout>(ask<int32_t>("aoti_torch_get_layout", aoti_torch_get_layout, get()));
}
Device Tensor::device() const {
  return {
      static_cast<DeviceType>(ask<int32_t>("aoti_torch_get_device_type", aoti_torch_get_device_type, get())),
      get_device_index()};
}
DeviceIndex Tensor::get_device_index() const {
  return ask<int32_t>("aoti_torch_get_device_index", aoti_torch_get_device_index, get());
}
int8_t Tensor::get_device() const {
  const DeviceIndex index = get_device_index();
  TORCH_CHECK(
      index <= std::numeric_limits<int8_t>::max(), "Device index ", index,
      " is out of range of int8_t: use get_device_index()");
  return static_cast<int8_t>(index);
}
bool Tensor::is_cuda() const {
  return device().is_cuda();
}
bool Tensor::is_cpu() const {
  return device().is_cpu();
}

Generator::Generator(AtenGeneratorHandle handle) : handle_(handle, delete_generator) {}
Device Generator::device() const {
  int32_t type = 0, index = 0;
  STABLE_TORCH_ERROR_CODE_CHECK(torch_generator_get_device(get(), &type, &index));
  return {static_cast<DeviceType>(type), index};
}

namespace accelerator {

DeviceGuard::DeviceGuard(DeviceIndex device_index)
    : guard_(
          ask<DeviceGuardHandle>("aoti_torch_create_device_guard", aoti_torch_create_device_guard, device_index),
          delete_guard) {}
void DeviceGuard::set_index(DeviceIndex device_index) {
  STABLE_TORCH_ERROR_CODE_CHECK(aoti_torch_device_guard_set_index(guard_.get(), device_index));
}

Stream::Stream(StreamHandle handle) : handle_(handle, delete_stream) {}
StreamId Stream::id() const {
  return ask<StreamId>("aoti_torch_stream_id", aoti_torch_stream_id, handle_.get());
}
void* Stream::nativeHandle() const {
  return ask<void*>("torch_stream_native_handle", torch_stream_native_handle, handle_.get());
}
Stream getCurrentStream(DeviceIndex device_index) {
  return Stream(ask<StreamHandle>("aoti_torch_get_current_stream", aoti_torch_get_current_stream, device_index));
}
DeviceIndex getCurrentDeviceIndex() {
  return ask<DeviceIndex>("aoti_torch_get_current_device_index", aoti_torch_get_current_device_index);
}

} // namespace accelerator
} // namespace torch::stable
