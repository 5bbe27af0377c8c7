#include <aten/cuda/Libraries.h>

#include <c10/util/Exception.h>

#include <cublas_v2.h>
#include <cufft.h>
#include <cusolver_common.h>
#include <cusparse.h>
#include <dlfcn.h>

#include <mutex>
#include <string>

namespace at::cuda {
namespace {

/// The folder of cuBLAS with a slash: where one library of the toolkit is, the others are as a rule.
std::string toolkit_folder() {
  Dl_info info{};
  if (::dladdr(reinterpret_cast<const void*>(&cublasGetVersion), &info) == 0 || info.dli_fname == nullptr) {
    return {};
  }
  const std::string path = info.dli_fname;
  return path.substr(0, path.rfind('/') + 1);
}

struct OpenLibrary {
  const char* name;
  int version;
  const char* file;
  std::once_flag once;
  void* handle = nullptr; // never closed: plans and handles live as long as the process
  std::string error;

  OpenLibrary(const char* name, int version, const char* file) : name(name), version(version), file(file) {}

  std::string file_name() const {
    return file + std::string(".so.") + std::to_string(version);
  }
  void open() {
    for (const std::string& path : {file_name(), toolkit_folder() + file_name()}) {
      handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
      if (handle != nullptr) {
        return;
      }
      error += std::string(error.empty() ? "" : "; ") + ::dlerror();
    }
  }
};

/// The version whose functions are called; cuDNN is no part of the toolkit, and has versions of its own.
constexpr int kCudnnVersion = 9;

OpenLibrary& open_library(Library library) {
  static auto* const fft = new OpenLibrary("cuFFT", CUFFT_VER_MAJOR, "libcufft");
  static auto* const solver = new OpenLibrary("cuSOLVER", CUSOLVER_VER_MAJOR, "libcusolver");
  static auto* const sparse = new OpenLibrary("cuSPARSE", CUSPARSE_VER_MAJOR, "libcusparse");
  static auto* const dnn = new OpenLibrary("cuDNN", kCudnnVersion, "libcudnn");
  const auto find = [library]() -> OpenLibrary& {
    switch (library) {
      case Library::cuFFT:
        return *fft;
      case Library::cuSOLVER:
        return *solver;
      case Library::cuSPARSE:
        return *sparse;
      default:
        return *dnn;
    }
  };
  OpenLibrary& wanted = find();
  std::call_once(wanted.once, [&] { wanted.open(); });
  return wanted;
}

} // namespace

bool has_library(Library library) {
  return open_library(library).handle != nullptr;
}

void* library_function(Library library, const char* name) {
  const OpenLibrary& state = open_library(library);
  TORCH_CHECK(
      state.handle != nullptr, state.name, " is needed and cannot be opened (", state.error, "). Install ",
      state.file_name(), ", or name its folder in LD_LIBRARY_PATH");
  void* function = ::dlsym(state.handle, name);
  TORCH_CHECK(
      function != nullptr, state.name, " on this machine lacks ", name, "; this libtensor was built for version ",
      state.version);
  return function;
}

} // namespace at::cuda
