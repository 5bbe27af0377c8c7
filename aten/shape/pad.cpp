// Shape functions of padding with what is inside. How many dimensions are padded stands in the operator's name.
#include <aten/core/Tensor.h>
#include <aten/core/TensorSpec.h>

#include <aten/iterator/MemoryOverlap.h>
#include <c10/util/accumulate.h>
#include <c10/util/safe_numerics.h>

#include <algorithm>
#include <initializer_list>
#include <string>
#include <string_view>

namespace at::shape {
namespace {

/// The digit in names like reflection_pad2d and replication_pad1d_backward.
int64_t padded_dims(std::string_view op) {
  return op[op.find_first_of("123")] - '0';
}

/// "D: 4 H: 5 W: 6": the last dimensions of a shape with the letters they go by.
std::string named_sizes(IntArrayRef sizes, int64_t n, const char* between) {
  std::string text;
  for (int64_t i = 0; i < n; ++i) {
    text +=
        (i == 0 ? "" : between) + std::string(1, "DHW"[3 - n + i]) + ": " + std::to_string(sizes[sizes.size() - n + i]);
  }
  return text;
}

TensorSpec padded(const char* op, const TensorBase& self, IntArrayRef padding, bool reflects) {
  const int64_t n = padded_dims(op);
  TORCH_CHECK(
      static_cast<int64_t>(padding.size()) == 2 * n, "padding size is expected to be ", 2 * n,
      ", but got: ", padding.size(), " (in ", op, ")");
  const int64_t ndim = self.dim();
  const int64_t first = ndim - n; // of the padded dimensions
  TORCH_CHECK(
      (ndim == n + 1 || ndim == n + 2) &&
          std::all_of(self.sizes().begin() + (ndim - n - 1), self.sizes().end(), [](int64_t size) { return size > 0; }),
      "Expected ", n + 1, "D or ", n + 2,
      "D (batch mode) tensor with possibly 0 batch size and other non-zero dimensions for input, but got: ",
      self.sizes(), " (in ", op, ")");
  TensorSpec spec = TensorSpec::like(self, self.sizes());
  for (int64_t i = 0; i < n; ++i) { // the last dimension has the first two widths
    const int64_t dim = ndim - 1 - i;
    const int64_t size = self.size(dim);
    const int64_t before = padding[2 * i];
    const int64_t after = padding[2 * i + 1];
    TORCH_CHECK(
        !reflects || (before < size && after < size), "Argument #", 4 + 2 * i,
        ": Padding size should be less than the corresponding input dimension, but got: padding (", before, ", ", after,
        ") at dimension ", dim, " of input ", self.sizes(), " (in ", op, ")");
    TORCH_CHECK(
        !c10::add_overflows(size, before, &spec.sizes[dim]) &&
            !c10::add_overflows(spec.sizes[dim], after, &spec.sizes[dim]),
        op, ": padding ", padding, " overflows the size of dimension ", dim);
  }
  const bool fits = std::all_of(spec.sizes.begin() + first, spec.sizes.end(), [](int64_t size) { return size >= 1; });
  TORCH_CHECK(
      fits || n > 1, "input (", named_sizes(self.sizes(), n, ", "), ") is too small. Calculated output ",
      named_sizes(spec.sizes, n, ", "), " (in ", op, ")");
  TORCH_CHECK(
      fits, "Calculated output ", named_sizes(spec.sizes, n, " "), " must be >= 1 in every dimension (input ",
      named_sizes(self.sizes(), n, ", "), ") (in ", op, ")");
  if (ndim == n + 2) {
    spec.memory_format = self.suggest_memory_format();
  }
  return spec;
}

TensorSpec padded_backward(
    const char* op, const TensorBase& grad_output, const TensorBase& self, IntArrayRef padding, bool reflects) {
  TORCH_CHECK(
      grad_output.scalar_type() == self.scalar_type(), "expected scalar type ", grad_output.scalar_type(),
      " but found ", self.scalar_type(), " (in ", op, ": grad_output and self)");
  TORCH_CHECK(
      grad_output.device() == self.device(),
      "Expected all tensors to be on the same device, but found at least two devices, ", grad_output.device(), " and ",
      self.device(), "! (in ", op, ")");
  const TensorSpec forward = padded(op, self, padding, reflects);
  const int64_t n = padded_dims(op);
  TORCH_CHECK(
      grad_output.dim() == self.dim(), op, ": grad_output must have as many dimensions as self (", self.dim(),
      "), got sizes ", grad_output.sizes());
  static constexpr const char* kNames[] = {"depth", "height", "width"};
  for (int64_t i = 0; i < self.dim(); ++i) {
    const int64_t dim = self.dim() - 1 - i;
    TORCH_CHECK(
        grad_output.size(dim) == forward.sizes[dim], "grad_output ", i < n ? kNames[2 - i] : "batch or channels",
        " unexpected. Expected: ", forward.sizes[dim], ", Got: ", grad_output.size(dim), " (in ", op, ")");
  }
  TensorSpec spec = TensorSpec::like(self, self.sizes());
  spec.memory_format = forward.memory_format;
  return spec;
}

} // namespace

/// [batch,] channels, and padded sizes; channels-last if self is.
TensorSpec reflection_pad(const char* op, const TensorBase& self, IntArrayRef padding) {
  return padded(op, self, padding, /*reflects=*/true);
}

TensorSpec replication_pad(const char* op, const TensorBase& self, IntArrayRef padding) {
  return padded(op, self, padding, /*reflects=*/false);
}

/// Self's sizes; grad_output must have those of the padded tensor.
TensorSpec reflection_pad_backward(
    const char* op, const TensorBase& grad_output, const TensorBase& self, IntArrayRef padding) {
  return padded_backward(op, grad_output, self, padding, /*reflects=*/true);
}

TensorSpec replication_pad_backward(
    const char* op, const TensorBase& grad_output, const TensorBase& self, IntArrayRef padding) {
  return padded_backward(op, grad_output, self, padding, /*reflects=*/false);
}

// ---- strides of outputs that are not resized
// -------------------------------------------------------------------------

namespace {

void keep_strides(const TensorBase& out, TensorSpec& spec) {
  if (out.defined() && out.sizes() == IntArrayRef(spec.sizes)) {
    at::assert_no_internal_overlap(out);
    spec.strides.emplace(out.strides().begin(), out.strides().end());
  }
}

} // namespace

/// reflection_pad2d restrides outputs of batches alone.
void unbatched_as_given(std::initializer_list<const TensorBase*> outs, TensorSpec* specs) {
  if (specs->sizes.size() == 3) {
    keep_strides(**outs.begin(), *specs);
  }
}

/// The gradient of reflection_pad3d is not looked at where it has no elements.
void empty_as_given(std::initializer_list<const TensorBase*> outs, TensorSpec* specs) {
  if (c10::multiply_integers(specs->sizes) == 0) {
    keep_strides(**outs.begin(), *specs);
  }
}

} // namespace at::shape
