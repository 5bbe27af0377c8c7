// Operators of graphs that differentiate() and CreateAutodiffSubgraphs() make. An undefined tensor is the gradient of
// nothing.
#include <csrc/jit/runtime/interpreter.h>
#include <csrc/jit/runtime/ops/tables.h>

#include <aten/ops/add.h>
#include <csrc/jit/ir/ir.h>

#include <algorithm>

namespace torch::jit::ops {

namespace {

void autograd_zero(Stack& stack) {
  stack.emplace_back(at::Tensor());
}

void autograd_add(Stack& stack) {
  const at::Tensor b = pop(stack).toTensor();
  const at::Tensor a = pop(stack).toTensor();
  stack.emplace_back(!a.defined() ? b : !b.defined() ? a : at::add(a, b));
}

bool has_gradient(const IValue& value) {
  if (value.isTensor()) {
    return value.toTensor().defined();
  }
  if (value.isTensorList()) {
    const c10::List<at::Tensor> list = value.toTensorList();
    return std::any_of(list.begin(), list.end(), [](const at::Tensor& tensor) { return tensor.defined(); });
  }
  return !value.isNone();
}

/// How many of the last values are gradients of something, and of how many.
std::pair<size_t, size_t> count_gradients(Stack& stack) {
  const size_t count = static_cast<size_t>(pop(stack).toInt());
  size_t defined = 0;
  for (size_t i = 0; i < count; ++i) {
    defined += has_gradient(peek(stack, i, count)) ? 1 : 0;
  }
  drop(stack, count);
  return {defined, count};
}

void any_nonzero(Stack& stack) {
  stack.emplace_back(count_gradients(stack).first > 0);
}

void all_nonzero(Stack& stack) {
  const auto [defined, count] = count_gradients(stack);
  stack.emplace_back(defined == count);
}

void all_zero(Stack& stack) {
  stack.emplace_back(count_gradients(stack).first == 0);
}

/// at::chunk with as many results as the node has.
Operation constant_chunk(const Node* node) {
  const int64_t chunks = node->i(attr::chunks);
  const int64_t dim = node->i(attr::dim);
  const size_t outputs = node->outputs().size();
  TORCH_CHECK(
      chunks >= 0 && static_cast<size_t>(chunks) == outputs, "prim::ConstantChunk: it gives ", outputs,
      " tensors and its attribute chunks is ", chunks, "; the two must be equal");
  return [=](Stack& stack) {
    const std::vector<at::Tensor> parts = pop(stack).toTensor().chunk(chunks, dim);
    TORCH_CHECK(
        parts.size() == outputs, "prim::ConstantChunk: the tensor was cut into ", parts.size(),
        " parts along dimension ", dim, ", and the graph expects ", outputs);
    stack.insert(stack.end(), parts.begin(), parts.end());
  };
}

/// Runs the subgraph; autograd records what is in it.
Operation differentiable_graph(const Node* node) {
  const Code code(node->g(attr::Subgraph), "<DifferentiableGraph>");
  return [code](Stack& stack) { InterpreterState(code).run(stack); };
}

} // namespace

void for_each_gradient_operator(const std::function<void(Operator&&)>& add) {
  using Code = void (*)(Stack&);
  constexpr AliasAnalysisKind kSpecial = AliasAnalysisKind::INTERNAL_SPECIAL_CASE;
  constexpr AliasAnalysisKind kFromSchema = AliasAnalysisKind::FROM_SCHEMA;
  const auto row = [&](const char* schema, Code code, AliasAnalysisKind alias_analysis) {
    add(Operator(std::string(schema), Operation(code), alias_analysis));
  };
  row("prim::AutogradZero() -> Tensor", autograd_zero, kSpecial);
  row("prim::AutogradAdd(Any a, Any b) -> Any", autograd_add, kSpecial);
  row("prim::AutogradAnyNonZero(...) -> bool", any_nonzero, kFromSchema);
  row("prim::AutogradAllNonZero(...) -> bool", all_nonzero, kFromSchema);
  row("prim::AutogradAllZero(...) -> bool", all_zero, kFromSchema);
  add(Operator(prim::ConstantChunk, OperationCreator(constant_chunk), kSpecial));
  add(Operator(prim::DifferentiableGraph, OperationCreator(differentiable_graph), kSpecial));
}

} // namespace torch::jit::ops
