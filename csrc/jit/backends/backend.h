// Names under which lowered modules find a program's backend.
#pragma once

#include <aten/core/function_schema.h>
#include <csrc/jit/backends/backend_interface.h>
#include <csrc/jit/types.h>

#include <functional>
#include <string>
#include <type_traits>
#include <vector>

namespace torch::jit {

namespace detail {

struct BackendMethod {
  c10::FunctionSchema schema;
  std::function<void(Stack&)> function;
};
/// Methods is_available, compile and execute as programs call them.
TORCH_API std::vector<BackendMethod> backend_methods();

} // namespace detail

/// Binds a backend as class `torch.classes.__backends__.NAME`:
///
///   static const torch::jit::backend<MyBackend> registered("my_backend");
template <class TBackendInterface>
class backend {
  static_assert(
      std::is_base_of_v<PyTorchBackendInterface, TBackendInterface>,
      "torch::jit::backend<T> requires T to inherit from PyTorchBackendInterface");

 public:
  /* implicit */ backend(const std::string& name) {
    torch::class_<TBackendInterface> bound("__backends__", name);
    bound.def(torch::init<>());
    for (detail::BackendMethod& method : detail::backend_methods()) {
      bound._def_unboxed(method.schema.name(), std::move(method.function), method.schema);
    }
  }
};

} // namespace torch::jit
