#include <csrc/jit/passes/lower_graph.h>

#include <csrc/jit/frontend/error_report.h>
#include <csrc/jit/passes/inliner.h>

#include <map>

namespace torch::jit {

namespace {

using ObjectPtr = c10::intrusive_ptr<c10::ivalue::Object>;

class GraphLowering {
 public:
  explicit GraphLowering(Graph& graph) : graph_(graph) {}

  // Replaces all that is read of the module.
  void lower(const ObjectPtr& module, Value* value) {
    while (value->hasUses()) {
      Node* user = value->uses()[0].user;
      if (user->kind() != prim::GetAttr) {
        throw ErrorReport(user->sourceRange())
            << "temporary: the only valid use of a module is looking up an attribute but found " << *user;
      }
      const size_t slot = module->type()->getAttributeSlot(user->s(attr::name));
      const IValue& attribute = module->slots().at(slot);
      const TypePtr& type = module->type()->getAttribute(slot);
      if (type->is_module() && attribute.isObject()) {
        lower(attribute.toObject(), user->output());
      } else {
        user->output()->replaceAllUsesWith(input_for(module, slot, type));
      }
      user->destroy();
    }
  }

  std::vector<IValue> take_values() {
    return std::move(values_);
  }

 private:
  Value* input_for(const ObjectPtr& module, size_t slot, const TypePtr& type) {
    Value*& input = inputs_[{module.get(), slot}];
    if (!input) {
      input = graph_.addInput()->setType(type);
      values_.push_back(module->slots().at(slot));
    }
    return input;
  }

  Graph& graph_;
  std::map<std::pair<const c10::ivalue::Object*, size_t>, Value*> inputs_;
  std::vector<IValue> values_;
};

} // namespace

std::pair<std::shared_ptr<Graph>, std::vector<IValue>> LowerGraph(Graph& graph, const ObjectPtr& self) {
  TORCH_CHECK(
      self && !graph.inputs().empty() && *graph.inputs()[0]->type() == *self->type(),
      "LowerGraph: the first input of the graph must be a module of the class of the one that is given");
  std::shared_ptr<Graph> lowered = graph.copy();
  Inline(*lowered);
  GraphLowering lowering(*lowered);
  lowering.lower(self, lowered->inputs()[0]);
  lowered->eraseInput(0);
  return {std::move(lowered), lowering.take_values()};
}

} // namespace torch::jit
