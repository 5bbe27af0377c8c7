#include <aten/native/cuda/operator_errors.h>

#include <c10/util/Exception.h>

#include <string_view>

namespace at::native::cuda {

namespace {

/// Failures of libraries are told by their text alone: "CUDA error: ", "CUDA driver error in ", "cuDNN error: ", ...
bool tells_of_a_library(std::string_view text) {
  const std::size_t end = text.find(' ');
  return (text.starts_with("CU") || text.starts_with("cu")) && end != std::string_view::npos && text.substr(end, 14).find(" error") != std::string_view::npos;
}

bool is_of_the_device(const c10::Error& error) {
  return dynamic_cast<const c10::AcceleratorError*>(&error) != nullptr ||
      dynamic_cast<const c10::OutOfMemoryError*>(&error) != nullptr || tells_of_a_library(error.msg());
}

} // namespace

void rethrow_from(const char* op) {
  try {
    throw;
  } catch (c10::Error& error) {
    if (error.context().empty() && is_of_the_device(error)) {
      error.add_context(c10::str("in aten::", op));
    }
    throw;
  }
}

} // namespace at::native::cuda
