#include <csrc/aot/liveness.h>

#include <csrc/aot/recompute.h>

#include <algorithm>
#include <map>
#include <utility>

namespace torch::aot {

namespace {

using Key = std::pair<const fx::Node*, uint32_t>;

/// The value whose memory a value lies in.
class Owners {
 public:
  explicit Owners(const fx::Graph& graph) {
    for (const fx::Node* node : graph.nodes()) {
      if (!is_view_node(*node)) {
        continue;
      }
      for (const fx::Arg& arg : node->args()) {
        if (arg.is_value()) {
          for (uint32_t i = 0; i < node->num_results(); ++i) {
            // Parts of a list are tensors of their own.
            if (node->is_operator()) {
              owners_[{node, i}] = of({arg.value().node, arg.value().result});
            }
          }
          break;
        }
      }
    }
  }
  Key of(Key value) const {
    const auto found = owners_.find(value);
    return found == owners_.end() ? value : found->second;
  }

 private:
  std::map<Key, Key> owners_;
};

} // namespace

int64_t peak_bytes(const fx::Graph& graph, const std::vector<bool>& counts) {
  const Owners owners(graph);
  std::map<Key, const fx::Node*> last_use;
  for (const fx::Node* node : graph.nodes()) {
    for (const fx::Arg& arg : node->args()) {
      arg.for_each_value([&](fx::Value value) { last_use[owners.of({value.node, value.result})] = node; });
    }
  }
  std::map<const fx::Node*, int64_t> freed_after;
  const auto bytes = [](const Key& key) { return bytes_of({const_cast<fx::Node*>(key.first), key.second}); };
  for (const auto& [key, node] : last_use) {
    freed_after[node] += bytes(key);
  }
  const std::vector<fx::Node*> inputs = graph.placeholders();
  int64_t held = 0;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const auto use = last_use.find({inputs[i], 0});
    if (counts[i] && use != last_use.end()) {
      held += bytes({inputs[i], 0});
    } else if (!counts[i] && use != last_use.end()) {
      freed_after[use->second] -= bytes({inputs[i], 0});
    }
  }
  int64_t peak = held;
  for (const fx::Node* node : graph.nodes()) {
    int64_t unused = 0;
    for (uint32_t i = 0; i < node->num_results() && node->kind() != fx::NodeKind::Placeholder; ++i) {
      const Key key{node, i};
      if (owners.of(key) == key) {
        held += bytes(key);
        unused += last_use.count(key) == 0 ? bytes(key) : 0;
      }
    }
    peak = std::max(peak, held);
    const auto freed = freed_after.find(node);
    held -= unused + (freed == freed_after.end() ? 0 : freed->second);
  }
  return peak;
}

} // namespace torch::aot
