// Spectral normalization (Miyato et al. 2018): a weight divided by its largest singular value.
#pragma once

#include <csrc/nn/Module.h>

#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>

namespace torch::nn::utils {

/// Replaces the parameter `name` by `name`_orig and computes it before each call: orig / sigma, where sigma is the
/// largest singular value of the weight as a matrix with the rows of `dim` (0, or 1 for transposed convolutions, if not
/// given). It is followed by `n_power_iterations` of the power method in each call in training mode; their vectors are
/// the buffers `name`_u and `name`_v. Make the optimizer afterwards.
///
/// The weight is computed when the module is called through its holder or by a container, as hooks run: `linear(x)`,
/// not `linear->forward(x)`. parametrizations::spectral_norm is the newer form.
TORCH_API void spectral_norm(
    Module& module,
    const std::string& name = "weight",
    int64_t n_power_iterations = 1,
    double eps = 1e-12,
    std::optional<int64_t> dim = std::nullopt);
/// The weight becomes a parameter again, divided by its norm.
TORCH_API void remove_spectral_norm(Module& module, const std::string& name = "weight");

/// The same for a holder or a pointer, which is returned: `auto layer = spectral_norm(Linear(3, 4))`.
template <typename M, typename = std::enable_if_t<!std::is_base_of_v<Module, M>>>
M spectral_norm(
    M module,
    const std::string& name = "weight",
    int64_t n_power_iterations = 1,
    double eps = 1e-12,
    std::optional<int64_t> dim = std::nullopt) {
  spectral_norm(nn::detail::module_of(module), name, n_power_iterations, eps, dim);
  return module;
}
template <typename M, typename = std::enable_if_t<!std::is_base_of_v<Module, M>>>
M remove_spectral_norm(M module, const std::string& name = "weight") {
  remove_spectral_norm(nn::detail::module_of(module), name);
  return module;
}

} // namespace torch::nn::utils
