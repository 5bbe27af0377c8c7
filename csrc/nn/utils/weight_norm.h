// Weight normalization (Salimans and Kingma 2016): the length and the direction of a weight as parameters of their own.
#pragma once

#include <csrc/nn/Module.h>

#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>

namespace torch::nn::utils {

/// Replaces the parameter `name` by `name`_g and `name`_v and computes it before each call: g * v / |v|, with norms
/// over all dimensions but `dim` (std::nullopt: one norm of everything). Make the optimizer afterwards.
///
/// The weight is computed when the module is called through its holder or by a container, as hooks run: `linear(x)`,
/// not `linear->forward(x)`. parametrizations::weight_norm is the newer form.
TORCH_API void weight_norm(Module& module, const std::string& name = "weight", std::optional<int64_t> dim = 0);
/// The weight becomes a parameter again.
TORCH_API void remove_weight_norm(Module& module, const std::string& name = "weight");

/// The same for a holder or a pointer, which is returned: `auto layer = weight_norm(Linear(3, 4))`.
template <typename M, typename = std::enable_if_t<!std::is_base_of_v<Module, M>>>
M weight_norm(M module, const std::string& name = "weight", std::optional<int64_t> dim = 0) {
  weight_norm(nn::detail::module_of(module), name, dim);
  return module;
}
template <typename M, typename = std::enable_if_t<!std::is_base_of_v<Module, M>>>
M remove_weight_norm(M module, const std::string& name = "weight") {
  remove_weight_norm(nn::detail::module_of(module), name);
  return module;
}

} // namespace torch::nn::utils
