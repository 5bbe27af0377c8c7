// What of cuBLAS the plugin links to and its operators do not call. The header is left out: only names count.
namespace {

enum Status { kSuccess = 0, kNotSupported = 15 };

} // namespace

extern "C" {

int cublasGetVersion_v2(void*, int* version) {
  *version = 130000;
  return kSuccess;
}
const char* cublasGetStatusName(int) {
  return "a status of the emulated cuBLAS";
}

// Wrapped for programs by csrc/compat/aten/cuda/CUDABlas.cpp.
int cublasDotEx() {
  return kNotSupported;
}
int cublasDotcEx() {
  return kNotSupported;
}
int cublasSgemv_v2_64() {
  return kNotSupported;
}
int cublasDgemv_v2_64() {
  return kNotSupported;
}
int cublasCgemv_v2_64() {
  return kNotSupported;
}
int cublasZgemv_v2_64() {
  return kNotSupported;
}
int cublasSgetrsBatched() {
  return kNotSupported;
}
int cublasDgetrsBatched() {
  return kNotSupported;
}
int cublasCgetrsBatched() {
  return kNotSupported;
}
int cublasZgetrsBatched() {
  return kNotSupported;
}
int cublasSgetrfBatched() {
  return kNotSupported;
}
int cublasDgetrfBatched() {
  return kNotSupported;
}
int cublasCgetrfBatched() {
  return kNotSupported;
}
int cublasZgetrfBatched() {
  return kNotSupported;
}
int cublasSgeqrfBatched() {
  return kNotSupported;
}
int cublasDgeqrfBatched() {
  return kNotSupported;
}
int cublasCgeqrfBatched() {
  return kNotSupported;
}
int cublasZgeqrfBatched() {
  return kNotSupported;
}
int cublasSgelsBatched() {
  return kNotSupported;
}
int cublasDgelsBatched() {
  return kNotSupported;
}
int cublasCgelsBatched() {
  return kNotSupported;
}
int cublasZgelsBatched() {
  return kNotSupported;
}

} // extern "C"
