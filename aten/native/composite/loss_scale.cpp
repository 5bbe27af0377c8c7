// Scaling of losses for mixed precision (torch::amp::GradScaler).

#include <aten/Functions.h>
#include <aten/core/Tensor.h>

#include <cmath>

namespace at::native {
namespace {

void check_number(const char* op, const char* name, const Tensor& t, c10::ScalarType dtype) {
  TORCH_CHECK(t.defined() && t.numel() == 1, op, ": ", name, " must be a 1-element tensor, got ", t.sizes());
  TORCH_CHECK(t.scalar_type() == dtype, op, ": ", name, " must be a ", c10::toString(dtype), " tensor, got ", t.scalar_type());
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
      t.copy_(t.to(kFloat).mul_(factor));  // the factor may be too small for t's dtype
    } else {
      t.mul_(factor);
    }
  }
}

Tensor& _amp_update_scale_(Tensor& self, Tensor& growth_tracker, const Tensor& found_inf, double scale_growth_factor, double scale_backoff_factor, int64_t growth_interval) {
  constexpr const char* kOp = "_amp_update_scale_";
  check_number(kOp, "current_scale", self, kFloat);
  check_number(kOp, "growth_tracker", growth_tracker, kInt);
  check_number(kOp, "found_inf", found_inf, kFloat);
  if (found_inf.item<float>() != 0) {
    self.mul_(scale_backoff_factor);
    growth_tracker.zero_();
    return self;
  }
  const int64_t successful = growth_tracker.item<int>() + int64_t{1};
  if (successful < growth_interval) {
    growth_tracker.fill_(successful);
    return self;
  }
  // Grow only while the scale stays finite.
  const auto grown = static_cast<float>(self.item<float>() * scale_growth_factor);
  if (std::isfinite(grown)) self.fill_(grown);
  growth_tracker.zero_();
  return self;
}

} // namespace at::native
