// fully_shard: which parameters are cut, and the hooks that gather them.
#include <csrc/distributed/fsdp/fully_shard.h>

#include <aten/Functions.h>
#include <autograd/rebound_variable.h>
#include <c10/core/GradMode.h>
#include <c10/util/Exception.h>
#include <csrc/distributed/fsdp/sharded_group.h>
#include <csrc/nn/module_access.h>

#include <algorithm>
#include <limits>
#include <mutex>
#include <unordered_map>

namespace torch::distributed::fsdp {

namespace {

// The group of each module that was cut.
struct Known {
  std::mutex mutex;
  std::unordered_map<const nn::Module*, std::weak_ptr<ShardedGroup>> groups;
};

Known& known() {
  static Known& known = *new Known();
  return known;
}

std::shared_ptr<ShardedGroup> group_of(const nn::Module& module) {
  Known& all = known();
  const std::lock_guard lock(all.mutex);
  const auto found = all.groups.find(&module);
  // The hooks of a module hold its group: an address of another module has none.
  return found == all.groups.end() || !nn::detail::has_hooks(module) ? nullptr : found->second.lock();
}

void remember(const nn::Module& module, const std::shared_ptr<ShardedGroup>& group) {
  Known& all = known();
  const std::lock_guard lock(all.mutex);
  for (auto it = all.groups.begin(); it != all.groups.end();) {
    it = it->second.expired() ? all.groups.erase(it) : std::next(it);
  }
  all.groups[&module] = group;
}

// The modules whose parameters a call takes: not below those that were cut before.
void collect(
    const std::string& path,
    const std::shared_ptr<nn::Module>& module,
    std::vector<std::pair<std::string, std::shared_ptr<nn::Module>>>& found) {
  found.emplace_back(path, module);
  for (const auto& child : module->named_children()) {
    if (!group_of(*child.value())) {
      collect(path.empty() ? child.key() : path + "." + child.key(), child.value(), found);
    }
  }
}

// The first module whose forward runs is the root of all that are below it.
void adopt(nn::Module& module, ShardedGroup& group) {
  if (group.root) {
    return;
  }
  const auto state = std::make_shared<RootState>();
  for (const auto& below : module.modules(/*include_self=*/false)) {
    if (const auto inner = group_of(*below)) {
      inner->root = state;
      inner->is_root = false;
    }
  }
  group.root = state;
  group.is_root = true;
}

bool in_list(const std::vector<at::Tensor>& list, const at::Tensor& tensor) {
  return std::any_of(list.begin(), list.end(), [&](const at::Tensor& one) { return one.is_same(tensor); });
}

} // namespace

FSDPModule fully_shard(const std::shared_ptr<nn::Module>& module, FullyShardOptions options) {
  TORCH_CHECK_VALUE(module, "fully_shard: the module is null");
  TORCH_CHECK_VALUE(!group_of(*module), "fully_shard: the module ", module->name(), " was cut already");
  if (!options.mesh()) {
    options.mesh(DeviceMesh::from_group(default_group()));
  }
  TORCH_CHECK_VALUE(
      options.mesh()->ndim() <= 2, "fully_shard expects a 1D or 2D DeviceMesh but got ", options.mesh()->ndim(),
      " dimensions");
  std::vector<std::pair<std::string, std::shared_ptr<nn::Module>>> modules;
  collect("", module, modules);
  auto parameters = parameter_places(modules);
  parameters.erase(
      std::remove_if(
          parameters.begin(), parameters.end(),
          [&](const ParameterPlaces& place) {
            return in_list(options.ignored_params(), place.tensor) || dtensor_of(place.tensor);
          }),
      parameters.end());
  const auto group = std::make_shared<ShardedGroup>(std::move(parameters), std::move(options));
  module->register_forward_pre_hook([group](nn::Module& self, std::vector<at::Tensor>& inputs) {
    adopt(self, *group);
    group->before_forward(inputs);
  });
  module->register_forward_hook([group](nn::Module&, const std::vector<at::Tensor>&, std::vector<at::Tensor>& outputs) {
    group->after_forward(outputs);
  });
  remember(*module, group);
  return FSDPModule(module.get(), group);
}

FSDPModule::FSDPModule(nn::Module* module, std::shared_ptr<ShardedGroup> group)
    : module_(module), group_(std::move(group)) {}

std::vector<std::pair<nn::Module*, std::shared_ptr<ShardedGroup>>> FSDPModule::groups(bool recurse) const {
  std::vector<std::pair<nn::Module*, std::shared_ptr<ShardedGroup>>> found{{module_, group_}};
  if (recurse) {
    for (const auto& below : module_->modules(/*include_self=*/false)) {
      if (auto group = group_of(*below)) {
        found.emplace_back(below.get(), std::move(group));
      }
    }
  }
  return found;
}

void FSDPModule::unshard(bool async_op) {
  group_->begin_gather();
  if (!async_op) {
    group_->finish_gather();
  }
}

void FSDPModule::reshard() {
  group_->let_go();
}

void FSDPModule::set_requires_gradient_sync(bool requires_gradient_sync, bool recurse) {
  for (const auto& [module, group] : groups(recurse)) {
    group->sync = requires_gradient_sync;
  }
}

void FSDPModule::set_reshard_after_backward(bool reshard_after_backward, bool recurse) {
  for (const auto& [module, group] : groups(recurse)) {
    group->reshard_after_backward = reshard_after_backward;
  }
}

void FSDPModule::set_reshard_after_forward(bool reshard_after_forward, bool recurse) {
  for (const auto& [module, group] : groups(recurse)) {
    group->reshard_after_forward = reshard_after_forward;
  }
}

void FSDPModule::set_modules_to_forward_prefetch(const std::vector<FSDPModule>& modules) {
  group_->forward_prefetch.clear();
  for (const auto& module : modules) {
    group_->forward_prefetch.emplace_back(module.group_);
  }
}

void FSDPModule::set_modules_to_backward_prefetch(const std::vector<FSDPModule>& modules) {
  group_->backward_prefetch.clear();
  for (const auto& module : modules) {
    group_->backward_prefetch.emplace_back(module.group_);
  }
}

void FSDPModule::to_empty(c10::Device device) {
  const c10::NoGradGuard no_grad;
  for (const auto& [module, group] : groups(/*recurse=*/true)) {
    group->to_empty(device);
  }
  std::vector<nn::Module*> all{module_};
  for (const auto& below : module_->modules(/*include_self=*/false)) {
    all.push_back(below.get());
  }
  for (nn::Module* module : all) {
    for (auto* tensors :
         {&nn::detail::ModuleAccess::buffers(*module), &nn::detail::ModuleAccess::parameters(*module)}) {
      for (auto& item : *tensors) {
        if (item.value().defined() && item.value().is_meta()) {
          const auto value =
              at::empty(item.value().sizes(), item.value().options().device(device).requires_grad(false));
          autograd::impl::renew_as_leaf(item.value(), value, item.value().requires_grad());
        }
      }
    }
  }
}

void FSDPModule::initialize(const std::function<void(nn::Module&)>& function) {
  const c10::NoGradGuard no_grad;
  for (const auto& [module, group] : groups(/*recurse=*/true)) {
    group->gather();
    const auto whole = group->whole_parameters();
    for (size_t i = 0; i < whole.size(); ++i) {
      autograd::impl::renew(group->parameters()[i].tensor, whole[i]);
    }
    function(*module);
    for (const auto& tensor : whole) {
      std::vector<at::Tensor> tensors{tensor.contiguous()};
      for (int64_t d = 0; d < group->mesh().ndim(); ++d) {
        group->mesh().get_group(d)->broadcast(tensors)->wait();
      }
      tensor.copy_(tensors[0]);
    }
    group->write_back();
  }
}

std::vector<DTensor> FSDPModule::sharded_parameters() const {
  std::vector<DTensor> parameters;
  for (const auto& shard : group_->shards()) {
    parameters.push_back(*dtensor_of(shard));
  }
  return parameters;
}

at::Tensor clip_grad_norm_(
    const std::vector<at::Tensor>& parameters, double max_norm, double norm_type, bool error_if_nonfinite) {
  const c10::NoGradGuard no_grad;
  const bool largest = norm_type == std::numeric_limits<double>::infinity();
  // Of each mesh the sum over its ranks; parts that several ranks have alike count once.
  struct Sum {
    std::optional<DTensor> of;
    at::Tensor value;
  };
  std::vector<Sum> sums;
  for (const auto& parameter : parameters) {
    if (!parameter.grad().defined()) {
      continue;
    }
    const auto part = dtensor_of(parameter);
    const auto same = std::find_if(sums.begin(), sums.end(), [&](const Sum& sum) {
      return sum.of.has_value() == part.has_value() && (!part || sum.of->device_mesh() == part->device_mesh());
    });
    const auto grad = parameter.grad().to(at::kFloat);
    const auto value = grad.numel() == 0 ? at::zeros({}, grad.options())
        : largest                        ? grad.abs().max()
                                         : grad.abs().pow(norm_type).sum();
    if (same == sums.end()) {
      sums.push_back({part, value});
    } else {
      same->value = largest ? at::maximum(same->value, value) : same->value + value;
    }
  }
  at::Tensor total = at::zeros(
      {},
      parameters.empty() ? at::TensorOptions(at::kFloat)
                         : parameters[0].options().dtype(at::kFloat).requires_grad(false));
  for (auto& sum : sums) {
    for (int64_t d = 0; sum.of && d < sum.of->device_mesh().ndim(); ++d) {
      if (shard_dim(sum.of->placements()[static_cast<size_t>(d)]) >= 0) {
        // Gradients may be kept on the CPU.
        std::vector<at::Tensor> tensors{sum.value.reshape({1}).to(device_of(sum.of->device_mesh()))};
        c10d::AllreduceOptions options;
        options.reduceOp = largest ? c10d::ReduceOp::MAX : c10d::ReduceOp::SUM;
        sum.of->device_mesh().get_group(d)->allreduce(tensors, options)->wait();
        sum.value = tensors[0].reshape({}).to(sum.value.device());
      }
    }
    total = largest ? at::maximum(total, sum.value) : total + sum.value;
  }
  total = largest ? total : total.pow(1 / norm_type);
  TORCH_CHECK(
      !error_if_nonfinite || at::isfinite(total).item<bool>(), "The total norm of order ", norm_type,
      " for gradients from `parameters` is non-finite, so it cannot be clipped.");
  const auto scale = (max_norm / (total + 1e-6)).clamp_max(1.0);
  for (const auto& parameter : parameters) {
    if (parameter.grad().defined()) {
      parameter.mutable_grad().mul_(scale.to(parameter.grad().scalar_type()));
    }
  }
  return total;
}

} // namespace torch::distributed::fsdp
