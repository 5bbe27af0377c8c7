#include <csrc/jit/passes/frozen_graph_optimizations.h>

#include <csrc/jit/api/module.h>
#include <csrc/jit/ir/alias_analysis.h>
#include <csrc/jit/ir/constants.h>
#include <csrc/jit/passes/dead_code_elimination.h>
#include <csrc/jit/passes/freeze_module.h>
#include <csrc/jit/passes/frozen_conv_folding.h>
#include <csrc/jit/passes/frozen_linear_folding.h>
#include <csrc/jit/passes/remove_dropout.h>

namespace torch::jit {

namespace {

bool is_dropout(const Node* node) {
  return (node->kind() == aten::dropout || node->kind() == aten::feature_dropout ||
          node->kind() == aten::alpha_dropout || node->kind() == aten::feature_alpha_dropout) &&
      node->inputs().size() == 3;
}

// Dropout that is off gives its argument. With `required`, throws where it is not known to be off.
void remove_dropout(Block* block, bool required) {
  for (auto it = block->nodes().begin(); it != block->nodes().end(); ++it) {
    for (Block* inner : (*it)->blocks()) {
      remove_dropout(inner, required);
    }
    if (!is_dropout(*it)) {
      continue;
    }
    const std::optional<IValue> training = toIValue(it->input(2));
    const bool off = training && training->isBool() && !training->toBool();
    TORCH_CHECK(
        off || !required, "removeDropout: the dropout is not known to be off: freeze the module in eval mode first");
    if (off) {
      it->output()->replaceAllUsesWith(it->input(0));
      it.destroyCurrent();
    }
  }
}

} // namespace

void removeDropout(std::shared_ptr<Graph>& graph) {
  remove_dropout(graph->block(), true);
}

void removeDropout(Module& module) {
  TORCH_CHECK(
      !module.hasattr("training") || !module.is_training(),
      "removeDropout: Dropout removal module in training mode is not yet supported");
  for (const Module& each : module.modules()) {
    if (const std::optional<Method> forward = each.find_method("forward")) {
      GraphFunction& function = toGraphFunction(forward->function());
      std::shared_ptr<Graph> graph = function.graph();
      removeDropout(graph);
      function.clear_optimized_graphs();
    }
  }
}

void OptimizeFrozenGraph(std::shared_ptr<Graph>& graph, bool optimize_numerics) {
  remove_dropout(graph->block(), false);
  if (optimize_numerics) {
    bool changed = true;
    while (changed) {
      changed = FoldFrozenConvBatchnorm(graph);
      changed |= FoldFrozenConvAddOrSub(graph);
      changed |= FoldFrozenConvMulOrDiv(graph);
      changed |= FoldFrozenLinearBatchnorm(graph);
    }
  }
  EliminateDeadCode(graph);
}

namespace {

void optimize_method(const Module& module, const std::string& name, bool optimize_numerics) {
  GraphFunction& function = toGraphFunction(module.get_method(name).function());
  std::shared_ptr<Graph> graph = function.graph();
  OptimizeFrozenGraph(graph, optimize_numerics);
  function.clear_optimized_graphs();
}

} // namespace

Module freeze(
    const Module& module, const std::optional<std::vector<std::string>>& preserved_attrs, bool optimize_numerics) {
  TORCH_CHECK(
      !module.hasattr("training") || !module.is_training(),
      "Freezing module in training mode is not yet supported: call eval() first");
  Module frozen = freeze_module(module, preserved_attrs.value_or(std::vector<std::string>()));
  if (frozen.find_method("forward")) {
    optimize_method(frozen, "forward", optimize_numerics);
  }
  return frozen;
}

Module optimize_for_inference(Module& module, const std::vector<std::string>& other_methods) {
  Module frozen = module.hasattr("training") ? freeze(module, other_methods, true) : module;
  for (const std::string& name : other_methods) {
    optimize_method(frozen, name, true);
  }
  if (frozen.find_method("forward")) {
    optimize_method(frozen, "forward", true);
  }
  return frozen;
}

} // namespace torch::jit
