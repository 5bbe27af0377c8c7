#include <csrc/jit/runtime/mobile_code.h>

#include <csrc/jit/ir/ir.h>
#include <csrc/jit/runtime/necessary_args.h>

#include <algorithm>

namespace torch::jit {

MobileCode::MobileCode(
    const std::shared_ptr<Graph>& graph,
    std::string function_name,
    bool /*emit_default_input_instructions*/,
    bool support_default_args_before_out,
    bool /*emit_promoted_ops*/,
    size_t remaining_bailout_depth)
    : Code(graph, std::move(function_name), remaining_bailout_depth) {
  count(graph->block(), support_default_args_before_out);
}

void MobileCode::count(const Block* block, bool out_may_follow) {
  for (const Node* node : block->nodes()) {
    const FunctionSchema* schema = node->maybeSchema();
    if (schema && !schema->is_vararg()) {
      const auto [needed, num_out] =
          CalculateNecessaryArgs(schema->arguments(), const_cast<Node*>(node)->inputs(), out_may_follow);
      size_t& most = num_specified_args_[c10::toString(schema->operator_name())];
      most = std::max(most, static_cast<size_t>(needed + (out_may_follow ? num_out : 0)));
    }
    for (const Block* inner : node->blocks()) {
      count(inner, out_may_follow);
    }
  }
}

} // namespace torch::jit
