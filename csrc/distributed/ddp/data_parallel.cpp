// A module on several devices of one process: how gradients of its copies come back.
#include <csrc/distributed/ddp/data_parallel.h>

#include <autograd/function.h>
#include <autograd/functions/utils.h>
#include <autograd/variable.h>
#include <csrc/nn/module_access.h>

namespace torch::nn::detail {

namespace {

// Passes the sum of its gradients on, in the order of the copies.
struct ReduceAdd : public autograd::Node {
  explicit ReduceAdd(const Device& device) : device_(device) {}
  std::string name() const override {
    return "ReduceAdd";
  }
  autograd::variable_list apply(autograd::variable_list&& grads) override {
    Tensor sum;
    for (const Tensor& grad : grads) {
      if (grad.defined()) {
        sum = sum.defined() ? sum + grad.to(device_) : grad.to(device_);
      }
    }
    return {sum};
  }

 private:
  Device device_;
};

void connect(OrderedDict<std::string, Tensor>& tensors, const std::vector<OrderedDict<std::string, Tensor>*>& copies) {
  for (const auto& item : tensors) {
    if (!item.value().defined() || !item.value().requires_grad()) {
      continue;
    }
    const auto node = std::make_shared<ReduceAdd>(item.value().device());
    node->set_next_edges(autograd::edge_list{autograd::impl::gradient_edge(item.value())});
    for (auto* copy : copies) {
      autograd::set_history((*copy)[item.key()], node);
    }
  }
}

} // namespace

void connect_replicas(Module& module, const std::vector<Module*>& replicas) {
  std::vector<OrderedDict<std::string, Tensor>*> parameters, buffers;
  for (Module* replica : replicas) {
    parameters.push_back(&ModuleAccess::parameters(*replica));
    buffers.push_back(&ModuleAccess::buffers(*replica));
  }
  connect(ModuleAccess::parameters(module), parameters);
  connect(ModuleAccess::buffers(module), buffers);
  for (auto& child : ModuleAccess::children(module)) {
    std::vector<Module*> children;
    for (Module* replica : replicas) {
      children.push_back(ModuleAccess::children(*replica)[child.key()].get());
    }
    connect_replicas(*child.value(), children);
  }
}

std::vector<Device> parallel_devices(std::optional<std::vector<Device>> devices) {
  if (!devices) {
    const auto count = torch::cuda::device_count();
    TORCH_CHECK(count > 0, "Expected at least one CUDA device to be available");
    devices.emplace();
    for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
      devices->emplace_back(kCUDA, static_cast<DeviceIndex>(i));
    }
  }
  TORCH_CHECK_VALUE(!devices->empty(), "data_parallel: there must be at least one device");
  return *devices;
}

} // namespace torch::nn::detail
