#include <csrc/nn/utils/weight_norm.h>

#include <aten/Functions.h>
#include <c10/core/GradMode.h>
#include <c10/util/Exception.h>
#include <csrc/nn/computed_tensor.h>
#include <csrc/nn/module_access.h>

namespace torch::nn::utils {

namespace {

using nn::detail::ComputedTensor;
using nn::detail::ModuleAccess;

class WeightNorm final : public ComputedTensor {
 public:
  WeightNorm(Module& module, const std::string& name, int64_t dim) : ComputedTensor(module, name), dim_(dim) {}

  std::shared_ptr<ComputedTensor> copy_to(
      Module& copy, const Module& module, const std::optional<c10::Device>& device) const override {
    auto computed = std::make_shared<WeightNorm>(copy, name(), dim_);
    const auto parameters = module.named_parameters(/*recurse=*/false);
    for (const char* suffix : {"_g", "_v"}) {
      const Tensor& source = parameters[name() + suffix];
      copy.register_parameter(name() + suffix, copy_of(source, device), source.requires_grad());
    }
    computed->take_value_of(*this, device);
    return computed;
  }

  Tensor compute(Module& module) override {
    return at::_weight_norm(part(module, "_v"), part(module, "_g"), dim_);
  }

 private:
  std::vector<Tensor> sources(Module& module) const override {
    return {part(module, "_v"), part(module, "_g")};
  }
  const Tensor& part(Module& module, const char* suffix) const {
    return ModuleAccess::parameters(module)[name() + suffix];
  }

  int64_t dim_;
};

} // namespace

void weight_norm(Module& module, const std::string& name, std::optional<int64_t> dim) {
  TORCH_CHECK(
      !std::dynamic_pointer_cast<WeightNorm>(nn::detail::find_computed(module, name)),
      "Cannot register two weight_norm hooks on the same parameter ", name);
  const Tensor weight = nn::detail::checked_parameter("weight_norm", module, name, {"_g", "_v"});
  const int64_t kept = dim.value_or(-1);
  Tensor length;
  {
    const c10::NoGradGuard no_grad;
    length = at::norm_except_dim(weight, 2, kept);
    at::_weight_norm(weight, length, kept); // throws for what cannot be computed, before anything is changed
  }
  const auto computed = std::make_shared<WeightNorm>(module, name, kept);
  module.register_parameter(name + "_g", length);
  module.register_parameter(name + "_v", weight.detach());
  nn::detail::install(module, computed);
  computed->renew(module);
}

void remove_weight_norm(Module& module, const std::string& name) {
  const auto computed = std::dynamic_pointer_cast<WeightNorm>(nn::detail::find_computed(module, name));
  TORCH_CHECK_VALUE(computed, "weight_norm of '", name, "' not found in ", module.name());
  const c10::NoGradGuard no_grad;
  const Tensor weight = computed->compute(module);
  for (const char* suffix : {"_g", "_v"}) {
    ModuleAccess::parameters(module).erase(name + suffix);
  }
  nn::detail::uninstall(module, computed, weight, /*requires_grad=*/true);
}

} // namespace torch::nn::utils
