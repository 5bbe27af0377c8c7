// How the C interface keeps exceptions to itself.
#pragma once

#include <c10/util/Exception.h>
#include <csrc/stable/shim.h>

#include <exception>
#include <string>

namespace torch::stable::detail {

/// Makes these messages the thread's error, for torch_exception_get_what().
TORCH_API void set_error(std::string what, std::string what_without_backtrace);

/// Runs the body; an exception becomes the thread's error.
template <class Body>
AOTITorchError guarded(const Body& body) {
  try {
    body();
    return TORCH_SUCCESS;
  } catch (const c10::Error& error) {
    set_error(error.what(), error.what_without_backtrace());
  } catch (const std::exception& error) {
    set_error(error.what(), error.what());
  } catch (...) {
    set_error("unknown error", "unknown error");
  }
  return TORCH_FAILURE;
}

} // namespace torch::stable::detail
