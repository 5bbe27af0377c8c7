// Parameters of which modules use another tensor than the one that is registered and trained.
#include <csrc/distributed/ddp/parameter_swap.h>

#include <csrc/nn/module_access.h>

#include <algorithm>

namespace torch::distributed {

void ParameterPlaces::register_instead(const at::Tensor& registered) const {
  for (const auto& [module, key] : places) {
    nn::detail::ModuleAccess::parameters(*module)[key] = registered;
  }
}

std::vector<ParameterPlaces> parameter_places(
    const std::vector<std::pair<std::string, std::shared_ptr<nn::Module>>>& modules) {
  std::vector<ParameterPlaces> found;
  for (const auto& [path, module] : modules) {
    for (const auto& parameter : nn::detail::ModuleAccess::parameters(*module)) {
      if (!parameter.value().defined()) {
        continue;
      }
      const auto same = std::find_if(
          found.begin(), found.end(), [&](const auto& known) { return known.tensor.is_same(parameter.value()); });
      if (same != found.end()) {
        same->places.emplace_back(module.get(), parameter.key());
        continue;
      }
      found.push_back(
          {path.empty() ? parameter.key() : path + "." + parameter.key(),
           parameter.value(),
           {{module.get(), parameter.key()}}});
    }
  }
  return found;
}

} // namespace torch::distributed
