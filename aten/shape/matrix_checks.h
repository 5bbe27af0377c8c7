// Checks and layouts that the shape functions of linear algebra share. Messages begin with PyTorch's phrases.
#pragma once

#include <aten/core/TensorSpec.h>

#include <string>

namespace at::shape {

/// Throws unless `t` has two dimensions or more.
void check_matrix(const char* op, const TensorBase& t, const char* name = "A");
/// Throws unless `t` is a batch of square matrices.
void check_square(const char* op, const TensorBase& t, const char* name = "A");
/// Throws NotImplementedError for integers, and for half and bfloat16 unless `low_precision`.
void check_floating_or_complex(const char* op, const TensorBase& t, bool low_precision = true);
/// Throws NotImplementedError, `"kernel" not implemented for 'Half'`, unless LAPACK knows the dtype.
void check_lapack_dtype(const char* kernel, const TensorBase& t);
/// Throws unless both have one dtype and one device.
void check_same_kind(const char* op, const TensorBase& a, const TensorBase& b, const char* a_name, const char* b_name);
/// Throws unless the rows (or columns, when solving from the right) of B fit the square A.
void check_solve_sizes(const char* op, const TensorBase& a, const TensorBase& b, bool left);

/// The sizes in front of the last `trailing` dimensions.
c10::DimVector batch_sizes(const TensorBase& t, int64_t trailing = 2);
/// `batch` followed by `rest`.
c10::DimVector joined(IntArrayRef batch, IntArrayRef rest);
/// Broadcast of two batches. Throws "The size of tensor a (x) must match the size of tensor b (y) at ...".
c10::DimVector broadcast_batches(const char* op, IntArrayRef a, IntArrayRef b);

/// Matrices that are column-major, as LAPACK leaves them.
TensorSpec by_columns(const TensorBase& like, IntArrayRef sizes);
TensorSpec by_columns(const TensorBase& like, IntArrayRef sizes, c10::ScalarType dtype);
/// Throws "NAME: Expected RESULT to be safely castable from ...", unless `out` can hold `dtype`.
void check_castable_out(const char* name, const char* result, c10::ScalarType dtype, const TensorBase& out);
/// Whether LAPACK can write to `out` itself: it is empty, or as `spec` says.
bool fits_in_place(const TensorBase& out, const TensorSpec& spec);
/// Gives an empty `out` that is written in place the strides of `spec`; else takes them from `spec`, so that a resized
/// output lies by rows.
void give_own_layout(const TensorBase& out, TensorSpec& spec, bool in_place);
/// A result that was not asked for.
TensorSpec nothing(const TensorBase& like, c10::ScalarType dtype);

} // namespace at::shape
