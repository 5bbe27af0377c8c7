#include <csrc/jit/passes/graph_rewrite_helper.h>

#include <csrc/jit/api/graph_function.h>
#include <csrc/jit/ir/constants.h>

namespace torch::jit::graph_rewrite_helper {

std::string getFuncName(Value* func_value) {
  const auto type = func_value->type()->expect<FunctionType>();
  const std::string name = type->function()->qualname().qualifiedName();
  const size_t dot = name.rfind('.');
  return dot == std::string::npos ? name : name.substr(dot + 1);
}

Value* getValue(
    const std::string& name,
    const std::unordered_map<const Value*, Value*>& match_vmap,
    const std::unordered_map<std::string, Value*>& vmap) {
  const auto in_pattern = vmap.find(name);
  TORCH_CHECK(in_pattern != vmap.end(), "the pattern has no value %", name);
  const auto found = match_vmap.find(in_pattern->second);
  TORCH_CHECK(found != match_vmap.end(), "the match has nothing for value %", name, " of the pattern");
  return found->second;
}

std::optional<IValue> getIValue(
    const std::string& name,
    const std::unordered_map<const Value*, Value*>& match_vmap,
    const std::unordered_map<std::string, Value*>& vmap) {
  return toIValue(getValue(name, match_vmap, vmap));
}

bool isClampFusable(const Match& match, const std::unordered_map<std::string, Value*>& vmap) {
  for (const char* bound : {"output_min", "output_max"}) {
    if (vmap.count(bound) != 0 && !getIValue(bound, match.values_map, vmap)) {
      return false;
    }
  }
  return true;
}

namespace {

std::optional<size_t> known_length(const Value* list) {
  if (list->node()->kind() == prim::ListConstruct) {
    return list->node()->inputs().size();
  }
  const std::optional<IValue> known = toIValue(list);
  return known && known->isIntList() ? std::optional<size_t>(known->toIntList().size()) : std::nullopt;
}

// (input, weight, bias, stride, padding, dilation, transposed, output_padding, groups, ...) as the specific operator.
Node* specific_convolution(Node* node) {
  static const Symbol kPlain[] = {Symbol::aten("conv1d"), Symbol::aten("conv2d"), Symbol::aten("conv3d")};
  static const Symbol kTransposed[] = {
      Symbol::aten("conv_transpose1d"), Symbol::aten("conv_transpose2d"), Symbol::aten("conv_transpose3d")};
  const std::optional<size_t> dims = known_length(node->input(3));
  const std::optional<IValue> transposed = toIValue(node->input(6));
  if (!dims || *dims < 1 || *dims > 3 || !transposed || !transposed->isBool()) {
    return nullptr;
  }
  const auto in = [&](size_t i) { return node->input(i); };
  Graph& graph = *node->owningGraph();
  return transposed->toBool()
      ? graph.create(kTransposed[*dims - 1], {in(0), in(1), in(2), in(3), in(4), in(7), in(8), in(5)})
      : graph.create(kPlain[*dims - 1], {in(0), in(1), in(2), in(3), in(4), in(5), in(8)});
}

void replace_convolutions(Block* block) {
  for (auto it = block->nodes().begin(); it != block->nodes().end(); ++it) {
    for (Block* inner : it->blocks()) {
      replace_convolutions(inner);
    }
    const bool is_general = it->kind() == Symbol::aten("_convolution") || it->kind() == Symbol::aten("convolution");
    Node* specific = is_general && it->inputs().size() >= 9 ? specific_convolution(*it) : nullptr;
    if (specific) {
      specific->insertBefore(*it)->copyMetadata(*it);
      specific->output()->copyMetadata(it->output());
      it->output()->replaceAllUsesWith(specific->output());
      it.destroyCurrent();
    }
  }
}

} // namespace

void replaceConvolutionWithAtenConv(std::shared_ptr<Graph>& graph) {
  replace_convolutions(graph->block());
}

} // namespace torch::jit::graph_rewrite_helper
