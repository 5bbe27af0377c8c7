// Weights with orthonormal columns or rows, as a parametrization.
#pragma once

#include <csrc/nn/Module.h>

#include <optional>
#include <string>
#include <type_traits>

namespace torch::nn::utils::parametrizations {

/// How a matrix Q with Q^H Q = 1 comes from a matrix X that may be any.
enum class OrthogonalMap {
  /// exp(A), where A = L - L^H and L is the lower triangle of X.
  kMatrixExp,
  /// (1 - A/2)^-1 (1 + A/2) with the same A.
  kCayley,
  /// The product of the reflections along the columns of X below the diagonal. Real matrices only.
  kHouseholder,
};

/// Makes the tensor, a matrix or a batch of them [..., m, n], orthogonal (complex: unitary): orthonormal columns where
/// m >= n, else orthonormal rows. It is computed from "parametrizations.weight.original" by the map: for square and
/// complex matrices kMatrixExp if not given, else kHouseholder.
///
/// With `use_trivialization` (Lezcano-Casado 2019) the map gives a turn of a fixed square matrix, the buffer
/// "parametrizations.weight.0.base", so the tensor keeps its value where that is orthogonal already, and has else the
/// factor Q of its QR decomposition with a positive diagonal of R. Without it kHouseholder begins there too, the other
/// maps where they lead from the tensor's value.
TORCH_API void orthogonal(
    Module& module,
    const std::string& name,
    std::optional<OrthogonalMap> orthogonal_map,
    bool use_trivialization = true);
TORCH_API void orthogonal(Module& module, const std::string& name = "weight");

/// The same for a holder or a pointer, which is returned.
template <typename M, typename... Args, typename = std::enable_if_t<!std::is_base_of_v<Module, M>>>
M orthogonal(M module, const Args&... args) {
  orthogonal(nn::detail::module_of(module), args...);
  return module;
}

} // namespace torch::nn::utils::parametrizations
