// Operators written with simpler ones.
#include <csrc/fx/passes.h>

#include <c10/util/Exception.h>

namespace torch::fx {

namespace {

using When = std::vector<std::pair<std::string, c10::IValue>>;

std::vector<Decomposition> make_core() {
  const auto row = [](const char* op, const char* text, When when = {}) {
    return Decomposition::parse(op, text, std::move(when));
  };
  std::vector<Decomposition> table;
  // --- arithmetic
  table.push_back(row("aten::square", "graph(%x) { %y = aten::mul.Tensor(%x, %x) return (%y) }"));
  table.push_back(
      row("aten::rsub.Scalar",
          "graph(%x, %o, %a) { %n = aten::mul.Tensor(%x, %a) %m = aten::neg(%n) "
          "%y = aten::add.Scalar(%m, %o) return (%y) }"));
  table.push_back(
      row("aten::rsub.Tensor", "graph(%x, %o, %a) { %y = aten::sub.Tensor(%o, %x, alpha=%a) return (%y) }"));
  table.push_back(
      row("aten::addcmul",
          "graph(%x, %a, %b, %v) { %m = aten::mul.Tensor(%a, %b) "
          "%y = aten::add.Tensor(%x, %m, alpha=%v) return (%y) }"));
  table.push_back(
      row("aten::addcdiv",
          "graph(%x, %a, %b, %v) { %m = aten::div.Tensor(%a, %b) "
          "%y = aten::add.Tensor(%x, %m, alpha=%v) return (%y) }"));
  table.push_back(
      row("aten::lerp.Scalar",
          "graph(%x, %e, %w) { %d = aten::sub.Tensor(%e, %x) "
          "%y = aten::add.Tensor(%x, %d, alpha=%w) return (%y) }"));
  // --- activations
  table.push_back(row("aten::silu", "graph(%x) { %s = aten::sigmoid(%x) %y = aten::mul.Tensor(%x, %s) return (%y) }"));
  table.push_back(
      row("aten::hardsigmoid",
          "graph(%x) { %a = aten::add.Scalar(%x, 3) %c = aten::clamp(%a, 0, 6) "
          "%y = aten::div.Scalar(%c, 6) return (%y) }"));
  table.push_back(
      row("aten::hardswish",
          "graph(%x) { %a = aten::add.Scalar(%x, 3) %c = aten::clamp(%a, 0, 6) "
          "%m = aten::mul.Tensor(%x, %c) %y = aten::div.Scalar(%m, 6) return (%y) }"));
  table.push_back(
      row("aten::mish",
          "graph(%x) { %s = aten::softplus(%x) %t = aten::tanh(%s) "
          "%y = aten::mul.Tensor(%x, %t) return (%y) }"));
  table.push_back(
      row("aten::leaky_relu",
          "graph(%x, %s) { %p = aten::gt.Scalar(%x, 0) %n = aten::mul.Tensor(%x, %s) "
          "%y = aten::where.self(%p, %x, %n) return (%y) }"));
  table.push_back(
      row("aten::gelu",
          "graph(%x, %a) { %s = aten::mul.Scalar(%x, 0.70710678118654752) %e = aten::erf(%s) "
          "%o = aten::add.Scalar(%e, 1) %h = aten::mul.Scalar(%x, 0.5) %y = aten::mul.Tensor(%h, %o) return (%y) }",
          {{"approximate", "none"}}));
  table.push_back(
      row("aten::gelu",
          "graph(%x, %a) { %q = aten::mul.Tensor(%x, %x) %c = aten::mul.Tensor(%q, %x) "
          "%i = aten::add.Tensor(%x, %c, alpha=0.044715) %s = aten::mul.Scalar(%i, 0.79788456080286536) "
          "%t = aten::tanh(%s) %o = aten::add.Scalar(%t, 1) %h = aten::mul.Scalar(%x, 0.5) "
          "%y = aten::mul.Tensor(%h, %o) return (%y) }",
          {{"approximate", "tanh"}}));
  // --- products
  table.push_back(
      row("aten::linear", "graph(%x, %w, %b) { %t = aten::t(%w) %y = aten::matmul(%x, %t) return (%y) }",
          {{"bias", c10::IValue()}}));
  table.push_back(
      row("aten::linear",
          "graph(%x, %w, %b) { %t = aten::t(%w) %m = aten::matmul(%x, %t) "
          "%y = aten::add.Tensor(%m, %b) return (%y) }"));
  table.push_back(
      row("aten::addmm",
          "graph(%x, %a, %b, %beta, %alpha) { %m = aten::mm(%a, %b) %y = aten::add.Tensor(%x, %m) "
          "return (%y) }",
          {{"beta", int64_t(1)}, {"alpha", int64_t(1)}}));
  // --- over a dimension
  table.push_back(
      row("aten::softmax.int",
          "graph(%x, %d, %t) { %m = aten::amax(%x, [%d], True) %s = aten::sub.Tensor(%x, %m) "
          "%e = aten::exp(%s) %n = aten::sum.dim_IntList(%e, [%d], True) %y = aten::div.Tensor(%e, %n) return (%y) }",
          {{"dtype", c10::IValue()}}));
  table.push_back(
      row("aten::log_softmax.int",
          "graph(%x, %d, %t) { %m = aten::amax(%x, [%d], True) %s = aten::sub.Tensor(%x, %m) "
          "%e = aten::exp(%s) %n = aten::sum.dim_IntList(%e, [%d], True) %l = aten::log(%n) "
          "%y = aten::sub.Tensor(%s, %l) return (%y) }",
          {{"dtype", c10::IValue()}}));
  table.push_back(
      row("aten::mse_loss",
          "graph(%x, %t, %r) { %d = aten::sub.Tensor(%x, %t) %s = aten::mul.Tensor(%d, %d) "
          "%y = aten::mean(%s) return (%y) }",
          {{"reduction", int64_t(1)}}));
  return table;
}

bool applies(const Decomposition& row, const Node& node) {
  if (!node.is_operator(row.op)) {
    return false;
  }
  for (const auto& [name, value] : row.when) {
    const Arg& arg = node.arg(name);
    if (!arg.is_constant() || !same_constant(arg.constant(), value)) {
      return false;
    }
  }
  return true;
}

} // namespace

Decomposition Decomposition::parse(std::string op, std::string_view text, When when) {
  return {std::move(op), Graph::parse(text), std::move(when)};
}

const std::vector<Decomposition>& core_decompositions() {
  static const auto* const table = new std::vector<Decomposition>(make_core());
  return *table;
}

bool decompose(Graph& graph, const std::vector<Decomposition>& table) {
  bool changed = false;
  for (Node* node : graph.nodes()) {
    for (const Decomposition& row : table) {
      if (!applies(row, *node)) {
        continue;
      }
      const auto here = graph.inserting_before(node);
      const std::vector<Arg> results = graph.inline_graph(*row.graph, node->args());
      if (results.size() == 1 && results[0].is_value()) {
        Node* const made = results[0].value().node;
        made->set_info(node->info() ? std::optional<TensorInfo>(*node->info()) : std::nullopt);
      }
      node->replace_all_uses_with(results);
      graph.erase_node(node);
      changed = true;
      break;
    }
  }
  return changed;
}

} // namespace torch::fx
