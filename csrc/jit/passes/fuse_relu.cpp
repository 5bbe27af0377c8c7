#include <csrc/jit/passes/fuse_relu.h>

#include <csrc/jit/passes/subgraph_rewrite.h>

#include <string>

namespace torch::jit {

namespace {

std::string chain(const char* add, const char* relu) {
  return std::string("graph(%a, %b, %alpha):\n  %sum = aten::") + add + "(%a, %b, %alpha)\n  %r = aten::" + relu +
      "(%sum)\n  return (%r)";
}

std::string fused(const char* name) {
  return std::string("graph(%a, %b, %alpha):\n  %r = aten::") + name + "(%a, %b, %alpha)\n  return (%r)";
}

} // namespace

void FuseAddRelu(std::shared_ptr<Graph>& graph) {
  SubgraphRewriter rewriter;
  for (const char* relu : {"relu", "relu_"}) {
    rewriter.RegisterRewritePattern(chain("add", relu), fused("_add_relu"));
    rewriter.RegisterRewritePattern(chain("add_", relu), fused("_add_relu_"));
  }
  rewriter.runOnGraph(graph);
}

void FuseAddRelu(Module& module) {
  std::shared_ptr<Graph> graph = module.get_method("forward").graph();
  FuseAddRelu(graph);
}

} // namespace torch::jit
