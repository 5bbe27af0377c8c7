// Calls of operators on tensors without data, to learn what their results are like.
#pragma once

#include <csrc/fx/node.h>

#include <aten/core/Tensor.h>
#include <aten/core/stack.h>

#include <functional>
#include <vector>

namespace torch::functionalize {

/// What a tensor is for autograd.
enum class History : uint8_t { None, Leaf, Inner };

/// Of each tensor.
std::vector<History> histories_of(const std::vector<at::Tensor>& tensors);

/// Meta tensors with the dtypes, sizes, strides and offsets of `tensors`; those that share memory there share it here.
/// Undefined ones stay so. Those with a history require grad, and where they are no leaves they may be written to.
/// `histories` may be shorter: the others have none.
std::vector<at::Tensor> meta_like(const std::vector<at::Tensor>& tensors, const std::vector<History>& histories = {});

/// A meta tensor of this information.
at::Tensor meta_of(const fx::TensorInfo& info);

/// The information of a meta tensor that stands for one on `device`.
fx::TensorInfo info_of(const at::Tensor& meta, c10::Device device);

/// Sends the call to the Meta backend: arguments that are devices become Meta, and those of a call without tensors.
void use_meta_device(const c10::FunctionSchema& schema, torch::jit::Stack& stack);

/// The arguments of a call as an operator takes them, with `value_of` for results of nodes.
torch::jit::Stack arguments_of(const fx::Node& node, const std::function<c10::IValue(fx::Value)>& value_of);

} // namespace torch::functionalize
