#pragma once

#include <aten/core/Tensor.h>
#include <aten/core/dispatch/Dispatcher.h>
#include <aten/library/library.h>
#include <c10/core/TensorImpl.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <catch2/catch.hpp>

#include <string>

// Tensors without data: all the dispatcher looks at is their key set.

namespace dispatcher_test {

inline at::Tensor tensor_of(c10::DispatchKeySet keys) {
  return at::detail::make_tensor<c10::TensorImpl>(keys, caffe2::TypeMeta::Make<float>(), c10::Device(c10::kCPU));
}
inline at::Tensor tensor_of(c10::DispatchKey key) {
  return tensor_of(c10::DispatchKeySet(key));
}
inline at::Tensor cpu_tensor() {
  return tensor_of(c10::DispatchKey::CPU);
}
inline at::Tensor cuda_tensor() {
  return at::detail::make_tensor<c10::TensorImpl>(
      c10::DispatchKeySet(c10::DispatchKey::CUDA), caffe2::TypeMeta::Make<float>(), c10::Device(c10::kCUDA, 0));
}

/// A TORCH_LIBRARY block with a lifetime.
inline torch::Library define(const char* ns, uint32_t line = 1) {
  return torch::Library(torch::Library::DEF, ns, std::nullopt, "defs.cpp", line);
}
inline torch::Library implement(const char* ns, c10::DispatchKey key, uint32_t line = 1) {
  return torch::Library(torch::Library::IMPL, ns, key, "impls.cpp", line);
}

inline c10::OperatorHandle find(const char* name, const char* overload = "") {
  return c10::Dispatcher::singleton().findSchemaOrThrow(name, overload);
}
template <class Signature>
c10::TypedOperatorHandle<Signature> typed(const char* name, const char* overload = "") {
  return find(name, overload).typed<Signature>();
}

template <class... Args>
torch::jit::Stack call_boxed(const c10::OperatorHandle& op, Args&&... args) {
  torch::jit::Stack stack;
  torch::jit::push(stack, std::forward<Args>(args)...);
  op.callBoxed(&stack);
  return stack;
}

/// The text of the exception that `f` throws; checks its type.
template <class Error = c10::Error, class F>
std::string error_of(F&& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what_without_backtrace();
  }
  FAIL("nothing was thrown");
  return "";
}

inline Catch::Matchers::StdString::ContainsMatcher Says(const std::string& text) {
  return Catch::Matchers::Contains(text);
}

} // namespace dispatcher_test
