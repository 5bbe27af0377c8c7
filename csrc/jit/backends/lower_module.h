// Modules whose methods a program's backend runs.
#pragma once

#include <aten/core/Dict.h>
#include <csrc/jit/api/module.h>
#include <csrc/jit/ir/ir.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>

namespace torch::jit {

using DebugHandleType = int64_t;
using NodeToDebugHandle = std::unordered_map<Node*, DebugHandleType>;
/// Numbers a graph's nodes, those of inner blocks too. No number is given twice in a process.
using BackendDebugHandleGenerator = std::function<NodeToDebugHandle(const std::shared_ptr<Graph>&)>;

namespace detail {

/// Gives what the backend is to compile of a module, and is stored with it.
using BackendPreprocessFunction = std::function<c10::IValue(
    const Module&,
    const c10::Dict<c10::IValue, c10::IValue>& method_compile_spec,
    const BackendDebugHandleGenerator& generate_debug_handles)>;

/// Throws if the backend has one.
TORCH_API void registerBackendPreprocessFunction(const std::string& name, const BackendPreprocessFunction& preprocess);
TORCH_API bool hasBackendPreprocessFunction(const std::string& name);
/// Throws if there is none.
TORCH_API BackendPreprocessFunction getBackendPreprocessFunction(const std::string& name);

/// A module with the methods that are the keys of `method_compile_spec`, which the backend of that name runs. Types of
/// results are checked. It can be saved, and loaded where the backend is registered. Warns where the backend is not
/// available; then calls throw. `any_dict_ty` is Dict[str, Any].
TORCH_API Module codegen_backend_module(
    const std::string& backend_name,
    const Module& orig_module,
    const c10::Dict<c10::IValue, c10::IValue>& method_compile_spec,
    const c10::DictTypePtr& any_dict_ty);

} // namespace detail

/// Registers the preprocess function of a backend:
///
///   static const torch::jit::backend_preprocess_register registered("my_backend", preprocess);
class backend_preprocess_register {
 public:
  backend_preprocess_register(const std::string& name, const detail::BackendPreprocessFunction& preprocess) {
    detail::registerBackendPreprocessFunction(name, preprocess);
  }
};

} // namespace torch::jit
