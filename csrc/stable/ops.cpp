#include <csrc/stable/ops.h>

#include <aten/Functions.h>
#include <aten/core/Tensor.h>

namespace torch::stable {

namespace {

at::Tensor& held(const Tensor& tensor) {
  TORCH_CHECK(tensor.get(), "an operator of torch::stable got a tensor that was moved from");
  return *reinterpret_cast<at::Tensor*>(tensor.get());
}
Tensor handle(at::Tensor tensor) {
  return Tensor(reinterpret_cast<AtenTensorHandle>(new at::Tensor(std::move(tensor))));
}
std::optional<c10::Device> device_of(const std::optional<Device>& device) {
  return device
      ? std::optional<c10::Device>(c10::Device(device->type(), static_cast<c10::DeviceIndex>(device->index())))
      : std::nullopt;
}
at::OptionalIntArrayRef dims_of(const OptionalDims& dims) {
  return dims ? at::OptionalIntArrayRef(*dims) : at::OptionalIntArrayRef();
}

} // namespace

Tensor empty(
    c10::IntArrayRef size,
    std::optional<ScalarType> dtype,
    std::optional<Layout> layout,
    std::optional<Device> device,
    std::optional<bool> pin_memory,
    std::optional<MemoryFormat> memory_format) {
  return handle(at::empty(size, dtype, layout, device_of(device), pin_memory, memory_format));
}
Tensor full(
    c10::IntArrayRef size,
    double fill_value,
    std::optional<ScalarType> dtype,
    std::optional<Layout> layout,
    std::optional<Device> device,
    std::optional<bool> pin_memory) {
  return handle(at::full(size, fill_value, dtype, layout, device_of(device), pin_memory));
}
Tensor empty_like(const Tensor& self) {
  return handle(at::empty_like(held(self)));
}
Tensor new_empty(
    const Tensor& self,
    c10::IntArrayRef size,
    std::optional<ScalarType> dtype,
    std::optional<Layout> layout,
    std::optional<Device> device,
    std::optional<bool> pin_memory) {
  return handle(held(self).new_empty(size, dtype, layout, device_of(device), pin_memory));
}
Tensor new_zeros(
    const Tensor& self,
    c10::IntArrayRef size,
    std::optional<ScalarType> dtype,
    std::optional<Layout> layout,
    std::optional<Device> device,
    std::optional<bool> pin_memory) {
  return handle(held(self).new_zeros(size, dtype, layout, device_of(device), pin_memory));
}

Tensor fill_(const Tensor& self, double value) {
  held(self).fill_(value);
  return self;
}
Tensor zero_(Tensor& self) {
  held(self).zero_();
  return self;
}
Tensor copy_(Tensor& self, const Tensor& src, std::optional<bool> non_blocking) {
  held(self).copy_(held(src), non_blocking.value_or(false));
  return self;
}
Tensor clone(const Tensor& self) {
  return handle(held(self).clone());
}
Tensor contiguous(const Tensor& self, MemoryFormat memory_format) {
  return handle(held(self).contiguous(memory_format));
}
Tensor to(
    const Tensor& self,
    std::optional<ScalarType> dtype,
    std::optional<Layout> layout,
    std::optional<Device> device,
    std::optional<bool> pin_memory,
    bool non_blocking,
    bool copy,
    std::optional<MemoryFormat> memory_format) {
  return handle(held(self).to(dtype, layout, device_of(device), pin_memory, non_blocking, copy, memory_format));
}
Tensor to(const Tensor& self, Device device, bool non_blocking, bool copy) {
  return to(self, std::nullopt, std::nullopt, device, std::nullopt, non_blocking, copy);
}

Tensor narrow(Tensor& self, int64_t dim, int64_t start, int64_t length) {
  return handle(held(self).narrow(dim, start, length));
}
Tensor transpose(const Tensor& self, int64_t dim0, int64_t dim1) {
  return handle(held(self).transpose(dim0, dim1));
}
Tensor permute(const Tensor& self, c10::IntArrayRef dims) {
  return handle(held(self).permute(dims));
}
Tensor flatten(const Tensor& self, int64_t start_dim, int64_t end_dim) {
  return handle(held(self).flatten(start_dim, end_dim));
}
Tensor unsqueeze(const Tensor& self, int64_t dim) {
  return handle(held(self).unsqueeze(dim));
}
Tensor squeeze(const Tensor& self, int64_t dim) {
  return handle(held(self).squeeze(dim));
}
Tensor select(const Tensor& self, int64_t dim, int64_t index) {
  return handle(held(self).select(dim, index));
}
Tensor index_select(const Tensor& self, int64_t dim, const Tensor& index) {
  return handle(held(self).index_select(dim, held(index)));
}
Tensor reshape(const Tensor& self, c10::IntArrayRef shape) {
  return handle(held(self).reshape(shape));
}
Tensor view(const Tensor& self, c10::IntArrayRef size) {
  return handle(held(self).view(size));
}
Tensor view(const Tensor& self, ScalarType dtype) {
  return handle(held(self).view(dtype));
}
Tensor pad(const Tensor& self, c10::IntArrayRef pad, const std::string& mode, double value) {
  return handle(at::pad(held(self), pad, mode, value));
}

Tensor amax(const Tensor& self, int64_t dim, bool keepdim) {
  return handle(held(self).amax(dim, keepdim));
}
Tensor amax(const Tensor& self, c10::IntArrayRef dims, bool keepdim) {
  return handle(held(self).amax(dims, keepdim));
}
Tensor sum(const Tensor& self, OptionalDims dim, bool keepdim, std::optional<ScalarType> dtype) {
  return handle(held(self).sum(dims_of(dim), keepdim, dtype));
}
Tensor& sum_out(Tensor& out, const Tensor& self, OptionalDims dim, bool keepdim, std::optional<ScalarType> dtype) {
  at::sum_out(held(out), held(self), dims_of(dim), keepdim, dtype);
  return out;
}
std::tuple<Tensor, Tensor> sort(const Tensor& self, int64_t dim, bool descending) {
  return sort(self, std::nullopt, dim, descending);
}
std::tuple<Tensor, Tensor> sort(const Tensor& self, std::optional<bool> stable, int64_t dim, bool descending) {
  auto [values, indices] = held(self).sort(stable, dim, descending);
  return {handle(std::move(values)), handle(std::move(indices))};
}

Tensor matmul(const Tensor& self, const Tensor& other) {
  return handle(at::matmul(held(self), held(other)));
}
Tensor subtract(const Tensor& self, const Tensor& other, double alpha) {
  return handle(at::subtract(held(self), held(other), alpha));
}
Tensor floor_divide(const Tensor& self, const Tensor& other) {
  return handle(at::floor_divide(held(self), held(other)));
}
Tensor bitwise_and(const Tensor& self, const Tensor& other) {
  return handle(at::bitwise_and(held(self), held(other)));
}
Tensor bitwise_or(const Tensor& self, const Tensor& other) {
  return handle(at::bitwise_or(held(self), held(other)));
}
Tensor bitwise_left_shift(const Tensor& self, const Tensor& other) {
  return handle(at::bitwise_left_shift(held(self), held(other)));
}
Tensor bitwise_right_shift(const Tensor& self, const Tensor& other) {
  return handle(at::bitwise_right_shift(held(self), held(other)));
}
bool is_pinned(const Tensor& self) {
  return held(self).is_pinned();
}

namespace detail {
Tensor from_blob(
    void* data,
    c10::IntArrayRef sizes,
    c10::IntArrayRef strides,
    Device device,
    ScalarType dtype,
    void (*deleter)(void* data, void* context),
    void* context,
    int64_t storage_offset,
    Layout layout) {
  TORCH_CHECK(
      sizes.size() == strides.size(), "from_blob: sizes and strides must be of one length, got ", sizes.size(), " and ",
      strides.size());
  AtenTensorHandle handle = nullptr;
  STABLE_TORCH_ERROR_CODE_CHECK(torch_from_blob(
      data, static_cast<int64_t>(sizes.size()), sizes.data(), strides.data(), storage_offset,
      static_cast<int32_t>(dtype), static_cast<int32_t>(device.type()), device.index(), &handle,
      static_cast<int32_t>(layout), nullptr, 0, deleter, context));
  return Tensor(handle);
}
} // namespace detail

Tensor from_blob(
    void* data,
    c10::IntArrayRef sizes,
    c10::IntArrayRef strides,
    Device device,
    ScalarType dtype,
    int64_t storage_offset,
    Layout layout) {
  return detail::from_blob(data, sizes, strides, device, dtype, nullptr, nullptr, storage_offset, layout);
}

uint32_t get_num_threads() {
  uint32_t count = 0;
  STABLE_TORCH_ERROR_CODE_CHECK(torch_get_num_threads(&count));
  return count;
}

} // namespace torch::stable
