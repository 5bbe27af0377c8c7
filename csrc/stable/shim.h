// The C interface of libtorch that stands under <torch/csrc/stable>: handles of tensors, lists, strings and libraries,
// and calls of operators by name. Functions return TORCH_SUCCESS or TORCH_FAILURE; torch_exception_get_what() then
// tells why. Handles that a function gives are the caller's, to be given back to the matching delete function.
#pragma once

#include <c10/macros/Macros.h>

#include <cstddef>
#include <cstdint>

#define TORCH_SUCCESS 0
#define TORCH_FAILURE 1
#define AOTI_TORCH_SUCCESS TORCH_SUCCESS
#define AOTI_TORCH_FAILURE TORCH_FAILURE
#define AOTI_TORCH_EXPORT TORCH_API

using AOTITorchError = int32_t;

/// A value of the schema language in one word: a number's bits (integers and enumerations widened to int64_t), or an
/// owned handle; null stands for None. See <csrc/stable/stable_value.h>.
using StableIValue = uint64_t;

struct AtenTensorOpaque;
struct AtenGeneratorOpaque;
struct TorchLibraryOpaque;
struct DeviceGuardOpaque;
struct StreamOpaque;
struct StableListOpaque;
struct StringOpaque;
using AtenTensorHandle = AtenTensorOpaque*;
using AtenGeneratorHandle = AtenGeneratorOpaque*;
using TorchLibraryHandle = TorchLibraryOpaque*;
using DeviceGuardHandle = DeviceGuardOpaque*;
using StreamHandle = StreamOpaque*;
using StableListHandle = StableListOpaque*;
using StringHandle = StringOpaque*;

extern "C" {

using ParallelFunc = void (*)(int64_t begin, int64_t end, void* ctx);

// --- errors, versions
TORCH_API const char* torch_exception_get_what();
TORCH_API const char* torch_exception_get_what_without_backtrace();
TORCH_API uint64_t aoti_torch_abi_version();

// --- enumerations as numbers
TORCH_API int32_t aoti_torch_device_type_cpu();
TORCH_API int32_t aoti_torch_device_type_cuda();
TORCH_API int32_t aoti_torch_device_type_meta();
TORCH_API int32_t aoti_torch_device_type_mps();
TORCH_API int32_t aoti_torch_device_type_xpu();
TORCH_API int32_t aoti_torch_device_type_privateuse1();
TORCH_API int32_t aoti_torch_dtype_float8_e5m2();
TORCH_API int32_t aoti_torch_dtype_float8_e4m3fn();
TORCH_API int32_t aoti_torch_dtype_float8_e5m2fnuz();
TORCH_API int32_t aoti_torch_dtype_float8_e4m3fnuz();
TORCH_API int32_t torch_dtype_float8_e8m0fnu();
TORCH_API int32_t torch_dtype_float4_e2m1fn_x2();
TORCH_API int32_t aoti_torch_dtype_bfloat16();
TORCH_API int32_t aoti_torch_dtype_float16();
TORCH_API int32_t aoti_torch_dtype_float32();
TORCH_API int32_t aoti_torch_dtype_float64();
TORCH_API int32_t aoti_torch_dtype_uint8();
TORCH_API int32_t aoti_torch_dtype_uint16();
TORCH_API int32_t aoti_torch_dtype_uint32();
TORCH_API int32_t aoti_torch_dtype_uint64();
TORCH_API int32_t aoti_torch_dtype_int8();
TORCH_API int32_t aoti_torch_dtype_int16();
TORCH_API int32_t aoti_torch_dtype_int32();
TORCH_API int32_t aoti_torch_dtype_int64();
TORCH_API int32_t aoti_torch_dtype_bool();
TORCH_API int32_t aoti_torch_dtype_complex32();
TORCH_API int32_t aoti_torch_dtype_complex64();
TORCH_API int32_t aoti_torch_dtype_complex128();
TORCH_API size_t aoti_torch_dtype_element_size(int32_t dtype);
TORCH_API int32_t aoti_torch_layout_strided();
TORCH_API int32_t aoti_torch_layout_sparse_coo();
TORCH_API int32_t aoti_torch_layout_sparse_csr();
TORCH_API int32_t aoti_torch_layout_sparse_csc();
TORCH_API int32_t aoti_torch_layout_sparse_bsr();
TORCH_API int32_t aoti_torch_layout_sparse_bsc();
TORCH_API int32_t aoti_torch_memory_format_contiguous_format();
TORCH_API int32_t aoti_torch_memory_format_channels_last();
TORCH_API int32_t aoti_torch_memory_format_channels_last_3d();
TORCH_API int32_t aoti_torch_memory_format_preserve_format();

// --- tensors. Pointers to data, sizes and strides are the tensor's own.
TORCH_API AOTITorchError aoti_torch_new_uninitialized_tensor(AtenTensorHandle* ret);
/// Another handle of the same tensor.
TORCH_API AOTITorchError aoti_torch_new_tensor_handle(AtenTensorHandle tensor, AtenTensorHandle* ret);
TORCH_API AOTITorchError aoti_torch_delete_tensor_object(AtenTensorHandle tensor);
TORCH_API AOTITorchError aoti_torch_is_defined(AtenTensorHandle tensor, bool* ret);
TORCH_API AOTITorchError aoti_torch_get_data_ptr(AtenTensorHandle tensor, void** ret);
TORCH_API AOTITorchError torch_get_mutable_data_ptr(AtenTensorHandle tensor, void** ret);
TORCH_API AOTITorchError torch_get_const_data_ptr(AtenTensorHandle tensor, const void** ret);
TORCH_API AOTITorchError torch_has_storage(AtenTensorHandle tensor, bool* ret);
TORCH_API AOTITorchError aoti_torch_get_storage_size(AtenTensorHandle tensor, int64_t* ret);
TORCH_API AOTITorchError aoti_torch_get_storage_offset(AtenTensorHandle tensor, int64_t* ret);
TORCH_API AOTITorchError aoti_torch_get_dim(AtenTensorHandle tensor, int64_t* ret);
TORCH_API AOTITorchError aoti_torch_get_numel(AtenTensorHandle tensor, int64_t* ret);
TORCH_API AOTITorchError aoti_torch_get_sizes(AtenTensorHandle tensor, int64_t** ret);
TORCH_API AOTITorchError aoti_torch_get_size(AtenTensorHandle tensor, int64_t dim, int64_t* ret);
TORCH_API AOTITorchError aoti_torch_get_strides(AtenTensorHandle tensor, int64_t** ret);
TORCH_API AOTITorchError aoti_torch_get_stride(AtenTensorHandle tensor, int64_t dim, int64_t* ret);
TORCH_API AOTITorchError aoti_torch_is_contiguous(AtenTensorHandle tensor, bool* ret);
TORCH_API AOTITorchError aoti_torch_get_dtype(AtenTensorHandle tensor, int32_t* ret);
TORCH_API AOTITorchError aoti_torch_get_device_type(AtenTensorHandle tensor, int32_t* ret);
TORCH_API AOTITorchError aoti_torch_get_device_index(AtenTensorHandle tensor, int32_t* ret);
TORCH_API AOTITorchError aoti_torch_get_layout(AtenTensorHandle tensor, int32_t* ret);
TORCH_API AOTITorchError torch_set_requires_grad(AtenTensorHandle tensor, bool requires_grad);
TORCH_API AOTITorchError aoti_torch_empty_strided(
    int64_t ndim,
    const int64_t* sizes,
    const int64_t* strides,
    int32_t dtype,
    int32_t device_type,
    int32_t device_index,
    AtenTensorHandle* ret);
/// A tensor over the caller's memory, which must live on.
TORCH_API AOTITorchError aoti_torch_create_tensor_from_blob(
    void* data,
    int64_t ndim,
    const int64_t* sizes,
    const int64_t* strides,
    int64_t storage_offset,
    int32_t dtype,
    int32_t device_type,
    int32_t device_index,
    AtenTensorHandle* ret);
/// The same; deleter(data, deleter_ctx) is called when the last tensor over the memory is gone. The layout must be
/// strided.
TORCH_API AOTITorchError torch_from_blob(
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
    const uint8_t* opaque_metadata,
    int64_t opaque_metadata_size,
    void (*deleter)(void* data, void* ctx),
    void* deleter_ctx);

// --- lists and strings inside a StableIValue
TORCH_API AOTITorchError torch_new_list_reserve_size(size_t size, StableListHandle* ret);
TORCH_API AOTITorchError torch_list_size(StableListHandle list, size_t* size);
TORCH_API AOTITorchError torch_list_get_item(StableListHandle list, size_t index, StableIValue* element);
TORCH_API AOTITorchError torch_list_set_item(StableListHandle list, size_t index, StableIValue element);
TORCH_API AOTITorchError torch_list_push_back(StableListHandle list, StableIValue element);
TORCH_API AOTITorchError torch_delete_list(StableListHandle list);
TORCH_API AOTITorchError torch_new_string_handle(const char* data, size_t length, StringHandle* handle);
TORCH_API AOTITorchError torch_delete_string(StringHandle handle);
TORCH_API AOTITorchError torch_string_length(StringHandle handle, size_t* length);
TORCH_API AOTITorchError torch_string_c_str(StringHandle handle, const char** data);
TORCH_API AOTITorchError torch_new_stable_ivalue(StableIValue** ret);
TORCH_API AOTITorchError torch_delete_stable_ivalue(StableIValue* value);

// --- generators, devices, streams
TORCH_API AOTITorchError torch_new_generator_handle(AtenGeneratorHandle generator, AtenGeneratorHandle* ret);
TORCH_API AOTITorchError torch_delete_generator(AtenGeneratorHandle generator);
TORCH_API AOTITorchError
torch_generator_get_device(AtenGeneratorHandle generator, int32_t* device_type, int32_t* device_index);
TORCH_API AOTITorchError torch_parse_device_string(const char* text, uint32_t* device_type, int32_t* device_index);
TORCH_API AOTITorchError aoti_torch_create_device_guard(int32_t device_index, DeviceGuardHandle* ret);
TORCH_API AOTITorchError aoti_torch_delete_device_guard(DeviceGuardHandle guard);
TORCH_API AOTITorchError aoti_torch_device_guard_set_index(DeviceGuardHandle guard, int32_t device_index);
TORCH_API AOTITorchError aoti_torch_get_current_device_index(int32_t* ret);
TORCH_API AOTITorchError aoti_torch_get_current_stream(int32_t device_index, StreamHandle* ret);
TORCH_API AOTITorchError aoti_torch_delete_stream(StreamHandle stream);
TORCH_API AOTITorchError aoti_torch_stream_id(StreamHandle stream, int64_t* ret);
TORCH_API AOTITorchError torch_stream_native_handle(StreamHandle stream, void** ret);

// --- operators
TORCH_API AOTITorchError
aoti_torch_library_init_def(const char* ns, const char* file, uint32_t line, TorchLibraryHandle* ret);
TORCH_API AOTITorchError
aoti_torch_library_init_fragment(const char* ns, const char* file, uint32_t line, TorchLibraryHandle* ret);
/// `k` is the name of a dispatch key: "CPU", "CompositeExplicitAutograd", ...
TORCH_API AOTITorchError
aoti_torch_library_init_impl(const char* ns, const char* k, const char* file, uint32_t line, TorchLibraryHandle* ret);
TORCH_API AOTITorchError aoti_torch_delete_library_object(TorchLibraryHandle library);
TORCH_API AOTITorchError aoti_torch_library_def(TorchLibraryHandle library, const char* schema);
/// Tags are the numbers of at::Tag.
TORCH_API AOTITorchError
torch_library_def_with_tags(TorchLibraryHandle library, const char* schema, const int32_t* tags, int32_t num_tags);
TORCH_API AOTITorchError
torch_library_set_python_module(TorchLibraryHandle library, const char* module, const char* context);
/// The kernel takes its inputs from the stack, as their owner, and leaves its outputs there.
TORCH_API AOTITorchError aoti_torch_library_impl(
    TorchLibraryHandle library,
    const char* name,
    void (*kernel)(StableIValue*, uint64_t num_inputs, uint64_t num_outputs));
TORCH_API AOTITorchError torch_library_impl(
    TorchLibraryHandle library,
    const char* name,
    void (*kernel)(StableIValue*, uint64_t, uint64_t),
    uint64_t build_version);
/// Calls an operator with all its arguments, which it takes over, and leaves its results in their place. The stack must
/// hold as many words as the larger number of both.
TORCH_API AOTITorchError aoti_torch_call_dispatcher(const char* name, const char* overload, StableIValue* stack);
TORCH_API AOTITorchError
torch_call_dispatcher(const char* name, const char* overload, StableIValue* stack, uint64_t build_version);

// --- threads
TORCH_API AOTITorchError
torch_parallel_for(int64_t begin, int64_t end, int64_t grain_size, ParallelFunc func, void* ctx);
TORCH_API AOTITorchError torch_get_thread_idx(uint32_t* ret);
TORCH_API AOTITorchError torch_get_num_threads(uint32_t* ret);

} // extern "C"
