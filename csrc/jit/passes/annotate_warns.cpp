#include <csrc/jit/passes/annotate_warns.h>

namespace torch::jit {

namespace {

void annotate(Block* block, int64_t& next) {
  static const Symbol warn_id = Symbol::attr("warn_id");
  for (Node* node : block->nodes()) {
    if (node->kind() == aten::warn) {
      node->i_(warn_id, next++);
    }
    for (Block* inner : node->blocks()) {
      annotate(inner, next);
    }
  }
}

} // namespace

void AnnotateWarns(const std::shared_ptr<Graph>& graph) {
  int64_t next = 0;
  annotate(graph->block(), next);
}

} // namespace torch::jit
