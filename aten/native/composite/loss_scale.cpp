// Scaling of losses for mixed precision (torch::amp::GradScaler).

#include <aten/Functions.h>
#include <aten/core/Tensor.h>

namespace at::native {
namespace {

void check_number(const char* op, const char* name, const Tensor& t, c10::ScalarType dtype) {
  TORCH_CHECK(t.defined() && t.numel() == 1, op, ": ", name, " must be a 1-element tensor, got ", t.sizes());
  TORCH_CHECK(
      t.scalar_type() == dtype, op, ": ", name, " must be a ", c10::toString(dtype), " tensor, got ", t.scalar_type());
}

} // namespace

void _amp_foreach_non_finite_check_and_unscale_(TensorList self, Tensor& found_inf, const Tensor& inv_scale) {
  constexpr const char* kOp = "_amp_foreach_non_finite_check_and_unscale_";
  check_number(kOp, "inv_scale", inv_scale, kFloat);
  check_number(kOp, "found_inf", found_inf, kFloat);
  for (const Tensor& t : self) {
    TORCH_CHECK(
        isFloatingType(t.scalar_type()), kOp, ": expected tensors of a floating dtype, got ", t.scalar_type(),
        "; unscale gradients, not indices");
  }
  for (const Tensor& t : self) {
    // A sum of x * 0 is 0 for finite x and NaN otherwise; it cannot overflow on the way.
    const Tensor bad = t.mul(0).sum(kFloat).ne(0).to(kFloat).view(found_inf.sizes());
    found_inf.copy_(at::maximum(found_inf, bad.to(found_inf.device())));
    const Tensor factor = inv_scale.to(t.device()).reshape(at::IntArrayRef());
    if (isReducedFloatingType(t.scalar_type())) {
      t.copy_(t.to(kFloat).mul_(factor)); // the factor may be too small for t's dtype
    } else {
      t.mul_(factor);
    }
  }
}

Tensor& _amp_update_scale_(
    Tensor& self,
    Tensor& growth_tracker,
    const Tensor& found_inf,
    double scale_growth_factor,
    double scale_backoff_factor,
    int64_t growth_interval) {
  constexpr const char* kOp = "_amp_update_scale_";
  check_number(kOp, "current_scale", self, kFloat);
  check_number(kOp, "growth_tracker", growth_tracker, kInt);
  check_number(kOp, "found_inf", found_inf, kFloat);
  // Without looking at the numbers: on a device the host would have to wait for them.
  const Tensor bad = found_inf.to(self.device()).ne(0).view(self.sizes());
  const Tensor successful = growth_tracker.to(self.device(), kLong).add(1).view(self.sizes());
  const Tensor due = successful.ge(growth_interval), grown = self.to(kDouble).mul(scale_growth_factor).to(kFloat);
  // Grow only while the scale stays finite.
  const Tensor kept = at::where(due.logical_and(grown.isfinite()), grown, self);
  self.copy_(at::where(bad, self.mul(scale_backoff_factor), kept));
  growth_tracker.copy_(successful.mul(bad.logical_or(due).logical_not()).view(growth_tracker.sizes()));
  return self;
}

} // namespace at::native
