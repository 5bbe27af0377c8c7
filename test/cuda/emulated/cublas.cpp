// Products of cuBLAS and cuBLASLt by the CPU's operators, on the memory that they are told: matrices by columns.
#include "test/cuda/emulated/libraries.h"
#include "test/cuda/emulated/submit.h"

#include <aten/Functions.h>
#include <aten/core/TensorOperators.h>
#include <aten/core/from_blob.h>
#include <aten/cuda/CUDAContextLight.h>

#include <cublasLt.h>
#include <cublas_v2.h>

#include <algorithm>
#include <limits>

namespace emulated {

namespace {

using at::ScalarType;
using at::Tensor;

ScalarType dtype_of(cudaDataType type) {
  switch (type) {
    case CUDA_R_16F:
      return at::kHalf;
    case CUDA_R_16BF:
      return at::kBFloat16;
    case CUDA_R_32F:
      return at::kFloat;
    case CUDA_R_64F:
      return at::kDouble;
    case CUDA_C_32F:
      return at::kComplexFloat;
    case CUDA_C_64F:
      return at::kComplexDouble;
    default:
      TORCH_INTERNAL_ASSERT(false);
  }
}

/// The type that factors are given in.
ScalarType factor_dtype(ScalarType dtype) {
  return dtype == at::kHalf || dtype == at::kBFloat16 ? at::kFloat : dtype;
}

Tensor view(const void* data, at::IntArrayRef sizes, at::IntArrayRef strides, ScalarType dtype) {
  return at::from_blob(const_cast<void*>(data), sizes, strides, at::TensorOptions(dtype));
}
at::Scalar factor(const void* value, ScalarType dtype) {
  return view(value, {}, {}, factor_dtype(dtype)).item();
}

/// op(m) in the type of sums.
Tensor operand(const Tensor& m, cublasOperation_t op) {
  const Tensor turned = op == CUBLAS_OP_N ? m : op == CUBLAS_OP_T ? m.mT() : m.mH();
  return turned.to(factor_dtype(m.scalar_type())).resolve_conj();
}

bool valid(int64_t rows, int64_t columns, int64_t leading) {
  return rows > 0 && columns > 0 && leading >= rows;
}

/// c = alpha op(a) op(b) + beta c, whose old elements do not matter where beta is 0.
void multiply(
    const Tensor& a,
    cublasOperation_t op_a,
    const Tensor& b,
    cublasOperation_t op_b,
    const at::Scalar& alpha,
    const at::Scalar& beta,
    const Tensor& c) {
  Tensor sum = operand(a, op_a).matmul(operand(b, op_b)) * alpha;
  if (!beta.equal(0)) {
    sum += c.to(sum.scalar_type()) * beta;
  }
  c.copy_(sum);
}

thread_local bool pointers_on_device = false; // as handles are a thread's own

cublasStatus_t dot(
    cublasHandle_t handle,
    int64_t n,
    const void* x,
    cudaDataType x_type,
    int64_t incx,
    const void* y,
    cudaDataType y_type,
    int64_t incy,
    void* result,
    cudaDataType result_type,
    bool conjugate) {
  if (!pointers_on_device || x_type != y_type || x_type != result_type || n < 1 || incx < 1 || incy < 1) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  const ScalarType dtype = dtype_of(x_type);
  const Tensor left = view(x, {n}, {incx}, dtype), right = view(y, {n}, {incy}, dtype);
  run_blas(handle, [=] {
    const Tensor a = left.to(factor_dtype(dtype)), b = right.to(factor_dtype(dtype));
    view(result, {}, {}, dtype).copy_((conjugate ? a.conj().resolve_conj() : a).mul(b).sum());
  });
  return CUBLAS_STATUS_SUCCESS;
}

/// A description of a product, a layout or a preference: what was said of it, by attribute.
struct LtDescription {
  cublasOperation_t op_a = CUBLAS_OP_N, op_b = CUBLAS_OP_N;
  cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  cublasComputeType_t compute = CUBLAS_COMPUTE_32F;
  const void* bias = nullptr;
  cudaDataType_t bias_dtype{};
  uint32_t reductions = std::numeric_limits<uint32_t>::max();
  cudaDataType dtype{};
  int64_t rows = 0, columns = 0, leading = 0;
};

template <class Opaque>
cublasStatus_t create(Opaque** handle, LtDescription description = {}) {
  *handle = reinterpret_cast<Opaque*>(new LtDescription(description));
  ++libraries().lt_descriptors;
  return CUBLAS_STATUS_SUCCESS;
}
template <class Opaque>
LtDescription& of(Opaque* handle) {
  return *reinterpret_cast<LtDescription*>(const_cast<std::remove_const_t<Opaque>*>(handle));
}
template <class Opaque>
cublasStatus_t destroy(Opaque* handle) {
  delete &of(handle);
  --libraries().lt_descriptors;
  return CUBLAS_STATUS_SUCCESS;
}

template <class Value>
cublasStatus_t take(Value& to, const void* from, size_t bytes) {
  if (bytes != sizeof(Value)) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  to = *static_cast<const Value*>(from);
  return CUBLAS_STATUS_SUCCESS;
}

Tensor matrix(const void* data, const LtDescription& layout) {
  return view(data, {layout.rows, layout.columns}, {1, layout.leading}, dtype_of(layout.dtype));
}

} // namespace

} // namespace emulated

using emulated::LtDescription;
using emulated::libraries;

extern "C" {

cublasStatus_t cublasSetPointerMode_v2(cublasHandle_t, cublasPointerMode_t mode) {
  emulated::pointers_on_device = mode == CUBLAS_POINTER_MODE_DEVICE;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetMathMode(cublasHandle_t, cublasMath_t) {
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasGemmStridedBatchedEx_64(
    cublasHandle_t handle,
    cublasOperation_t op_a,
    cublasOperation_t op_b,
    int64_t m,
    int64_t n,
    int64_t k,
    const void* alpha,
    const void* a,
    cudaDataType a_type,
    int64_t lda,
    long long stride_a,
    const void* b,
    cudaDataType b_type,
    int64_t ldb,
    long long stride_b,
    const void* beta,
    void* c,
    cudaDataType c_type,
    int64_t ldc,
    long long stride_c,
    int64_t batch,
    cublasComputeType_t compute,
    cublasGemmAlgo_t) {
  const bool a_as_is = op_a == CUBLAS_OP_N, b_as_is = op_b == CUBLAS_OP_N;
  const int64_t a_rows = a_as_is ? m : k, a_columns = a_as_is ? k : m, b_rows = b_as_is ? k : n,
                b_columns = b_as_is ? n : k;
  if (emulated::pointers_on_device || a_type != b_type || a_type != c_type || batch < 1 ||
      !emulated::valid(a_rows, a_columns, lda) || !emulated::valid(b_rows, b_columns, ldb) ||
      !emulated::valid(m, n, ldc)) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  const at::ScalarType dtype = emulated::dtype_of(a_type);
  const at::Tensor left = emulated::view(a, {batch, a_rows, a_columns}, {stride_a, 1, lda}, dtype);
  const at::Tensor right = emulated::view(b, {batch, b_rows, b_columns}, {stride_b, 1, ldb}, dtype);
  const at::Tensor out = emulated::view(c, {batch, m, n}, {stride_c, 1, ldc}, dtype);
  ++libraries().blas_products;
  libraries().blas_compute = compute;
  emulated::run_blas(handle, [=, alpha = emulated::factor(alpha, dtype), beta = emulated::factor(beta, dtype)] {
    emulated::multiply(left, op_a, right, op_b, alpha, beta, out);
  });
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasDotEx_64(
    cublasHandle_t handle,
    int64_t n,
    const void* x,
    cudaDataType x_type,
    int64_t incx,
    const void* y,
    cudaDataType y_type,
    int64_t incy,
    void* result,
    cudaDataType result_type,
    cudaDataType) {
  return emulated::dot(handle, n, x, x_type, incx, y, y_type, incy, result, result_type, /*conjugate=*/false);
}
cublasStatus_t cublasDotcEx_64(
    cublasHandle_t handle,
    int64_t n,
    const void* x,
    cudaDataType x_type,
    int64_t incx,
    const void* y,
    cudaDataType y_type,
    int64_t incy,
    void* result,
    cudaDataType result_type,
    cudaDataType) {
  return emulated::dot(handle, n, x, x_type, incx, y, y_type, incy, result, result_type, /*conjugate=*/true);
}

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* made, cublasComputeType_t compute, cudaDataType_t) {
  LtDescription product;
  product.compute = compute;
  return emulated::create(made, product);
}
cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t handle) {
  return emulated::destroy(handle);
}
cublasStatus_t cublasLtMatmulDescSetAttribute(
    cublasLtMatmulDesc_t handle, cublasLtMatmulDescAttributes_t attribute, const void* value, size_t bytes) {
  LtDescription& d = emulated::of(handle);
  switch (attribute) {
    case CUBLASLT_MATMUL_DESC_TRANSA:
      return emulated::take(d.op_a, value, bytes);
    case CUBLASLT_MATMUL_DESC_TRANSB:
      return emulated::take(d.op_b, value, bytes);
    case CUBLASLT_MATMUL_DESC_EPILOGUE:
      return emulated::take(d.epilogue, value, bytes);
    case CUBLASLT_MATMUL_DESC_BIAS_POINTER:
      return emulated::take(d.bias, value, bytes);
    case CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE:
      return emulated::take(d.bias_dtype, value, bytes);
    default:
      return CUBLAS_STATUS_INVALID_VALUE;
  }
}

cublasStatus_t cublasLtMatrixLayoutCreate(
    cublasLtMatrixLayout_t* made, cudaDataType dtype, uint64_t rows, uint64_t columns, int64_t leading) {
  LtDescription layout;
  layout.dtype = dtype;
  layout.rows = static_cast<int64_t>(rows);
  layout.columns = static_cast<int64_t>(columns);
  layout.leading = leading;
  return emulated::valid(layout.rows, layout.columns, leading) ? emulated::create(made, layout)
                                                               : CUBLAS_STATUS_INVALID_VALUE;
}
cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t handle) {
  return emulated::destroy(handle);
}

cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* made) {
  return emulated::create(made);
}
cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t handle) {
  return emulated::destroy(handle);
}
cublasStatus_t cublasLtMatmulPreferenceSetAttribute(
    cublasLtMatmulPreference_t handle,
    cublasLtMatmulPreferenceAttributes_t attribute,
    const void* value,
    size_t bytes) {
  if (attribute == CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK) {
    return emulated::take(emulated::of(handle).reductions, value, bytes);
  }
  return bytes == (attribute == CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES ? sizeof(uint64_t) : sizeof(uint32_t))
      ? CUBLAS_STATUS_SUCCESS
      : CUBLAS_STATUS_INVALID_VALUE;
}

/// Whether sums are exact goes along in the algorithm. Products of double have no gelu.
cublasStatus_t cublasLtMatmulAlgoGetHeuristic(
    cublasLtHandle_t,
    cublasLtMatmulDesc_t description,
    cublasLtMatrixLayout_t a,
    cublasLtMatrixLayout_t,
    cublasLtMatrixLayout_t,
    cublasLtMatrixLayout_t,
    cublasLtMatmulPreference_t preference,
    int wanted,
    cublasLtMatmulHeuristicResult_t* results,
    int* count) {
  const bool known =
      emulated::of(description).epilogue != CUBLASLT_EPILOGUE_GELU_BIAS || emulated::of(a).dtype != CUDA_R_64F;
  if (wanted < 1 || libraries().lt_refuses || !known) {
    *count = 0;
    return CUBLAS_STATUS_NOT_SUPPORTED;
  }
  constexpr uint32_t kExact = CUBLASLT_REDUCTION_SCHEME_NONE | CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE;
  results[0] = {};
  results[0].algo.data[0] = emulated::of(preference).reductions == kExact;
  results[0].state = CUBLAS_STATUS_SUCCESS;
  *count = 1;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmul(
    cublasLtHandle_t,
    cublasLtMatmulDesc_t description,
    const void* alpha,
    const void* a,
    cublasLtMatrixLayout_t a_layout,
    const void* b,
    cublasLtMatrixLayout_t b_layout,
    const void* beta,
    const void* c,
    cublasLtMatrixLayout_t c_layout,
    void* d,
    cublasLtMatrixLayout_t d_layout,
    const cublasLtMatmulAlgo_t* algorithm,
    void* workspace,
    size_t workspace_bytes,
    cudaStream_t stream) {
  const LtDescription& p = emulated::of(description);
  const at::Tensor left = emulated::matrix(a, emulated::of(a_layout)),
                   right = emulated::matrix(b, emulated::of(b_layout));
  const at::Tensor out = emulated::matrix(d, emulated::of(d_layout));
  const at::ScalarType dtype = out.scalar_type();
  const bool sums_a = p.epilogue == CUBLASLT_EPILOGUE_BGRADA, sums_b = p.epilogue == CUBLASLT_EPILOGUE_BGRADB;
  const bool known = sums_a || sums_b || p.epilogue == CUBLASLT_EPILOGUE_BIAS ||
      p.epilogue == CUBLASLT_EPILOGUE_RELU_BIAS || p.epilogue == CUBLASLT_EPILOGUE_GELU_BIAS;
  if (c != d || c_layout != d_layout || workspace == nullptr || p.bias == nullptr ||
      p.bias_dtype != emulated::of(d_layout).dtype || !known || !emulated::factor(beta, dtype).equal(0)) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  ++libraries().blas_products;
  libraries().blas_compute = p.compute;
  libraries().lt_runs.push_back({p.epilogue, algorithm->data[0] != 0});
  emulator::submit(stream, [=, p = p, alpha = emulated::factor(alpha, dtype)] {
    emulated::scribble(workspace, workspace_bytes);
    const at::ScalarType wide = emulated::factor_dtype(dtype);
    at::Tensor sum = at::empty(out.sizes(), at::TensorOptions(wide));
    emulated::multiply(left, p.op_a, right, p.op_b, alpha, 0, sum);
    if (sums_a) {
      emulated::view(p.bias, {out.size(0)}, {1}, dtype).copy_(emulated::operand(left, p.op_a).sum(1));
    } else if (sums_b) {
      emulated::view(p.bias, {out.size(1)}, {1}, dtype).copy_(emulated::operand(right, p.op_b).sum(0));
    } else {
      sum += emulated::view(p.bias, {out.size(0), 1}, {1, 1}, dtype).to(wide);
    }
    if (p.epilogue == CUBLASLT_EPILOGUE_RELU_BIAS) {
      at::relu_(sum);
    } else if (p.epilogue == CUBLASLT_EPILOGUE_GELU_BIAS) {
      at::gelu_(sum, "tanh");
    }
    out.copy_(sum);
  });
  return CUBLAS_STATUS_SUCCESS;
}

} // extern "C"
