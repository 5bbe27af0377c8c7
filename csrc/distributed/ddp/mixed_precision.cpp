// Modules that compute in another dtype than the one that their parameters are trained in.
#include <csrc/distributed/ddp/mixed_precision.h>

#include <aten/Functions.h>
#include <autograd/rebound_variable.h>

namespace torch::distributed {

ConvertedParameters::ConvertedParameters(const std::shared_ptr<nn::Module>& module, c10::ScalarType dtype)
    : dtype_(dtype) {
  std::vector<std::pair<std::string, std::shared_ptr<nn::Module>>> modules;
  for (const auto& item : module->named_modules()) {
    modules.push_back(item.pair());
  }
  for (const auto& parameter : parameter_places(modules)) {
    if (!parameter.tensor.is_floating_point()) {
      continue;
    }
    const auto trained = parameter.tensor.detach().requires_grad_(parameter.tensor.requires_grad());
    parameter.register_instead(trained);
    pairs_.push_back({parameter.tensor, trained});
  }
}

void ConvertedParameters::renew() const {
  for (const auto& [used, trained] : pairs_) {
    autograd::impl::renew(used, trained.to(dtype_));
  }
}

} // namespace torch::distributed
