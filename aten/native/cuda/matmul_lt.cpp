#include <aten/native/cuda/matmul_lt.h>

#include <aten/cuda/CUDAContextLight.h>
#include <aten/cuda/Exceptions.h>
#include <c10/cuda/CUDAStream.h>

#include <cublasLt.h>

#include <array>
#include <cstring>
#include <map>
#include <optional>

namespace at::native::cuda {

namespace {

cublasLtEpilogue_t as_library_epilogue(Epilogue epilogue) {
  switch (epilogue) {
    case Epilogue::kBiasRelu:
      return CUBLASLT_EPILOGUE_RELU_BIAS;
    case Epilogue::kBiasGelu:
      return CUBLASLT_EPILOGUE_GELU_BIAS;
    case Epilogue::kSumsOfA:
      return CUBLASLT_EPILOGUE_BGRADA;
    case Epilogue::kSumsOfB:
      return CUBLASLT_EPILOGUE_BGRADB;
    default:
      return CUBLASLT_EPILOGUE_BIAS;
  }
}

class ProductDescription {
 public:
  explicit ProductDescription(const ProductWithEpilogue& p) {
    TORCH_CUDABLAS_CHECK(
        cublasLtMatmulDescCreate(&handle_, p.compute, p.dtype == CUDA_R_64F ? CUDA_R_64F : CUDA_R_32F));
    set(CUBLASLT_MATMUL_DESC_TRANSA, p.operation_a);
    set(CUBLASLT_MATMUL_DESC_TRANSB, p.operation_b);
    set(CUBLASLT_MATMUL_DESC_EPILOGUE, as_library_epilogue(p.epilogue));
    set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, p.bias);
    set(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, p.dtype);
  }
  ProductDescription(const ProductDescription&) = delete;
  ProductDescription& operator=(const ProductDescription&) = delete;
  ~ProductDescription() {
    cublasLtMatmulDescDestroy(handle_);
  }
  cublasLtMatmulDesc_t get() const {
    return handle_;
  }

 private:
  template <class Value>
  void set(cublasLtMatmulDescAttributes_t attribute, const Value& value) {
    TORCH_CUDABLAS_CHECK(cublasLtMatmulDescSetAttribute(handle_, attribute, &value, sizeof(value)));
  }

  cublasLtMatmulDesc_t handle_ = nullptr;
};

class Layout {
 public:
  Layout(
      cudaDataType_t dtype,
      cublasOperation_t operation,
      std::int64_t rows,
      std::int64_t columns,
      std::int64_t leading) {
    const bool as_is = operation == CUBLAS_OP_N;
    TORCH_CUDABLAS_CHECK(cublasLtMatrixLayoutCreate(
        &handle_, dtype, static_cast<std::uint64_t>(as_is ? rows : columns),
        static_cast<std::uint64_t>(as_is ? columns : rows), leading));
  }
  Layout(const Layout&) = delete;
  Layout& operator=(const Layout&) = delete;
  ~Layout() {
    cublasLtMatrixLayoutDestroy(handle_);
  }
  cublasLtMatrixLayout_t get() const {
    return handle_;
  }

 private:
  cublasLtMatrixLayout_t handle_ = nullptr;
};

class Preference {
 public:
  Preference() {
    TORCH_CUDABLAS_CHECK(cublasLtMatmulPreferenceCreate(&handle_));
  }
  Preference(const Preference&) = delete;
  Preference& operator=(const Preference&) = delete;
  ~Preference() {
    cublasLtMatmulPreferenceDestroy(handle_);
  }
  template <class Value>
  void set(cublasLtMatmulPreferenceAttributes_t attribute, const Value& value) {
    TORCH_CUDABLAS_CHECK(cublasLtMatmulPreferenceSetAttribute(handle_, attribute, &value, sizeof(value)));
  }
  cublasLtMatmulPreference_t get() const {
    return handle_;
  }

 private:
  cublasLtMatmulPreference_t handle_ = nullptr;
};

std::uint32_t alignment(const void* address) {
  const auto number = reinterpret_cast<std::uintptr_t>(address);
  std::uint32_t bytes = 256;
  while (number % bytes != 0) {
    bytes /= 2;
  }
  return bytes;
}

/// What the choice of a kernel depends on.
using Key = std::array<std::int64_t, 17>;

Key key_of(const ProductWithEpilogue& p) {
  return {
      c10::cuda::current_device(),
      p.dtype,
      p.compute,
      p.exact_sums,
      p.operation_a,
      p.operation_b,
      p.rows,
      p.columns,
      p.inner,
      p.leading_a,
      p.leading_b,
      p.leading_d,
      alignment(p.a),
      alignment(p.b),
      alignment(p.bias),
      alignment(p.d),
      static_cast<std::int64_t>(p.epilogue)};
}

using Choice = std::optional<cublasLtMatmulHeuristicResult_t>;

/// The library's own choice. Asking for it takes longer than a small product.
const Choice& choose(
    const ProductWithEpilogue& p,
    cublasLtHandle_t handle,
    const ProductDescription& description,
    const Layout& a,
    const Layout& b,
    const Layout& d,
    std::size_t workspace) {
  static thread_local std::map<Key, Choice> known;
  constexpr std::size_t kMost = 4096;
  const Key key = key_of(p);
  const auto found = known.find(key);
  if (found != known.end()) {
    return found->second;
  }
  if (known.size() >= kMost) {
    known.clear();
  }
  Preference preference;
  preference.set(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, workspace);
  preference.set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, alignment(p.a));
  preference.set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, alignment(p.b));
  preference.set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, alignment(p.d));
  preference.set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, alignment(p.d));
  if (p.exact_sums) {
    preference.set<std::uint32_t>(
        CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
        CUBLASLT_REDUCTION_SCHEME_NONE | CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE);
  }
  cublasLtMatmulHeuristicResult_t result{};
  int count = 0;
  const cublasStatus_t status = cublasLtMatmulAlgoGetHeuristic(
      handle, description.get(), a.get(), b.get(), d.get(), d.get(), preference.get(), 1, &result, &count);
  const bool there = status == CUBLAS_STATUS_SUCCESS && count == 1 && result.state == CUBLAS_STATUS_SUCCESS;
  return known[key] = there ? Choice(result) : std::nullopt;
}

} // namespace

bool multiply_with_epilogue(const ProductWithEpilogue& p) {
  const cublasLtHandle_t handle = at::cuda::getCurrentCUDABlasLtHandle();
  const ProductDescription description(p);
  const Layout a(p.dtype, p.operation_a, p.rows, p.inner, p.leading_a);
  const Layout b(p.dtype, p.operation_b, p.inner, p.columns, p.leading_b);
  const Layout d(p.dtype, CUBLAS_OP_N, p.rows, p.columns, p.leading_d);
  const std::size_t workspace = at::cuda::getCUDABlasLtWorkspaceSize();
  const Choice& choice = choose(p, handle, description, a, b, d, workspace);
  if (!choice) {
    return false;
  }
  // In the type that is computed in.
  const double alpha64 = p.alpha, zero64 = 0;
  const float alpha32 = static_cast<float>(p.alpha), zero32 = 0;
  const bool wide = p.dtype == CUDA_R_64F;
  const void* const alpha = wide ? static_cast<const void*>(&alpha64) : &alpha32;
  const void* const beta = wide ? static_cast<const void*>(&zero64) : &zero32;
  TORCH_CUDABLAS_CHECK(cublasLtMatmul(
      handle, description.get(), alpha, p.a, a.get(), p.b, b.get(), beta, p.d, d.get(), p.d, d.get(), &choice->algo,
      at::cuda::getCUDABlasLtWorkspace(), workspace, c10::cuda::getCurrentCUDAStream()));
  return true;
}

} // namespace at::native::cuda
