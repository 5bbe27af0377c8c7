// Forward-mode gradients: tensors that carry a tangent, and operators that carry it on.
#pragma once

#include <aten/core/Tensor.h>
#include <autograd/autograd.h>
#include <c10/core/GradMode.h>
#include <c10/macros/Export.h>

#include <cstdint>
#include <optional>
#include <tuple>

namespace torch::autograd::forward_ad {

/// Inside a level while it lives:
///
///     DualLevel level;
///     Tensor y = f(make_dual(x, v));
///     auto [value, derivative] = unpack_dual(y); // f(x), and its derivative at x in the direction v
///
/// Levels nest: what an inner one computes may be differentiated at an outer one.
class TORCH_API DualLevel {
 public:
  DualLevel() : level_(enter_dual_level()) {}
  DualLevel(const DualLevel&) = delete;
  DualLevel& operator=(const DualLevel&) = delete;
  ~DualLevel();

  uint64_t level() const {
    return level_;
  }

 private:
  const uint64_t level_;
};

/// A view of `primal` whose tangent is `tangent`, of the same sizes and a dtype that converts to the primal's; both are
/// floating or complex. `level` is the innermost of this thread unless given. The tangent is copied where it is not
/// laid out in memory as the primal. Throws outside of a level, for a primal that has a tangent at the level, and for
/// tensors that do not fit.
TORCH_API at::Tensor make_dual(
    const at::Tensor& primal, const at::Tensor& tangent, std::optional<uint64_t> level = std::nullopt);

struct UnpackedDualTensor {
  at::Tensor primal;
  at::Tensor tangent;
};

/// A view of `tensor` without its tangent at `level` (the innermost of this thread unless given), and that tangent,
/// undefined where there is none.
TORCH_API UnpackedDualTensor unpack_dual(const at::Tensor& tensor, std::optional<uint64_t> level = std::nullopt);

} // namespace torch::autograd::forward_ad

namespace at {

/// The operators of libtorch: make_dual(), unpack_dual(), and the primal alone.
TORCH_API Tensor _make_dual(const Tensor& primal, const Tensor& tangent, int64_t level);
TORCH_API std::tuple<Tensor, Tensor> _unpack_dual(const Tensor& dual, int64_t level);
TORCH_API Tensor _fw_primal(const Tensor& self, int64_t level);

} // namespace at
