// Out forms of factories, and linspace between tensors: written with other operators.
#include <aten/Functions.h>
#include <aten/iterator/MemoryOverlap.h>
#include <aten/native/support/OutArgument.h>
#include <c10/util/DimVector.h>
#include <c10/util/safe_numerics.h>

#include <vector>

namespace at::native {
namespace {

Tensor& sized(const char* op, Tensor& out, IntArrayRef sizes) {
  check_out_without_grad(op, out);
  if (!resize_output(out, sizes)) {
    at::assert_no_internal_overlap(out);
  }
  return out;
}

Tensor& filled(const char* op, Tensor& out, IntArrayRef sizes, const Scalar& value) {
  at::scalar_tensor(value, out.options()); // throws where the dtype does not hold it, before anything is written
  return sized(op, out, sizes).fill_(value);
}

/// An output that has the place of `self`: data is neither made up nor dropped.
Tensor& beside(const char* op, const Tensor& self, Tensor& out) {
  TORCH_CHECK(
      out.is_meta() == self.is_meta(), "Expected out tensor to have device ", self.device(), ", but got ", out.device(),
      " instead (in ", op, ")");
  return out;
}

/// The output of a sequence whose start is a tensor, which cannot be copied to where there is no data.
Tensor& where_start_is(const Tensor& start, Tensor& out) {
  TORCH_CHECK(
      start.is_meta() || !out.is_meta(), "Attempting to copy from device ", start.device(), " to device ", out.device(),
      ", but cross-device copies are not allowed!");
  return out;
}

/// The output for indices, which the kernels count in two dtypes.
Tensor& index_output(const char* op, Tensor& out) {
  TORCH_CHECK_NOT_IMPLEMENTED(
      out.scalar_type() == kLong || out.scalar_type() == kInt, "\"", op, "\" not implemented for '", out.scalar_type(),
      "'; it takes outputs of dtype Long and Int");
  return out;
}

Scalar number(const char* op, const char* name, const Tensor& t) {
  TORCH_CHECK(
      t.dim() == 0, op, " only supports 0-dimensional start and end tensors, but got ", name, " with ", t.dim(),
      " dimension(s).");
  return t.item();
}

} // namespace

namespace {

void check_layout(IntArrayRef size, IntArrayRef physical_layout) {
  TORCH_CHECK(
      size.size() == physical_layout.size(),
      "Number of dimensions in size does not match the length of the physical_layout; i.e. len(size) = ", size.size(),
      " is not equal to len(physical_layout) = ", physical_layout.size());
  std::vector<bool> seen(size.size());
  for (const int64_t dim : physical_layout) {
    TORCH_CHECK(
        dim >= 0 && dim < static_cast<int64_t>(size.size()), "Dimension out of range (expected to be between 0 and ",
        static_cast<int64_t>(size.size()) - 1, ", but got ", dim, ").");
    TORCH_CHECK(!seen[dim], "Duplicate dim not allowed: physical_layout ", physical_layout);
    seen[dim] = true;
  }
}

} // namespace

Tensor empty_permuted(
    IntArrayRef size,
    IntArrayRef physical_layout,
    std::optional<ScalarType> dtype,
    std::optional<Layout> layout,
    std::optional<Device> device,
    std::optional<bool> pin_memory) {
  check_layout(size, physical_layout);
  c10::DimVector physical(size.size());
  c10::DimVector back(size.size());
  for (size_t i = 0; i < size.size(); ++i) {
    physical[i] = size[physical_layout[i]];
    back[physical_layout[i]] = static_cast<int64_t>(i);
  }
  return at::empty(physical, dtype, layout, device, pin_memory, std::nullopt).permute(back);
}

Tensor& empty_permuted_out(IntArrayRef size, IntArrayRef physical_layout, Tensor& out) {
  check_layout(size, physical_layout);
  return sized("empty_permuted", out, size);
}

Tensor& range_out(const Scalar& start, const Scalar& end, const Scalar& step, Tensor& out) {
  const Tensor values = at::range(start, end, step, out.options());
  return sized("range", out, values.sizes()).copy_(values);
}

Tensor& range_out_(const Scalar& start, const Scalar& end, Tensor& out) {
  return at::native::range_out(start, end, 1, out);
}

Tensor& new_empty_out(const Tensor& self, IntArrayRef size, Tensor& out) {
  return sized("new_empty", beside("new_empty", self, out), size);
}
Tensor& new_empty_strided_out(const Tensor& self, IntArrayRef size, IntArrayRef stride, Tensor& out) {
  TORCH_CHECK(
      size.size() == stride.size(), "new_empty_strided: dimensionality of sizes (", size.size(),
      ") must match dimensionality of strides (", stride.size(), ")");
  return sized("new_empty_strided", beside("new_empty_strided", self, out), size);
}
Tensor& new_full_out(const Tensor& self, IntArrayRef size, const Scalar& fill_value, Tensor& out) {
  return filled("new_full", beside("new_full", self, out), size, fill_value);
}
Tensor& new_zeros_out(const Tensor& self, IntArrayRef size, Tensor& out) {
  return sized("new_zeros", beside("new_zeros", self, out), size).zero_();
}
Tensor& new_ones_out(const Tensor& self, IntArrayRef size, Tensor& out) {
  return sized("new_ones", beside("new_ones", self, out), size).fill_(1);
}
Tensor& empty_like_out(const Tensor& self, std::optional<MemoryFormat>, Tensor& out) {
  return sized("empty_like", beside("empty_like", self, out), self.sizes());
}
Tensor& zeros_like_out(const Tensor& self, std::optional<MemoryFormat>, Tensor& out) {
  return sized("zeros_like", beside("zeros_like", self, out), self.sizes()).zero_();
}
Tensor& ones_like_out(const Tensor& self, std::optional<MemoryFormat>, Tensor& out) {
  return sized("ones_like", beside("ones_like", self, out), self.sizes()).fill_(1);
}
Tensor& full_like_out(const Tensor& self, const Scalar& fill_value, std::optional<MemoryFormat>, Tensor& out) {
  return filled("full_like", beside("full_like", self, out), self.sizes(), fill_value);
}
Tensor& empty_strided_out(IntArrayRef size, IntArrayRef stride, Tensor& out) {
  TORCH_CHECK(
      size.size() == stride.size(), "empty_strided: dimensionality of sizes (", size.size(),
      ") must match dimensionality of strides (", stride.size(), ")");
  return sized("empty_strided", out, size);
}
Tensor& scalar_tensor_out(const Scalar& s, Tensor& out) {
  return filled("scalar_tensor", out, {}, s);
}
Tensor& tril_indices_out(int64_t row, int64_t col, int64_t offset, Tensor& out) {
  const Tensor indices = at::tril_indices(row, col, offset, index_output("tril_indices", out).options());
  return sized("tril_indices", out, indices.sizes()).copy_(indices);
}
Tensor& triu_indices_out(int64_t row, int64_t col, int64_t offset, Tensor& out) {
  const Tensor indices = at::triu_indices(row, col, offset, index_output("triu_indices", out).options());
  return sized("triu_indices", out, indices.sizes()).copy_(indices);
}

Tensor linspace_tensor_tensor(
    const Tensor& start,
    const Tensor& end,
    int64_t steps,
    std::optional<ScalarType> dtype,
    std::optional<Layout> layout,
    std::optional<Device> device,
    std::optional<bool> pin_memory) {
  return at::linspace(
      number("linspace", "start", start), number("linspace", "end", end), steps, dtype, layout, device, pin_memory);
}
Tensor& linspace_tensor_tensor_out(const Tensor& start, const Tensor& end, int64_t steps, Tensor& out) {
  return at::linspace_out(
      where_start_is(start, out), number("linspace", "start", start), number("linspace", "end", end), steps);
}

Tensor linspace_tensor_scalar(
    const Tensor& start,
    const Scalar& end,
    int64_t steps,
    std::optional<ScalarType> dtype,
    std::optional<Layout> layout,
    std::optional<Device> device,
    std::optional<bool> pin_memory) {
  return at::linspace(number("linspace", "start", start), end, steps, dtype, layout, device, pin_memory);
}
Tensor& linspace_tensor_scalar_out(const Tensor& start, const Scalar& end, int64_t steps, Tensor& out) {
  return at::linspace_out(where_start_is(start, out), number("linspace", "start", start), end, steps);
}

Tensor linspace_scalar_tensor(
    const Scalar& start,
    const Tensor& end,
    int64_t steps,
    std::optional<ScalarType> dtype,
    std::optional<Layout> layout,
    std::optional<Device> device,
    std::optional<bool> pin_memory) {
  return at::linspace(start, number("linspace", "end", end), steps, dtype, layout, device, pin_memory);
}
Tensor& linspace_scalar_tensor_out(const Scalar& start, const Tensor& end, int64_t steps, Tensor& out) {
  return at::linspace_out(out, start, number("linspace", "end", end), steps);
}

Tensor logspace_tensor_tensor(
    const Tensor& start,
    const Tensor& end,
    int64_t steps,
    double base,
    std::optional<ScalarType> dtype,
    std::optional<Layout> layout,
    std::optional<Device> device,
    std::optional<bool> pin_memory) {
  return at::logspace(
      number("logspace", "start", start), number("logspace", "end", end), steps, base, dtype, layout, device,
      pin_memory);
}
Tensor& logspace_tensor_tensor_out(const Tensor& start, const Tensor& end, int64_t steps, double base, Tensor& out) {
  return at::logspace_out(
      where_start_is(start, out), number("logspace", "start", start), number("logspace", "end", end), steps, base);
}

Tensor logspace_tensor_scalar(
    const Tensor& start,
    const Scalar& end,
    int64_t steps,
    double base,
    std::optional<ScalarType> dtype,
    std::optional<Layout> layout,
    std::optional<Device> device,
    std::optional<bool> pin_memory) {
  return at::logspace(number("logspace", "start", start), end, steps, base, dtype, layout, device, pin_memory);
}
Tensor& logspace_tensor_scalar_out(const Tensor& start, const Scalar& end, int64_t steps, double base, Tensor& out) {
  return at::logspace_out(where_start_is(start, out), number("logspace", "start", start), end, steps, base);
}

Tensor logspace_scalar_tensor(
    const Scalar& start,
    const Tensor& end,
    int64_t steps,
    double base,
    std::optional<ScalarType> dtype,
    std::optional<Layout> layout,
    std::optional<Device> device,
    std::optional<bool> pin_memory) {
  return at::logspace(start, number("logspace", "end", end), steps, base, dtype, layout, device, pin_memory);
}
Tensor& logspace_scalar_tensor_out(const Scalar& start, const Tensor& end, int64_t steps, double base, Tensor& out) {
  return at::logspace_out(out, start, number("logspace", "end", end), steps, base);
}

Tensor _dim_arange(const Tensor& like, int64_t dim) {
  return at::arange(like.size(dim), like.options().dtype(kLong));
}

Tensor _new_zeros_with_same_feature_meta(const Tensor& self, const Tensor& other, int64_t self_num_batch_dims) {
  TORCH_CHECK(
      self_num_batch_dims >= 0 && self_num_batch_dims <= self.dim(),
      "_new_zeros_with_same_feature_meta: self_num_batch_dims must be from 0 to the ", self.dim(),
      " dimensions of self, got ", self_num_batch_dims);
  // Each place of the batch has as much memory as the storage of other.
  const int64_t part = static_cast<int64_t>(other.storage().nbytes() / other.dtype().itemsize());
  const IntArrayRef batch = self.sizes().slice(0, self_num_batch_dims);
  c10::DimVector sizes(batch.begin(), batch.end()), strides(batch.size());
  int64_t memory = part;
  for (size_t d = batch.size(); d-- > 0;) {
    strides[d] = memory;
    TORCH_CHECK(
        !c10::mul_overflows(memory, batch[d], &memory), "_new_zeros_with_same_feature_meta: too many elements: batch ",
        batch, " of ", part, " each");
  }
  sizes.append(other.sizes().begin(), other.sizes().end());
  strides.append(other.strides().begin(), other.strides().end());
  return at::zeros({memory}, other.options()).as_strided(sizes, strides, other.storage_offset());
}

} // namespace at::native
