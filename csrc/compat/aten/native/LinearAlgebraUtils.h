// Checks, copies and shapes for operators on batches of matrices: the last two dimensions are rows and columns.
#pragma once

#include <aten/Functions.h>
#include <aten/core/Context.h>
#include <aten/core/Tensor.h>
#include <aten/iterator/ExpandUtils.h>
#include <c10/core/ScalarType.h>
#include <c10/util/accumulate.h>
#include <c10/util/strides.h>
#include <csrc/compat/aten/TensorUtils.h>
#include <csrc/compat/aten/native/TransposeType.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace at::native {

// ---- checks
// ----------------------------------------------------------------------------------------------------------

inline void check_mm_shapes(const Tensor& self, const Tensor& mat2, std::string_view func_name) {
  TORCH_CHECK(self.dim() == 2, func_name, ": self must be a matrix, got ", self.dim(), "-D tensor");
  TORCH_CHECK(mat2.dim() == 2, func_name, ": mat2 must be a matrix, got ", mat2.dim(), "-D tensor");
  TORCH_CHECK(
      self.size(1) == mat2.size(0), func_name, ": mat1 and mat2 shapes cannot be multiplied (", self.size(0), "x",
      self.size(1), " and ", mat2.size(0), "x", mat2.size(1), ")");
}

inline void checkIsMatrix(const Tensor& A, const char* f_name, const char* arg_name = "A") {
  TORCH_CHECK(A.dim() >= 2, f_name, ": The input tensor ", arg_name, " must have at least 2 dimensions.");
}

inline void squareCheckInputs(const Tensor& self, const char* f_name, const char* arg_name = "A") {
  checkIsMatrix(self, f_name, arg_name);
  TORCH_CHECK(
      self.size(-1) == self.size(-2), f_name, ": ", arg_name, " must be batches of square matrices, but they are ",
      self.size(-2), " by ", self.size(-1), " matrices");
}

/// For AX = B, or XA = B when not `left`.
inline void checkInputsSolver(const Tensor& A, const Tensor& B, bool left, const char* f_name) {
  squareCheckInputs(A, f_name, "A");
  checkIsMatrix(B, f_name, "B");
  const int64_t shared = left ? -2 : -1;
  TORCH_CHECK(
      A.size(shared) == B.size(shared), f_name, ": Incompatible shapes of A and B for the equation ",
      left ? "AX = B" : "XA = B", " (", A.size(-2), "x", A.size(-1), " and ", B.size(-2), "x", B.size(-1), ")");
}

/// For Ax = self.
inline void linearSolveCheckInputs(const Tensor& self, const Tensor& A, const char* name) {
  TORCH_CHECK(
      self.device() == A.device(), "Expected b and A to be on the same device, but found b on ", self.device(),
      " and A on ", A.device(), " instead.");
  TORCH_CHECK(
      self.scalar_type() == A.scalar_type(), "Expected b and A to have the same dtype, but found b of type ",
      self.scalar_type(), " and A of type ", A.scalar_type(), " instead.");
  TORCH_CHECK(
      A.dim() >= 2 && self.dim() >= 2, name, ": b and A must have at least 2 dimensions, got ", self.sizes(), " and ",
      A.sizes());
  TORCH_CHECK(
      A.size(-1) == A.size(-2), "A must be batches of square matrices, but they are ", A.size(-2), " by ", A.size(-1),
      " matrices");
  TORCH_CHECK(
      A.size(-1) == self.size(-2), "Incompatible matrix sizes for ", name, ": each A matrix is ", A.size(-1), " by ",
      A.size(-1), " but each b matrix is ", self.size(-2), " by ", self.size(-1));
}

/// Throws NotImplementedError for other dtypes.
inline void checkFloatingOrComplex(const Tensor& t, const char* f_name, bool allow_low_precision_dtypes = true) {
  const ScalarType dtype = t.scalar_type();
  TORCH_CHECK_NOT_IMPLEMENTED(
      isFloatingType(dtype) || isComplexType(dtype), f_name,
      ": Expected a floating point or complex tensor as input. Got ", dtype);
  const bool full = dtype == kFloat || dtype == kDouble || dtype == kComplexFloat || dtype == kComplexDouble;
  TORCH_CHECK_NOT_IMPLEMENTED(
      allow_low_precision_dtypes || full, f_name, ": Low precision dtypes not supported. Got ", dtype);
}

inline void checkAllSameDim(TensorList tensors, int64_t dim) {
  for (const Tensor& t : tensors) {
    TORCH_CHECK(t.dim() == dim, "Tensor dimension is ", t.dim(), ", expected ", dim, " instead.");
  }
}

inline void checkUplo(std::string_view uplo) {
  const char letter = uplo.size() == 1 ? static_cast<char>(std::toupper(static_cast<unsigned char>(uplo[0]))) : ' ';
  TORCH_CHECK(letter == 'U' || letter == 'L', "Expected UPLO argument to be 'L' or 'U', but got ", uplo);
}

inline void checkSameDevice(
    const std::string& fn_name, const Tensor& result, const Tensor& input, const std::string& result_name = "result") {
  TORCH_CHECK(
      result.device() == input.device(), fn_name, ": Expected ", result_name,
      " and input tensors to be on the same device, but got ", result_name, " on ", result.device(), " and input on ",
      input.device());
}

inline void checkLinalgCompatibleDtype(
    const std::string& fn_name, ScalarType out_type, ScalarType result_type, const std::string& out_name = "result") {
  TORCH_CHECK(
      c10::canCast(result_type, out_type), fn_name, ": Expected ", out_name, " to be safely castable from ",
      result_type, " dtype, but got ", out_name, " with dtype ", out_type);
}
inline void checkLinalgCompatibleDtype(
    const std::string& fn_name, const Tensor& result, const Tensor& input, const std::string& result_name = "result") {
  checkLinalgCompatibleDtype(fn_name, result.scalar_type(), input.scalar_type(), result_name);
}

inline void checkNotComplexTolerance(const Tensor& tol, std::string_view f_name, std::string_view tol_name) {
  TORCH_CHECK(
      !tol.is_complex(), f_name, ": ", tol_name, " tensor of complex type is not supported. Got ", tol.scalar_type());
}

// ---- matrices in memory
// ----------------------------------------------------------------------------------------------

/// Number of matrices, and of elements of each.
inline int64_t batchCount(const Tensor& batched_matrices) {
  int64_t count = 1;
  for (int64_t d = 0; d < batched_matrices.dim() - 2; ++d) {
    count *= batched_matrices.size(d);
  }
  return count;
}
inline int64_t matrixStride(const Tensor& batched_matrices) {
  return batched_matrices.size(-1) * batched_matrices.size(-2);
}

/// Strides of new memory, with the matrices by rows or, where `f_contig`, by columns.
inline DimVector batched_matrix_contiguous_strides(IntArrayRef sizes, bool f_contig = false) {
  DimVector strides = c10::contiguous_strides(sizes);
  const size_t dim = strides.size();
  if (f_contig && dim >= 2) {
    strides[dim - 1] = std::max<int64_t>(sizes[dim - 2], 1);
    strides[dim - 2] = 1;
  }
  return strides;
}

/// A copy whose matrices are column-major.
inline Tensor cloneBatchedColumnMajor(const Tensor& src) {
  return src.mT().clone(MemoryFormat::Contiguous).mT();
}

/// The same with `nrows` rows, where those beyond the ones of `src` are uninitialized, and broadcast to other batch
/// sizes.
inline Tensor copyBatchedColumnMajor(
    const Tensor& src, int64_t nrows = -1, OptionalIntArrayRef desired_batch_sizes = std::nullopt) {
  checkIsMatrix(src, "copyBatchedColumnMajor", "src");
  DimVector sizes;
  if (desired_batch_sizes.has_value()) {
    sizes.assign(desired_batch_sizes->begin(), desired_batch_sizes->end());
  } else {
    sizes.assign(src.sizes().begin(), src.sizes().end() - 2);
  }
  sizes.push_back(nrows == -1 ? src.size(-2) : nrows);
  sizes.push_back(src.size(-1));
  const Tensor copy =
      at::empty_strided(sizes, batched_matrix_contiguous_strides(sizes, /*f_contig=*/true), src.options());
  copy.narrow(-2, 0, src.size(-2)).copy_(src);
  return copy;
}

inline c10::MaybeOwned<Tensor> expect_resolved_conj(const Tensor& tensor) {
  return tensor.is_conj() ? c10::MaybeOwned<Tensor>::owned(tensor.resolve_conj())
                          : c10::MaybeOwned<Tensor>::borrowed(tensor);
}

/// `borrow` itself where `cond`, else a copy of `clone`: contiguous, or with its matrices by columns.
inline c10::MaybeOwned<Tensor> borrow_else_clone(bool cond, const Tensor& borrow, const Tensor& clone, bool contig) {
  if (cond) {
    return c10::MaybeOwned<Tensor>::borrowed(borrow);
  }
  return c10::MaybeOwned<Tensor>::owned(
      contig ? clone.clone(MemoryFormat::Contiguous) : cloneBatchedColumnMajor(clone));
}

inline Tensor same_stride_to(const Tensor& original_tensor, const TensorOptions& options) {
  return at::empty_strided(original_tensor.sizes(), original_tensor.strides(), options).copy_(original_tensor);
}

inline bool is_row_or_column_contiguous(const Tensor& t) {
  return t.is_contiguous() || t.transpose(-2, -1).is_contiguous();
}

namespace detail {

/// Can BLAS take the matrices whose elements of dimension `inner` lie side by side, those of `outer` a leading
/// dimension apart?
inline bool is_blas_compatible(const Tensor& input, int64_t inner, int64_t outer) {
  const int64_t leading = input.stride(outer);
  return input.stride(inner) == 1 && leading >= std::max<int64_t>(1, input.size(inner)) &&
      (input.dim() < 3 || input.stride(-3) >= leading * input.size(outer));
}

} // namespace detail

/// May BLAS take a matrix, or a batch of them, as it lies in memory?
inline bool is_blas_compatible_column_major_order(const Tensor& input) {
  checkIsMatrix(input, "is_blas_compatible_column_major_order", "input");
  return input.dim() > 3 ? input.mT().is_contiguous() : detail::is_blas_compatible(input, -2, -1);
}
inline bool is_blas_compatible_row_major_order(const Tensor& input) {
  checkIsMatrix(input, "is_blas_compatible_row_major_order", "input");
  return input.dim() > 3 ? input.is_contiguous() : detail::is_blas_compatible(input, -1, -2);
}

// ---- broadcasting of batches
// -----------------------------------------------------------------------------------------

/// The sizes to which two batches of matrices are expanded.
inline std::tuple<std::vector<int64_t>, std::vector<int64_t>> _linalg_broadcast_batch_dims(
    const Tensor& arg1, const Tensor& arg2) {
  checkIsMatrix(arg1, "_linalg_broadcast_batch_dims", "arg1");
  checkIsMatrix(arg2, "_linalg_broadcast_batch_dims", "arg2");
  std::vector<int64_t> sizes1 =
      at::infer_size(arg1.sizes().slice(0, arg1.dim() - 2), arg2.sizes().slice(0, arg2.dim() - 2));
  std::vector<int64_t> sizes2 = sizes1;
  sizes1.insert(sizes1.end(), {arg1.size(-2), arg1.size(-1)});
  sizes2.insert(sizes2.end(), {arg2.size(-2), arg2.size(-1)});
  return {std::move(sizes1), std::move(sizes2)};
}
/// The expanded batches. With a name they are checked as right side and matrix of a linear system.
inline std::tuple<Tensor, Tensor> _linalg_broadcast_batch_dims(
    const Tensor& arg1, const Tensor& arg2, const char* name) {
  if (name != nullptr) {
    linearSolveCheckInputs(arg1, arg2, name);
  }
  const auto [sizes1, sizes2] = _linalg_broadcast_batch_dims(arg1, arg2);
  return {arg1.sizes() == sizes1 ? arg1 : arg1.expand(sizes1), arg2.sizes() == sizes2 ? arg2 : arg2.expand(sizes2)};
}

inline std::vector<int64_t> broadcast_batch_size(const Tensor& t1, const Tensor& t2, int64_t n_batch_dims) {
  return at::infer_size(t1.sizes().slice(0, n_batch_dims), t2.sizes().slice(0, n_batch_dims));
}

/// Is `other` a vector, or a batch of them, rather than matrices, beside the matrices of `input`?
inline bool linalg_solve_is_vector_rhs(const Tensor& input, const Tensor& other) {
  return other.dim() == 1 ||
      (input.dim() - 1 == other.dim() && other.sizes() == input.sizes().slice(0, static_cast<size_t>(input.dim()) - 1));
}

/// For each element of `broadcast_shape`, which of the `numel` ones of `original_shape` it is.
inline Tensor get_linear_indices(int64_t numel, IntArrayRef original_shape, IntArrayRef broadcast_shape) {
  return at::arange(numel, TensorOptions(kLong).device(kCPU))
      .view(original_shape)
      .broadcast_to(broadcast_shape)
      .contiguous();
}

/// The same as a function of the number of the element.
class BroadcastLinearIndices {
 public:
  BroadcastLinearIndices(int64_t numel, IntArrayRef original_shape, IntArrayRef broadcast_shape)
      : indices_(
            original_shape == broadcast_shape ? Tensor() : get_linear_indices(numel, original_shape, broadcast_shape)) {
  }
  int64_t operator()(int64_t broadcast_linear_index) const {
    return indices_.defined() ? indices_.const_data_ptr<int64_t>()[broadcast_linear_index] : broadcast_linear_index;
  }

 private:
  Tensor indices_;
};

/// Calls f(a, b, i) for each matrix of `b` with pointers to it and to the matrix of `a` that is broadcast over it, the
/// i-th. One that is met again has its values of before the call, so f may change it.
template <typename scalar_t, typename func_t>
void batch_iterator_with_broadcasting(const Tensor& a, const Tensor& b, const func_t& f) {
  const auto batch_sizes = [](const Tensor& t) { return t.sizes().slice(0, static_cast<size_t>(t.dim()) - 2); };
  const BroadcastLinearIndices a_of_b(batchCount(a), batch_sizes(a), batch_sizes(b));
  const Tensor matrices_a = a.view({batchCount(a), a.size(-2), a.size(-1)});
  const Tensor matrices_b = b.view({batchCount(b), b.size(-2), b.size(-1)});
  const bool shared = batch_sizes(a) != batch_sizes(b);
  const Tensor before = shared ? matrices_a.clone() : Tensor();
  std::vector<bool> used(static_cast<size_t>(batchCount(a)));
  for (int64_t i = 0; i < batchCount(b); ++i) {
    const int64_t j = a_of_b(i);
    const Tensor matrix_a = matrices_a.select(0, j);
    if (shared && used[j]) {
      matrix_a.copy_(before.select(0, j));
    }
    used[j] = true;
    f(matrix_a.template data_ptr<scalar_t>(), matrices_b.select(0, i).template data_ptr<scalar_t>(), j);
  }
}

// ---- permutations
// ----------------------------------------------------------------------------------------------------

/// The tensor with the dimensions `axes` behind the others.
inline Tensor _move_to_end(const Tensor& self, IntArrayRef axes) {
  std::vector<int64_t> order;
  for (int64_t d = 0; d < self.dim(); ++d) {
    if (std::find(axes.begin(), axes.end(), d) == axes.end()) {
      order.push_back(d);
    }
  }
  order.insert(order.end(), axes.begin(), axes.end());
  TORCH_CHECK(
      static_cast<int64_t>(order.size()) == self.dim(),
      "duplicate or invalid axis in 'dim' argument for tensor with ndim==", self.dim());
  return self.permute(order);
}

/// The order of dimensions that has dim0 and dim1 at the end.
inline std::vector<int64_t> create_dim_backshift_permutation(int64_t dim0, int64_t dim1, int64_t ndim) {
  TORCH_CHECK(
      dim0 != dim1 && 0 <= dim0 && dim0 < ndim && 0 <= dim1 && dim1 < ndim, "duplicate or invalid dimensions ", dim0,
      " and ", dim1, " for ", ndim);
  std::vector<int64_t> permutation;
  for (int64_t d = 0; d < ndim; ++d) {
    if (d != dim0 && d != dim1) {
      permutation.push_back(d);
    }
  }
  permutation.insert(permutation.end(), {dim0, dim1});
  return permutation;
}

/// What undoes a permutation.
inline std::vector<int64_t> create_reverse_permutation(const std::vector<int64_t>& permutation) {
  std::vector<int64_t> reverse(permutation.size());
  for (size_t i = 0; i < permutation.size(); ++i) {
    reverse.at(permutation[i]) = static_cast<int64_t>(i);
  }
  return reverse;
}

// ---- factorizations
// --------------------------------------------------------------------------------------------------

inline double _get_epsilon(const ScalarType& sc_type) {
  TORCH_CHECK(sc_type == kFloat || sc_type == kDouble, "_get_epsilon: got ", sc_type, ", must be float or double");
  return sc_type == kFloat ? static_cast<double>(std::numeric_limits<float>::epsilon())
                           : std::numeric_limits<double>::epsilon();
}

/// Whether Q is to be computed, and whether it has no more columns than the input.
inline std::tuple<bool, bool> _parse_qr_mode(std::string_view mode) {
  TORCH_CHECK(
      mode == "reduced" || mode == "complete" || mode == "r", "qr received unrecognized mode '", mode,
      "' but expected one of 'reduced' (default), 'r', or 'complete'");
  return {mode != "r", mode != "complete"};
}

/// Sizes, strides by columns, and number of columns of Q.
inline std::tuple<DimVector, DimVector, int64_t> _compute_geometry_for_Q(const Tensor& input, bool reduced) {
  checkIsMatrix(input, "_compute_geometry_for_Q", "input");
  const int64_t m = input.size(-2);
  const int64_t n = input.size(-1);
  DimVector sizes(input.sizes().begin(), input.sizes().end());
  const bool square = !reduced && m > n;
  sizes.back() = square ? m : n;
  DimVector strides = batched_matrix_contiguous_strides(sizes, /*f_contig=*/true);
  return {std::move(sizes), std::move(strides), square ? m : std::min(m, n)};
}

/// Length of the array of reals that LAPACK's gesdd needs for complex matrices.
inline int64_t computeLRWorkDim(char jobz, int64_t m, int64_t n) {
  const int64_t small = std::min(m, n);
  const int64_t large = std::max(m, n);
  if (jobz == 'N') {
    return 5 * small;
  }
  const int64_t square = 5 * small * small + 5 * small;
  return large > 10 * small ? square : std::max(square, 2 * large * small + 2 * small * small + small);
}

} // namespace at::native
