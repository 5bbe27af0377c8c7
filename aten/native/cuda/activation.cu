#include <aten/native/cuda/activation.h>

#include <aten/native/cuda/dtype_cases.cuh>
#include <aten/native/cuda/pointwise_loop.cuh>
#include <aten/native/pointwise/exponential.h>

namespace at::native::cuda {

namespace {

struct Gated {
  template <class T>
  HOST_DEVICE T operator()(T value, T gate) const {
    return value * pointwise::logistic(gate);
  }
};

struct GatedBackward {
  template <class T>
  HOST_DEVICE T operator()(T grad, T value, T gate) const {
    const T open = pointwise::logistic(gate);
    return grad * value * open * (T(1) - open);
  }
};

struct PreluBackwardSelf {
  template <class T>
  HOST_DEVICE T operator()(T grad, T x, T weight) const {
    return x > T(0) ? grad : grad * weight;
  }
};

struct PreluBackwardWeight {
  template <class T>
  HOST_DEVICE T operator()(T grad, T x) const {
    return x > T(0) ? T(0) : grad * x;
  }
};

} // namespace

void launch_gated(const PointwisePlan& plan) {
  FloatingTypes::call(plan.dtype, [&](auto type) {
    using T = decltype(type);
    launch_pointwise<T, T, T>(plan, Gated{});
  });
}

void launch_gated_backward(const PointwisePlan& plan) {
  FloatingTypes::call(plan.dtype, [&](auto type) {
    using T = decltype(type);
    launch_pointwise<T, T, T, T>(plan, GatedBackward{});
  });
}

void launch_prelu_backward_self(const PointwisePlan& plan) {
  FloatingTypes::call(plan.dtype, [&](auto type) {
    using T = decltype(type);
    launch_pointwise<T, T, T, T>(plan, PreluBackwardSelf{});
  });
}

void launch_prelu_backward_weight(const PointwisePlan& plan) {
  FloatingTypes::call(plan.dtype, [&](auto type) {
    using T = decltype(type);
    launch_pointwise<T, T, T>(plan, PreluBackwardWeight{});
  });
}

} // namespace at::native::cuda
