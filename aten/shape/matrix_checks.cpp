#include <aten/shape/matrix_checks.h>

#include <aten/core/dtype_dispatch.h>
#include <aten/shape/operand_checks.h>

namespace at::shape {

void check_matrix(const char* op, const TensorBase& t, const char* name) {
  TORCH_CHECK(
      t.dim() >= 2, op, ": The input tensor ", name, " must have at least 2 dimensions. Got a tensor of ", t.dim(),
      " dimension(s)");
}

void check_square(const char* op, const TensorBase& t, const char* name) {
  check_matrix(op, t, name);
  TORCH_CHECK(
      t.size(-1) == t.size(-2), op, ": ", name, " must be batches of square matrices, but they are ", t.size(-2),
      " by ", t.size(-1), " matrices");
}

void check_floating_or_complex(const char* op, const TensorBase& t, bool low_precision) {
  const auto dtype = t.scalar_type();
  TORCH_CHECK_NOT_IMPLEMENTED(
      c10::isFloatingType(dtype) || c10::isComplexType(dtype), op,
      ": Expected a floating point or complex tensor as input. Got ", dtype);
  TORCH_CHECK_NOT_IMPLEMENTED(
      low_precision || kFloatDouble.contains(dtype) || kComplex.contains(dtype), op,
      ": Low precision dtypes not supported. Got ", dtype);
}

void check_lapack_dtype(const char* kernel, const TensorBase& t) {
  constexpr auto known = kFloatDouble | kComplex;
  if (!known.contains(t.scalar_type())) {
    at::detail::dtype_not_supported(kernel, t.scalar_type(), known.bits);
  }
}

void check_same_kind(const char* op, const TensorBase& a, const TensorBase& b, const char* a_name, const char* b_name) {
  TORCH_CHECK(
      a.scalar_type() == b.scalar_type(), op, ": Expected ", a_name, " and ", b_name,
      " to have the same dtype, but found ", a_name, " of type ", a.scalar_type(), " and ", b_name, " of type ",
      b.scalar_type(), " instead");
  check_same_device(op, {&a, &b});
}

void check_solve_sizes(const char* op, const TensorBase& a, const TensorBase& b, bool left) {
  check_square(op, a);
  check_matrix(op, b, "B");
  TORCH_CHECK(
      a.size(-2) == b.size(left ? -2 : -1), op, ": Incompatible shapes of A and B for the equation ",
      left ? "AX = B" : "XA = B", " (", a.size(-2), "x", a.size(-1), " and ", b.size(-2), "x", b.size(-1), ")");
}

c10::DimVector batch_sizes(const TensorBase& t, int64_t trailing) {
  return c10::DimVector(t.sizes().begin(), t.sizes().end() - trailing);
}

c10::DimVector joined(IntArrayRef batch, IntArrayRef rest) {
  c10::DimVector sizes(batch.begin(), batch.end());
  sizes.insert(sizes.end(), rest.begin(), rest.end());
  return sizes;
}

c10::DimVector broadcast_batches(const char* op, IntArrayRef a, IntArrayRef b) {
  const IntArrayRef longer = a.size() >= b.size() ? a : b, shorter = a.size() >= b.size() ? b : a;
  c10::DimVector sizes(longer.begin(), longer.end());
  const size_t lead = longer.size() - shorter.size();
  for (size_t i = shorter.size(); i-- > 0;) {
    int64_t& size = sizes[lead + i];
    TORCH_CHECK(
        size == shorter[i] || size == 1 || shorter[i] == 1, "The size of tensor a (", a[a.size() - shorter.size() + i],
        ") must match the size of tensor b (", b[b.size() - shorter.size() + i], ") at non-singleton dimension ",
        lead + i, ": the batches of ", op, ", ", a, " and ", b, ", cannot be broadcast");
    size = size == 1 ? shorter[i] : size;
  }
  return sizes;
}

TensorSpec by_columns(const TensorBase& like, IntArrayRef sizes) {
  return by_columns(like, sizes, like.scalar_type());
}

TensorSpec by_columns(const TensorBase& like, IntArrayRef sizes, c10::ScalarType dtype) {
  TensorSpec spec = TensorSpec::like(like, sizes, dtype);
  const size_t ndim = sizes.size();
  c10::DimVector strides(ndim);
  int64_t step = 1;
  for (size_t i = ndim; i-- > 0;) {
    strides[i] = step;
    step *= std::max<int64_t>(sizes[i], 1);
  }
  strides[ndim - 2] = 1;
  strides[ndim - 1] = std::max<int64_t>(sizes[ndim - 2], 1);
  spec.strides = strides;
  return spec;
}

void check_castable_out(const char* name, const char* result, c10::ScalarType dtype, const TensorBase& out) {
  TORCH_CHECK(
      c10::canCast(dtype, out.scalar_type()), name, ": Expected ", result, " to be safely castable from ", dtype,
      " dtype, but got ", result, " with dtype ", out.scalar_type());
}

bool fits_in_place(const TensorBase& out, const TensorSpec& spec) {
  if (!out.defined() || out.layout() != kStrided || out.scalar_type() != spec.dtype) {
    return false;
  }
  if (out.numel() == 0) {
    return true;
  }
  if (out.sizes() != IntArrayRef(spec.sizes)) {
    return false;
  }
  return spec.strides.has_value() ? out.strides() == IntArrayRef(*spec.strides) : out.is_contiguous();
}

void give_own_layout(const TensorBase& out, TensorSpec& spec, bool in_place) {
  if (!in_place) {
    spec.strides.reset();
  } else if (out.numel() == 0 && out.sizes() == IntArrayRef(spec.sizes)) {
    c10::TensorImpl* const impl = out.unsafeGetTensorImpl();
    spec.strides.has_value() ? impl->set_sizes_and_strides(spec.sizes, *spec.strides)
                             : impl->set_sizes_contiguous(spec.sizes);
  }
}

TensorSpec nothing(const TensorBase& like, c10::ScalarType dtype) {
  return TensorSpec::like(like, {0}, dtype);
}

} // namespace at::shape
