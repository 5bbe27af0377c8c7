// Tensor parallel: modules of which each rank computes a part.
#include <csrc/distributed/tensor/parallelize.h>

#include <aten/Functions.h>
#include <autograd/rebound_variable.h>
#include <c10/core/GradMode.h>
#include <c10/util/Exception.h>
#include <csrc/distributed/tensor/dtensor.h>
#include <csrc/distributed/tensor/ops.h>
#include <csrc/nn/module_access.h>
#include <csrc/nn/modules/linear.h>

namespace torch::distributed {

namespace {

// The part of a parameter that this rank keeps, in its place and for the module's member too.
void cut(nn::Module& module, const std::string& name, at::Tensor& member, const DeviceMesh& mesh, int64_t dim) {
  if (!member.defined()) {
    return;
  }
  TORCH_CHECK_VALUE(
      member.size(dim) % mesh.size() == 0, "parallelize_module: dimension ", dim, " of ", name, " has ",
      member.size(dim), " places, which do not divide by ", mesh.size(), " ranks");
  const c10::NoGradGuard no_grad;
  const auto whole = member.detach();
  const auto part = distribute_tensor(whole, mesh, {Shard(dim)}, /*broadcast=*/false);
  auto local = part.to_local().clone(at::MemoryFormat::Contiguous).requires_grad_(member.requires_grad());
  nn::detail::ModuleAccess::parameters(module)[name] = local;
  member = local;
  mark_as_part(local, part);
}

nn::LinearImpl& linear_at(nn::Module& module, const std::string& path) {
  auto* linear = module.as<nn::LinearImpl>();
  TORCH_CHECK_NOT_IMPLEMENTED(
      linear != nullptr, "ColwiseParallel and RowwiseParallel currently only support nn.Linear, but ", path, " is ",
      module.name());
  return *linear;
}

at::Tensor moved(const at::Tensor& local, const DeviceMesh& mesh, const AnyPlacement& from, const AnyPlacement& to) {
  auto sizes = local.sizes().vec();
  if (const int64_t dim = shard_dim(from); dim >= 0) {
    sizes[static_cast<size_t>(dim)] *= mesh.size();
  }
  return DTensor::from_local(local, mesh, {from}, sizes).redistribute({to}).to_local();
}

void check_sequence(const at::Tensor& tensor, const DeviceMesh& mesh, bool whole) {
  TORCH_CHECK_VALUE(
      tensor.dim() >= 2 && (!whole || tensor.size(1) % mesh.size() == 0), "parallelize_module: dimension 1 of ",
      tensor.sizes(), " must be there and divide by ", mesh.size(), " ranks");
}

void apply_style(const ColwiseParallel& style, nn::Module& module, const std::string& path, const DeviceMesh& mesh) {
  auto& linear = linear_at(module, path);
  cut(module, "weight", linear.weight, mesh, 0);
  cut(module, "bias", linear.bias, mesh, 0);
  module.register_forward_pre_hook([mesh, style](nn::Module&, std::vector<at::Tensor>& inputs) {
    if (style.input_is_sequence) {
      check_sequence(inputs[0], mesh, /*whole=*/false);
      inputs[0] = moved(inputs[0], mesh, Shard(1), Replicate());
    }
    inputs[0] = detail::shared_by(inputs[0], mesh.get_group());
  });
}

void apply_style(const RowwiseParallel& style, nn::Module& module, const std::string& path, const DeviceMesh& mesh) {
  auto& linear = linear_at(module, path);
  cut(module, "weight", linear.weight, mesh, 1);
  // The bias is added once, to the sum.
  const at::Tensor bias = linear.bias;
  linear.bias = at::Tensor();
  module.register_forward_hook(
      [mesh, style, bias](nn::Module&, const std::vector<at::Tensor>&, std::vector<at::Tensor>& outputs) {
        if (style.output_is_sequence) {
          check_sequence(outputs[0], mesh, /*whole=*/true);
        }
        const AnyPlacement to = style.output_is_sequence ? AnyPlacement(Shard(1)) : AnyPlacement(Replicate());
        outputs[0] = moved(outputs[0], mesh, Partial(), to);
        if (bias.defined()) {
          outputs[0] = outputs[0] + (style.output_is_sequence ? detail::shared_by(bias, mesh.get_group()) : bias);
        }
      });
}

void apply_style(const SequenceParallel&, nn::Module& module, const std::string&, const DeviceMesh& mesh) {
  // Members become the parameters by way of a node that adds their gradients up.
  struct Pair {
    at::Tensor used, trained;
  };
  std::vector<Pair> pairs;
  auto& parameters = nn::detail::ModuleAccess::parameters(module);
  for (auto& item : parameters) {
    if (item.value().defined()) {
      const auto trained = item.value().detach().requires_grad_(item.value().requires_grad());
      pairs.push_back({item.value(), trained});
      item.value() = trained;
    }
  }
  module.register_forward_pre_hook([pairs, mesh](nn::Module&, std::vector<at::Tensor>&) {
    for (const auto& [used, trained] : pairs) {
      autograd::impl::renew(used, detail::shared_by(trained, mesh.get_group()));
    }
  });
}

} // namespace

void parallelize_module(
    const std::shared_ptr<nn::Module>& module,
    const DeviceMesh& mesh,
    const std::vector<std::pair<std::string, ParallelStyle>>& plan) {
  TORCH_CHECK_VALUE(module, "parallelize_module: the module is null");
  TORCH_CHECK_VALUE(
      mesh.ndim() == 1, "parallelize_module expects a 1D DeviceMesh but got ", mesh.ndim(),
      " dimensions: take a part of it, as mesh[\"tp\"]");
  const auto modules = module->named_modules();
  for (const auto& [path, style] : plan) {
    const auto* found = modules.find(path);
    TORCH_CHECK_VALUE(found != nullptr, "parallelize_module: there is no module at ", path);
    std::visit([&, &where = path](const auto& one) { apply_style(one, **found, where, mesh); }, style);
  }
}

} // namespace torch::distributed
