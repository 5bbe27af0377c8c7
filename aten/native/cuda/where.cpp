// where and masked_fill: the host side of where.cu.
#include <aten/core/dtype_dispatch.h>
#include <aten/iterator/TensorIterator.h>
#include <aten/native/cuda/pointwise_run.h>
#include <aten/native/cuda/where.h>

#include <cstring>

namespace at::native::cuda {

void where_kernel(TensorIteratorBase& iter) {
  const std::size_t size = c10::elementSize(iter.common_dtype());
  run_pointwise(iter, [&](const PointwisePlan& plan) {
    bool same = plan.dtypes[0] == plan.dtype;
    for (int i = 2; i < 4; ++i) {
      same = same && (plan.is_constant(i) || plan.dtypes[i] == plan.dtype);
    }
    if (same) {
      launch_where(plan, size);
    } else {
      launch_where_mixed(plan);
    }
  });
}

void masked_fill_kernel(TensorIteratorBase& iter, const c10::Scalar& value) {
  alignas(16) char bytes[16];
  dispatch("masked_fill", iter.dtype(0), kAll | kComplexHalves | kUnsigned, [&]<class T> {
    const T converted = value.to<T>();
    std::memcpy(bytes, &converted, sizeof(T));
  });
  const std::size_t size = c10::elementSize(iter.dtype(0));
  run_pointwise(iter, [&](const PointwisePlan& plan) { launch_masked_fill(plan, size, bytes); });
}

} // namespace at::native::cuda
