// Host side of dropout.cu.
#include <aten/Functions.h>
#include <aten/core/dtype_dispatch.h>
#include <aten/cuda/CUDAGeneratorImpl.h>
#include <aten/native/cuda/dropout.h>
#include <aten/native/cuda/random.h>
#include <aten/native/support/dropout.h>
#include <c10/core/DeviceGuard.h>
#include <c10/cuda/CUDAStream.h>

#include <mutex>
#include <tuple>

namespace at::native {

namespace {

cuda::Dropout dropout_of(const Tensor& in, const Tensor& out, bool* mask, double scale) {
  return {
      in.scalar_type(),
      in.const_data_ptr(),
      out.mutable_data_ptr(),
      mask,
      in.numel(),
      scale,
      c10::cuda::getCurrentCUDAStream()};
}

} // namespace

std::tuple<Tensor, Tensor> fused_dropout_cuda(const Tensor& self, double p, std::optional<Generator> generator) {
  TORCH_CHECK(p > 0 && p <= 1, "_fused_dropout: the probability of keeping an element must be in (0, 1], but got ", p);
  if (!kFloating.contains(self.scalar_type())) {
    at::detail::dtype_not_supported("dropout", self.scalar_type(), kFloating.bits);
  }
  const Tensor in = self.is_non_overlapping_and_dense() ? self : self.contiguous();
  Tensor out = at::empty_like(in), mask = at::empty_like(in, in.options().dtype(kBool));
  if (in.numel() == 0) {
    return {out, mask};
  }
  auto* drawing =
      at::get_generator_or_default<CUDAGeneratorImpl>(generator, at::cuda::detail::getDefaultCUDAGenerator());
  const cuda::RandomLaunch grid = cuda::random_launch(in.numel(), 4);
  PhiloxCudaState philox;
  {
    const std::lock_guard<std::mutex> lock(drawing->mutex_);
    philox = drawing->philox_cuda_state(grid.offset_increment);
  }
  cuda::launch_dropout(dropout_of(in, out, mask.mutable_data_ptr<bool>(), 1 / p), p, philox, grid.blocks);
  return {out, mask};
}

Tensor drop_backward_cuda(const Tensor& grad, const Tensor& mask, double scale) {
  const c10::DeviceGuard guard(grad.device());
  const Tensor g = grad.contiguous(), kept = mask.contiguous();
  Tensor result = at::empty_like(g);
  if (g.numel() != 0) {
    cuda::launch_masked_scale(dropout_of(g, result, const_cast<bool*>(kept.const_data_ptr<bool>()), scale));
  }
  return result;
}

namespace {

[[maybe_unused]] const bool drop_backward_registered = [] {
  cuda_drop_backward() = &drop_backward_cuda;
  return true;
}();

} // namespace

} // namespace at::native
