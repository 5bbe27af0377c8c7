// Some functors in the pointwise loop: one, two and three operands, numbers, comparisons, real results, long ones.
#include <aten/native/pointwise/arithmetic.h>
#include <aten/native/pointwise/compare.h>
#include <aten/native/pointwise/exponential.h>
#include <aten/native/pointwise/special.h>

#include <aten/native/cuda/pointwise_loop.cuh>

namespace at::native::cuda {

void launch_Exp(const PointwisePlan& plan) {
  cuda_pointwise<Exp>(plan, TypeList<c10::Half, c10::BFloat16, float, double, c10::complex<float>>{});
}
void launch_AddAlpha(const PointwisePlan& plan, const c10::Scalar& alpha) {
  cuda_pointwise<AddAlpha>(
      plan,
      TypeList<
          bool, std::int8_t, std::int16_t, std::int64_t, c10::Half, c10::BFloat16, float, double,
          c10::complex<double>>{},
      alpha);
}
void launch_Lt(const PointwisePlan& plan) {
  cuda_pointwise<Lt>(plan, TypeList<std::int8_t, c10::Half, float, double>{});
}
void launch_Lerp(const PointwisePlan& plan) {
  cuda_pointwise<Lerp>(plan, TypeList<float, double>{});
}
void launch_Abs(const PointwisePlan& plan) {
  cuda_pointwise<Abs>(plan, TypeList<float, c10::complex<float>>{});
}
void launch_Digamma(const PointwisePlan& plan) {
  cuda_pointwise<Digamma, Kernels::Long>(plan, TypeList<c10::Half, float, double>{});
}

} // namespace at::native::cuda
