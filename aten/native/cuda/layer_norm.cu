#include <aten/native/cuda/layer_norm.cuh>

namespace at::native::cuda {

void launch_layer_norm(const LayerNorm& p) {
  with_types(p.dtype, p.param, [&](auto t, auto w) { forward</*Centered=*/true, decltype(t), decltype(w)>(p); });
}

void launch_layer_norm_backward(const LayerNormBackward& p) {
  with_types(p.dtype, p.param, [&](auto t, auto w) { backward</*Centered=*/true, decltype(t), decltype(w)>(p); });
}

} // namespace at::native::cuda
