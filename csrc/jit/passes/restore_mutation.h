// Activations that may overwrite their argument.
#pragma once

#include <csrc/jit/ir/alias_analysis.h>
#include <csrc/jit/ir/ir.h>

#include <memory>
#include <unordered_map>

namespace torch::jit {

/// Activations, each with whether its result may be of another dtype than its argument.
const std::unordered_map<Symbol, bool> activation_type_promotion_mapping = {
    {Symbol::aten("sigmoid"), true},     {Symbol::aten("tanh"), true},         {Symbol::aten("celu"), false},
    {Symbol::aten("elu"), false},        {Symbol::aten("gelu"), false},        {Symbol::aten("glu"), false},
    {Symbol::aten("hardshrink"), false}, {Symbol::aten("hardsigmoid"), false}, {Symbol::aten("hardswish"), false},
    {Symbol::aten("hardtanh"), false},   {Symbol::aten("leaky_relu"), false},  {Symbol::aten("prelu"), false},
    {Symbol::aten("relu6"), false},      {Symbol::aten("relu"), false},        {Symbol::aten("rrelu"), false},
    {Symbol::aten("selu"), false},       {Symbol::aten("silu"), false},
};

/// Replaces activations by their in-place forms.
class TORCH_API FunctionalToInplaceRewriter {
 public:
  explicit FunctionalToInplaceRewriter(std::shared_ptr<Graph> graph);
  bool FunctionalToInplace(Block* block);

 private:
  bool CanBeInplace(Node* node);

  std::unique_ptr<AliasDb> aliasDb_;
  std::shared_ptr<Graph> graph_;
};

/// Activations become in-place where their argument is a new tensor that nothing else uses, so that less memory is
/// needed; those that may change the dtype only where both dtypes are known. Gradients are not considered: meant for
/// inference. Returns whether the graph has changed.
TORCH_API bool FunctionalToInplaceActivation(const std::shared_ptr<Graph>& graph);

} // namespace torch::jit
