#include <csrc/program/lower_graph.h>

#include <c10/util/Exception.h>

#include <algorithm>
#include <map>
#include <vector>

namespace torch::program {

namespace {

using fx::Arg;
using fx::Dim;
using fx::Node;
using fx::NodeKind;
using fx::SizeOp;

class SizeNodes {
 public:
  explicit SizeNodes(fx::Graph& graph) : graph_(graph), place_(graph.first()) {
    while (place_ && place_->kind() == NodeKind::Placeholder) {
      place_ = place_->next();
    }
  }

  void run() {
    for (Node* node : graph_.nodes()) {
      if (!has_size(node->args())) {
        continue;
      }
      std::vector<Arg> args;
      for (const Arg& arg : node->args()) {
        args.push_back(
            arg.map_parts([](fx::Value value) { return Arg(value); }, [&](Dim dim) { return value_of(dim); }));
      }
      node->set_args(std::move(args));
    }
  }

 private:
  static bool has_size(const std::vector<Arg>& args) {
    return std::any_of(args.begin(), args.end(), [](const Arg& arg) {
      return arg.kind() == Arg::Kind::Size || (arg.is_list() && has_size(arg.list()));
    });
  }

  Arg value_of(Dim dim) {
    if (!dim.is_expression()) {
      return dim.value();
    }
    const auto found = made_.find(dim.index());
    if (found != made_.end()) {
      return found->second;
    }
    const fx::SizeTable::Entry entry = graph_.sizes().entries()[dim.index()];
    const Arg made = entry.op == SizeOp::Symbol ? read(dim) : compute(entry);
    made_.emplace(dim.index(), made);
    return made;
  }

  Arg compute(const fx::SizeTable::Entry& entry) {
    const Arg a = value_of(entry.a), b = value_of(entry.b);
    const auto here = graph_.inserting_before(place_);
    switch (entry.op) {
      case SizeOp::Add:
        return graph_.call_function("add", {a, b});
      case SizeOp::Sub:
        return graph_.call_function("sub", {a, b});
      case SizeOp::Mul:
        return graph_.call_function("mul", {a, b});
      case SizeOp::FloorDiv:
        return graph_.call_function("floordiv", {a, b});
      case SizeOp::Mod:
        return graph_.call_function("mod", {a, b});
      case SizeOp::Min:
        return graph_.call_function("sym_min", {a, b});
      case SizeOp::Max:
        return graph_.call_function("sym_max", {a, b});
      default: // CeilDiv, as -(-a // b)
        return graph_.call_function("neg", {graph_.call_function("floordiv", {graph_.call_function("neg", {a}), b})});
    }
  }

  /// The size of an input that is the symbol.
  Arg read(Dim symbol) {
    for (const Node* input : graph_.placeholders()) {
      for (size_t i = 0; input->info() && i < input->info()->sizes.size(); ++i) {
        if (input->info()->sizes[i] == symbol) {
          const auto here = graph_.inserting_before(place_);
          return graph_.call_operator("aten::sym_size.int", {const_cast<Node*>(input), static_cast<int64_t>(i)});
        }
      }
    }
    TORCH_CHECK(false, "the size ", graph_.sizes().print(symbol), " is that of no input");
  }

  fx::Graph& graph_;
  Node* place_; // the first node that is no input
  std::map<uint32_t, Arg> made_;
};

/// The nodes behind one call of set_grad_enabled, up to the next.
struct Region {
  Node* begin;
  bool mode;
  std::vector<Node*> nodes;
};

bool mode_of(const Node& node) {
  const Arg& mode = node.arg(0);
  TORCH_CHECK(mode.is_constant() && mode.constant().isBool(), "set_grad_enabled must have a constant");
  return mode.constant().toBool();
}

void wrap(fx::Graph& graph, const Region& region) {
  std::vector<Node*> nodes;
  for (Node* node : region.nodes) {
    if (node->kind() == NodeKind::GetAttr) {
      region.begin->prepend(node); // an input of the region
    } else {
      nodes.push_back(node);
    }
  }
  if (nodes.empty()) {
    return;
  }
  std::vector<fx::Value> inputs, outputs;
  const auto inner = graph.extract(nodes, inputs, outputs);
  std::vector<Arg> args{region.mode, inner};
  args.insert(args.end(), inputs.begin(), inputs.end());
  const auto here = graph.inserting_before(nodes.front());
  Node* const call =
      graph.call_function("wrap_with_set_grad_enabled", std::move(args), static_cast<uint32_t>(outputs.size()));
  for (uint32_t i = 0; i < outputs.size(); ++i) {
    if (const fx::TensorInfo* const info = outputs[i].node->info(outputs[i].result)) {
      call->set_info(*info, i);
    }
  }
  for (Node* user : graph.nodes()) {
    if (user == call || std::find(nodes.begin(), nodes.end(), user) != nodes.end()) {
      continue;
    }
    std::vector<Arg> mapped;
    bool changes = false;
    for (const Arg& arg : user->args()) {
      mapped.push_back(arg.map_values([&](fx::Value value) {
        const auto found = std::find(outputs.begin(), outputs.end(), value);
        changes = changes || found != outputs.end();
        return Arg(found == outputs.end() ? value : fx::Value{call, static_cast<uint32_t>(found - outputs.begin())});
      }));
    }
    if (changes) {
      user->set_args(std::move(mapped));
    }
  }
  for (auto node = nodes.rbegin(); node != nodes.rend(); ++node) {
    graph.erase_node(*node);
  }
}

} // namespace

void lower_sizes(fx::Graph& graph) {
  SizeNodes(graph).run();
}

void lower_grad_modes(fx::Graph& graph) {
  std::vector<Region> regions;
  for (Node* node : graph.nodes()) {
    if (node->is_function("set_grad_enabled")) {
      regions.push_back({node, mode_of(*node), {}});
    } else if (!regions.empty() && node->kind() != NodeKind::Output) {
      regions.back().nodes.push_back(node);
    }
  }
  if (!regions.empty()) {
    // The last call puts back the mode that the graph began with, unless something follows in another mode.
    const bool outer = regions.back().mode;
    for (const Region& region : regions) {
      if (region.mode != outer) {
        wrap(graph, region);
      }
      graph.erase_node(region.begin);
    }
  }
}

} // namespace torch::program
