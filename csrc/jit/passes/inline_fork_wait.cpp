#include <csrc/jit/passes/inline_fork_wait.h>

#include <unordered_map>

namespace torch::jit {

namespace {

using Results = std::unordered_map<Value*, Value*>;

void inline_tasks(Block* block, Results& results) {
  for (auto it = block->nodes().begin(); it != block->nodes().end();) {
    Node* node = *it++;
    for (Block* inner : node->blocks()) {
      inline_tasks(inner, results);
    }
    if (node->kind() == prim::fork && results.count(node->output()) == 0) {
      const WithInsertPoint guard(node);
      const std::shared_ptr<Graph> task = node->g(attr::Subgraph);
      Node* before = node->prev();
      results[node->output()] = insertGraph(*block->owningGraph(), *task, node->inputs()).at(0);
      // Tasks may start tasks.
      it = ++before->iterator();
    } else if (node->kind() == aten::wait) {
      const auto found = results.find(node->input(0));
      if (found != results.end()) {
        node->output()->replaceAllUsesWith(found->second);
        node->destroy();
      }
    }
  }
}

void remove_unused_forks(Block* block) {
  for (auto it = block->nodes().rbegin(); it != block->nodes().rend(); ++it) {
    for (Block* inner : (*it)->blocks()) {
      remove_unused_forks(inner);
    }
    if (it->kind() == prim::fork && !it->hasUses()) {
      it.destroyCurrent();
    }
  }
}

} // namespace

void InlineForkWait(const std::shared_ptr<Graph>& graph) {
  Results results;
  inline_tasks(graph->block(), results);
  // A future that something else than wait uses would be given what its task has already computed.
  for (const auto& [future, result] : results) {
    TORCH_CHECK(
        !future->hasUses(), "InlineForkWait: %", future->debugName(),
        " is used by something else than aten::wait, which needs a future");
  }
  remove_unused_forks(graph->block());
}

} // namespace torch::jit
