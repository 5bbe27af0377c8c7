// Parametrizations of general use.
#pragma once

#include <csrc/nn/Module.h>
#include <csrc/nn/utils/parametrize.h>

#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>

namespace torch::nn::utils::parametrizations {

/// Weight normalization (Salimans and Kingma 2016) as a parametrization: the tensor is g * v / |v|, with norms over all
/// dimensions but `dim` (std::nullopt: one norm of everything). g and v are the parameters
/// "parametrizations.weight.original0" and "...original1".
TORCH_API void weight_norm(Module& module, const std::string& name = "weight", std::optional<int64_t> dim = 0);

/// Spectral normalization (Miyato et al. 2018) as a parametrization: "parametrizations.weight.original" divided by its
/// largest singular value, which `n_power_iterations` of the power method follow in each call in training mode (the
/// buffers "parametrizations.weight.0._u" and "..._v"). `dim` is that of the outputs: 0, or 1 for transposed
/// convolutions, if not given. A vector is divided by its length.
TORCH_API void spectral_norm(
    Module& module,
    const std::string& name = "weight",
    int64_t n_power_iterations = 1,
    double eps = 1e-12,
    std::optional<int64_t> dim = std::nullopt);

/// The same for a holder or a pointer, which is returned.
template <typename M, typename = std::enable_if_t<!std::is_base_of_v<Module, M>>>
M weight_norm(M module, const std::string& name = "weight", std::optional<int64_t> dim = 0) {
  weight_norm(nn::detail::module_of(module), name, dim);
  return module;
}
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

} // namespace torch::nn::utils::parametrizations
