#include <csrc/jit/passes/fuse_linear.h>

#include <csrc/jit/passes/graph_rewrite_helper.h>

namespace torch::jit {

namespace {

bool is_one(const char* name, const Match& match, const std::unordered_map<std::string, Value*>& vmap) {
  const std::optional<IValue> factor = graph_rewrite_helper::getIValue(name, match.values_map, vmap);
  return factor && (factor->isInt() || factor->isDouble()) && factor->toScalar().toDouble() == 1;
}

bool has_unit_factors(const Match& match, const std::unordered_map<std::string, Value*>& vmap) {
  return (vmap.count("beta") == 0 || is_one("beta", match, vmap)) &&
      (vmap.count("alpha") == 0 || is_one("alpha", match, vmap));
}

struct Pattern {
  const char* pattern;
  const char* replacement;
};

constexpr Pattern kPatterns[] = {
    {R"(graph(%input, %weight, %bias, %beta, %alpha):
  %transposed = aten::t(%weight)
  %result = aten::addmm(%bias, %input, %transposed, %beta, %alpha)
  return (%result))",
     R"(graph(%input, %weight, %bias, %beta, %alpha):
  %result = aten::linear(%input, %weight, %bias)
  return (%result))"},
    {R"(graph(%input, %weight, %bias, %alpha):
  %transposed = aten::t(%weight)
  %product = aten::matmul(%input, %transposed)
  %result = aten::add_(%product, %bias, %alpha)
  return (%result))",
     R"(graph(%input, %weight, %bias, %alpha):
  %result = aten::linear(%input, %weight, %bias)
  return (%result))"},
    {R"(graph(%input, %weight):
  %transposed = aten::t(%weight)
  %result = aten::matmul(%input, %transposed)
  return (%result))",
     R"(graph(%input, %weight):
  %none : NoneType = prim::Constant()
  %result = aten::linear(%input, %weight, %none)
  return (%result))"},
};

} // namespace

void FuseLinear(std::shared_ptr<Graph>& graph) {
  for (const Pattern& each : kPatterns) {
    SubgraphRewriter rewriter;
    rewriter.RegisterRewritePattern(each.pattern, each.replacement);
    rewriter.runOnGraph(graph, has_unit_factors);
  }
}

void SwapFunctionalLinear(std::shared_ptr<Graph>& graph) {
  SubgraphRewriter rewriter;
  rewriter.RegisterRewritePattern(
      R"(graph(%function, %input, %weight, %bias):
  %result = prim::CallFunction(%function, %input, %weight, %bias)
  return (%result))",
      R"(graph(%function, %input, %weight, %bias):
  %result = aten::linear(%input, %weight, %bias)
  return (%result))");
  rewriter.runOnGraph(graph, [](const Match& match, const std::unordered_map<std::string, Value*>& vmap) {
    Value* function = graph_rewrite_helper::getValue("function", match.values_map, vmap);
    return function->type()->kind() == TypeKind::FunctionType &&
        graph_rewrite_helper::getFuncName(function) == "linear";
  });
}

void SwapFunctionalLinear(Module& module) {
  for (const Module& each : module.modules()) {
    for (const Method& method : each.get_methods()) {
      if (GraphFunction* function = tryToGraphFunction(method.function())) {
        std::shared_ptr<Graph> graph = function->graph();
        SwapFunctionalLinear(graph);
        function->clear_optimized_graphs();
      }
    }
  }
}

} // namespace torch::jit
