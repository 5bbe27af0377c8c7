#include <aten/native/cuda/layer_norm.cuh>

namespace at::native::cuda {

void launch_rms_norm(const LayerNorm& p) {
  with_types(p.dtype, p.param, [&](auto t, auto w) { forward</*Centered=*/false, decltype(t), decltype(w)>(p); });
}

void launch_rms_norm_backward(const LayerNormBackward& p) {
  with_types(p.dtype, p.param, [&](auto t, auto w) { backward</*Centered=*/false, decltype(t), decltype(w)>(p); });
}

} // namespace at::native::cuda
