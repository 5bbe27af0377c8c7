#include <csrc/jit/passes/fixup_trace_scope_blocks.h>

#include <csrc/jit/api/module.h>
#include <csrc/jit/passes/dead_code_elimination.h>

namespace torch::jit {

void FixupTraceScopeBlocks(std::shared_ptr<Graph>& graph, Module* self) {
  TORCH_CHECK(graph, "FixupTraceScopeBlocks: there is no graph");
  TORCH_CHECK(
      !self || (!graph->inputs().empty() && *graph->inputs()[0]->type() == *self->type()),
      "FixupTraceScopeBlocks: the first input of a method's graph must be the module");
  EliminateDeadCode(graph);
  graph->lint();
}

} // namespace torch::jit
