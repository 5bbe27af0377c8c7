// What a program implements to run methods of TorchScript modules in the interpreter's place.
#pragma once

#include <aten/library/custom_class.h>

namespace torch::jit {

/// Compiles and runs methods of modules that were lowered to it; see detail::codegen_backend_module().
class TORCH_API PyTorchBackendInterface : public torch::CustomClassHolder {
 public:
  PyTorchBackendInterface() noexcept;
  ~PyTorchBackendInterface() override;
  /// Whether it can run here. Asked before each call of a lowered method.
  virtual bool is_available() = 0;
  /// Gives a handle for each method, by the names that are the keys of `method_compile_spec`. `processed` is what the
  /// backend's preprocess function made of the module. Called once for a module that is lowered, and again when it is
  /// loaded from a file.
  virtual c10::impl::GenericDict compile(c10::IValue processed, c10::impl::GenericDict method_compile_spec) = 0;
  /// Runs the method of a handle. The list has the elements of its tuple, or its one result.
  virtual c10::impl::GenericList execute(c10::IValue handle, c10::impl::GenericList inputs) = 0;
};

} // namespace torch::jit
