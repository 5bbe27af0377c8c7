// Nodes that stand for a piece of a graph, which they have as attribute Subgraph: for fusers that programs bring along.
#pragma once

#include <csrc/jit/ir/alias_analysis.h>
#include <csrc/jit/ir/ir.h>

#include <cstddef>
#include <memory>
#include <string>

namespace torch::jit::SubgraphUtils {

/// Puts a node of the given kind in place of `n`, with a subgraph of `n` alone. Returns it.
TORCH_API Node* createSingletonSubgraph(Node* n, Symbol subgraphKind);
/// As above; `db` stays right.
TORCH_API Node* createSingletonSubgraphAndUpdateAliasing(Node* to_merge, Symbol subgraphKind, AliasDb& db);

/// Takes a node of the same block into a subgraph, at its beginning or end as it stands before or behind. What both
/// need must be there in time: the two should be neighbours. Constants among its inputs are copied. A node that has a
/// subgraph itself is taken in node by node. With `destroyNode` false, the outer node stays, without uses.
TORCH_API void mergeNodeIntoSubgraph(Node* toMerge, Node* subgraphNode, bool destroyNode = true);
/// As above, the outer node is destroyed; `db` stays right.
TORCH_API void mergeNodeIntoSubgraphAndUpdateAliasing(Node* to_merge, Node* subgraphNode, AliasDb& db);

/// Puts the nodes of the subgraph in place of the node that has it.
TORCH_API void unmergeSubgraph(Node* subgraphNode);

/// Throws if the node has none.
TORCH_API std::shared_ptr<Graph> getSubgraph(Node* n);

/// The prefix with the names of the operators in the graph; cut, with a hash at its end, if it is longer than `maxlen`.
TORCH_API std::string generateNameForGraph(
    const std::shared_ptr<Graph>& graph, size_t maxlen = 40, const std::string& prefix = "fused");

} // namespace torch::jit::SubgraphUtils
