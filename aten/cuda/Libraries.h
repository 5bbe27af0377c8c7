// CUDA libraries that most programs never call, opened when they are first needed: linked, they would have to be on
// every machine, and be mapped by every program that uses a GPU.
#pragma once

#include <c10/macros/Export.h>

#include <atomic>

namespace at::cuda {

enum class Library { cuFFT, cuSOLVER, cuSPARSE, cuDNN };

/// The address of a function. Throws when the library cannot be opened, or lacks the function.
TORCH_CUDA_CPP_API void* library_function(Library library, const char* name);

/// Whether the library can be opened.
TORCH_CUDA_CPP_API bool has_library(Library library);

/// A function of a library, looked up by its first call.
template <Library library, class F>
class LibraryFunction;

template <Library library, class Result, class... Args>
class LibraryFunction<library, Result(Args...)> {
 public:
  constexpr explicit LibraryFunction(const char* name) : name_(name) {}

  Result operator()(Args... args) const {
    Function* f = address_.load(std::memory_order_relaxed);
    if (f == nullptr) {
      f = reinterpret_cast<Function*>(library_function(library, name_));
      address_.store(f, std::memory_order_relaxed);
    }
    return f(args...);
  }

 private:
  using Function = Result(Args...);
  const char* name_;
  mutable std::atomic<Function*> address_{nullptr};
};

} // namespace at::cuda
