#include <csrc/compat/aten/TensorUtils.h>

#include <aten/native/support/view_support.h>

#include <algorithm>
#include <ostream>
#include <sstream>

namespace at {
namespace {

/// The end of every message.
struct From {
  CheckedFrom c;
};
std::ostream& operator<<(std::ostream& out, From from) {
  return out << " (while checking arguments for " << from.c << ")";
}

/// The name of an argument, without the geometry that an undefined tensor does not have.
struct Name {
  const char* name;
  int pos;
  explicit Name(const TensorArg& t) : name(t.name), pos(t.pos) {}
  explicit Name(const TensorGeometryArg& t) : name(t.name), pos(t.pos) {}
  Name(const char* name, int pos) : name(name), pos(pos) {}
};
std::ostream& operator<<(std::ostream& out, const Name& t) {
  if (t.pos != 0) {
    out << "argument #" << t.pos << ' ';
  }
  return out << "'" << t.name << "'";
}

void check_dim(CheckedFrom c, Name name, int64_t got, int64_t dim) {
  TORCH_CHECK(
      got == dim, "Expected ", dim, "-dimensional tensor, but got ", got, "-dimensional tensor for ", name, From{c});
}

/// Runs a check of pairs on the first defined tensor and each other one.
template <class Check>
void check_all_same(CheckedFrom c, ArrayRef<TensorArg> tensors, Check check) {
  const TensorArg* first = nullptr;
  for (const TensorArg& t : tensors) {
    if (!t->defined()) {
      continue;
    }
    if (first == nullptr) {
      first = &t;
    } else {
      check(c, *first, t);
    }
  }
}

} // namespace

std::ostream& operator<<(std::ostream& out, const TensorGeometryArg& t) {
  return out << Name(t);
}

// ---- geometry ------------------------------------------------------------------

void checkDim(CheckedFrom c, const Tensor& tensor, const char* name, int pos, int64_t dim) {
  check_dim(c, Name(name, pos), tensor.dim(), dim);
}

void checkDim(CheckedFrom c, const TensorGeometryArg& t, int64_t dim) {
  check_dim(c, Name(t), t->dim(), dim);
}

void checkDimRange(CheckedFrom c, const TensorGeometryArg& t, int64_t dim_start, int64_t dim_end) {
  TORCH_CHECK(
      t->dim() >= dim_start && t->dim() < dim_end, "Expected ", dim_start, " to ", dim_end - 1, " dimensions, but got ",
      t->dim(), "-dimensional tensor for ", t, From{c});
}

void checkSameDim(CheckedFrom c, const TensorGeometryArg& t1, const TensorGeometryArg& t2) {
  TORCH_CHECK(
      t1->dim() == t2->dim(), "Expected tensor for ", t1, " to have the same dimension as tensor for ", t2, "; but ",
      t1->dim(), " does not equal ", t2->dim(), From{c});
}

void checkContiguous(CheckedFrom c, const TensorGeometryArg& t) {
  TORCH_CHECK(
      t->is_contiguous(), "Expected contiguous tensor, but got non-contiguous tensor for ", t, From{c},
      "; it has sizes ", t->sizes(), " and strides ", t->strides(), ". Call .contiguous() on it first.");
}

void checkAllContiguous(CheckedFrom c, ArrayRef<TensorArg> ts) {
  for (const TensorArg& t : ts) {
    if (t->defined()) {
      checkContiguous(c, t);
    }
  }
}

void checkSize(CheckedFrom c, const TensorGeometryArg& t, IntArrayRef sizes) {
  checkDim(c, t, static_cast<int64_t>(sizes.size()));
  TORCH_CHECK(
      t->sizes() == sizes, "Expected tensor of size ", sizes, ", but got tensor of size ", t->sizes(), " for ", t,
      From{c});
}

void checkSize(CheckedFrom c, const TensorGeometryArg& t, int64_t dim, int64_t size) {
  const int64_t got = t->size(dim);
  TORCH_CHECK(
      got == size, "Expected tensor to have size ", size, " at dimension ", dim, ", but got size ", got, " for ", t,
      From{c});
}

void checkSize_symint(CheckedFrom c, const TensorGeometryArg& t, c10::SymIntArrayRef sizes) {
  checkSize(c, t, C10_AS_INTARRAYREF_SLOW(sizes));
}

void checkSize_symint(CheckedFrom c, const TensorGeometryArg& t, int64_t dim, const c10::SymInt& size) {
  checkSize(c, t, dim, size.guard_int(__FILE__, __LINE__));
}

void checkNumel(CheckedFrom c, const TensorGeometryArg& t, int64_t numel) {
  TORCH_CHECK(
      t->numel() == numel, "Expected tensor for ", t, " to have ", numel, " elements; but it actually has ", t->numel(),
      " elements", From{c});
}

// ---- pairs ---------------------------------------------------------------------

void checkSameNumel(CheckedFrom c, const TensorArg& t1, const TensorArg& t2) {
  TORCH_CHECK(
      t1->numel() == t2->numel(), "Expected tensor for ", Name(t1), " to have same number of elements as tensor for ",
      Name(t2), "; but ", t1->numel(), " does not equal ", t2->numel(), From{c});
}

void checkSameSize(CheckedFrom c, const TensorArg& t1, const TensorArg& t2) {
  TORCH_CHECK(
      t1->sizes() == t2->sizes(), "Expected tensor for ", Name(t1), " to have same size as tensor for ", Name(t2),
      "; but ", t1->sizes(), " does not equal ", t2->sizes(), From{c});
}

void checkSameType(CheckedFrom c, const TensorArg& t1, const TensorArg& t2) {
  TORCH_CHECK(
      t1->options().type_equal(t2->options()), "Expected tensor for ", Name(t1),
      " to have the same type as tensor for ", Name(t2), "; but type ", t1->toString(), " does not equal ",
      t2->toString(), From{c});
}

void checkSameGPU(CheckedFrom c, const TensorArg& t1, const TensorArg& t2) {
  if (t1->is_cpu() || t2->is_cpu()) {
    std::ostringstream found;
    for (const TensorArg* t : {&t1, &t2}) {
      if ((*t)->is_cpu()) {
        found << "Tensor for " << Name(*t) << " is on CPU, ";
      }
    }
    TORCH_CHECK(
        false, found.str(), "but expected ", t1->is_cpu() && t2->is_cpu() ? "them" : "it", " to be on GPU", From{c});
  }
  TORCH_CHECK(
      t1->get_device() == t2->get_device(), "Expected tensor for ", Name(t1), " to have the same device as tensor for ",
      Name(t2), "; but device ", t1->get_device(), " does not equal ", t2->get_device(), From{c});
}

void checkAllSameNumel(CheckedFrom c, ArrayRef<TensorArg> tensors) {
  check_all_same(c, tensors, checkSameNumel);
}

void checkAllSameSize(CheckedFrom c, ArrayRef<TensorArg> tensors) {
  check_all_same(c, tensors, checkSameSize);
}

void checkAllSameType(CheckedFrom c, ArrayRef<TensorArg> tensors) {
  check_all_same(c, tensors, checkSameType);
}

void checkAllSameGPU(CheckedFrom c, ArrayRef<TensorArg> tensors) {
  check_all_same(c, tensors, checkSameGPU);
}

// ---- dtype, device, layout -------------------------------------------------------

void checkScalarType(CheckedFrom c, const TensorArg& t, ScalarType s) {
  TORCH_CHECK(
      t->scalar_type() == s, "Expected tensor for ", Name(t), " to have scalar type ", s, "; but got ", t->toString(),
      " instead", From{c});
}

void checkScalarTypes(CheckedFrom c, const TensorArg& t, ArrayRef<ScalarType> l) {
  if (std::find(l.begin(), l.end(), t->scalar_type()) != l.end()) {
    return;
  }
  std::ostringstream wanted;
  for (size_t i = 0; i < l.size(); ++i) {
    wanted << (i > 0 ? ", " : "") << l[i];
  }
  TORCH_CHECK(
      false, "Expected tensor for ", Name(t), " to have one of the following scalar types: ", wanted.str(),
      "; but got ", t->toString(), " instead", From{c});
}

void checkDefined(CheckedFrom c, const TensorArg& t) {
  TORCH_CHECK(t->defined(), "Expected tensor for ", Name(t), " to be non-null, but it was undefined", From{c});
}

void checkAllDefined(CheckedFrom c, ArrayRef<TensorArg> tensors) {
  for (const TensorArg& t : tensors) {
    checkDefined(c, t);
  }
}

void checkBackend(CheckedFrom c, ArrayRef<Tensor> tensors, Backend backend) {
  for (const Tensor& t : tensors) {
    TORCH_CHECK(
        !t.defined() || t.options().backend() == backend, "Expected tensor to have ", backend,
        " Backend, but got tensor with ", t.options().backend(), " Backend", From{c});
  }
}

void checkDeviceType(CheckedFrom c, ArrayRef<Tensor> tensors, DeviceType device_type) {
  for (const Tensor& t : tensors) {
    TORCH_CHECK(
        !t.defined() || t.device().type() == device_type, "Expected tensor to have ", device_type,
        " DeviceType, but got tensor with ", t.device().type(), " DeviceType", From{c});
  }
}

void checkLayout(CheckedFrom c, const Tensor& t, Layout layout) {
  TORCH_CHECK(
      !t.defined() || t.layout() == layout, "Expected tensor to have ", layout, " Layout, but got tensor with ",
      t.layout(), " Layout", From{c});
}

void checkLayout(CheckedFrom c, ArrayRef<Tensor> tensors, Layout layout) {
  for (const Tensor& t : tensors) {
    checkLayout(c, t, layout);
  }
}

// ---- the rest ----------------------------------------------------------------------

void* maybe_data_ptr(const Tensor& tensor) {
  return tensor.defined() ? tensor.data_ptr() : nullptr;
}

void* maybe_data_ptr(const TensorArg& tensor) {
  return maybe_data_ptr(*tensor);
}

void check_dim_size(const Tensor& tensor, int64_t dim, int64_t dim_size, int64_t size) {
  const bool has_dim = dim_size < tensor.dim() && dim_size >= -tensor.dim();
  TORCH_CHECK(
      tensor.dim() == dim && has_dim && tensor.size(dim_size) == size, "Expected a tensor of dimension ", dim,
      " and tensor.size[", dim_size, "] == ", size, " but got: dimension ", tensor.dim(), " and sizes ",
      tensor.sizes());
}

namespace detail {

std::vector<int64_t> defaultStrides(IntArrayRef sizes) {
  const TensorGeometry contiguous(sizes);
  return contiguous.strides().vec();
}

std::optional<c10::DimVector> computeStride(
    IntArrayRef oldshape, IntArrayRef oldstride, const c10::DimVector& newshape) {
  TORCH_CHECK(
      oldshape.size() == oldstride.size(), "computeStride: the old shape ", oldshape, " and its strides ", oldstride,
      " must be of one length");
  return at::native::compute_view_strides(oldshape, oldstride, newshape);
}

std::optional<std::vector<int64_t>> computeStride(IntArrayRef oldshape, IntArrayRef oldstride, IntArrayRef newshape) {
  const auto strides = computeStride(oldshape, oldstride, c10::DimVector(newshape.begin(), newshape.end()));
  return strides ? std::optional(std::vector<int64_t>(strides->begin(), strides->end())) : std::nullopt;
}

std::optional<SymDimVector> computeStride(
    c10::SymIntArrayRef oldshape, c10::SymIntArrayRef oldstride, c10::SymIntArrayRef newshape) {
  const IntArrayRef shape = C10_AS_INTARRAYREF_SLOW(newshape);
  const auto strides = computeStride(
      C10_AS_INTARRAYREF_SLOW(oldshape), C10_AS_INTARRAYREF_SLOW(oldstride),
      c10::DimVector(shape.begin(), shape.end()));
  return strides ? std::optional(SymDimVector(strides->begin(), strides->end())) : std::nullopt;
}

} // namespace detail
} // namespace at
