// Parameters of which modules use another tensor than the one that is registered and trained.
#pragma once

#include <csrc/nn/Module.h>

#include <string>
#include <utility>
#include <vector>

namespace torch::distributed {

/// One parameter, which may be registered in several places.
struct ParameterPlaces {
  std::string name; // from the outermost module, of the first place
  at::Tensor tensor;
  std::vector<std::pair<nn::Module*, std::string>> places;

  /// Registers another tensor; members of the modules keep `tensor`.
  void register_instead(const at::Tensor& registered) const;
};

/// The parameters of the modules, not of those below them, each once.
TORCH_API std::vector<ParameterPlaces> parameter_places(
    const std::vector<std::pair<std::string, std::shared_ptr<nn::Module>>>& modules);

} // namespace torch::distributed
