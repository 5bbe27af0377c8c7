#include <csrc/compile/inference.h>

#include <csrc/compile/fused_ops.h>
#include <csrc/compile/inference_ahead.h>
#include <csrc/compile/inference_rewriter.h>

#include <c10/util/Exception.h>

#include <utility>

namespace torch::fused {

InferenceGraphs prepare_inference(const capture::BackendInput& input) {
  if (input.kind != capture::GraphKind::Inference) {
    return {input.graph, nullptr, {}};
  }
  register_fused_ops();
  try {
    if (auto rewritten = Rewriter(*input.graph, input.is_frozen).run()) {
      return split_ahead(std::move(rewritten), input.is_frozen);
    }
  } catch (const c10::Error&) {
    // Something about it is not known: it runs as it is.
  }
  return {input.graph, nullptr, {}};
}

std::shared_ptr<fx::Graph> prepare_joint(const fx::Graph& graph, std::vector<uint32_t>& origins) {
  register_fused_ops();
  try {
    Rewriter rewriter(graph, {});
    auto rewritten = rewriter.run();
    origins = std::move(rewriter.origins());
    return rewritten;
  } catch (const c10::Error&) {
    return nullptr; // something about it is not known: it is cut as it is
  }
}

} // namespace torch::fused
