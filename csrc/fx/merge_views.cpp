// Views of views, and casts of casts.
#include <csrc/fx/passes.h>

#include <csrc/fx/effects.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <optional>
#include <vector>

namespace torch::fx {

namespace {

/// The constant list of integers that an argument is.
std::optional<std::vector<int64_t>> int_list(const Arg& arg) {
  if (!arg.is_constant() || !arg.constant().isIntList()) {
    return std::nullopt;
  }
  return arg.constant().toIntVector();
}

std::optional<int64_t> int_constant(const Arg& arg) {
  return arg.is_constant() && arg.constant().isInt() ? std::optional<int64_t>(arg.constant().toInt()) : std::nullopt;
}

/// The node that the first argument is the result of; nullptr unless it calls `op`.
Node* call_below(const Node& node, std::string_view op) {
  const Arg& self = node.arg(size_t(0));
  return self.is_value() && self.value().node->is_operator(op) ? self.value().node : nullptr;
}

std::optional<size_t> rank_of(const Arg& arg) {
  const TensorInfo* const info = arg.is_value() ? arg.value().node->info(arg.value().result) : nullptr;
  return info ? std::optional<size_t>(info->sizes.size()) : std::nullopt;
}

/// A dimension counted from the front, where that is known.
std::optional<int64_t> from_front(std::optional<int64_t> dim, const Arg& of) {
  if (!dim || *dim >= 0) {
    return dim;
  }
  const auto rank = rank_of(of);
  return rank ? std::optional<int64_t>(*dim + static_cast<int64_t>(*rank)) : std::nullopt;
}

/// x.permute(first).permute(second).
std::optional<std::vector<int64_t>> composed(const std::vector<int64_t>& first, const std::vector<int64_t>& second) {
  const auto rank = static_cast<int64_t>(first.size());
  std::vector<int64_t> dims;
  for (const int64_t dim : second) {
    const int64_t place = dim < 0 ? dim + rank : dim;
    if (place < 0 || place >= rank || second.size() != first.size()) {
      return std::nullopt;
    }
    const int64_t from = first[static_cast<size_t>(place)];
    dims.push_back(from < 0 ? from + rank : from);
  }
  return dims;
}

bool is_identity(const std::vector<int64_t>& dims) {
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] != static_cast<int64_t>(i)) {
      return false;
    }
  }
  return true;
}

class ViewMerger {
 public:
  explicit ViewMerger(Graph& graph) : graph_(graph), aliases_(graph) {}

  bool run() {
    bool changed = false;
    for (Node* node : graph_.nodes()) {
      if (node->is_operator() && !node->args().empty() && !aliases_.is_written(node)) {
        changed = merge(node) || changed;
      }
    }
    return changed;
  }

 private:
  bool merge(Node* node) {
    for (const char* const op : {"aten::view", "aten::reshape", "aten::_unsafe_view"}) {
      if (node->is_operator(op) && skip(node, op, {})) {
        return true;
      }
    }
    if (node->is_operator("aten::reshape") && skip(node, "aten::view", {})) {
      return true;
    }
    if (node->is_operator("aten::contiguous")) {
      return skip(node, "aten::contiguous", {size_t(1)});
    }
    if (node->is_operator("aten::expand")) {
      return merge_expands(node);
    }
    if (node->is_operator("aten::t")) {
      Node* const below = call_below(*node, "aten::t");
      return below && become(node, below->arg(size_t(0)));
    }
    if (node->is_operator("aten::transpose.int")) {
      return merge_transposes(node);
    }
    if (node->is_operator("aten::permute")) {
      return merge_permutes(node);
    }
    if (node->is_operator("aten::squeeze.dim")) {
      Node* const below = call_below(*node, "aten::unsqueeze");
      return below && int_constant(node->arg(1)) && int_constant(node->arg(1)) == int_constant(below->arg(1)) &&
          become(node, below->arg(size_t(0)));
    }
    return false;
  }

  /// Takes what the call of `op` below takes, if the arguments in `equal` are the same.
  bool skip(Node* node, std::string_view op, const std::vector<size_t>& equal) {
    Node* const below = call_below(*node, op);
    if (!below) {
      return false;
    }
    for (const size_t index : equal) {
      if (node->arg(index) != below->arg(index)) {
        return false;
      }
    }
    node->set_arg(0, below->arg(size_t(0)));
    return true;
  }

  /// Lets `value` stand for the node. The graph still gives away a tensor of its own.
  bool become(Node* node, const Arg& value) {
    for (const Node* user : node->users()) {
      if (user->kind() == NodeKind::Output) {
        return false;
      }
    }
    if (node->num_users() == 0) {
      return false;
    }
    node->replace_all_uses_with(std::vector<Arg>{value});
    return true;
  }

  bool merge_expands(Node* node) {
    Node* const below = call_below(*node, "aten::expand");
    const auto outer = int_list(node->arg(1));
    // -1 keeps the size that the expansion below gave.
    if (!below || !outer || std::find(outer->begin(), outer->end(), -1) != outer->end()) {
      return false;
    }
    node->set_arg(0, below->arg(size_t(0)));
    return true;
  }

  bool merge_transposes(Node* node) {
    Node* const below = call_below(*node, "aten::transpose");
    if (!below) {
      return false;
    }
    const Arg& self = below->arg(size_t(0));
    const auto a = from_front(int_constant(node->arg(1)), self), b = from_front(int_constant(node->arg(2)), self);
    const auto c = from_front(int_constant(below->arg(1)), self), d = from_front(int_constant(below->arg(2)), self);
    const bool same = a && b && c && d && ((a == c && b == d) || (a == d && b == c));
    const bool same_as_written = node->arg(1) == below->arg(1) && node->arg(2) == below->arg(2);
    return (same || same_as_written) && become(node, self);
  }

  bool merge_permutes(Node* node) {
    Node* const below = call_below(*node, "aten::permute");
    const auto outer = int_list(node->arg(1));
    const auto inner = below ? int_list(below->arg(1)) : std::nullopt;
    const auto dims = outer && inner ? composed(*inner, *outer) : std::nullopt;
    if (!dims) {
      return false;
    }
    if (is_identity(*dims) && become(node, below->arg(size_t(0)))) {
      return true;
    }
    const Arg from = below->arg(size_t(0));
    node->set_arg(1, Arg(*dims));
    node->set_arg(0, from);
    return true;
  }

  Graph& graph_;
  AliasSets aliases_;
};

// --- casts

/// Whether every value of `from` is one of `to`.
bool is_lossless(c10::ScalarType from, c10::ScalarType to) {
  using c10::ScalarType;
  if (from == to) {
    return true;
  }
  const auto is_small_float = [](ScalarType type) { return type == ScalarType::Half || type == ScalarType::BFloat16; };
  switch (to) {
    case ScalarType::Double:
      return from == ScalarType::Float || is_small_float(from) || from == ScalarType::Int ||
          from == ScalarType::Short || from == ScalarType::Char || from == ScalarType::Byte || from == ScalarType::Bool;
    case ScalarType::Float:
      return is_small_float(from) || from == ScalarType::Short || from == ScalarType::Char ||
          from == ScalarType::Byte || from == ScalarType::Bool;
    case ScalarType::Long:
      return from == ScalarType::Int || from == ScalarType::Short || from == ScalarType::Char ||
          from == ScalarType::Byte || from == ScalarType::Bool;
    case ScalarType::Int:
      return from == ScalarType::Short || from == ScalarType::Char || from == ScalarType::Byte ||
          from == ScalarType::Bool;
    default:
      return false;
  }
}

/// The dtype that a call casts to, if it does nothing else and need not copy.
std::optional<c10::ScalarType> cast_dtype(const Node& node) {
  if (node.is_operator("aten::to.dtype")) {
    const Arg &dtype = node.arg("dtype"), &copy = node.arg("copy"), &format = node.arg("memory_format");
    const bool may_skip = copy.is_constant() && !copy.constant().toBool() && format.is_none();
    return may_skip && dtype.is_constant() ? std::optional(dtype.constant().toScalarType()) : std::nullopt;
  }
  if (node.is_operator("aten::_to_copy")) {
    const Arg& dtype = node.arg("dtype");
    bool is_plain = dtype.is_constant() && dtype.constant().isInt();
    for (const char* const name : {"layout", "device", "pin_memory", "memory_format"}) {
      is_plain = is_plain && node.arg(name).is_none();
    }
    return is_plain ? std::optional(dtype.constant().toScalarType()) : std::nullopt;
  }
  return std::nullopt;
}

std::optional<c10::ScalarType> known_dtype(const Arg& arg) {
  const TensorInfo* const info = arg.is_value() ? arg.value().node->info(arg.value().result) : nullptr;
  return info ? std::optional(info->dtype) : std::nullopt;
}

} // namespace

bool merge_views(Graph& graph) {
  const bool changed = ViewMerger(graph).run();
  if (changed) {
    graph.eliminate_dead_code();
  }
  return changed;
}

bool merge_casts(Graph& graph) {
  const AliasSets aliases(graph);
  bool changed = false;
  for (Node* node : graph.nodes()) {
    const auto to = cast_dtype(*node);
    if (!to || aliases.is_written(node) || aliases.is_returned(node)) {
      continue;
    }
    const Arg& self = node->arg(size_t(0));
    if (self.is_value()) {
      const Node* const below = self.value().node;
      const auto middle = cast_dtype(*below);
      const auto from = middle ? known_dtype(below->arg(size_t(0))) : std::nullopt;
      if (from && is_lossless(*from, *middle) && !aliases.is_written(below)) {
        node->set_arg(0, below->arg(size_t(0)));
        changed = true;
      }
    }
    const Arg from_now = node->arg(size_t(0));
    if (known_dtype(from_now) == to && !(from_now.is_value() && aliases.is_written(from_now.value().node))) {
      node->replace_all_uses_with(std::vector<Arg>{from_now});
      changed = true;
    }
  }
  if (changed) {
    graph.eliminate_dead_code();
  }
  return changed;
}

} // namespace torch::fx
