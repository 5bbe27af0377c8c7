#include <aten/native/support/dropout.h>

#include <aten/Functions.h>
#include <aten/core/OpMathType.h>
#include <aten/core/dtype_dispatch.h>
#include <aten/native/cpu/generic/random_draws.h>
#include <aten/native/cpu/generic/random_fill.h>
#include <aten/parallel/Parallel.h>

namespace at::native {

namespace {

/// The tensor with the strides that empty_like gives it, so that elements of equal index lie at equal places.
Tensor with_strides_of(const Tensor& x, const Tensor& like) {
  return x.strides() == like.strides() ? x : at::empty_like(like, x.options()).copy_(x);
}

template <class T>
void scale_masked(const T* from, const uint8_t* mask, T* to, int64_t n, double scale) {
  by_isa(v2::scale_masked<T>, v3::scale_masked<T>, v4::scale_masked<T>)(from, mask, to, n, scale);
}

} // namespace

bool is_dropped_in_one_pass(const Tensor& input) {
  return input.is_cpu() && input.layout() == kStrided && kFloating.contains(input.scalar_type()) &&
      !input.unsafeGetTensorImpl()->is_wrapped_number();
}

double dropout_scale(c10::ScalarType dtype, double keep) {
  double scale = 0;
  dispatch("dropout", dtype, kFloating, [&]<class T> {
    using Acc = opmath_type<T>;
    scale = static_cast<double>(static_cast<T>(Acc(1) / static_cast<Acc>(keep)));
  });
  return scale;
}

std::tuple<Tensor, Tensor> drop(
    const Tensor& input, double keep, double scale, const std::optional<Generator>& generator) {
  Tensor result = at::empty_like(input);
  Tensor mask = at::empty_like(result, result.options().dtype(kBool));
  const Tensor source = with_strides_of(input, result);
  auto* coins = reinterpret_cast<uint8_t*>(mask.mutable_data_ptr<bool>());
  dispatch("dropout", input.scalar_type(), kFloating, [&]<class T> {
    const T* from = source.const_data_ptr<T>();
    T* to = result.mutable_data_ptr<T>();
    const auto rounded = static_cast<double>(static_cast<T>(scale));
    auto* draw_coins = by_isa(v2::draw_coins, v3::draw_coins, v4::draw_coins);
    LockedGenerator draw(generator);
    for (int64_t first = 0; first < result.numel(); first += kRun) {
      const int64_t count = std::min(kRun, result.numel() - first);
      draw_coins(*draw, coins + first, count, keep);
      scale_masked(from + first, coins + first, to + first, count, rounded);
    }
  });
  return {result, mask};
}

Tensor drop_backward(const Tensor& grad, const Tensor& mask, double scale) {
  Tensor result = at::empty_like(grad);
  const Tensor kept = with_strides_of(mask, result);
  const auto* coins = reinterpret_cast<const uint8_t*>(kept.const_data_ptr<bool>());
  dispatch("dropout", grad.scalar_type(), kFloating, [&]<class T> {
    const T* from = grad.const_data_ptr<T>();
    T* to = result.mutable_data_ptr<T>();
    at::parallel_for(0, result.numel(), at::internal::GRAIN_SIZE, [&](int64_t begin, int64_t end) {
      scale_masked(from + begin, coins + begin, to + begin, end - begin, scale);
    });
  });
  return result;
}

} // namespace at::native
