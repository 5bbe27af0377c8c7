// cuBLAS and cuBLASLt that do nothing: what answers a question or is counted. The rest is made by idle_cuda.py and
// returns zero, as CUBLAS_STATUS_SUCCESS. The headers are left out: only names count.
#include "counts.h"

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace {

int product() {
  ++idle_cuda_counts.library_calls;
  return idle_cuda_failures.product;
}

int make(void** handle) {
  *handle = new char[64]();
  return 0;
}

/// cublasLtMatmulHeuristicResult_t.
struct Heuristic {
  std::uint64_t algorithm[8];
  std::size_t workspace;
  int status;
  float waves;
  int reserved[4];
};

} // namespace

extern "C" {

#ifdef IDLE_CUBLAS
int cublasCreate_v2(void** handle) {
  return make(handle);
}
int cublasGetVersion_v2(void*, int* version) {
  *version = 130000;
  return 0;
}
int cublasGetMathMode(void*, int* mode) {
  *mode = 0;
  return 0;
}
int cublasGetPointerMode_v2(void*, int* mode) {
  *mode = 0;
  return 0;
}
const char* cublasGetStatusName(int) {
  return "a status of the idle cuBLAS";
}
const char* cublasGetStatusString(int) {
  return "a status of the idle cuBLAS";
}
int cublasSgemm_v2() {
  return product();
}
int cublasDgemm_v2() {
  return product();
}
int cublasGemmEx() {
  return product();
}
int cublasGemmEx_64() {
  return product();
}
int cublasSgemmEx() {
  return product();
}
int cublasGemmStridedBatchedEx() {
  return product();
}
int cublasGemmStridedBatchedEx_64() {
  return product();
}
int cublasSgemmStridedBatched() {
  return product();
}
int cublasSgemv_v2() {
  return product();
}
int cublasSgemv_v2_64() {
  return product();
}
int cublasSdot_v2() {
  return product();
}
int cublasDotEx() {
  return product();
}
int cublasDotEx_64() {
  return product();
}
#endif

#ifdef IDLE_CUBLASLT
int cublasLtCreate(void** handle) {
  return make(handle);
}
std::size_t cublasLtGetVersion() {
  return 130000;
}
int cublasLtMatmulDescCreate(void** made, int, int) {
  return make(made);
}
int cublasLtMatmulDescDestroy(void* made) {
  delete[] static_cast<char*>(made);
  return 0;
}
int cublasLtMatrixLayoutCreate(void** made, int, std::uint64_t, std::uint64_t, std::int64_t) {
  return make(made);
}
int cublasLtMatrixLayoutDestroy(void* made) {
  delete[] static_cast<char*>(made);
  return 0;
}
int cublasLtMatmulPreferenceCreate(void** made) {
  return make(made);
}
int cublasLtMatmulPreferenceDestroy(void* made) {
  delete[] static_cast<char*>(made);
  return 0;
}
int cublasLtMatmulAlgoGetHeuristic(
    void*, void*, void*, void*, void*, void*, void*, int wanted, Heuristic* results, int* found) {
  *found = wanted > 0 ? 1 : 0;
  if (wanted > 0) {
    *results = {};
  }
  return 0;
}
int cublasLtMatmul() {
  return product();
}
#endif

} // extern "C"
