#include <aten/native/cuda/solver.h>

#include <aten/Functions.h>
#include <aten/cuda/CUDAContextLight.h>
#include <aten/cuda/CUDADataType.h>
#include <aten/cuda/Exceptions.h>
#include <aten/cuda/Libraries.h>
#include <aten/native/cuda/matrices.h>
#include <aten/native/cuda/workspace.h>
#include <c10/cuda/CUDAStream.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <vector>

namespace at::native::cuda::solver {

namespace {

using at::cuda::Library;
template <class F>
using SolverFunction = at::cuda::LibraryFunction<Library::cuSOLVER, F>;

cudaDataType type_of(const Tensor& t) {
  return at::cuda::ScalarTypeToCudaDataType(t.scalar_type());
}

cublasFillMode_t fill_mode(bool upper) {
  return upper ? CUBLAS_FILL_MODE_UPPER : CUBLAS_FILL_MODE_LOWER;
}
cusolverEigMode_t eig_mode(bool vectors) {
  return vectors ? CUSOLVER_EIG_MODE_VECTOR : CUSOLVER_EIG_MODE_NOVECTOR;
}

/// A size in the integers of the older routines.
int to_int(int64_t size) {
  TORCH_CHECK(
      size <= std::numeric_limits<int>::max(), "linear algebra on cuda: a size of ", size,
      " is too large; at most 2^31 - 1");
  return static_cast<int>(size);
}

/// Vectors or numbers of a batch, one after the other.
class Dense {
 public:
  Dense(const Tensor& t, int64_t each)
      : data_(static_cast<char*>(t.mutable_data_ptr())), bytes_(static_cast<std::size_t>(each) * t.itemsize()) {}
  char* operator[](int64_t i) const {
    return data_ + static_cast<std::size_t>(i) * bytes_;
  }

 private:
  char* data_;
  std::size_t bytes_;
};

class Infos {
 public:
  explicit Infos(const Tensor& t) : data_(t.mutable_data_ptr<int>()) {}
  int* operator[](int64_t i) const {
    return data_ + i;
  }

 private:
  int* data_;
};

/// For routines whose word nobody asks for.
Tensor no_infos(const Tensor& a) {
  return at::empty(batch_sizes_of(a), a.options().dtype(kInt));
}

/// The buffers of a call of the 64-bit interface.
class Buffers {
 public:
  template <class Ask>
  explicit Buffers(const Ask& ask) {
    TORCH_CUSOLVER_CHECK(ask(&device_bytes, &host_bytes));
    host_memory_.resize(host_bytes);
    device_memory_ =
        std::make_unique<Workspace>(std::max<std::size_t>(device_bytes, 1), c10::cuda::getCurrentCUDAStream().stream());
  }
  void* device() const {
    return device_memory_->data();
  }
  void* host() {
    return host_memory_.data();
  }

  std::size_t device_bytes = 0, host_bytes = 0;

 private:
  std::vector<char> host_memory_;
  std::unique_ptr<Workspace> device_memory_;
};

/// The workspace of a call of the older interface.
class Work {
 public:
  template <class Ask>
  Work(const Tensor& a, const Ask& ask) {
    TORCH_CUSOLVER_CHECK(ask(&size));
    memory_ = std::make_unique<Workspace>(
        static_cast<std::size_t>(std::max(size, 1)) * a.itemsize(), c10::cuda::getCurrentCUDAStream().stream());
  }
  void* data() const {
    return memory_->data();
  }

  int size = 0;

 private:
  std::unique_ptr<Workspace> memory_;
};

/// A routine of the older interface, which has a function for each dtype: cusolverDnSorgqr, ..., cusolverDnZungqr. They
/// differ in the types that pointers point to, for which F has void.
template <class F>
F* routine_of(const Tensor& a, const char* name, const char* complex_name, const char* suffix = "") {
  const bool wide = c10::toRealValueType(a.scalar_type()) == c10::ScalarType::Double;
  const std::string full = std::string("cusolverDn") + (a.is_complex() ? (wide ? 'Z' : 'C') : (wide ? 'D' : 'S')) +
      (a.is_complex() ? complex_name : name) + suffix;
  return reinterpret_cast<F*>(at::cuda::library_function(Library::cuSOLVER, full.c_str()));
}

constexpr const char* kBufferSize = "_bufferSize";

const SolverFunction<decltype(cusolverDnXpotrf_bufferSize)> Xpotrf_bufferSize{"cusolverDnXpotrf_bufferSize"};
const SolverFunction<decltype(cusolverDnXpotrf)> Xpotrf{"cusolverDnXpotrf"};
const SolverFunction<decltype(cusolverDnXpotrs)> Xpotrs{"cusolverDnXpotrs"};
const SolverFunction<decltype(cusolverDnXgetrf_bufferSize)> Xgetrf_bufferSize{"cusolverDnXgetrf_bufferSize"};
const SolverFunction<decltype(cusolverDnXgetrf)> Xgetrf{"cusolverDnXgetrf"};
const SolverFunction<decltype(cusolverDnXgetrs)> Xgetrs{"cusolverDnXgetrs"};
const SolverFunction<decltype(cusolverDnXgeqrf_bufferSize)> Xgeqrf_bufferSize{"cusolverDnXgeqrf_bufferSize"};
const SolverFunction<decltype(cusolverDnXgeqrf)> Xgeqrf{"cusolverDnXgeqrf"};
const SolverFunction<decltype(cusolverDnXsyevd_bufferSize)> Xsyevd_bufferSize{"cusolverDnXsyevd_bufferSize"};
const SolverFunction<decltype(cusolverDnXsyevd)> Xsyevd{"cusolverDnXsyevd"};
const SolverFunction<decltype(cusolverDnXsyevBatched_bufferSize)> XsyevBatched_bufferSize{
    "cusolverDnXsyevBatched_bufferSize"};
const SolverFunction<decltype(cusolverDnXsyevBatched)> XsyevBatched{"cusolverDnXsyevBatched"};
const SolverFunction<decltype(cusolverDnXgesvd_bufferSize)> Xgesvd_bufferSize{"cusolverDnXgesvd_bufferSize"};
const SolverFunction<decltype(cusolverDnXgesvd)> Xgesvd{"cusolverDnXgesvd"};
const SolverFunction<decltype(cusolverDnXgeev_bufferSize)> Xgeev_bufferSize{"cusolverDnXgeev_bufferSize"};
const SolverFunction<decltype(cusolverDnXgeev)> Xgeev{"cusolverDnXgeev"};
const SolverFunction<decltype(cusolverDnXsytrs_bufferSize)> Xsytrs_bufferSize{"cusolverDnXsytrs_bufferSize"};
const SolverFunction<decltype(cusolverDnXsytrs)> Xsytrs{"cusolverDnXsytrs"};
const SolverFunction<decltype(cusolverDnCreateGesvdjInfo)> CreateGesvdjInfo{"cusolverDnCreateGesvdjInfo"};
const SolverFunction<decltype(cusolverDnDestroyGesvdjInfo)> DestroyGesvdjInfo{"cusolverDnDestroyGesvdjInfo"};

/// Matrices up to this order are factored by batched routines, where there are several: one launch for all of them.
constexpr int64_t kBatchedOrder = 512;

/// The addresses of the matrices of a batch, on the device.
Tensor addresses(const Tensor& a) {
  const MatrixBatch m(a);
  const Tensor places = at::arange(m.count, a.options().dtype(kLong));
  return at::add(
      at::mul(places, static_cast<int64_t>(m.bytes)), static_cast<int64_t>(reinterpret_cast<std::intptr_t>(m[0])));
}

cusolverDnHandle_t handle() {
  return at::cuda::getCurrentCUDASolverDnHandle();
}

/// What the 64-bit interface may be told about algorithms: nothing but the defaults.
cusolverDnParams_t parameters() {
  static const SolverFunction<decltype(cusolverDnCreateParams)> create{"cusolverDnCreateParams"};
  static const cusolverDnParams_t defaults = [] {
    cusolverDnParams_t p = nullptr;
    TORCH_CUSOLVER_CHECK(create(&p));
    return p;
  }();
  return defaults;
}

} // namespace

// ---- Cholesky
// ------------------------------------------------------------------------------------------------------------

void potrf(const Tensor& a, bool upper, const Tensor& info) {
  const MatrixBatch m(a);
  const cudaDataType type = type_of(a);
  const cublasFillMode_t uplo = fill_mode(upper);
  const Infos infos(info);
  const cusolverDnHandle_t h = handle();
  if (m.count > 1) {
    using Batched = cusolverStatus_t(cusolverDnHandle_t, cublasFillMode_t, int, void*, int, int*, int);
    const Tensor matrices = addresses(a);
    TORCH_CUSOLVER_CHECK(routine_of<Batched>(a, "potrfBatched", "potrfBatched")(
        h, uplo, to_int(m.rows), matrices.mutable_data_ptr(), to_int(m.leading), infos[0], to_int(m.count)));
    return;
  }
  Buffers buffers([&](std::size_t* device, std::size_t* host) {
    return Xpotrf_bufferSize(h, parameters(), uplo, m.rows, type, m[0], m.leading, type, device, host);
  });
  TORCH_CUSOLVER_CHECK(Xpotrf(
      h, parameters(), uplo, m.rows, type, m[0], m.leading, type, buffers.device(), buffers.device_bytes,
      buffers.host(), buffers.host_bytes, infos[0]));
}

void potrs(const Tensor& a, bool upper, const Tensor& b) {
  const MatrixBatch factors(a), x(b);
  const cudaDataType type = type_of(a);
  const Tensor info = no_infos(a);
  const Infos infos(info);
  const cusolverDnHandle_t h = handle();
  for (int64_t i = 0; i < x.count; ++i) {
    TORCH_CUSOLVER_CHECK(Xpotrs(
        h, parameters(), fill_mode(upper), x.rows, x.cols, type, factors[i], factors.leading, type, x[i], x.leading,
        infos[i]));
  }
}

// ---- LU
// ------------------------------------------------------------------------------------------------------------------

void getrf(const Tensor& a, const Tensor& pivots, const Tensor& info) {
  const MatrixBatch m(a);
  const cudaDataType type = type_of(a);
  const Infos infos(info);
  const cusolverDnHandle_t h = handle();
  const int64_t k = std::min(m.rows, m.cols);
  Buffers buffers([&](std::size_t* device, std::size_t* host) {
    return Xgetrf_bufferSize(h, parameters(), m.rows, m.cols, type, m[0], m.leading, type, device, host);
  });
  for (int64_t i = 0; i < m.count; ++i) {
    TORCH_CUSOLVER_CHECK(Xgetrf(
        h, parameters(), m.rows, m.cols, type, m[i], m.leading,
        pivots.defined() ? pivots.mutable_data_ptr<int64_t>() + i * k : nullptr, type, buffers.device(),
        buffers.device_bytes, buffers.host(), buffers.host_bytes, infos[i]));
  }
}

void getrs(const Tensor& lu, const Tensor& pivots, cublasOperation_t op, const Tensor& b) {
  const MatrixBatch factors(lu), x(b);
  const cudaDataType type = type_of(lu);
  const Tensor info = no_infos(lu);
  const Infos infos(info);
  const cusolverDnHandle_t h = handle();
  for (int64_t i = 0; i < x.count; ++i) {
    TORCH_CUSOLVER_CHECK(Xgetrs(
        h, parameters(), op, x.rows, x.cols, type, factors[i], factors.leading,
        pivots.const_data_ptr<int64_t>() + i * x.rows, type, x[i], x.leading, infos[i]));
  }
}

// ---- QR
// ------------------------------------------------------------------------------------------------------------------

void geqrf(const Tensor& a, const Tensor& tau) {
  const MatrixBatch m(a);
  const cudaDataType type = type_of(a);
  const Dense scales(tau, std::min(m.rows, m.cols));
  const Tensor info = no_infos(a);
  const Infos infos(info);
  const cusolverDnHandle_t h = handle();
  Buffers buffers([&](std::size_t* device, std::size_t* host) {
    return Xgeqrf_bufferSize(
        h, parameters(), m.rows, m.cols, type, m[0], m.leading, type, scales[0], type, device, host);
  });
  for (int64_t i = 0; i < m.count; ++i) {
    TORCH_CUSOLVER_CHECK(Xgeqrf(
        h, parameters(), m.rows, m.cols, type, m[i], m.leading, type, scales[i], type, buffers.device(),
        buffers.device_bytes, buffers.host(), buffers.host_bytes, infos[i]));
  }
}

void orgqr(const Tensor& a, const Tensor& tau) {
  using Size = cusolverStatus_t(cusolverDnHandle_t, int, int, int, const void*, int, const void*, int*);
  using Run = cusolverStatus_t(cusolverDnHandle_t, int, int, int, void*, int, const void*, void*, int, int*);
  const MatrixBatch q(a);
  const int m = to_int(q.rows), n = to_int(q.cols), k = to_int(tau.size(-1)), leading = to_int(q.leading);
  const Dense scales(tau, k);
  const Tensor info = no_infos(a);
  const Infos infos(info);
  const cusolverDnHandle_t h = handle();
  const Work work(a, [&](int* size) {
    return routine_of<Size>(a, "orgqr", "ungqr", kBufferSize)(h, m, n, k, q[0], leading, scales[0], size);
  });
  Run* const run = routine_of<Run>(a, "orgqr", "ungqr");
  for (int64_t i = 0; i < q.count; ++i) {
    TORCH_CUSOLVER_CHECK(run(h, m, n, k, q[i], leading, scales[i], work.data(), work.size, infos[i]));
  }
}

void ormqr(bool left, cublasOperation_t op, const Tensor& a, const Tensor& tau, const Tensor& c) {
  using Size = cusolverStatus_t(
      cusolverDnHandle_t, cublasSideMode_t, cublasOperation_t, int, int, int, const void*, int, const void*,
      const void*, int, int*);
  using Run = cusolverStatus_t(
      cusolverDnHandle_t, cublasSideMode_t, cublasOperation_t, int, int, int, const void*, int, const void*, void*, int,
      void*, int, int*);
  const MatrixBatch reflectors(a), x(c);
  const int m = to_int(x.rows), n = to_int(x.cols), k = to_int(tau.size(-1));
  const int lda = to_int(reflectors.leading), ldc = to_int(x.leading);
  const cublasSideMode_t side = left ? CUBLAS_SIDE_LEFT : CUBLAS_SIDE_RIGHT;
  const Dense scales(tau, k);
  const Tensor info = no_infos(a);
  const Infos infos(info);
  const cusolverDnHandle_t h = handle();
  const Work work(a, [&](int* size) {
    return routine_of<Size>(a, "ormqr", "unmqr", kBufferSize)(
        h, side, op, m, n, k, reflectors[0], lda, scales[0], x[0], ldc, size);
  });
  Run* const run = routine_of<Run>(a, "ormqr", "unmqr");
  for (int64_t i = 0; i < x.count; ++i) {
    TORCH_CUSOLVER_CHECK(
        run(h, side, op, m, n, k, reflectors[i], lda, scales[i], x[i], ldc, work.data(), work.size, infos[i]));
  }
}

// ---- spectra
// -------------------------------------------------------------------------------------------------------------

void syevd(const Tensor& a, bool upper, bool vectors, const Tensor& values, const Tensor& info) {
  const MatrixBatch m(a);
  const cudaDataType type = type_of(a), real = type_of(values);
  const cusolverEigMode_t mode = eig_mode(vectors);
  const cublasFillMode_t uplo = fill_mode(upper);
  const Dense w(values, m.rows);
  const Infos infos(info);
  const cusolverDnHandle_t h = handle();
  if (m.count > 1 && m.rows <= kBatchedOrder) {
    Buffers buffers([&](std::size_t* device, std::size_t* host) {
      return XsyevBatched_bufferSize(
          h, parameters(), mode, uplo, m.rows, type, m[0], m.leading, real, w[0], type, device, host, m.count);
    });
    TORCH_CUSOLVER_CHECK(XsyevBatched(
        h, parameters(), mode, uplo, m.rows, type, m[0], m.leading, real, w[0], type, buffers.device(),
        buffers.device_bytes, buffers.host(), buffers.host_bytes, infos[0], m.count));
    return;
  }
  Buffers buffers([&](std::size_t* device, std::size_t* host) {
    return Xsyevd_bufferSize(
        h, parameters(), mode, uplo, m.rows, type, m[0], m.leading, real, w[0], type, device, host);
  });
  for (int64_t i = 0; i < m.count; ++i) {
    TORCH_CUSOLVER_CHECK(Xsyevd(
        h, parameters(), mode, uplo, m.rows, type, m[i], m.leading, real, w[i], type, buffers.device(),
        buffers.device_bytes, buffers.host(), buffers.host_bytes, infos[i]));
  }
}

void gesvd(const Tensor& a, const Tensor& u, const Tensor& s, const Tensor& vh, const Tensor& info) {
  const MatrixBatch m(a);
  const bool vectors = u.defined();
  const MatrixBatch left(vectors ? u : a), right(vectors ? vh : a);
  const signed char job = !vectors ? 'N' : left.cols == m.rows ? 'A' : 'S';
  const cudaDataType type = type_of(a), real = type_of(s);
  const Dense values(s, std::min(m.rows, m.cols));
  const Infos infos(info);
  const cusolverDnHandle_t h = handle();
  Buffers buffers([&](std::size_t* device, std::size_t* host) {
    return Xgesvd_bufferSize(
        h, parameters(), job, job, m.rows, m.cols, type, m[0], m.leading, real, values[0], type, left[0], left.leading,
        type, right[0], right.leading, type, device, host);
  });
  for (int64_t i = 0; i < m.count; ++i) {
    TORCH_CUSOLVER_CHECK(Xgesvd(
        h, parameters(), job, job, m.rows, m.cols, type, m[i], m.leading, real, values[i], type, left[i], left.leading,
        type, right[i], right.leading, type, buffers.device(), buffers.device_bytes, buffers.host(), buffers.host_bytes,
        infos[i]));
  }
}

void gesvdj(const Tensor& a, const Tensor& u, const Tensor& s, const Tensor& v, const Tensor& info) {
  using Size = cusolverStatus_t(
      cusolverDnHandle_t, cusolverEigMode_t, int, int, int, const void*, int, const void*, const void*, int,
      const void*, int, int*, gesvdjInfo_t);
  using Run = cusolverStatus_t(
      cusolverDnHandle_t, cusolverEigMode_t, int, int, int, void*, int, void*, void*, int, void*, int, void*, int, int*,
      gesvdjInfo_t);
  const MatrixBatch m(a);
  const bool vectors = u.defined();
  const MatrixBatch left(vectors ? u : a), right(vectors ? v : a);
  const int rows = to_int(m.rows), cols = to_int(m.cols), leading = to_int(m.leading);
  const int econ = vectors && left.cols == std::min(m.rows, m.cols) && right.cols == left.cols;
  // Where no vectors are wanted they are not written, but their leading dimensions are checked.
  const int left_leading = to_int(std::max<int64_t>(m.rows, 1)), right_leading = to_int(std::max<int64_t>(m.cols, 1));
  const Dense values(s, std::min(m.rows, m.cols));
  const Infos infos(info);
  const cusolverDnHandle_t h = handle();
  gesvdjInfo_t settings = nullptr;
  TORCH_CUSOLVER_CHECK(CreateGesvdjInfo(&settings));
  const std::unique_ptr<std::remove_pointer_t<gesvdjInfo_t>, void (*)(gesvdjInfo_t)> owner(
      settings, [](gesvdjInfo_t p) { static_cast<void>(DestroyGesvdjInfo(p)); });
  const Work work(a, [&](int* size) {
    return routine_of<Size>(a, "gesvdj", "gesvdj", kBufferSize)(
        h, eig_mode(vectors), econ, rows, cols, m[0], leading, values[0], left[0], left_leading, right[0],
        right_leading, size, settings);
  });
  Run* const run = routine_of<Run>(a, "gesvdj", "gesvdj");
  for (int64_t i = 0; i < m.count; ++i) {
    TORCH_CUSOLVER_CHECK(
        run(h, eig_mode(vectors), econ, rows, cols, m[i], leading, values[i], left[i], left_leading, right[i],
            right_leading, work.data(), work.size, infos[i], settings));
  }
}

void geev(const Tensor& a, const Tensor& values, const Tensor& vectors, const Tensor& info) {
  const MatrixBatch m(a);
  const bool wanted = vectors.defined();
  const MatrixBatch right(wanted ? vectors : a);
  const cudaDataType type = type_of(a), complex = type_of(values);
  const Dense w(values, m.rows);
  const Infos infos(info);
  const cusolverDnHandle_t h = handle();
  const auto place = [&](int64_t i) { return wanted ? right[i] : nullptr; };
  Buffers buffers([&](std::size_t* device, std::size_t* host) {
    return Xgeev_bufferSize(
        h, parameters(), CUSOLVER_EIG_MODE_NOVECTOR, eig_mode(wanted), m.rows, type, m[0], m.leading, complex, w[0],
        type, nullptr, m.leading, type, place(0), right.leading, type, device, host);
  });
  for (int64_t i = 0; i < m.count; ++i) {
    TORCH_CUSOLVER_CHECK(Xgeev(
        h, parameters(), CUSOLVER_EIG_MODE_NOVECTOR, eig_mode(wanted), m.rows, type, m[i], m.leading, complex, w[i],
        type, nullptr, m.leading, type, place(i), right.leading, type, buffers.device(), buffers.device_bytes,
        buffers.host(), buffers.host_bytes, infos[i]));
  }
}

// ---- LDL
// -----------------------------------------------------------------------------------------------------------------

void sytrf(const Tensor& a, const Tensor& pivots, const Tensor& info) {
  using Size = cusolverStatus_t(cusolverDnHandle_t, int, void*, int, int*);
  using Run = cusolverStatus_t(cusolverDnHandle_t, cublasFillMode_t, int, void*, int, int*, void*, int, int*);
  const MatrixBatch m(a);
  const int n = to_int(m.rows), leading = to_int(m.leading);
  const Infos infos(info);
  const cusolverDnHandle_t h = handle();
  const Work work(
      a, [&](int* size) { return routine_of<Size>(a, "sytrf", "sytrf", kBufferSize)(h, n, m[0], leading, size); });
  Run* const run = routine_of<Run>(a, "sytrf", "sytrf");
  for (int64_t i = 0; i < m.count; ++i) {
    TORCH_CUSOLVER_CHECK(
        run(h, CUBLAS_FILL_MODE_LOWER, n, m[i], leading, pivots.mutable_data_ptr<int>() + i * n, work.data(), work.size,
            infos[i]));
  }
}

void sytrs(const Tensor& a, const Tensor& pivots, const Tensor& b) {
  const MatrixBatch factors(a), x(b);
  const cudaDataType type = type_of(a);
  const Tensor info = no_infos(a);
  const Infos infos(info);
  const cusolverDnHandle_t h = handle();
  const int64_t* p = pivots.const_data_ptr<int64_t>();
  Buffers buffers([&](std::size_t* device, std::size_t* host) {
    return Xsytrs_bufferSize(
        h, CUBLAS_FILL_MODE_LOWER, x.rows, x.cols, type, factors[0], factors.leading, p, type, x[0], x.leading, device,
        host);
  });
  for (int64_t i = 0; i < x.count; ++i) {
    TORCH_CUSOLVER_CHECK(Xsytrs(
        h, CUBLAS_FILL_MODE_LOWER, x.rows, x.cols, type, factors[i], factors.leading, p + i * x.rows, type, x[i],
        x.leading, buffers.device(), buffers.device_bytes, buffers.host(), buffers.host_bytes, infos[i]));
  }
}

// ---- triangular systems
// ----------------------------------------------------------------------------------------------------

namespace {

/// One dtype of cuBLAS' routines.
template <class T>
struct Trsm {
  using One = cublasStatus_t(
      cublasHandle_t,
      cublasSideMode_t,
      cublasFillMode_t,
      cublasOperation_t,
      cublasDiagType_t,
      int,
      int,
      const T*,
      const T*,
      int,
      T*,
      int);
  using Batched = cublasStatus_t(
      cublasHandle_t,
      cublasSideMode_t,
      cublasFillMode_t,
      cublasOperation_t,
      cublasDiagType_t,
      int,
      int,
      const T*,
      const T* const*,
      int,
      T* const*,
      int,
      int);

  One* one;
  Batched* batched;
  T unit;

  void solve(const Tensor& a, Triangle triangle, bool left, const Tensor& b) const {
    const MatrixBatch factors(a), x(b);
    const cublasSideMode_t side = left ? CUBLAS_SIDE_LEFT : CUBLAS_SIDE_RIGHT;
    const cublasFillMode_t uplo = fill_mode(triangle.upper);
    const cublasDiagType_t diagonal = triangle.unit_diagonal ? CUBLAS_DIAG_UNIT : CUBLAS_DIAG_NON_UNIT;
    const int m = to_int(x.rows), n = to_int(x.cols), lda = to_int(factors.leading), ldb = to_int(x.leading);
    const cublasHandle_t h = at::cuda::getCurrentCUDABlasHandle();
    if (x.count > 1 && factors.rows <= kBatchedOrder) {
      const Tensor from = addresses(a), to = addresses(b);
      TORCH_CUDABLAS_CHECK(batched(
          h, side, uplo, triangle.op, diagonal, m, n, &unit, static_cast<const T* const*>(from.const_data_ptr()), lda,
          static_cast<T* const*>(to.mutable_data_ptr()), ldb, to_int(x.count)));
      return;
    }
    for (int64_t i = 0; i < x.count; ++i) {
      TORCH_CUDABLAS_CHECK(
          one(h, side, uplo, triangle.op, diagonal, m, n, &unit, reinterpret_cast<const T*>(factors[i]), lda,
              reinterpret_cast<T*>(x[i]), ldb));
    }
  }
};

} // namespace

void trsm(const Tensor& a, Triangle triangle, bool left, const Tensor& b) {
  switch (a.scalar_type()) {
    case c10::ScalarType::Float:
      return Trsm<float>{&cublasStrsm, &cublasStrsmBatched, 1}.solve(a, triangle, left, b);
    case c10::ScalarType::Double:
      return Trsm<double>{&cublasDtrsm, &cublasDtrsmBatched, 1}.solve(a, triangle, left, b);
    case c10::ScalarType::ComplexFloat:
      return Trsm<cuComplex>{&cublasCtrsm, &cublasCtrsmBatched, {1, 0}}.solve(a, triangle, left, b);
    default:
      return Trsm<cuDoubleComplex>{&cublasZtrsm, &cublasZtrsmBatched, {1, 0}}.solve(a, triangle, left, b);
  }
}

} // namespace at::native::cuda::solver
