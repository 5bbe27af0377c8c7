#include <csrc/jit/passes/utils/subgraph_utils.h>

#include <c10/util/Exception.h>

#include <algorithm>
#include <functional>
#include <functional>
#include <unordered_map>
#include <utility>

namespace torch::jit::SubgraphUtils {

namespace {

bool has_subgraph(const Node* node) {
  return node->hasAttribute(attr::Subgraph);
}

/// Takes one node into a subgraph.
class Merge {
 public:
  Merge(Node* node, Node* subgraph_node, AliasDb* db)
      : node_(node), owner_(subgraph_node), graph_(*getSubgraph(subgraph_node)), db_(db) {
    for (size_t i = 0; i < owner_->inputs().size(); ++i) {
      inside_.emplace(owner_->input(i), graph_.inputs()[i]);
    }
    for (size_t i = 0; i < owner_->outputs().size(); ++i) {
      inside_.emplace(owner_->output(i), graph_.outputs()[i]);
    }
  }

  void run(bool destroy) {
    Node* copy = nullptr;
    {
      const WithInsertPoint guard(node_->isBefore(owner_) ? *graph_.nodes().begin() : graph_.return_node());
      copy = graph_.createClone(node_, [&](Value* outer) { return value_inside(outer); });
      graph_.insertNode(copy);
    }
    for (size_t i = 0; i < node_->outputs().size(); ++i) {
      replace(node_->output(i), copy->output(i));
    }
    if (db_) {
      db_->moveWrites(node_, owner_);
    }
    if (destroy) {
      node_->destroy();
    }
  }

 private:
  Value* value_inside(Value* outer) {
    Value*& inside = inside_[outer];
    if (!inside) {
      if (outer->node()->kind() == prim::Constant) {
        inside = graph_.prependNode(graph_.createClone(outer->node(), nullptr))->output();
      } else {
        inside = graph_.addInput()->copyMetadata(outer);
        owner_->addInput(outer);
      }
    }
    return inside;
  }

  // What used the node's output uses the copy's: inside of the subgraph, or by a new output of it.
  void replace(Value* outer, Value* copy) {
    for (size_t i = owner_->inputs().size(); i-- > 0;) {
      if (owner_->input(i) == outer) {
        graph_.inputs()[i]->replaceAllUsesWith(copy);
        graph_.eraseInput(i);
        owner_->removeInput(i);
      }
    }
    if (!outer->hasUses()) {
      return;
    }
    graph_.registerOutput(copy);
    Value* output = owner_->addOutput()->setType(outer->type());
    outer->replaceAllUsesWith(output);
    if (db_) {
      db_->replaceWithNewValue(outer, output);
    }
    std::string name = outer->hasDebugName() ? outer->debugName() : std::string();
    if (!name.empty()) {
      outer->setDebugName("");
      output->setDebugName(name);
    }
  }

  Node* node_;
  Node* owner_;
  Graph& graph_;
  AliasDb* db_;
  std::unordered_map<Value*, Value*> inside_;
};

// The nodes that stood in the subgraph, in their new places; they are known to `db` no more.
std::vector<Node*> unmerge(Node* subgraph_node) {
  Graph& graph = *subgraph_node->owningGraph();
  const std::shared_ptr<Graph> subgraph = getSubgraph(subgraph_node);
  Node* before = subgraph_node->prev();
  std::vector<Value*> results;
  {
    const WithInsertPoint guard(subgraph_node);
    results = insertGraph(graph, *subgraph, subgraph_node->inputs());
  }
  std::vector<Node*> nodes;
  for (Node* node = before->next(); node != subgraph_node; node = node->next()) {
    nodes.push_back(node);
  }
  for (size_t i = 0; i < results.size(); ++i) {
    subgraph_node->output(i)->replaceAllUsesWith(results[i]);
  }
  subgraph_node->destroy();
  return nodes;
}

void merge_all(Node* to_merge, Node* subgraph_node) {
  const bool before = to_merge->isBefore(subgraph_node);
  std::vector<Node*> nodes = unmerge(to_merge);
  if (before) {
    std::reverse(nodes.begin(), nodes.end());
  }
  // Constants are copied where they are used.
  const auto is_constant = [](const Node* node) { return node->kind() == prim::Constant; };
  const auto constants = std::stable_partition(nodes.begin(), nodes.end(), std::not_fn(is_constant));
  for (auto node = nodes.begin(); node != constants; ++node) {
    Merge(*node, subgraph_node, nullptr).run(true);
  }
  for (auto node = constants; node != nodes.end(); ++node) {
    if (!(*node)->hasUses()) {
      (*node)->destroy();
    }
  }
}

void check(const Node* to_merge, const Node* subgraph_node) {
  TORCH_CHECK(
      to_merge != subgraph_node && has_subgraph(subgraph_node) &&
          to_merge->owningBlock() == subgraph_node->owningBlock() && to_merge->owningBlock(),
      "mergeNodeIntoSubgraph: both nodes must stand in one block, and the second must have a Subgraph");
}

} // namespace

std::shared_ptr<Graph> getSubgraph(Node* n) {
  return n->g(attr::Subgraph);
}

Node* createSingletonSubgraph(Node* n, Symbol subgraphKind) {
  Node* owner = n->owningGraph()->createWithSubgraph(subgraphKind)->insertBefore(n);
  mergeNodeIntoSubgraph(n, owner);
  return owner;
}

Node* createSingletonSubgraphAndUpdateAliasing(Node* to_merge, Symbol subgraphKind, AliasDb& db) {
  Node* owner = to_merge->owningGraph()->createWithSubgraph(subgraphKind)->insertBefore(to_merge);
  mergeNodeIntoSubgraphAndUpdateAliasing(to_merge, owner, db);
  return owner;
}

void mergeNodeIntoSubgraph(Node* toMerge, Node* subgraphNode, bool destroyNode) {
  check(toMerge, subgraphNode);
  if (has_subgraph(toMerge)) {
    TORCH_CHECK(destroyNode, "mergeNodeIntoSubgraph: a node with a Subgraph cannot stay when it is merged");
    merge_all(toMerge, subgraphNode);
  } else {
    Merge(toMerge, subgraphNode, nullptr).run(destroyNode);
  }
}

void mergeNodeIntoSubgraphAndUpdateAliasing(Node* to_merge, Node* subgraphNode, AliasDb& db) {
  check(to_merge, subgraphNode);
  TORCH_CHECK(
      !has_subgraph(to_merge),
      "mergeNodeIntoSubgraphAndUpdateAliasing: the node has a Subgraph itself. Merge it by mergeNodeIntoSubgraph() and "
      "make the AliasDb anew");
  Merge(to_merge, subgraphNode, &db).run(true);
}

void unmergeSubgraph(Node* subgraphNode) {
  unmerge(subgraphNode);
}

std::string generateNameForGraph(const std::shared_ptr<Graph>& graph, size_t maxlen, const std::string& prefix) {
  std::string name = prefix;
  for (const Node* node : graph->nodes()) {
    if (node->kind().is_aten()) {
      name += std::string("_") + node->kind().toUnqualString();
    }
  }
  if (name.size() <= maxlen) {
    return name;
  }
  const std::string hash = "_" + std::to_string(std::hash<std::string>()(name));
  return name.substr(0, maxlen > hash.size() ? maxlen - hash.size() : maxlen) + hash;
}

} // namespace torch::jit::SubgraphUtils
