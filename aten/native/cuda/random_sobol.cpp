// Sobol sequences on CUDA devices: the numbers are looked at one by one, so they are made on the host, on copies.
#include <aten/Functions.h>
#include <aten/core/Tensor.h>
#include <aten/iterator/MemoryOverlap.h>

#include <optional>
#include <tuple>

namespace at::native {

namespace {

/// f(a copy of self on the host), and self gets what f made of it.
template <class F>
Tensor& changed_on_host(Tensor& self, const F& f) {
  at::assert_no_internal_overlap(self);
  Tensor on_host = self.cpu();
  f(on_host);
  return self.copy_(on_host);
}

} // namespace

Tensor& sobol_engine_initialize_state_cuda(Tensor& self, int64_t dimension) {
  return changed_on_host(self, [&](Tensor& t) { at::_sobol_engine_initialize_state_(t, dimension); });
}

Tensor& sobol_engine_ff_cuda(
    Tensor& self, int64_t n, const Tensor& sobolstate, int64_t dimension, int64_t num_generated) {
  return changed_on_host(
      self, [&](Tensor& t) { at::_sobol_engine_ff_(t, n, sobolstate.cpu(), dimension, num_generated); });
}

Tensor& sobol_engine_scramble_cuda(Tensor& self, const Tensor& ltm, int64_t dimension) {
  return changed_on_host(self, [&](Tensor& t) { at::_sobol_engine_scramble_(t, ltm.cpu(), dimension); });
}

std::tuple<Tensor, Tensor> sobol_engine_draw_cuda(
    const Tensor& quasi,
    int64_t n,
    const Tensor& sobolstate,
    int64_t dimension,
    int64_t num_generated,
    std::optional<ScalarType> dtype) {
  const auto [points, last] = at::_sobol_engine_draw(quasi.cpu(), n, sobolstate.cpu(), dimension, num_generated, dtype);
  return {points.to(quasi.device()), last.to(quasi.device())};
}

} // namespace at::native
