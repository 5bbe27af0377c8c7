// Shape functions of joining and rearranging operators.
#include <aten/core/Tensor.h>
#include <aten/core/TensorSpec.h>
#include <aten/iterator/MemoryOverlap.h>
#include <aten/native/explicit/type_properties.h>
#include <aten/native/support/convert.h>

#include <c10/core/WrapDimMinimal.h>
#include <c10/util/safe_numerics.h>

#include <bitset>

namespace at::shape {
namespace {

/// An empty 1-D tensor joins with anything: it stands for "nothing yet".
bool is_skipped(const Tensor& t) {
  return t.dim() == 1 && t.numel() == 0;
}

} // namespace

/// The output of cat and of what is made of it takes every dtype that theirs can be cast to, and shares no memory with
/// them.
void joined_out(const char*, TensorList tensors, const TensorBase& out) {
  TORCH_CHECK_TYPE(
      tensors.empty() || c10::canCast(at::native::result_type(tensors), out.scalar_type()),
      "torch.cat(): input types can't be cast to the desired output type ", out.scalar_type());
  for (const Tensor& t : tensors) {
    at::assert_no_overlap(out, t);
  }
}
void joined_out(const char* op, TensorList tensors, int64_t, const TensorBase& out) {
  joined_out(op, tensors, out);
}
void joined_out(const char* op, TensorList tensors, int64_t, int64_t, const TensorBase& out) {
  joined_out(op, tensors, out);
}

/// Of a vector, a dtype that cannot hold its values is refused in other words than one that is just another.
void diag_out(const char* op, const TensorBase& self, int64_t, const TensorBase& out) {
  TORCH_CHECK(
      self.dim() != 1 || c10::canCast(self.scalar_type(), out.scalar_type()), op, ": result type ", self.scalar_type(),
      " can't be cast to the desired out= type ", out.scalar_type());
}

void narrow_copy_out(const char* op, const TensorBase& self, int64_t, int64_t, int64_t, const TensorBase& out) {
  TORCH_CHECK(
      self.scalar_type() == out.scalar_type(),
      "Expected self.dtype() == output.dtype() to be true, but got false.  "
      "(Could this error message be improved?  If so, please report an enhancement request to PyTorch.) ",
      op, " got self (", self.scalar_type(), ") and output (", out.scalar_type(), ")");
}

/// Equal sizes except along `dim`; 1-D tensors of size 0 are skipped; dtypes are promoted.
TensorSpec cat(const char* op, TensorList tensors, int64_t dim) {
  TORCH_CHECK(!tensors.empty(), "torch.", op, "(): expected a non-empty list of Tensors");
  for (size_t i = 0; i < tensors.size(); ++i) {
    TORCH_CHECK(tensors[i].defined(), op, ": tensor number ", i, " in the list is undefined");
    TORCH_CHECK(tensors[i].dim() != 0, "zero-dimensional tensor (at position ", i, ") cannot be concatenated");
    TORCH_CHECK(
        tensors[i].device() == tensors[0].device(),
        "Expected all tensors to be on the same device, but found at least two "
        "devices, ",
        tensors[0].device(), " and ", tensors[i].device(), "! (in ", op, ", tensor number ", i, ")");
  }
  const ScalarType dtype = at::native::result_type(tensors);
  const Tensor* first = nullptr;
  for (const Tensor& t : tensors) {
    if (!is_skipped(t)) {
      first = &t;
      break;
    }
  }
  if (first == nullptr) {
    c10::maybe_wrap_dim(dim, 1);
    return TensorSpec::like(tensors[0], {0}, dtype);
  }
  dim = c10::maybe_wrap_dim(dim, first->dim());
  TensorSpec spec = TensorSpec::like(*first, first->sizes(), dtype);
  spec.sizes[dim] = 0;
  bool same_format = true;
  const MemoryFormat format = first->suggest_memory_format();
  for (size_t i = 0; i < tensors.size(); ++i) {
    const Tensor& t = tensors[i];
    if (is_skipped(t)) {
      continue;
    }
    same_format = same_format && t.suggest_memory_format() == format;
    TORCH_CHECK(
        t.dim() == first->dim(), "Tensors must have same number of dimensions: got ", first->dim(), " and ", t.dim());
    for (int64_t d = 0; d < t.dim(); ++d) {
      TORCH_CHECK(
          d == dim || t.size(d) == first->size(d), "Sizes of tensors must match except in dimension ", dim,
          ". Expected size ", first->size(d), " but got size ", t.size(d), " for tensor number ", i, " in the list.");
    }
    TORCH_CHECK(!c10::add_overflows(spec.sizes[dim], t.size(dim), &spec.sizes[dim]), op, ": the joined size overflows");
  }
  if (same_format) {
    spec.memory_format = format;
  }
  return spec;
}

/// Self's shape; each dim at most once.
TensorSpec flip(const char* op, const TensorBase& self, IntArrayRef dims) {
  std::bitset<64> seen;
  for (const int64_t d : dims) {
    const int64_t dim = c10::maybe_wrap_dim(d, self.dim());
    TORCH_CHECK(!seen[dim], "dim ", dim, " appears multiple times in the list of dims (in ", op, ")");
    seen[dim] = true;
  }
  TensorSpec spec = TensorSpec::like(self, self.sizes());
  spec.strides = at::native::dense_strides_like(self.sizes(), self.strides(), self.is_non_overlapping_and_dense());
  return spec;
}

} // namespace at::shape
