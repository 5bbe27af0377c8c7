#include "test/cuda/emulated/libraries.h"
#include "test/cuda/emulated/submit.h"

#include <aten/Functions.h>
#include <aten/core/from_blob.h>
#include <aten/cuda/CUDAContextLight.h>
#include <aten/cuda/Exceptions.h>
#include <aten/cuda/Libraries.h>
#include <c10/cuda/CUDAStream.h>

#include <cufftXt.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <map>
#include <memory>

namespace emulated {

Libraries& libraries() {
  static Libraries state;
  return state;
}

void run_on_current_stream(std::function<void()> work) {
  emulator::submit(c10::cuda::getCurrentCUDAStream().stream(), std::move(work));
}

void scribble(void* workspace, std::size_t bytes) {
  std::memset(workspace, 0xff, bytes);
}

namespace {

using at::ScalarType;
using at::Tensor;

ScalarType dtype_of(cudaDataType type) {
  switch (type) {
    case CUDA_R_16F:
      return at::kHalf;
    case CUDA_R_32F:
      return at::kFloat;
    case CUDA_R_64F:
      return at::kDouble;
    case CUDA_C_16F:
      return at::kComplexHalf;
    case CUDA_C_32F:
      return at::kComplexFloat;
    case CUDA_C_64F:
      return at::kComplexDouble;
    default:
      TORCH_INTERNAL_ASSERT(false);
  }
}

// ---- cuFFT
// -----------------------------------------------------------------------------------------------------------------

struct FftPlan {
  int rank = 0;
  std::vector<long long> n;
  struct Side {
    std::vector<long long> embed;
    long long stride = 0, distance = 0;
    cudaDataType type{};
  } in, out;
  long long batch = 0;
  bool has_stream = false;
  void* work_area = nullptr;
};

constexpr size_t kFftWork = 64;

std::map<cufftHandle, FftPlan>& fft_plans() {
  static std::map<cufftHandle, FftPlan> plans;
  return plans;
}

bool is_real(cudaDataType type) {
  return type == CUDA_R_16F || type == CUDA_R_32F || type == CUDA_R_64F;
}

cufftResult fft_create(cufftHandle* handle) {
  *handle = ++libraries().fft_plans;
  fft_plans()[*handle] = {};
  return CUFFT_SUCCESS;
}
cufftResult fft_destroy(cufftHandle handle) {
  return fft_plans().erase(handle) == 1 ? CUFFT_SUCCESS : CUFFT_INVALID_PLAN;
}
cufftResult fft_set_auto_allocation(cufftHandle, int automatic) {
  return automatic == 0 ? CUFFT_SUCCESS : CUFFT_INVALID_VALUE;
}
cufftResult fft_set_stream(cufftHandle handle, cudaStream_t) {
  fft_plans().at(handle).has_stream = true;
  return CUFFT_SUCCESS;
}
cufftResult fft_set_work_area(cufftHandle handle, void* memory) {
  fft_plans().at(handle).work_area = memory;
  return CUFFT_SUCCESS;
}

cufftResult fft_make_plan_many(
    cufftHandle handle,
    int rank,
    long long* n,
    long long* in_embed,
    long long in_stride,
    long long in_distance,
    cudaDataType in_type,
    long long* out_embed,
    long long out_stride,
    long long out_distance,
    cudaDataType out_type,
    long long batch,
    size_t* work,
    cudaDataType compute) {
  FftPlan& plan = fft_plans().at(handle);
  plan.rank = rank;
  plan.n.assign(n, n + rank);
  plan.in = {{in_embed, in_embed + rank}, in_stride, in_distance, in_type};
  plan.out = {{out_embed, out_embed + rank}, out_stride, out_distance, out_type};
  plan.batch = batch;
  *work = kFftWork;
  const bool half = compute == CUDA_C_16F;
  const auto power_of_two = [](long long size) { return (size & (size - 1)) == 0; };
  if (rank < 1 || rank > 3 || is_real(compute) || in_distance < 1 || out_distance < 1 || in_stride < 1 ||
      out_stride < 1 || (half && (!std::all_of(n, n + rank, power_of_two) || in_stride != 1 || out_stride != 1))) {
    return CUFFT_INVALID_SIZE;
  }
  for (const auto& [side, sizes_of_other] : {std::pair{&plan.in, &plan.out}, std::pair{&plan.out, &plan.in}}) {
    for (int i = 1; i < rank; ++i) {
      const bool half_spectrum = i == rank - 1 && !is_real(side->type) && is_real(sizes_of_other->type);
      if (side->embed[i] < (half_spectrum ? n[i] / 2 + 1 : n[i])) {
        return CUFFT_INVALID_SIZE;
      }
    }
  }
  return CUFFT_SUCCESS;
}

/// One side of a transform, with the batch in front.
Tensor fft_side(const FftPlan& plan, const FftPlan::Side& side, bool half_spectrum, void* data) {
  std::vector<int64_t> sizes = {plan.batch}, strides = {side.distance};
  for (const long long n : plan.n) {
    sizes.push_back(n);
  }
  if (half_spectrum) {
    sizes.back() = sizes.back() / 2 + 1;
  }
  strides.resize(sizes.size());
  long long step = side.stride;
  for (int i = plan.rank - 1; i >= 0; --i) {
    strides[i + 1] = step;
    step *= side.embed[i];
  }
  return at::from_blob(data, sizes, strides, at::TensorOptions(dtype_of(side.type)));
}

cufftResult fft_execute(cufftHandle handle, void* in, void* out, int direction) {
  const FftPlan& plan = fft_plans().at(handle);
  if (!plan.has_stream || plan.work_area == nullptr) {
    return CUFFT_NO_WORKSPACE;
  }
  const bool from_real = is_real(plan.in.type), to_real = is_real(plan.out.type);
  const auto complex_size = at::elementSize(c10::toComplexType(c10::toRealValueType(dtype_of(plan.in.type))));
  if (reinterpret_cast<uintptr_t>(in) % complex_size != 0 || reinterpret_cast<uintptr_t>(out) % complex_size != 0) {
    return CUFFT_UNALIGNED_DATA;
  }
  run_on_current_stream([=, plan = plan] {
    scribble(plan.work_area, kFftWork);
    Tensor source = fft_side(plan, plan.in, to_real, in), target = fft_side(plan, plan.out, from_real, out);
    std::vector<int64_t> dims;
    for (int i = 1; i <= plan.rank; ++i) {
      dims.push_back(i);
    }
    const Tensor x = source.to(from_real ? at::kDouble : at::kComplexDouble).clone();
    if (from_real) {
      target.copy_(at::_fft_r2c(x, dims, 0, /*onesided=*/true));
    } else if (to_real) {
      source.fill_(std::numeric_limits<double>::quiet_NaN()); // cuFFT may overwrite its input
      target.copy_(at::_fft_c2r(x, dims, 0, plan.n.back()));
    } else {
      target.copy_(at::_fft_c2c(x, dims, 0, direction == CUFFT_FORWARD));
    }
  });
  return CUFFT_SUCCESS;
}

// ---- cuSOLVER
// --------------------------------------------------------------------------------------------------------------

Tensor matrix(const void* data, int64_t rows, int64_t cols, int64_t leading, ScalarType dtype) {
  TORCH_INTERNAL_ASSERT(leading >= std::max<int64_t>(rows, 1));
  return at::from_blob(const_cast<void*>(data), {rows, cols}, {1, leading}, at::TensorOptions(dtype));
}
Tensor matrix(const void* data, int64_t rows, int64_t cols, int64_t leading, cudaDataType type) {
  return matrix(data, rows, cols, leading, dtype_of(type));
}
Tensor vector(const void* data, int64_t size, ScalarType dtype) {
  return at::from_blob(const_cast<void*>(data), {size}, {1}, at::TensorOptions(dtype));
}
void set_info(int* info, const Tensor& value) {
  *info = value.item<int>();
}

/// The routine as work of the current stream; what it would refuse is an error there.
template <auto kRoutine>
struct OnStream;
template <class... Arguments, cusolverStatus_t (*kRoutine)(Arguments...)>
struct OnStream<kRoutine> {
  static cusolverStatus_t call(Arguments... arguments) {
    run_on_current_stream([=] {
      TORCH_CHECK(kRoutine(arguments...) == CUSOLVER_STATUS_SUCCESS, "the emulated cuSOLVER refuses what it was asked");
    });
    return CUSOLVER_STATUS_SUCCESS;
  }
};

constexpr size_t kDeviceBytes = 24, kHostBytes = 8;

cusolverStatus_t say_sizes(size_t* device, size_t* host) {
  *device = kDeviceBytes;
  *host = kHostBytes;
  return CUSOLVER_STATUS_SUCCESS;
}
cusolverStatus_t check_buffers(void* device, size_t device_bytes, void* host, size_t host_bytes) {
  return device != nullptr && device_bytes == kDeviceBytes && host != nullptr && host_bytes == kHostBytes
      ? CUSOLVER_STATUS_SUCCESS
      : CUSOLVER_STATUS_INVALID_VALUE;
}

/// LAPACK's way: the other triangle keeps what it holds.
void cholesky(Tensor a, bool upper, int* info) {
  const auto [L, failed] = at::linalg_cholesky_ex(a, upper);
  set_info(info, failed);
  a.copy_(upper ? L + at::tril(a, -1) : L + at::triu(a, 1));
}

cusolverStatus_t potrf_size(
    cusolverDnHandle_t,
    cusolverDnParams_t,
    cublasFillMode_t,
    int64_t,
    cudaDataType,
    const void*,
    int64_t,
    cudaDataType,
    size_t* device,
    size_t* host) {
  return say_sizes(device, host);
}
cusolverStatus_t potrf(
    cusolverDnHandle_t,
    cusolverDnParams_t,
    cublasFillMode_t uplo,
    int64_t n,
    cudaDataType type,
    void* a,
    int64_t lda,
    cudaDataType,
    void* device,
    size_t device_bytes,
    void* host,
    size_t host_bytes,
    int* info) {
  cholesky(matrix(a, n, n, lda, type), uplo == CUBLAS_FILL_MODE_UPPER, info);
  return check_buffers(device, device_bytes, host, host_bytes);
}
template <ScalarType kDtype>
cusolverStatus_t potrf_batched(
    cusolverDnHandle_t, cublasFillMode_t uplo, int n, void* matrices, int lda, int* info, int count) {
  for (int i = 0; i < count; ++i) {
    cholesky(matrix(static_cast<void**>(matrices)[i], n, n, lda, kDtype), uplo == CUBLAS_FILL_MODE_UPPER, info + i);
  }
  return CUSOLVER_STATUS_SUCCESS;
}
cusolverStatus_t potrs(
    cusolverDnHandle_t,
    cusolverDnParams_t,
    cublasFillMode_t uplo,
    int64_t n,
    int64_t nrhs,
    cudaDataType type,
    const void* a,
    int64_t lda,
    cudaDataType,
    void* b,
    int64_t ldb,
    int* info) {
  Tensor x = matrix(b, n, nrhs, ldb, type);
  x.copy_(at::cholesky_solve(x, matrix(a, n, n, lda, type), uplo == CUBLAS_FILL_MODE_UPPER));
  *info = 0;
  return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t getrf_size(
    cusolverDnHandle_t,
    cusolverDnParams_t,
    int64_t,
    int64_t,
    cudaDataType,
    const void*,
    int64_t,
    cudaDataType,
    size_t* device,
    size_t* host) {
  return say_sizes(device, host);
}
/// Without pivots nothing is swapped.
void eliminate(Tensor a) {
  for (int64_t i = 0; i < std::min(a.size(0), a.size(1)); ++i) {
    Tensor column = a.select(1, i).narrow(0, i + 1, a.size(0) - i - 1);
    column.div_(a.select(0, i).select(0, i).clone());
    a.narrow(0, i + 1, a.size(0) - i - 1)
        .narrow(1, i + 1, a.size(1) - i - 1)
        .sub_(at::outer(column, a.select(0, i).narrow(0, i + 1, a.size(1) - i - 1)));
  }
}
cusolverStatus_t getrf(
    cusolverDnHandle_t,
    cusolverDnParams_t,
    int64_t m,
    int64_t n,
    cudaDataType type,
    void* a,
    int64_t lda,
    int64_t* pivots,
    cudaDataType,
    void* device,
    size_t device_bytes,
    void* host,
    size_t host_bytes,
    int* info) {
  Tensor x = matrix(a, m, n, lda, type);
  if (pivots == nullptr) {
    eliminate(x);
    *info = 0;
  } else {
    const auto [LU, rows, failed] = at::linalg_lu_factor_ex(x);
    x.copy_(LU);
    vector(pivots, std::min(m, n), at::kLong).copy_(rows);
    set_info(info, failed);
  }
  return check_buffers(device, device_bytes, host, host_bytes);
}
cusolverStatus_t getrs(
    cusolverDnHandle_t,
    cusolverDnParams_t,
    cublasOperation_t op,
    int64_t n,
    int64_t nrhs,
    cudaDataType type,
    const void* a,
    int64_t lda,
    const int64_t* pivots,
    cudaDataType,
    void* b,
    int64_t ldb,
    int* info) {
  Tensor x = matrix(b, n, nrhs, ldb, type);
  const Tensor lu = matrix(a, n, n, lda, type), rows = vector(pivots, n, at::kLong).to(at::kInt);
  if (op == CUBLAS_OP_T && x.is_complex()) {
    // A^T X = B is A^H conj(X) = conj(B).
    x.copy_(at::linalg_lu_solve(lu, rows, x.conj().clone(), true, true).conj());
  } else {
    x.copy_(at::linalg_lu_solve(lu, rows, x, true, op != CUBLAS_OP_N));
  }
  *info = 0;
  return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t geqrf_size(
    cusolverDnHandle_t,
    cusolverDnParams_t,
    int64_t,
    int64_t,
    cudaDataType,
    const void*,
    int64_t,
    cudaDataType,
    const void*,
    cudaDataType,
    size_t* device,
    size_t* host) {
  return say_sizes(device, host);
}
cusolverStatus_t geqrf(
    cusolverDnHandle_t,
    cusolverDnParams_t,
    int64_t m,
    int64_t n,
    cudaDataType type,
    void* a,
    int64_t lda,
    cudaDataType,
    void* tau,
    cudaDataType,
    void* device,
    size_t device_bytes,
    void* host,
    size_t host_bytes,
    int* info) {
  Tensor x = matrix(a, m, n, lda, type);
  const auto [factors, scales] = at::geqrf(x);
  x.copy_(factors);
  vector(tau, std::min(m, n), x.scalar_type()).copy_(scales);
  *info = 0;
  return check_buffers(device, device_bytes, host, host_bytes);
}

constexpr int kWork = 5;

template <ScalarType kDtype>
cusolverStatus_t orgqr_size(cusolverDnHandle_t, int, int, int, const void*, int, const void*, int* size) {
  *size = kWork;
  return CUSOLVER_STATUS_SUCCESS;
}
template <ScalarType kDtype>
cusolverStatus_t orgqr(
    cusolverDnHandle_t, int m, int n, int k, void* a, int lda, const void* tau, void* work, int work_size, int* info) {
  Tensor q = matrix(a, m, n, lda, kDtype);
  const Tensor reflectors = at::zeros({m, n}, q.options());
  reflectors.narrow(1, 0, k).copy_(q.narrow(1, 0, k)); // the others are not read
  q.copy_(at::linalg_householder_product(reflectors, vector(tau, k, kDtype)));
  *info = 0;
  return m >= n && n >= k && work != nullptr && work_size == kWork ? CUSOLVER_STATUS_SUCCESS
                                                                   : CUSOLVER_STATUS_INVALID_VALUE;
}

template <ScalarType kDtype>
cusolverStatus_t ormqr_size(
    cusolverDnHandle_t,
    cublasSideMode_t,
    cublasOperation_t,
    int,
    int,
    int,
    const void*,
    int,
    const void*,
    const void*,
    int,
    int* size) {
  *size = kWork;
  return CUSOLVER_STATUS_SUCCESS;
}
template <ScalarType kDtype>
cusolverStatus_t ormqr(
    cusolverDnHandle_t,
    cublasSideMode_t side,
    cublasOperation_t op,
    int m,
    int n,
    int k,
    const void* a,
    int lda,
    const void* tau,
    void* c,
    int ldc,
    void* work,
    int work_size,
    int* info) {
  const bool left = side == CUBLAS_SIDE_LEFT;
  Tensor x = matrix(c, m, n, ldc, kDtype);
  x.copy_(at::ormqr(matrix(a, left ? m : n, k, lda, kDtype), vector(tau, k, kDtype), x, left, op != CUBLAS_OP_N));
  *info = 0;
  const bool known = op != CUBLAS_OP_T || !x.is_complex();
  return known && work != nullptr && work_size == kWork ? CUSOLVER_STATUS_SUCCESS : CUSOLVER_STATUS_INVALID_VALUE;
}

void eigenvalues(Tensor a, bool upper, bool vectors, Tensor values, int* info) {
  const auto [w, v] = at::_linalg_eigh(a, upper ? "U" : "L", vectors);
  values.copy_(w);
  if (vectors) {
    a.copy_(v);
  } else {
    a.fill_(std::numeric_limits<double>::quiet_NaN());
  }
  *info = 0;
}
cusolverStatus_t syevd_size(
    cusolverDnHandle_t,
    cusolverDnParams_t,
    cusolverEigMode_t,
    cublasFillMode_t,
    int64_t,
    cudaDataType,
    const void*,
    int64_t,
    cudaDataType,
    const void*,
    cudaDataType,
    size_t* device,
    size_t* host) {
  return say_sizes(device, host);
}
cusolverStatus_t syevd(
    cusolverDnHandle_t,
    cusolverDnParams_t,
    cusolverEigMode_t mode,
    cublasFillMode_t uplo,
    int64_t n,
    cudaDataType type,
    void* a,
    int64_t lda,
    cudaDataType real,
    void* w,
    cudaDataType,
    void* device,
    size_t device_bytes,
    void* host,
    size_t host_bytes,
    int* info) {
  eigenvalues(
      matrix(a, n, n, lda, type), uplo == CUBLAS_FILL_MODE_UPPER, mode == CUSOLVER_EIG_MODE_VECTOR,
      vector(w, n, dtype_of(real)), info);
  return check_buffers(device, device_bytes, host, host_bytes);
}
cusolverStatus_t syev_batched_size(
    cusolverDnHandle_t,
    cusolverDnParams_t,
    cusolverEigMode_t,
    cublasFillMode_t,
    int64_t,
    cudaDataType,
    const void*,
    int64_t,
    cudaDataType,
    const void*,
    cudaDataType,
    size_t* device,
    size_t* host,
    int64_t) {
  return say_sizes(device, host);
}
cusolverStatus_t syev_batched(
    cusolverDnHandle_t,
    cusolverDnParams_t,
    cusolverEigMode_t mode,
    cublasFillMode_t uplo,
    int64_t n,
    cudaDataType type,
    void* a,
    int64_t lda,
    cudaDataType real,
    void* w,
    cudaDataType,
    void* device,
    size_t device_bytes,
    void* host,
    size_t host_bytes,
    int* info,
    int64_t count) {
  const size_t element = at::elementSize(dtype_of(type)), real_element = at::elementSize(dtype_of(real));
  for (int64_t i = 0; i < count; ++i) {
    eigenvalues(
        matrix(static_cast<char*>(a) + i * lda * n * element, n, n, lda, type), uplo == CUBLAS_FILL_MODE_UPPER,
        mode == CUSOLVER_EIG_MODE_VECTOR, vector(static_cast<char*>(w) + i * n * real_element, n, dtype_of(real)),
        info + i);
  }
  return check_buffers(device, device_bytes, host, host_bytes);
}

cusolverStatus_t gesvd_size(
    cusolverDnHandle_t,
    cusolverDnParams_t,
    signed char,
    signed char,
    int64_t m,
    int64_t n,
    cudaDataType,
    const void*,
    int64_t,
    cudaDataType,
    const void*,
    cudaDataType,
    const void*,
    int64_t,
    cudaDataType,
    const void*,
    int64_t,
    cudaDataType,
    size_t* device,
    size_t* host) {
  return m >= n ? say_sizes(device, host) : CUSOLVER_STATUS_INVALID_VALUE;
}
cusolverStatus_t gesvd(
    cusolverDnHandle_t,
    cusolverDnParams_t,
    signed char job,
    signed char job_vh,
    int64_t m,
    int64_t n,
    cudaDataType type,
    void* a,
    int64_t lda,
    cudaDataType real,
    void* s,
    cudaDataType,
    void* u,
    int64_t ldu,
    cudaDataType,
    void* vh,
    int64_t ldvh,
    cudaDataType,
    void* device,
    size_t device_bytes,
    void* host,
    size_t host_bytes,
    int* info) {
  Tensor x = matrix(a, m, n, lda, type);
  const auto [U, S, Vh] = at::_linalg_svd(x, job == 'A', job != 'N');
  vector(s, n, dtype_of(real)).copy_(S);
  if (job != 'N') {
    matrix(u, m, U.size(1), ldu, type).copy_(U);
    matrix(vh, n, n, ldvh, type).copy_(Vh);
  }
  x.fill_(std::numeric_limits<double>::quiet_NaN());
  *info = 0;
  return m >= n && job == job_vh ? check_buffers(device, device_bytes, host, host_bytes)
                                 : CUSOLVER_STATUS_INVALID_VALUE;
}

cusolverStatus_t create_gesvdj_info(gesvdjInfo_t* info) {
  *info = reinterpret_cast<gesvdjInfo_t>(new int(7));
  return CUSOLVER_STATUS_SUCCESS;
}
cusolverStatus_t destroy_gesvdj_info(gesvdjInfo_t info) {
  delete reinterpret_cast<int*>(info);
  return CUSOLVER_STATUS_SUCCESS;
}
template <ScalarType kDtype>
cusolverStatus_t gesvdj_size(
    cusolverDnHandle_t,
    cusolverEigMode_t,
    int,
    int,
    int,
    const void*,
    int,
    const void*,
    const void*,
    int,
    const void*,
    int,
    int* size,
    gesvdjInfo_t settings) {
  *size = kWork;
  return *reinterpret_cast<int*>(settings) == 7 ? CUSOLVER_STATUS_SUCCESS : CUSOLVER_STATUS_INVALID_VALUE;
}
template <ScalarType kDtype>
cusolverStatus_t gesvdj(
    cusolverDnHandle_t,
    cusolverEigMode_t mode,
    int econ,
    int m,
    int n,
    void* a,
    int lda,
    void* s,
    void* u,
    int ldu,
    void* v,
    int ldv,
    void* work,
    int work_size,
    int* info,
    gesvdjInfo_t) {
  const bool vectors = mode == CUSOLVER_EIG_MODE_VECTOR;
  Tensor x = matrix(a, m, n, lda, kDtype);
  if (!libraries().jacobi_fails) {
    const auto [U, S, Vh] = at::_linalg_svd(x, econ == 0, vectors);
    vector(s, std::min(m, n), c10::toRealValueType(kDtype)).copy_(S);
    if (vectors) {
      matrix(u, m, U.size(1), ldu, kDtype).copy_(U);
      matrix(v, n, Vh.size(0), ldv, kDtype).copy_(Vh.mH());
    }
  }
  x.fill_(std::numeric_limits<double>::quiet_NaN());
  *info = libraries().jacobi_fails ? std::min(m, n) + 1 : 0;
  return work != nullptr && work_size == kWork && ldu >= m && ldv >= n ? CUSOLVER_STATUS_SUCCESS
                                                                       : CUSOLVER_STATUS_INVALID_VALUE;
}

cusolverStatus_t geev_size(
    cusolverDnHandle_t,
    cusolverDnParams_t,
    cusolverEigMode_t,
    cusolverEigMode_t,
    int64_t,
    cudaDataType,
    const void*,
    int64_t,
    cudaDataType,
    const void*,
    cudaDataType,
    const void*,
    int64_t,
    cudaDataType,
    const void*,
    int64_t,
    cudaDataType,
    size_t* device,
    size_t* host) {
  return say_sizes(device, host);
}
cusolverStatus_t geev(
    cusolverDnHandle_t,
    cusolverDnParams_t,
    cusolverEigMode_t left,
    cusolverEigMode_t right,
    int64_t n,
    cudaDataType type,
    void* a,
    int64_t lda,
    cudaDataType complex,
    void* w,
    cudaDataType,
    void*,
    int64_t,
    cudaDataType,
    void* vectors,
    int64_t ldv,
    cudaDataType,
    void* device,
    size_t device_bytes,
    void* host,
    size_t host_bytes,
    int* info) {
  Tensor x = matrix(a, n, n, lda, type);
  const auto [values, v] = at::linalg_eig(x);
  vector(w, n, dtype_of(complex)).copy_(values);
  if (right == CUSOLVER_EIG_MODE_VECTOR) {
    Tensor out = matrix(vectors, n, n, ldv, type);
    for (int64_t i = 0; i < n; ++i) {
      const bool second = !x.is_complex() && at::imag(values).select(0, i).item<double>() < 0;
      // Of a complex pair the first column is the real part, the second one the imaginary part of the first vector.
      out.select(1, i).copy_(
          x.is_complex() ? v.select(1, i)
              : second   ? at::imag(v).select(1, i - 1)
                         : at::real(v).select(1, i));
    }
  }
  x.fill_(std::numeric_limits<double>::quiet_NaN());
  *info = 0;
  return left == CUSOLVER_EIG_MODE_NOVECTOR && ldv >= n ? check_buffers(device, device_bytes, host, host_bytes)
                                                        : CUSOLVER_STATUS_INVALID_VALUE;
}

template <ScalarType kDtype>
cusolverStatus_t sytrf_size(cusolverDnHandle_t, int, void*, int, int* size) {
  *size = kWork;
  return CUSOLVER_STATUS_SUCCESS;
}
template <ScalarType kDtype>
cusolverStatus_t sytrf(
    cusolverDnHandle_t,
    cublasFillMode_t uplo,
    int n,
    void* a,
    int lda,
    int* pivots,
    void* work,
    int work_size,
    int* info) {
  Tensor x = matrix(a, n, n, lda, kDtype);
  const auto [LD, rows, failed] = at::linalg_ldl_factor_ex(x);
  x.copy_(LD);
  vector(pivots, n, at::kInt).copy_(rows);
  set_info(info, failed);
  return uplo == CUBLAS_FILL_MODE_LOWER && work != nullptr && work_size == kWork ? CUSOLVER_STATUS_SUCCESS
                                                                                 : CUSOLVER_STATUS_INVALID_VALUE;
}
cusolverStatus_t sytrs_size(
    cusolverDnHandle_t,
    cublasFillMode_t,
    int64_t,
    int64_t,
    cudaDataType,
    const void*,
    int64_t,
    const int64_t*,
    cudaDataType,
    void*,
    int64_t,
    size_t* device,
    size_t* host) {
  return say_sizes(device, host);
}
cusolverStatus_t sytrs(
    cusolverDnHandle_t,
    cublasFillMode_t,
    int64_t n,
    int64_t nrhs,
    cudaDataType type,
    const void* a,
    int64_t lda,
    const int64_t* pivots,
    cudaDataType,
    void* b,
    int64_t ldb,
    void* device,
    size_t device_bytes,
    void* host,
    size_t host_bytes,
    int* info) {
  Tensor x = matrix(b, n, nrhs, ldb, type);
  x.copy_(at::linalg_ldl_solve(matrix(a, n, n, lda, type), vector(pivots, n, at::kLong).to(at::kInt), x));
  *info = 0;
  return check_buffers(device, device_bytes, host, host_bytes);
}

cusolverStatus_t create_params(cusolverDnParams_t* params) {
  *params = nullptr;
  return CUSOLVER_STATUS_SUCCESS;
}

// ---- names
// -----------------------------------------------------------------------------------------------------------------

using Table = std::map<std::string, void*>;

template <class F>
void* address(F* function) {
  return reinterpret_cast<void*>(function);
}

template <ScalarType kDtype>
void add_typed(Table& table, const std::string& letter) {
  constexpr bool complex = c10::isComplexType(kDtype);
  const std::string prefix = "cusolverDn" + letter, q = complex ? "ung" : "org", multiply = complex ? "unm" : "orm";
  table[prefix + "potrfBatched"] = address(&OnStream<&potrf_batched<kDtype>>::call);
  table[prefix + q + "qr_bufferSize"] = address(&orgqr_size<kDtype>);
  table[prefix + q + "qr"] = address(&OnStream<&orgqr<kDtype>>::call);
  table[prefix + multiply + "qr_bufferSize"] = address(&ormqr_size<kDtype>);
  table[prefix + multiply + "qr"] = address(&OnStream<&ormqr<kDtype>>::call);
  table[prefix + "gesvdj_bufferSize"] = address(&gesvdj_size<kDtype>);
  table[prefix + "gesvdj"] = address(&OnStream<&gesvdj<kDtype>>::call);
  table[prefix + "sytrf_bufferSize"] = address(&sytrf_size<kDtype>);
  table[prefix + "sytrf"] = address(&OnStream<&sytrf<kDtype>>::call);
}

const Table& functions() {
  static const Table all = [] {
    Table table = {
        {"cufftCreate", address<decltype(cufftCreate)>(&fft_create)},
        {"cufftDestroy", address<decltype(cufftDestroy)>(&fft_destroy)},
        {"cufftSetAutoAllocation", address<decltype(cufftSetAutoAllocation)>(&fft_set_auto_allocation)},
        {"cufftSetStream", address<decltype(cufftSetStream)>(&fft_set_stream)},
        {"cufftSetWorkArea", address<decltype(cufftSetWorkArea)>(&fft_set_work_area)},
        {"cufftXtMakePlanMany", address<decltype(cufftXtMakePlanMany)>(&fft_make_plan_many)},
        {"cufftXtExec", address<decltype(cufftXtExec)>(&fft_execute)},
        {"cusolverDnCreateParams", address<decltype(cusolverDnCreateParams)>(&create_params)},
        {"cusolverDnXpotrf_bufferSize", address<decltype(cusolverDnXpotrf_bufferSize)>(&potrf_size)},
        {"cusolverDnXpotrf", address<decltype(cusolverDnXpotrf)>(&OnStream<&potrf>::call)},
        {"cusolverDnXpotrs", address<decltype(cusolverDnXpotrs)>(&OnStream<&potrs>::call)},
        {"cusolverDnXgetrf_bufferSize", address<decltype(cusolverDnXgetrf_bufferSize)>(&getrf_size)},
        {"cusolverDnXgetrf", address<decltype(cusolverDnXgetrf)>(&OnStream<&getrf>::call)},
        {"cusolverDnXgetrs", address<decltype(cusolverDnXgetrs)>(&OnStream<&getrs>::call)},
        {"cusolverDnXgeqrf_bufferSize", address<decltype(cusolverDnXgeqrf_bufferSize)>(&geqrf_size)},
        {"cusolverDnXgeqrf", address<decltype(cusolverDnXgeqrf)>(&OnStream<&geqrf>::call)},
        {"cusolverDnXsyevd_bufferSize", address<decltype(cusolverDnXsyevd_bufferSize)>(&syevd_size)},
        {"cusolverDnXsyevd", address<decltype(cusolverDnXsyevd)>(&OnStream<&syevd>::call)},
        {"cusolverDnXsyevBatched_bufferSize", address<decltype(cusolverDnXsyevBatched_bufferSize)>(&syev_batched_size)},
        {"cusolverDnXsyevBatched", address<decltype(cusolverDnXsyevBatched)>(&OnStream<&syev_batched>::call)},
        {"cusolverDnXgesvd_bufferSize", address<decltype(cusolverDnXgesvd_bufferSize)>(&gesvd_size)},
        {"cusolverDnXgesvd", address<decltype(cusolverDnXgesvd)>(&OnStream<&gesvd>::call)},
        {"cusolverDnXgeev_bufferSize", address<decltype(cusolverDnXgeev_bufferSize)>(&geev_size)},
        {"cusolverDnXgeev", address<decltype(cusolverDnXgeev)>(&OnStream<&geev>::call)},
        {"cusolverDnXsytrs_bufferSize", address<decltype(cusolverDnXsytrs_bufferSize)>(&sytrs_size)},
        {"cusolverDnXsytrs", address<decltype(cusolverDnXsytrs)>(&OnStream<&sytrs>::call)},
        {"cusolverDnCreateGesvdjInfo", address<decltype(cusolverDnCreateGesvdjInfo)>(&create_gesvdj_info)},
        {"cusolverDnDestroyGesvdjInfo", address<decltype(cusolverDnDestroyGesvdjInfo)>(&destroy_gesvdj_info)},
    };
    add_typed<at::kFloat>(table, "S");
    add_typed<at::kDouble>(table, "D");
    add_typed<at::kComplexFloat>(table, "C");
    add_typed<at::kComplexDouble>(table, "Z");
    return table;
  }();
  return all;
}

// ---- cuBLAS
// ----------------------------------------------------------------------------------------------------------------

void solve_triangular(
    cublasSideMode_t side,
    cublasFillMode_t uplo,
    cublasOperation_t op,
    cublasDiagType_t diagonal,
    int m,
    int n,
    const void* a,
    int lda,
    void* b,
    int ldb,
    ScalarType dtype) {
  const bool left = side == CUBLAS_SIDE_LEFT;
  const int order = left ? m : n;
  Tensor factor = matrix(a, order, order, lda, dtype), x = matrix(b, m, n, ldb, dtype);
  bool upper = uplo == CUBLAS_FILL_MODE_UPPER;
  if (op != CUBLAS_OP_N) {
    factor = (op == CUBLAS_OP_C ? factor.mH() : factor.mT()).clone();
    upper = !upper;
  }
  x.copy_(at::linalg_solve_triangular(factor, x, upper, left, diagonal == CUBLAS_DIAG_UNIT));
}

} // namespace
} // namespace emulated

// One function of the C interface for each dtype.
#define EMULATED_TRSM(LETTER, T, DTYPE)                                                                        \
  cublasStatus_t cublas##LETTER##trsm_v2(                                                                      \
      cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo, cublasOperation_t op,               \
      cublasDiagType_t diagonal, int m, int n, const T*, const T* a, int lda, T* b, int ldb) {                 \
    ::emulated::run_blas(                                                                                      \
        handle, [=] { ::emulated::solve_triangular(side, uplo, op, diagonal, m, n, a, lda, b, ldb, DTYPE); }); \
    return CUBLAS_STATUS_SUCCESS;                                                                              \
  }                                                                                                            \
  cublasStatus_t cublas##LETTER##trsmBatched(                                                                  \
      cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo, cublasOperation_t op,               \
      cublasDiagType_t diagonal, int m, int n, const T*, const T* const a[], int lda, T* const b[], int ldb,   \
      int count) {                                                                                             \
    ::emulated::run_blas(handle, [=] {                                                                         \
      for (int i = 0; i < count; ++i) {                                                                        \
        ::emulated::solve_triangular(side, uplo, op, diagonal, m, n, a[i], lda, b[i], ldb, DTYPE);             \
      }                                                                                                        \
    });                                                                                                        \
    return CUBLAS_STATUS_SUCCESS;                                                                              \
  }

extern "C" {
EMULATED_TRSM(S, float, at::kFloat)
EMULATED_TRSM(D, double, at::kDouble)
EMULATED_TRSM(C, cuComplex, at::kComplexFloat)
EMULATED_TRSM(Z, cuDoubleComplex, at::kComplexDouble)
}

namespace at::cuda {

bool has_library(Library) {
  return !emulated::libraries().missing;
}

void* library_function(Library library, const char* name) {
  TORCH_CHECK(!emulated::libraries().missing, name, " is needed and cannot be opened");
  emulated::libraries().looked_up.push_back(name);
  return library == Library::cuDNN   ? emulated::cudnn_function(name)
      : library == Library::cuSPARSE ? emulated::cusparse_function(name)
                                     : emulated::functions().at(name);
}

cusolverDnHandle_t getCurrentCUDASolverDnHandle() {
  return nullptr;
}
namespace solver {
const char* cusolverGetErrorMessage(cusolverStatus_t) {
  return "refused by the emulated library";
}
} // namespace solver
namespace blas {
const char* _cublasGetErrorEnum(cublasStatus_t) {
  return "refused by the emulated library";
}
} // namespace blas

} // namespace at::cuda
