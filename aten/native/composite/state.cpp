// Questions about tensors as operators, and assertions. The methods of Tensor of the same names answer without a
// dispatcher.
#include <aten/Functions.h>
#include <aten/iterator/MemoryOverlap.h>
#include <c10/core/Storage.h>

#include <cstdio>
#include <limits>
#include <string>

namespace at::native {

Tensor state_data(const Tensor& self) {
  return self.variable_data();
}
void state_set_data(Tensor& self, const Tensor& new_data) {
  self.set_data(new_data);
}
Tensor& state_shallow_copy_data_(Tensor& self, const Tensor& source) {
  self.set_data(source);
  return self;
}
bool state_is_leaf(const Tensor& self) {
  return self.is_leaf();
}
int64_t state_output_nr(const Tensor& self) {
  return self.output_nr();
}
int64_t state_version(const Tensor& self) {
  return self._version();
}
Tensor& state_requires_grad_(Tensor& self, bool requires_grad) {
  self.set_requires_grad(requires_grad);
  return self;
}
void state_retain_grad(Tensor& self) {
  self.retain_grad();
}
bool state_retains_grad(const Tensor& self) {
  return self.retains_grad();
}
void state_backward(
    const Tensor& self,
    TensorList inputs,
    const std::optional<Tensor>& gradient,
    std::optional<bool> retain_graph,
    bool create_graph) {
  self._backward(inputs, gradient, retain_graph, create_graph);
}

int64_t state_dim(const Tensor& self) {
  return self.dim();
}
int64_t state_numel(const Tensor& self) {
  return self.numel();
}
int64_t state_get_device(const Tensor& self) {
  return self.get_device();
}
int64_t state_storage_offset(const Tensor& self) {
  return self.storage_offset();
}
bool state_is_contiguous(const Tensor& self) {
  return self.is_contiguous();
}
bool state_is_contiguous_in(const Tensor& self, MemoryFormat memory_format) {
  return self.is_contiguous(memory_format);
}
int64_t state_size(const Tensor& self, int64_t dim) {
  return self.size(dim);
}
int64_t state_stride(const Tensor& self, int64_t dim) {
  return self.stride(dim);
}
bool state_is_distributed(const Tensor&) {
  return false;
}

int64_t _debug_has_internal_overlap(const Tensor& self) {
  switch (at::has_internal_overlap(self)) {
    case at::MemOverlap::No:
      return 0;
    case at::MemOverlap::Yes:
      return 1;
    case at::MemOverlap::TooHard:
      return 2;
  }
  return 2;
}

bool _has_same_storage_numel(const Tensor& self, const Tensor& other) {
  const auto count = [](const Tensor& tensor) { return tensor.storage().nbytes() / tensor.element_size(); };
  return count(self) == count(other);
}

bool _has_compatible_shallow_copy_type(const Tensor& self, const Tensor& from) {
  return self.unsafeGetTensorImpl()->has_compatible_shallow_copy_type(from.key_set());
}

// ---- assertions
// ------------------------------------------------------------------------------------------------------------

void _assert_async_message(const Tensor& self, std::string_view assert_msg) {
  if (!self.is_meta()) {
    TORCH_CHECK(at::is_nonzero(self), std::string(assert_msg));
  }
}

void _assert_async(const Tensor& self) {
  _assert_async_message(self, "Expected Tensor with single nonzero value, but got zero");
}

Tensor _functional_assert_async(const Tensor& self, std::string_view assert_msg, const Tensor& dep_token) {
  _assert_async_message(self, assert_msg);
  return dep_token.clone();
}

void _assert_scalar(const Scalar& self, std::string_view assert_msg) {
  TORCH_CHECK(self.isComplex() ? self.toComplexDouble() != 0. : self.toDouble() != 0, std::string(assert_msg));
}

Tensor _functional_assert_scalar(const Scalar& self, std::string_view assert_msg, const Tensor& dep_token) {
  _assert_scalar(self, assert_msg);
  return dep_token.clone();
}

void _assert_tensor_metadata(
    const Tensor& a,
    OptionalIntArrayRef size,
    OptionalIntArrayRef stride,
    std::optional<ScalarType> dtype,
    std::optional<Device> device,
    std::optional<Layout> layout) {
  TORCH_CHECK(!size || a.sizes() == *size, "Tensor sizes mismatch! Expected: ", *size, ", Got: ", a.sizes());
  TORCH_CHECK(
      !stride || a.strides() == *stride, "Tensor strides mismatch! Expected: ", *stride, ", Got: ", a.strides());
  TORCH_CHECK(
      !dtype || a.scalar_type() == *dtype, "Tensor dtype mismatch! Expected: ", *dtype, ", Got: ", a.scalar_type());
  TORCH_CHECK(!device || a.device() == *device, "Tensor device mismatch! Expected: ", *device, ", Got: ", a.device());
  TORCH_CHECK(!layout || a.layout() == *layout, "Tensor layout mismatch! Expected: ", *layout, ", Got: ", a.layout());
}

void sym_constrain_range(const Scalar& size, std::optional<int64_t> min, std::optional<int64_t> max) {
  const int64_t low = min.value_or(std::numeric_limits<int64_t>::min());
  const int64_t high = max.value_or(std::numeric_limits<int64_t>::max());
  TORCH_CHECK(high >= low, "Max must be greater than or equal to min. Got min=", low, " max=", high);
  const int64_t number = size.toLong();
  TORCH_CHECK(low <= number && number <= high, "Invalid value range for ", number, " between [", low, ", ", high, "].");
}

void sym_constrain_range_for_size(const Scalar& size, std::optional<int64_t> min, std::optional<int64_t> max) {
  TORCH_CHECK(!max || *max > 2, "Max value to constrain_range_for_size must be greater than 2. got: ", *max);
  sym_constrain_range(size, min.value_or(0), max);
}

Tensor _functional_sym_constrain_range(
    const Scalar& size, std::optional<int64_t> min, std::optional<int64_t> max, const Tensor& dep_token) {
  sym_constrain_range(size, min, max);
  return dep_token.clone();
}

Tensor _functional_sym_constrain_range_for_size(
    const Scalar& size, std::optional<int64_t> min, std::optional<int64_t> max, const Tensor& dep_token) {
  sym_constrain_range_for_size(size, min, max);
  return dep_token.clone();
}

void _print(std::string_view s) {
  std::printf("%.*s\n", static_cast<int>(std::min<size_t>(s.size(), std::numeric_limits<int>::max())), s.data());
  std::fflush(stdout);
}

} // namespace at::native
