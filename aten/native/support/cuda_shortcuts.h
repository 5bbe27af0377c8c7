// Work that the CUDA plugin does in fewer launches than operators would, for those above the operators: backward passes
// and autocast.
#pragma once

#include <aten/core/Tensor.h>
#include <c10/core/DispatchKeySet.h>
#include <c10/macros/Export.h>

#include <array>
#include <optional>
#include <tuple>

namespace at::native {

/// Set by the plugin when it is loaded; null before. Tensors are those of is_plain_cuda, on one device. Nothing is
/// recorded.
struct CudaShortcuts {
  /// self.t() @ mat2, which is column-major if asked for, and the sums of mat2's columns: gradients of a layer's weight
  /// and bias.
  std::tuple<Tensor, Tensor> (*transposed_mm_with_sums)(const Tensor& self, const Tensor& mat2, bool by_columns) =
      nullptr;
  /// The backward pass of _fused_rms_norm.
  std::tuple<Tensor, Tensor> (*rms_norm_backward)(
      const Tensor& grad,
      const Tensor& input,
      IntArrayRef normalized_shape,
      const Tensor& rstd,
      const std::optional<Tensor>& weight,
      std::array<bool, 2> output_mask) = nullptr;
  /// At most three tensors, of float in half or bfloat16 or the other way round.
  std::array<Tensor, 3> (*cast_together)(TensorList tensors, ScalarType dtype) = nullptr;
};
TORCH_API CudaShortcuts& cuda_shortcuts();

/// Whether `t` is a dense tensor on CUDA that no wrapper is around, and the plugin is there to take it: tests have such
/// tensors without.
inline bool is_plain_cuda(const Tensor& t) {
  constexpr auto keys = c10::DispatchKeySet(c10::DispatchKey::CUDA) |
      c10::getAutogradRelatedKeySetFromBackend(c10::BackendComponent::CUDABit) |
      c10::getAutocastRelatedKeySetFromBackend(c10::BackendComponent::CUDABit);
  return t.defined() && t.key_set() == keys && cuda_shortcuts().cast_together != nullptr;
}

/// Whether a backward pass may take shortcuts: it is not recorded itself, and no mode wants to hear of its operators.
TORCH_API bool backward_takes_shortcuts();

} // namespace at::native
