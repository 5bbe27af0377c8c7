// Tracing: a function runs once on example inputs, and the operators that it calls become a graph. See
// <csrc/jit/tracing/trace_module.h> for traces that are modules.
#pragma once

#include <csrc/jit/tracing/tracing_state.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace torch::jit::tracer {

/// Runs `traced_fn` on the inputs and records what it calls. Returns the state, whose graph has an input for each of
/// them (with `self`, first the module), and what the function returned.
///
/// Tensors among the inputs, in tuples, lists and dicts as well, are inputs of the graph; other values that the
/// function takes from them are constants, and so is all control flow. Attributes of `self` and of modules in it are
/// read from it; other tensors are constants and may not require gradients. Throws what the function throws, and if
/// this thread traces already.
TORCH_API std::pair<std::shared_ptr<TracingState>, Stack> trace(
    Stack inputs,
    const std::function<Stack(Stack)>& traced_fn,
    std::function<std::string(const at::Tensor&)> var_name_lookup_fn,
    bool strict = true,
    bool force_outplace = false,
    Module* self = nullptr,
    const std::vector<std::string>& argument_names = {});

/// Adds an input that stands for a value, for kernels that record themselves.
TORCH_API void addInputs(Node* n, const char* name, const c10::IValue& value);
/// Adds an output that stands for a tensor, or for each tensor of a list.
TORCH_API void addOutput(Node* node, const at::Tensor& tensor);
TORCH_API void addOutput(Node* node, const std::vector<at::Tensor>& list);
TORCH_API void addOutput(Node* node, const c10::List<at::Tensor>& list);
TORCH_API void addOutput(Node* node, const c10::intrusive_ptr<c10::ivalue::Object>& output);
/// `value` stands for the tensor and gets its type.
TORCH_API void setOutput(Value* value, const at::Tensor& output);

/// Warns if others share the data of a tensor that an in-place operator changes, which is recorded as a function.
TORCH_API void ensureUniqueIfOutOfPlaced(const char* name, const at::Tensor& tensor);

/// The size of a dimension, and the number of elements, as tensors that the trace follows.
TORCH_API at::Tensor getSizeOf(const at::Tensor& var, int64_t dim);
TORCH_API at::Tensor getNumelOf(const at::Tensor& var);

} // namespace torch::jit::tracer
