#include <aten/native/cuda/operator_errors.h>

#include <c10/util/Exception.h>

#include <algorithm>
#include <iterator>
#include <string_view>

namespace at::native::cuda {

namespace {

/// What the checks of calls of CUDA's libraries begin their messages with: these are plain errors, as in PyTorch.
constexpr std::string_view kLibraryErrors[] = {
    "CUDA error: ", "CUDA driver error", "CUDA NVRTC error: ", "cuDNN error: ", "cuFFT error: ", "cusolver error: ",
};

bool is_library_error(std::string_view text) {
  return std::any_of(std::begin(kLibraryErrors), std::end(kLibraryErrors), [&](std::string_view start) {
    return text.starts_with(start);
  });
}

bool is_device_error(const c10::Error& error) {
  return dynamic_cast<const c10::AcceleratorError*>(&error) != nullptr ||
      dynamic_cast<const c10::OutOfMemoryError*>(&error) != nullptr || is_library_error(error.msg());
}

} // namespace

void rethrow_from(const char* op) {
  try {
    throw;
  } catch (c10::Error& error) {
    if (error.context().empty() && is_device_error(error)) {
      error.add_context(c10::str("in aten::", op));
    }
    throw;
  }
}

} // namespace at::native::cuda
