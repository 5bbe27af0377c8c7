// The nodes that fully_shard puts into graphs.
#include <csrc/distributed/fsdp/nodes.h>

#include <autograd/variable.h>
#include <c10/core/GradMode.h>
#include <c10/util/Exception.h>
#include <csrc/distributed/fsdp/sharded_group.h>

#include <aten/ops/detach.h>

namespace torch::distributed::fsdp {

namespace {

struct GatherParameters final : autograd::Node {
  explicit GatherParameters(std::shared_ptr<ShardedGroup> group_) : group(std::move(group_)) {}
  std::string name() const override {
    return "FullyShardPreBackward";
  }
  autograd::variable_list apply(autograd::variable_list&& grads) override {
    group->before_backward();
    return std::move(grads);
  }
  std::shared_ptr<ShardedGroup> group;
};

} // namespace

autograd::variable_list ReduceGradients::apply(autograd::variable_list&& grads) {
  const auto reducing = group.lock();
  TORCH_CHECK(
      reducing != nullptr,
      "fully_shard: gradients have come for a module that is gone: keep the module until backward has ended");
  reducing->reduce(trained, std::vector<at::Tensor>(grads.begin(), grads.end()));
  return {};
}

void tap_outputs(std::vector<at::Tensor>& outputs, const std::shared_ptr<ShardedGroup>& group) {
  if (!c10::GradMode::is_enabled()) {
    return;
  }
  autograd::edge_list edges;
  for (const auto& output : outputs) {
    if (output.defined() && output.requires_grad()) {
      edges.push_back(autograd::impl::gradient_edge(output));
    }
  }
  if (edges.empty()) {
    return;
  }
  const auto node = std::make_shared<GatherParameters>(group);
  node->set_next_edges(std::move(edges));
  for (auto& output : outputs) {
    if (output.defined() && output.requires_grad()) {
      output = output.detach();
      autograd::impl::set_gradient_edge(output, {node, node->add_input_metadata(output)});
    }
  }
}

} // namespace torch::distributed::fsdp
