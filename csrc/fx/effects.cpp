#include <csrc/fx/effects.h>

#include <algorithm>
#include <string_view>
#include <unordered_map>

namespace torch::fx {

namespace {

constexpr std::string_view kRandom[] = {
    "aten::_fused_dropout",
    "aten::_scaled_dot_product_efficient_attention",
    "aten::_scaled_dot_product_flash_attention",
    "aten::_scaled_dot_product_flash_attention_for_cpu",
    "aten::alpha_dropout",
    "aten::dropout",
    "aten::feature_alpha_dropout",
    "aten::feature_dropout",
    "aten::gru",
    "aten::lstm",
    "aten::native_dropout",
    "aten::rand",
    "aten::rand_like",
    "aten::randint",
    "aten::randint_like",
    "aten::randn",
    "aten::randn_like",
    "aten::randperm",
    "aten::rnn_relu",
    "aten::rnn_tanh",
    "aten::rrelu",
    "aten::rrelu_with_noise",
    "aten::scaled_dot_product_attention",
};

// May return their argument or a view of it, and their schemas do not say so.
constexpr std::string_view kQuietAliases[] = {
    "aten::alpha_dropout", "aten::atleast_1d",   "aten::atleast_2d",      "aten::atleast_3d",
    "aten::dropout",       "aten::einsum",       "aten::feature_dropout", "aten::meshgrid",
    "aten::rrelu",         "aten::tensor_split", "aten::to_dense",        "aten::type_as",
};

// While they train they write the running statistics, and their schemas do not say so.
constexpr std::string_view kQuietWriters[] = {
    "aten::_batch_norm_impl_index", "aten::batch_norm",        "aten::cudnn_batch_norm",
    "aten::instance_norm",          "aten::miopen_batch_norm", "aten::native_batch_norm",
};

constexpr std::string_view kChecks[] = {
    "aten::_assert_async", "aten::_assert_scalar",      "aten::_assert_tensor_metadata",
    "aten::_print",        "aten::sym_constrain_range", "aten::sym_constrain_range_for_size",
};

template <class Names>
bool holds(const Names& names, const std::string& name) {
  return std::binary_search(std::begin(names), std::end(names), std::string_view(name));
}

/// Dropout that is off draws nothing.
bool is_switched_off(const Node& node) {
  for (const char* const name : {"train", "training"}) {
    if (const auto index = node.schema().argumentIndexWithName(name)) {
      const Arg& arg = node.arg(static_cast<size_t>(*index));
      if (arg.is_constant() && arg.constant().isBool() && !arg.constant().toBool()) {
        return true;
      }
    }
  }
  for (const char* const name : {"p", "dropout", "dropout_p"}) {
    if (const auto index = node.schema().argumentIndexWithName(name)) {
      const Arg& arg = node.arg(static_cast<size_t>(*index));
      return arg.is_constant() && arg.constant().isDouble() && arg.constant().toDouble() == 0;
    }
  }
  return false;
}

bool writes_quietly(const Node& node) {
  if (!holds(kQuietWriters, node.schema().name())) {
    return false;
  }
  for (const char* const name : {"training", "use_input_stats"}) {
    if (const auto index = node.schema().argumentIndexWithName(name)) {
      const Arg& arg = node.arg(static_cast<size_t>(*index));
      return !(arg.is_constant() && arg.constant().isBool() && !arg.constant().toBool());
    }
  }
  return false;
}

bool takes_generator(const c10::FunctionSchema& schema) {
  return std::any_of(schema.arguments().begin(), schema.arguments().end(), [](const c10::Argument& argument) {
    return argument.type()->str().find("Generator") != std::string::npos;
  });
}

bool is_impure_graph(const Graph& graph) {
  for (const Node* node : graph.nodes()) {
    if (is_impure(*node)) {
      return true;
    }
  }
  return false;
}

template <class Visit>
void for_each_graph(const std::vector<Arg>& args, const Visit& visit) {
  for (const Arg& arg : args) {
    if (arg.kind() == Arg::Kind::Graph) {
      visit(*arg.graph());
    } else if (arg.is_list()) {
      for_each_graph(arg.list(), visit);
    }
  }
}

} // namespace

bool is_random(const Node& node) {
  if (node.kind() == NodeKind::CallFunction) {
    bool random = false;
    for_each_graph(node.args(), [&](const Graph& graph) {
      for (const Node* inner : graph.nodes()) {
        random = random || is_random(*inner);
      }
    });
    return random;
  }
  if (!node.is_operator()) {
    return false;
  }
  const auto& tags = node.operator_handle().getTags();
  const bool is_tagged = std::find(tags.begin(), tags.end(), at::Tag::nondeterministic_seeded) != tags.end();
  return (is_tagged || holds(kRandom, node.schema().name()) || takes_generator(node.schema())) &&
      !is_switched_off(node);
}

bool writes(const Node& node, const std::function<void(Value)>& visit) {
  if (node.kind() == NodeKind::CallFunction) {
    // What a graph writes to is not followed: it may be any of the arguments.
    bool does_write = !node.function().is_pure;
    for_each_graph(node.args(), [&](const Graph& graph) {
      for (const Node* inner : graph.nodes()) {
        does_write = does_write || writes(*inner);
      }
    });
    if (does_write && visit) {
      for (const Arg& arg : node.args()) {
        arg.for_each_value(visit);
      }
    }
    return does_write;
  }
  if (!node.is_operator()) {
    return false;
  }
  if (writes_quietly(node)) {
    bool does_write = false;
    for (const char* const name : {"running_mean", "running_var"}) {
      node.arg(name).for_each_value([&](Value value) {
        does_write = true;
        if (visit) {
          visit(value);
        }
      });
    }
    return does_write;
  }
  if (!node.schema().is_mutable()) {
    return false;
  }
  const auto& formals = node.schema().arguments();
  for (size_t i = 0; visit && i < formals.size(); ++i) {
    const c10::AliasInfo* const alias = formals[i].alias_info();
    const bool is_written = alias &&
        (alias->isWrite() || std::any_of(alias->containedTypes().begin(), alias->containedTypes().end(), [](auto& in) {
                              return in.isWrite();
                            }));
    if (is_written) {
      node.arg(i).for_each_value(visit);
    }
  }
  return true;
}

bool is_impure(const Node& node) {
  if (node.kind() == NodeKind::CallFunction) {
    bool impure = !node.function().is_pure;
    for_each_graph(node.args(), [&](const Graph& graph) { impure = impure || is_impure_graph(graph); });
    return impure;
  }
  if (!node.is_operator()) {
    return false;
  }
  return node.num_results() == 0 || writes(node) || is_random(node) || holds(kChecks, node.schema().name());
}

AliasSets::AliasSets(const Graph& graph)
    : parents_(graph.num_ids()), written_(graph.num_ids()), returned_(graph.num_ids()) {
  for (uint32_t i = 0; i < parents_.size(); ++i) {
    parents_[i] = i;
  }
  std::unordered_map<std::string, uint32_t> attributes;
  for (const Node* node : graph.nodes()) {
    if (node->kind() == NodeKind::GetAttr) {
      join(attributes.emplace(node->target(), node->id()).first->second, node->id());
    }
    const bool may_share = node->kind() == NodeKind::CallFunction
        ? node->function().is_alias || writes(*node)
        : node->is_operator() && node->schema().hasAnyAliasInfo();
    const bool is_quiet = node->is_operator() && holds(kQuietAliases, node->schema().name());
    if (may_share || is_quiet) {
      for (const Arg& arg : node->args()) {
        arg.for_each_value([&](Value value) { join(value.node->id(), node->id()); });
      }
    }
  }
  for (uint32_t i = 0; i < parents_.size(); ++i) {
    parents_[i] = root(i);
  }
  for (const Node* node : graph.nodes()) {
    writes(*node, [&](Value value) { written_[parents_[value.node->id()]] = true; });
    if (node->kind() == NodeKind::Output) {
      for (const Arg& arg : node->args()) {
        arg.for_each_value([&](Value value) { returned_[parents_[value.node->id()]] = true; });
      }
    }
  }
}

uint32_t AliasSets::set_of(const Node* node) const {
  return node->id() < parents_.size() ? parents_[node->id()] : 0;
}

uint32_t AliasSets::root(uint32_t id) {
  while (parents_[id] != id) {
    parents_[id] = parents_[parents_[id]];
    id = parents_[id];
  }
  return id;
}

void AliasSets::join(uint32_t a, uint32_t b) {
  parents_[root(b)] = root(a);
}

} // namespace torch::fx
