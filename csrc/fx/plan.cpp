#include <csrc/fx/plan.h>

#include <c10/util/Exception.h>

namespace torch::fx {

namespace {

std::vector<Plan::Load> loads_of(const Node& node) {
  std::vector<Plan::Load> loads;
  const auto& formals = node.schema().arguments();
  for (size_t i = 0; i < formals.size(); ++i) {
    Plan::Load load;
    load.conversion = conversion_to(*formals[i].type(), &load.element);
    if (node.args()[i].is_list()) {
      load.list_type = formals[i].type();
    }
    loads.push_back(std::move(load));
  }
  return loads;
}

void plan_inner(const Arg& arg, Plan& plan) {
  if (arg.kind() == Arg::Kind::Graph) {
    auto& inner = plan.inner[arg.graph().get()];
    inner = inner ? inner : Plan::make(*arg.graph());
  } else if (arg.is_list()) {
    for (const Arg& item : arg.list()) {
      plan_inner(item, plan);
    }
  }
}

} // namespace

std::shared_ptr<const Plan> Plan::make(const Graph& graph) {
  auto plan = std::make_shared<Plan>();
  plan->graph = &graph;
  plan->version = graph.version();
  plan->slots.resize(graph.num_ids());
  std::vector<uint32_t> last_steps; // by slot
  for (const Node* node : graph.nodes()) {
    Step step{node, {}, {}};
    if (node->is_operator()) {
      step.loads = loads_of(*node);
    }
    plan->num_inputs += node->kind() == NodeKind::Placeholder ? 1 : 0;
    const auto index = static_cast<uint32_t>(plan->steps.size());
    for (const Arg& arg : node->args()) {
      plan_inner(arg, *plan);
      arg.for_each_value([&](Value value) { last_steps[plan->slots[value.node->id()] + value.result] = index; });
    }
    plan->slots[node->id()] = plan->num_slots;
    plan->num_slots += node->num_results();
    last_steps.resize(plan->num_slots, index);
    plan->steps.push_back(std::move(step));
  }
  for (uint32_t slot = 0; slot < last_steps.size(); ++slot) {
    plan->steps[last_steps[slot]].last_uses.push_back(slot);
  }
  TORCH_CHECK(graph.output_node() != nullptr, "the graph has no output: call output()");
  return plan;
}

bool Plan::is_current() const {
  if (version != graph->version()) {
    return false;
  }
  for (const auto& [part, plan] : inner) {
    if (!plan->is_current()) {
      return false;
    }
  }
  return true;
}

} // namespace torch::fx
