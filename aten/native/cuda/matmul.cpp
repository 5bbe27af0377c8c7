// Kernels of mm, bmm, mv, dot and their add forms, through cuBLAS.
//
// cuBLAS thinks in columns: a row-major matrix is its transpose there. So C = A B by rows is computed as C' = B' A' by
// columns, with the operands' own memory. Half and bfloat16 accumulate in float; float is rounded to TF32 only where
// globalContext() allows it. A bias for each column, as layers have it, is added by the same kernel, which then
// takes relu or gelu where that is asked for (matmul_lt.cpp).
#include <aten/Functions.h>
#include <aten/core/Context.h>
#include <aten/core/TensorSpec.h>
#include <aten/core/dtype_dispatch.h>
#include <aten/cuda/CUDAContext.h>
#include <aten/cuda/Exceptions.h>
#include <aten/native/cuda/copy.h>
#include <aten/native/cuda/matmul.h>
#include <aten/native/cuda/matmul_lt.h>
#include <aten/native/support/cuda_shortcuts.h>
#include <aten/shape/functions.h>
#include <c10/core/DeviceGuard.h>

#include <cublas_v2.h>

#include <algorithm>
#include <tuple>

namespace at::native {

namespace cuda {

namespace {

constexpr auto kMatrixDtypes = kFloating | kComplex;

struct BlasTypes {
  cudaDataType_t data;
  cublasComputeType_t compute;
};

bool tf32_allowed() {
  return at::globalContext().allowTF32CuBLAS() && !at::NoTF32Guard::should_disable_tf32();
}

BlasTypes blas_types(const char* op, c10::ScalarType dtype, bool tf32 = tf32_allowed()) {
  switch (dtype) {
    case c10::ScalarType::Half:
      return {CUDA_R_16F, CUBLAS_COMPUTE_32F};
    case c10::ScalarType::BFloat16:
      return {CUDA_R_16BF, CUBLAS_COMPUTE_32F};
    case c10::ScalarType::Float:
      return {CUDA_R_32F, tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F};
    case c10::ScalarType::Double:
      return {CUDA_R_64F, CUBLAS_COMPUTE_64F};
    case c10::ScalarType::ComplexFloat:
      return {CUDA_C_32F, tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F};
    case c10::ScalarType::ComplexDouble:
      return {CUDA_C_64F, CUBLAS_COMPUTE_64F};
    default:
      at::detail::dtype_not_supported(op, dtype, kMatrixDtypes.bits);
  }
}

/// A factor in the type that cuBLAS computes in.
struct Factor {
  Factor(const Scalar& value, c10::ScalarType dtype) {
    switch (dtype) {
      case c10::ScalarType::Double:
        real64 = value.to<double>();
        break;
      case c10::ScalarType::ComplexFloat:
        complex32 = value.to<c10::complex<float>>();
        break;
      case c10::ScalarType::ComplexDouble:
        complex64 = value.to<c10::complex<double>>();
        break;
      default:
        real32 = value.to<float>();
        break;
    }
  }
  union {
    float real32;
    double real64;
    c10::complex<float> complex32;
    c10::complex<double> complex64;
  };
};

bool is_zero(const Scalar& value) {
  return value.isComplex() ? value.toComplexDouble() == c10::complex<double>(0, 0) : value.toDouble() == 0;
}

/// Rows in order with unit stride inside, as cuBLAS can address them.
bool is_row_major(const TensorBase& t) {
  const int64_t d = t.dim(), rows = t.size(d - 2), cols = t.size(d - 1);
  return (cols == 1 || t.stride(d - 1) == 1) && (rows == 1 || t.stride(d - 2) >= std::max<int64_t>(cols, 1));
}

/// The matrix, or batch of matrices, `t.transpose(-2, -1)`.
Tensor transposed(const Tensor& t) {
  return t.transpose(-2, -1);
}

/// A matrix as cuBLAS reads it.
struct Operand {
  Operand(const Tensor& t, c10::ScalarType dtype) : tensor(t) {
    bool by_rows = is_row_major(tensor);
    bool by_cols = !by_rows && is_row_major(transposed(tensor));
    // Conjugation comes with transposition only.
    if ((!by_rows && !by_cols) || (tensor.is_conj() && by_rows)) {
      tensor = tensor.is_conj() ? tensor.clone(MemoryFormat::Contiguous) : tensor.contiguous();
      by_rows = true;
      by_cols = false;
    }
    const int64_t d = tensor.dim(), rows = tensor.size(d - 2), cols = tensor.size(d - 1);
    if (by_cols) {
      operation = tensor.is_conj() && c10::isComplexType(dtype) ? CUBLAS_OP_C : CUBLAS_OP_T;
      leading = cols == 1 ? std::max<int64_t>(rows, 1) : tensor.stride(d - 1);
    } else {
      operation = CUBLAS_OP_N;
      leading = rows == 1 ? std::max<int64_t>(cols, 1) : tensor.stride(d - 2);
    }
    batch_stride = d == 3 ? tensor.stride(0) : 0;
  }
  const void* data() const {
    return tensor.const_data_ptr();
  }

  Tensor tensor;
  cublasOperation_t operation;
  int64_t leading;
  int64_t batch_stride;
};

/// May partial sums of 16-bit products be rounded to 16 bits on their way?
bool reduced_precision_allowed(c10::ScalarType dtype) {
  const Context& context = at::globalContext();
  return (dtype != c10::ScalarType::Half || context.allowFP16ReductionCuBLAS()) &&
      (dtype != c10::ScalarType::BFloat16 || context.allowBF16ReductionCuBLAS());
}

/// Tells the handle so, for the life of this object.
class ReducedPrecision {
 public:
  ReducedPrecision(cublasHandle_t handle, c10::ScalarType dtype)
      : handle_(handle), forbidden_(!reduced_precision_allowed(dtype)) {
    set(CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION);
  }
  ReducedPrecision(const ReducedPrecision&) = delete;
  ReducedPrecision& operator=(const ReducedPrecision&) = delete;
  ~ReducedPrecision() {
    set(CUBLAS_DEFAULT_MATH);
  }

 private:
  void set(int mode) const {
    if (forbidden_) {
      static_cast<void>(cublasSetMathMode(handle_, static_cast<cublasMath_t>(mode)));
    }
  }

  const cublasHandle_t handle_;
  const bool forbidden_;
};

/// out = alpha a b + beta out, for matrices or batches of them.
void multiply(
    const char* op,
    const Tensor& a,
    const Tensor& b,
    const Scalar& beta,
    const Scalar& alpha,
    const Tensor& out,
    bool tf32 = tf32_allowed()) {
  if (out.numel() == 0) {
    return;
  }
  const int64_t d = out.dim();
  if (a.size(d - 1) == 0) {
    Tensor result = out;
    is_zero(beta) ? result.zero_() : result.mul_(beta);
    return;
  }
  if (!is_row_major(out)) {
    if (is_row_major(transposed(out))) {
      return multiply(op, transposed(b), transposed(a), beta, alpha, transposed(out), tf32);
    }
    const Tensor dense = is_zero(beta) ? at::empty_like(out, MemoryFormat::Contiguous) : out.contiguous();
    multiply(op, a, b, beta, alpha, dense, tf32);
    copy_on_device(out, dense);
    return;
  }
  const c10::ScalarType dtype = out.scalar_type();
  const BlasTypes types = blas_types(op, dtype, tf32);
  const Factor alpha_value(alpha, dtype), beta_value(beta, dtype);
  const Operand left(a, dtype), right(b, dtype);
  const int64_t m = out.size(d - 2), n = out.size(d - 1), k = a.size(d - 1);
  const int64_t leading = m == 1 ? n : out.stride(d - 2);
  const int64_t batch = d == 3 ? out.size(0) : 1;
  const cublasHandle_t handle = at::cuda::getCurrentCUDABlasHandle();
  const ReducedPrecision precision(handle, dtype);
  TORCH_CUDABLAS_CHECK(cublasGemmStridedBatchedEx_64(
      handle, right.operation, left.operation, n, m, k, &alpha_value, right.data(), types.data, right.leading,
      right.batch_stride, left.data(), types.data, left.leading, left.batch_stride, &beta_value, out.mutable_data_ptr(),
      types.data, leading, d == 3 ? out.stride(0) : 0, batch, types.compute, CUBLAS_GEMM_DEFAULT));
}

/// out = self, broadcast; nothing to do for the in-place form.
void start_from(const TensorBase& self, const Tensor& out) {
  if (self.is_same(out)) {
    return;
  }
  const Tensor source = Tensor(self).expand(out.sizes());
  copy_on_device(out, self.is_conj() ? source.clone() : source);
}

/// out = epilogue(alpha a b + bias), where self is one element for each column, out is row-major and a kernel is to be
/// had. False: nothing has been done.
bool product_with_bias(
    const char* op,
    const TensorBase& self,
    const TensorBase& a,
    const TensorBase& b,
    const Scalar& beta,
    const Scalar& alpha,
    Epilogue epilogue,
    const TensorBase& out,
    bool tf32 = tf32_allowed()) {
  const c10::ScalarType dtype = out.scalar_type();
  const bool bias_for_columns = self.dim() == 1 && self.numel() == out.size(1) && self.scalar_type() == dtype &&
      (self.numel() == 1 || self.stride(0) == 1);
  if (!bias_for_columns || !c10::isFloatingType(dtype) || out.numel() == 0 || a.size(1) == 0 || !is_row_major(out) ||
      beta.toDouble() != 1) {
    return false;
  }
  const BlasTypes types = blas_types(op, dtype, tf32);
  const Operand left(Tensor(a), dtype), right(Tensor(b), dtype);
  const int64_t rows = out.size(0), columns = out.size(1);
  return multiply_with_epilogue(
      {types.data, types.compute, !reduced_precision_allowed(dtype), right.operation, left.operation, columns, rows,
       a.size(1), alpha.toDouble(), right.data(), right.leading, left.data(), left.leading, self.const_data_ptr(),
       epilogue, out.mutable_data_ptr(), rows == 1 ? columns : out.stride(0)});
}

void add_product(
    const char* op,
    const TensorBase& self,
    const TensorBase& a,
    const TensorBase& b,
    const Scalar& beta,
    const Scalar& alpha,
    const TensorBase& out) {
  blas_types(op, out.scalar_type());
  if (!is_zero(beta)) {
    start_from(self, Tensor(out));
  }
  multiply(op, Tensor(a), Tensor(b), beta, alpha, Tensor(out));
}

Tensor as_column(const TensorBase& vector) {
  return Tensor(vector).unsqueeze(1);
}

void dot_into(const char* op, const TensorBase& x, bool conjugate_x, const TensorBase& y, const TensorBase& out) {
  const c10::ScalarType dtype = out.scalar_type();
  const BlasTypes types = blas_types(op, dtype);
  Tensor result(out);
  if (x.numel() == 0) {
    result.zero_();
    return;
  }
  const bool complex = c10::isComplexType(dtype);
  bool conjugate_y = y.is_conj();
  // The elements as they lie in memory; conjugation is the routine's.
  Tensor left = Tensor(x), right = Tensor(y);
  if (conjugate_x && conjugate_y) {
    right = right.clone();
    conjugate_y = false;
  }
  if (conjugate_y) {
    std::swap(left, right);
  }
  const auto dense = [](const Tensor& t) { return t.numel() == 1 || t.stride(0) > 0 ? t : t.contiguous(); };
  left = dense(left);
  right = dense(right);
  const cublasHandle_t handle = at::cuda::getCurrentCUDABlasHandle();
  TORCH_CUDABLAS_CHECK(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE));
  const bool with_conjugate = complex && (conjugate_x || conjugate_y);
  const auto routine = with_conjugate ? cublasDotcEx_64 : cublasDotEx_64;
  const cudaDataType_t execution = types.data == CUDA_R_16F || types.data == CUDA_R_16BF ? CUDA_R_32F : types.data;
  const cublasStatus_t status = routine(
      handle, left.numel(), left.const_data_ptr(), types.data, left.numel() == 1 ? 1 : left.stride(0),
      right.const_data_ptr(), types.data, right.numel() == 1 ? 1 : right.stride(0), out.mutable_data_ptr(), types.data,
      execution);
  TORCH_CUDABLAS_CHECK(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_HOST));
  TORCH_CUDABLAS_CHECK(status);
}

} // namespace

void matrix_product(
    const char* op, const Tensor& a, const Tensor& b, const Tensor& bias, bool tf32, const Tensor& out) {
  if (bias.defined() && product_with_bias(op, bias, a, b, 1, 1, Epilogue::kBias, out, tf32)) {
    return;
  }
  multiply(op, a, b, 0, 1, out, tf32);
  if (bias.defined()) {
    Tensor(out).add_(bias);
  }
}

void mm_kernel(const TensorBase& self, const TensorBase& mat2, const TensorBase& out) {
  blas_types("addmm_cuda", out.scalar_type());
  multiply("addmm_cuda", Tensor(self), Tensor(mat2), 0, 1, Tensor(out));
}

void addmm_kernel(
    const TensorBase& self,
    const TensorBase& mat1,
    const TensorBase& mat2,
    const Scalar& beta,
    const Scalar& alpha,
    const TensorBase& out) {
  if (!product_with_bias("addmm_cuda", self, mat1, mat2, beta, alpha, Epilogue::kBias, out)) {
    add_product("addmm_cuda", self, mat1, mat2, beta, alpha, out);
  }
}

void bmm_kernel(const TensorBase& self, const TensorBase& mat2, const TensorBase& out) {
  blas_types("baddbmm_cuda", out.scalar_type());
  multiply("baddbmm_cuda", Tensor(self), Tensor(mat2), 0, 1, Tensor(out));
}

void baddbmm_kernel(
    const TensorBase& self,
    const TensorBase& batch1,
    const TensorBase& batch2,
    const Scalar& beta,
    const Scalar& alpha,
    const TensorBase& out) {
  add_product("baddbmm_cuda", self, batch1, batch2, beta, alpha, out);
}

void addbmm_kernel(
    const TensorBase& self,
    const TensorBase& batch1,
    const TensorBase& batch2,
    const Scalar& beta,
    const Scalar& alpha,
    const TensorBase& out) {
  blas_types("addbmm_cuda", out.scalar_type());
  const Tensor result(out), left(batch1), right(batch2);
  if (!is_zero(beta)) {
    start_from(self, result);
  }
  if (batch1.size(0) == 0) {
    Tensor scaled = result;
    is_zero(beta) ? scaled.zero_() : scaled.mul_(beta);
    return;
  }
  for (int64_t i = 0; i < batch1.size(0); ++i) {
    multiply("addbmm_cuda", left.select(0, i), right.select(0, i), i == 0 ? beta : Scalar(1), alpha, result);
  }
}

void mv_kernel(const TensorBase& self, const TensorBase& vec, const TensorBase& out) {
  blas_types("addmv_impl_cuda", out.scalar_type());
  multiply("addmv_impl_cuda", Tensor(self), as_column(vec), 0, 1, as_column(out));
}

void addmv_kernel(
    const TensorBase& self,
    const TensorBase& mat,
    const TensorBase& vec,
    const Scalar& beta,
    const Scalar& alpha,
    const TensorBase& out) {
  blas_types("addmv_impl_cuda", out.scalar_type());
  if (!is_zero(beta)) {
    start_from(self, Tensor(out));
  }
  multiply("addmv_impl_cuda", Tensor(mat), as_column(vec), beta, alpha, as_column(out));
}

void dot_kernel(const TensorBase& self, const TensorBase& tensor, const TensorBase& out) {
  dot_into("dot", self, self.is_conj(), tensor, out);
}

void vdot_kernel(const TensorBase& self, const TensorBase& other, const TensorBase& out) {
  dot_into("vdot", self, !self.is_conj(), other, out);
}

std::tuple<Tensor, Tensor> transposed_mm_with_sums(const Tensor& self, const Tensor& mat2, bool by_columns) {
  constexpr const char* kOp = "addmm_cuda";
  const c10::DeviceGuard guard(self.device());
  const int64_t inner = self.size(0), columns = mat2.size(1);
  // By rows: of a result by columns its transpose.
  const Tensor left = by_columns ? mat2.t() : self.t(), right = by_columns ? self : mat2;
  const Tensor out = at::empty({left.size(0), right.size(1)}, self.options());
  const Tensor product = by_columns ? out.t() : out;
  const c10::ScalarType dtype = self.scalar_type();
  if (c10::isFloatingType(dtype) && inner != 0 && out.numel() != 0) {
    const Tensor sums = at::empty({columns}, self.options());
    const BlasTypes types = blas_types(kOp, dtype);
    const Operand a(right, dtype), b(left, dtype);
    if (multiply_with_epilogue(
            {types.data, types.compute, !reduced_precision_allowed(dtype), a.operation, b.operation, out.size(1),
             out.size(0), inner, 1, a.data(), a.leading, b.data(), b.leading, sums.mutable_data_ptr(),
             by_columns ? Epilogue::kSumsOfB : Epilogue::kSumsOfA, out.mutable_data_ptr(), out.size(1)})) {
      return {product, sums};
    }
  }
  multiply(kOp, left, right, 0, 1, out);
  return {product, mat2.sum(0, /*keepdim=*/false, dtype)};
}

namespace {

[[maybe_unused]] const bool registered = [] {
  cuda_shortcuts().transposed_mm_with_sums = &transposed_mm_with_sums;
  return true;
}();

} // namespace

} // namespace cuda

Tensor addmm_activation_cuda(
    const Tensor& self,
    const Tensor& mat1,
    const Tensor& mat2,
    const Scalar& beta,
    const Scalar& alpha,
    bool use_gelu) {
  constexpr const char* kOp = "addmm_cuda";
  at::shape::addmm("_addmm_activation", self, mat1, mat2, beta, alpha);
  Tensor out = at::empty({mat1.size(0), mat2.size(1)}, mat1.options());
  if (!cuda::product_with_bias(
          kOp, self, mat1, mat2, beta, alpha, use_gelu ? cuda::Epilogue::kBiasGelu : cuda::Epilogue::kBiasRelu, out)) {
    cuda::add_product(kOp, self, mat1, mat2, beta, alpha, out);
    use_gelu ? at::gelu_(out, "tanh") : at::relu_(out);
  }
  return out;
}

} // namespace at::native
