#include <aten/native/cuda/pointwise_run.h>

#include <aten/core/dtype_dispatch.h>
#include <aten/iterator/TensorIterator.h>
#include <c10/cuda/CUDAStream.h>

namespace at::native::cuda {

void run_pointwise(TensorIteratorBase& iter, c10::function_ref<void(const PointwisePlan&)> launch) {
  CUstream_st* const stream = c10::cuda::getCurrentCUDAStream();
  plan_pointwise(iter, [&](PointwisePlan& plan) {
    plan.stream = stream;
    launch(plan);
  });
}

void run_pointwise(
    const char* op,
    TensorIteratorBase& iter,
    std::uint64_t dtypes,
    c10::function_ref<void(const PointwisePlan&)> launch) {
  const c10::ScalarType dtype = iter.common_dtype();
  if (((dtypes >> static_cast<unsigned>(dtype)) & 1u) == 0) {
    at::detail::dtype_not_supported(op, dtype, dtypes);
  }
  run_pointwise(iter, launch);
}

} // namespace at::native::cuda
