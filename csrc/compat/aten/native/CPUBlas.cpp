#include <csrc/compat/aten/native/CPUBlas.h>

#include <aten/Functions.h>
#include <aten/core/LegacyTypeDispatch.h>
#include <aten/core/from_blob.h>
#include <c10/util/Exception.h>

#include <cstring>

namespace at::native::cpublas {

namespace {

// The memory as a matrix with these distances between rows and columns.
Tensor matrix_in(const void* data, c10::ScalarType dtype, int64_t rows, int64_t columns, int64_t row, int64_t column) {
  return at::from_blob(const_cast<void*>(data), {rows, columns}, {row, column}, TensorOptions(dtype));
}

// op(matrix), rows x columns, of one that is column-major.
Tensor column_major(const detail::Operand& matrix, int64_t rows, int64_t columns) {
  if (matrix.trans == TransposeType::NoTranspose) {
    return matrix_in(matrix.data, matrix.dtype, rows, columns, 1, matrix.ld);
  }
  const Tensor transposed = matrix_in(matrix.data, matrix.dtype, rows, columns, matrix.ld, 1);
  return matrix.trans == TransposeType::ConjTranspose ? transposed.conj() : transposed;
}

void add_product(Tensor& out, const Tensor& a, const Tensor& b, const c10::Scalar& alpha, const c10::Scalar& beta) {
  const c10::ScalarType dtype = out.scalar_type();
  out.addmm_(a.to(dtype), b.to(dtype), beta, alpha);
}

int64_t steps_of(c10::ScalarType dtype) {
  return 4 / static_cast<int64_t>(c10::elementSize(dtype));
}

} // namespace

void detail::gemm(
    int64_t m,
    int64_t n,
    int64_t k,
    const c10::Scalar& alpha,
    const Operand& a,
    const Operand& b,
    const c10::Scalar& beta,
    c10::ScalarType dtype,
    void* c,
    int64_t ldc) {
  const AutoDispatchBelowADInplaceOrView guard;
  Tensor out = matrix_in(c, dtype, m, n, 1, ldc);
  add_product(out, column_major(a, m, k), column_major(b, k, n), alpha, beta);
}

void detail::brgemm(
    int64_t m,
    int64_t n,
    int64_t k,
    int64_t lda,
    int64_t ldb,
    int64_t ldc,
    bool add,
    c10::ScalarType a_dtype,
    const void* a,
    c10::ScalarType b_dtype,
    const void* b,
    c10::ScalarType dtype,
    void* c,
    int64_t steps) {
  const AutoDispatchBelowADInplaceOrView guard;
  Tensor right;
  if (steps == 1) {
    right = matrix_in(b, b_dtype, k, n, ldb, 1);
  } else {
    const int64_t groups = (k + steps - 1) / steps;
    right = at::from_blob(const_cast<void*>(b), {groups, steps, n}, {ldb * steps, 1, steps}, TensorOptions(b_dtype))
                .reshape({groups * steps, n})
                .narrow(0, 0, k);
  }
  Tensor out = matrix_in(c, dtype, m, n, ldc, 1);
  add_product(out, matrix_in(a, a_dtype, m, k, lda, 1), right, 1, add ? 1 : 0);
}

bool could_pack(c10::ScalarType dt_in) {
  switch (dt_in) {
    case c10::kHalf:
    case c10::kBFloat16:
    case c10::kByte:
    case c10::kChar:
    case c10::kFloat8_e4m3fn:
    case c10::kFloat8_e5m2:
      return true;
    default:
      return false;
  }
}

void pack(
    int64_t K,
    int64_t N,
    int64_t ld_in,
    int64_t ld_out,
    c10::ScalarType dt_in,
    c10::ScalarType dt_out,
    const void* in,
    void* out) {
  TORCH_CHECK(could_pack(dt_in), "pack: dtype ", dt_in, " is not packed; could_pack tells which are");
  TORCH_CHECK(dt_in == dt_out, "pack: the result must have the dtype of the matrix, ", dt_in, ", got ", dt_out);
  TORCH_CHECK(
      ld_in >= N && ld_out >= N, "pack: ld_in and ld_out must be at least N = ", N, ", got ", ld_in, " and ", ld_out);
  const auto size = static_cast<int64_t>(c10::elementSize(dt_in));
  const int64_t steps = steps_of(dt_in);
  const auto* from = static_cast<const char*>(in);
  auto* to = static_cast<char*>(out);
  for (int64_t k = 0; k < (K + steps - 1) / steps * steps; ++k) {
    char* const row = to + (k / steps * ld_out * steps + k % steps) * size;
    for (int64_t n = 0; n < N; ++n) {
      if (k < K) {
        std::memcpy(row + n * steps * size, from + (k * ld_in + n) * size, size);
      } else {
        std::memset(row + n * steps * size, 0, size);
      }
    }
  }
}

} // namespace at::native::cpublas
