// Samplers with a parameter for each element: Poisson, gamma, binomial, Dirichlet; slopes of rrelu.
#include <aten/native/cuda/random_distributions.h>

#include <aten/Functions.h>
#include <aten/core/TensorOperators.h>
#include <aten/core/dtype_dispatch.h>
#include <aten/cuda/CUDAContext.h>
#include <aten/cuda/CUDAGeneratorImpl.h>

#include <limits>
#include <mutex>
#include <optional>
#include <utility>

namespace at::native {

namespace {

using cuda::SampleEach;

/// Numbers that the generator moves on by for a call, as in PyTorch.
constexpr std::uint64_t kPoissonDraws = 20, kGammaDraws = 10, kBinomialDraws = 42;

/// A tensor like `parameter`, filled by `launch`.
template <class Launch>
Tensor sample_like(
    const char* op,
    const Tensor& parameter,
    const std::optional<Generator>& generator,
    std::uint64_t draws,
    Launch launch) {
  if (!c10::isFloatingType(parameter.scalar_type())) {
    at::detail::dtype_not_supported(op, parameter.scalar_type(), at::kFloating.bits);
  }
  const Tensor dense = parameter.contiguous();
  Tensor result = at::empty(parameter.sizes(), parameter.options());
  if (result.numel() == 0) {
    return result;
  }
  auto* impl = at::get_generator_or_default<CUDAGeneratorImpl>(generator, at::cuda::detail::getDefaultCUDAGenerator());
  PhiloxCudaState philox;
  {
    const std::lock_guard<std::mutex> lock(impl->mutex_);
    philox = impl->philox_cuda_state(draws);
  }
  launch(SampleEach{
      dense.scalar_type(), dense.const_data_ptr(), result.mutable_data_ptr(), dense.numel(), philox,
      c10::cuda::getCurrentCUDAStream()});
  return result;
}

} // namespace

Tensor poisson_cuda(const Tensor& self, std::optional<Generator> generator) {
  return sample_like("poisson_cuda", self, generator, kPoissonDraws, cuda::launch_poisson);
}

Tensor standard_gamma_cuda(const Tensor& self, std::optional<Generator> generator) {
  return sample_like("gamma_cuda", self, generator, kGammaDraws, cuda::launch_gamma);
}

Tensor binomial_cuda(const Tensor& count, const Tensor& prob, std::optional<Generator> generator) {
  TORCH_CHECK(
      count.sizes() == prob.sizes() && count.scalar_type() == prob.scalar_type(),
      "binomial: count and prob must have the same sizes and dtype, got ", count.sizes(), " ", count.scalar_type(),
      " and ", prob.sizes(), " ", prob.scalar_type());
  const Tensor probs = prob.contiguous();
  return sample_like("binomial_cuda", count, generator, kBinomialDraws, [&](const SampleEach& p) {
    cuda::launch_binomial(p, probs.const_data_ptr());
  });
}

Tensor sample_dirichlet_cuda(const Tensor& self, std::optional<Generator> generator) {
  TORCH_CHECK(self.dim() > 0, "_sample_dirichlet: self needs at least one dimension");
  const Tensor drawn = sample_like("dirichlet", self, generator, kGammaDraws, cuda::launch_gamma);
  Tensor result = drawn / drawn.sum(-1, /*keepdim=*/true);
  at::dispatch("dirichlet", self.scalar_type(), at::kFloating, [&]<class T> {
    using Limits = std::numeric_limits<T>;
    result.clamp_(static_cast<double>(Limits::min()), 1 - static_cast<double>(Limits::epsilon()));
  });
  return result;
}

Tensor rrelu_slopes_cuda(const Tensor& self, double lower, double upper, std::optional<Generator> generator) {
  const Tensor slopes = at::empty_like(self).uniform_(lower, upper, std::move(generator));
  return at::where(self <= 0, slopes, at::ones({}, self.options()));
}

} // namespace at::native
