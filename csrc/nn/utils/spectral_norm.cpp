#include <csrc/nn/utils/spectral_norm.h>

#include <aten/Functions.h>
#include <c10/core/GradMode.h>
#include <c10/util/Exception.h>
#include <csrc/nn/computed_tensor.h>
#include <csrc/nn/module_access.h>
#include <csrc/nn/utils/power_method.h>

namespace torch::nn::utils {

namespace {

using nn::detail::ComputedTensor;
using nn::detail::ModuleAccess;

class SpectralNorm final : public ComputedTensor {
 public:
  SpectralNorm(Module& module, const std::string& name, int64_t n_power_iterations, double eps, int64_t dim)
      : ComputedTensor(module, name), n_power_iterations_(n_power_iterations), eps_(eps), dim_(dim) {}

  std::shared_ptr<ComputedTensor> copy_to(
      Module& copy, const Module& module, const std::optional<c10::Device>& device) const override {
    auto computed = std::make_shared<SpectralNorm>(copy, name(), n_power_iterations_, eps_, dim_);
    const Tensor weight = module.named_parameters(/*recurse=*/false)[name() + "_orig"];
    copy.register_parameter(name() + "_orig", copy_of(weight, device), weight.requires_grad());
    const auto buffers = module.named_buffers(/*recurse=*/false);
    for (const char* suffix : {"_u", "_v"}) {
      copy.register_buffer(name() + suffix, copy_of(buffers[name() + suffix], device));
    }
    computed->take_value_of(*this, device);
    return computed;
  }

  Tensor compute(Module& module) override {
    return weight_of(module, module.is_training());
  }
  Tensor weight_of(Module& module, bool iterate) {
    const Tensor& weight = original(module);
    const Tensor matrix = detail::weight_matrix(weight, dim_);
    Tensor &u = ModuleAccess::buffers(module)[name() + "_u"], &v = ModuleAccess::buffers(module)[name() + "_v"];
    if (iterate) {
      const c10::NoGradGuard no_grad;
      for (int64_t i = 0; i < n_power_iterations_; ++i) {
        detail::set_direction(v, matrix.t().mv(u), eps_);
        detail::set_direction(u, matrix.mv(v), eps_);
      }
    }
    return detail::divided_by_norm(weight, matrix, u, v);
  }

 private:
  std::vector<Tensor> sources(Module& module) const override {
    if (module.is_training()) {
      return {};
    }
    const auto& buffers = ModuleAccess::buffers(module);
    return {original(module), buffers[name() + "_u"], buffers[name() + "_v"]};
  }
  const Tensor& original(Module& module) const {
    return ModuleAccess::parameters(module)[name() + "_orig"];
  }

  int64_t n_power_iterations_;
  double eps_;
  int64_t dim_;
};

} // namespace

void spectral_norm(
    Module& module, const std::string& name, int64_t n_power_iterations, double eps, std::optional<int64_t> dim) {
  TORCH_CHECK(
      !std::dynamic_pointer_cast<SpectralNorm>(nn::detail::find_computed(module, name)),
      "Cannot register two spectral_norm hooks on the same parameter ", name);
  detail::check_power_iterations(n_power_iterations);
  const Tensor weight = nn::detail::checked_parameter("spectral_norm", module, name, {"_orig", "_u", "_v"});
  const int64_t rows = detail::output_dim(module, weight, dim);
  const c10::NoGradGuard no_grad;
  const Tensor matrix = detail::weight_matrix(weight, rows);
  const Tensor u = detail::random_direction(weight, matrix.size(0), eps);
  const Tensor v = detail::random_direction(weight, matrix.size(1), eps);
  const Tensor original = weight.detach();
  original.mutable_grad() = weight.grad();
  const bool requires_grad = weight.requires_grad();
  const auto computed = std::make_shared<SpectralNorm>(module, name, n_power_iterations, eps, rows);
  module.register_parameter(name + "_orig", original, requires_grad);
  module.register_buffer(name + "_u", u);
  module.register_buffer(name + "_v", v);
  nn::detail::install(module, computed);
  computed->set_value(original.detach()); // as in Python: the norm is taken from the first call on
}

void remove_spectral_norm(Module& module, const std::string& name) {
  const auto computed = std::dynamic_pointer_cast<SpectralNorm>(nn::detail::find_computed(module, name));
  TORCH_CHECK_VALUE(computed, "spectral_norm of '", name, "' not found in ", module.name());
  const c10::NoGradGuard no_grad;
  const Tensor weight = computed->weight_of(module, /*iterate=*/false);
  ModuleAccess::parameters(module).erase(name + "_orig");
  for (const char* suffix : {"_u", "_v"}) {
    ModuleAccess::buffers(module).erase(name + suffix);
  }
  nn::detail::uninstall(module, computed, weight, /*requires_grad=*/true);
}

} // namespace torch::nn::utils
