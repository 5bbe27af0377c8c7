// The operators that the stable interface has as functions. Others are called by name: see torch_call_dispatcher().
#pragma once

#include <c10/core/MemoryFormat.h>
#include <csrc/stable/stable_value.h>

#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

namespace torch::stable {

using c10::MemoryFormat;
using OptionalDims = std::optional<c10::IntArrayRef>;

TORCH_API Tensor empty(
    c10::IntArrayRef size,
    std::optional<ScalarType> dtype = std::nullopt,
    std::optional<Layout> layout = std::nullopt,
    std::optional<Device> device = std::nullopt,
    std::optional<bool> pin_memory = std::nullopt,
    std::optional<MemoryFormat> memory_format = std::nullopt);
TORCH_API Tensor full(
    c10::IntArrayRef size,
    double fill_value,
    std::optional<ScalarType> dtype = std::nullopt,
    std::optional<Layout> layout = std::nullopt,
    std::optional<Device> device = std::nullopt,
    std::optional<bool> pin_memory = std::nullopt);
TORCH_API Tensor empty_like(const Tensor& self);
TORCH_API Tensor new_empty(
    const Tensor& self,
    c10::IntArrayRef size,
    std::optional<ScalarType> dtype = std::nullopt,
    std::optional<Layout> layout = std::nullopt,
    std::optional<Device> device = std::nullopt,
    std::optional<bool> pin_memory = std::nullopt);
TORCH_API Tensor new_zeros(
    const Tensor& self,
    c10::IntArrayRef size,
    std::optional<ScalarType> dtype = std::nullopt,
    std::optional<Layout> layout = std::nullopt,
    std::optional<Device> device = std::nullopt,
    std::optional<bool> pin_memory = std::nullopt);

TORCH_API Tensor fill_(const Tensor& self, double value);
TORCH_API Tensor zero_(Tensor& self);
TORCH_API Tensor copy_(Tensor& self, const Tensor& src, std::optional<bool> non_blocking = std::nullopt);
TORCH_API Tensor clone(const Tensor& self);
TORCH_API Tensor contiguous(const Tensor& self, MemoryFormat memory_format = MemoryFormat::Contiguous);
TORCH_API Tensor
to(const Tensor& self,
   std::optional<ScalarType> dtype = std::nullopt,
   std::optional<Layout> layout = std::nullopt,
   std::optional<Device> device = std::nullopt,
   std::optional<bool> pin_memory = std::nullopt,
   bool non_blocking = false,
   bool copy = false,
   std::optional<MemoryFormat> memory_format = std::nullopt);
TORCH_API Tensor to(const Tensor& self, Device device, bool non_blocking = false, bool copy = false);

TORCH_API Tensor narrow(Tensor& self, int64_t dim, int64_t start, int64_t length);
TORCH_API Tensor transpose(const Tensor& self, int64_t dim0, int64_t dim1);
TORCH_API Tensor permute(const Tensor& self, c10::IntArrayRef dims);
TORCH_API Tensor flatten(const Tensor& self, int64_t start_dim = 0, int64_t end_dim = -1);
TORCH_API Tensor unsqueeze(const Tensor& self, int64_t dim);
TORCH_API Tensor squeeze(const Tensor& self, int64_t dim);
TORCH_API Tensor select(const Tensor& self, int64_t dim, int64_t index);
TORCH_API Tensor index_select(const Tensor& self, int64_t dim, const Tensor& index);
TORCH_API Tensor reshape(const Tensor& self, c10::IntArrayRef shape);
TORCH_API Tensor view(const Tensor& self, c10::IntArrayRef size);
TORCH_API Tensor view(const Tensor& self, ScalarType dtype);
TORCH_API Tensor
pad(const Tensor& self, c10::IntArrayRef pad, const std::string& mode = "constant", double value = 0.0);

TORCH_API Tensor amax(const Tensor& self, int64_t dim, bool keepdim = false);
TORCH_API Tensor amax(const Tensor& self, c10::IntArrayRef dims, bool keepdim = false);
TORCH_API Tensor
sum(const Tensor& self,
    OptionalDims dim = std::nullopt,
    bool keepdim = false,
    std::optional<ScalarType> dtype = std::nullopt);
TORCH_API Tensor& sum_out(
    Tensor& out,
    const Tensor& self,
    OptionalDims dim = std::nullopt,
    bool keepdim = false,
    std::optional<ScalarType> dtype = std::nullopt);
TORCH_API std::tuple<Tensor, Tensor> sort(const Tensor& self, int64_t dim = -1, bool descending = false);
TORCH_API std::tuple<Tensor, Tensor> sort(
    const Tensor& self, std::optional<bool> stable, int64_t dim = -1, bool descending = false);

TORCH_API Tensor matmul(const Tensor& self, const Tensor& other);
TORCH_API Tensor subtract(const Tensor& self, const Tensor& other, double alpha = 1.0);
TORCH_API Tensor floor_divide(const Tensor& self, const Tensor& other);
TORCH_API Tensor bitwise_and(const Tensor& self, const Tensor& other);
TORCH_API Tensor bitwise_or(const Tensor& self, const Tensor& other);
TORCH_API Tensor bitwise_left_shift(const Tensor& self, const Tensor& other);
TORCH_API Tensor bitwise_right_shift(const Tensor& self, const Tensor& other);
TORCH_API bool is_pinned(const Tensor& self);

/// A tensor over the caller's memory, which must live on.
TORCH_API Tensor from_blob(
    void* data,
    c10::IntArrayRef sizes,
    c10::IntArrayRef strides,
    Device device,
    ScalarType dtype,
    int64_t storage_offset = 0,
    Layout layout = Layout::Strided);

namespace detail {
TORCH_API Tensor from_blob(
    void* data,
    c10::IntArrayRef sizes,
    c10::IntArrayRef strides,
    Device device,
    ScalarType dtype,
    void (*deleter)(void* data, void* context),
    void* context,
    int64_t storage_offset,
    Layout layout);
} // namespace detail

/// The same; the deleter is called with `data` when the last tensor over it is gone.
template <class F, class = std::enable_if_t<std::is_invocable_v<F, void*>>>
Tensor from_blob(
    void* data,
    c10::IntArrayRef sizes,
    c10::IntArrayRef strides,
    Device device,
    ScalarType dtype,
    F deleter,
    int64_t storage_offset = 0,
    Layout layout = Layout::Strided) {
  auto context = std::make_unique<F>(std::move(deleter));
  const auto call = [](void* memory, void* held) { (*std::unique_ptr<F>(static_cast<F*>(held)))(memory); };
  Tensor tensor = detail::from_blob(data, sizes, strides, device, dtype, call, context.get(), storage_offset, layout);
  context.release();
  return tensor;
}

/// Calls f(from, to) for parts of the range on several threads.
template <class F>
void parallel_for(const int64_t begin, const int64_t end, const int64_t grain_size, const F& f) {
  const auto call = [](int64_t from, int64_t to, void* function) { (*static_cast<const F*>(function))(from, to); };
  STABLE_TORCH_ERROR_CODE_CHECK(
      torch_parallel_for(begin, end, grain_size, call, const_cast<void*>(static_cast<const void*>(&f))));
}
TORCH_API uint32_t get_num_threads();

} // namespace torch::stable
