// nextafter and nan_to_num: the host side of pointwise_nextafter.cu.
#include <aten/native/cuda/pointwise_nextafter.h>

#include <aten/core/dtype_dispatch.h>
#include <aten/iterator/TensorIterator.h>
#include <aten/native/cuda/pointwise_run.h>

#include <optional>

namespace at::native::cuda {

void nextafter_kernel(TensorIteratorBase& iter) {
  run_pointwise("nextafter", iter, kFloating.bits, [&](const PointwisePlan& plan) { launch_nextafter(plan); });
}

void nan_to_num_kernel(
    TensorIteratorBase& iter, std::optional<double> nan, std::optional<double> posinf, std::optional<double> neginf) {
  run_pointwise(
      "nan_to_num", iter, kAll.bits, [&](const PointwisePlan& plan) { launch_nan_to_num(plan, nan, posinf, neginf); });
}

} // namespace at::native::cuda
