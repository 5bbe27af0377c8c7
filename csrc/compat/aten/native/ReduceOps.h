// Reductions as stubs: kernels that fill the output of an iterator, for the CPU here and for devices that register
// theirs.
//
//   at::Tensor out;
//   auto iter = at::native::make_reduction("my_sum", out, self, dims, keepdim, at::kFloat);
//   at::native::sum_stub(iter.device_type(), iter);
#pragma once

#include <aten/core/Tensor.h>
#include <csrc/compat/aten/native/DispatchStub.h>

#include <cstdint>
#include <tuple>

namespace at {
struct TensorIterator;
} // namespace at

namespace at::native {

using reduce_fn = void (*)(TensorIterator&);

// Input and output have one dtype. The numbers of Half and BFloat16 are added and multiplied in float; NaN is the
// smallest and the largest of all numbers.
DECLARE_DISPATCH(reduce_fn, sum_stub)
DECLARE_DISPATCH(reduce_fn, prod_stub)
DECLARE_DISPATCH(reduce_fn, mean_stub)
DECLARE_DISPATCH(reduce_fn, min_values_stub)
DECLARE_DISPATCH(reduce_fn, max_values_stub)
// Of truth values.
DECLARE_DISPATCH(reduce_fn, and_stub)
DECLARE_DISPATCH(reduce_fn, or_stub)

/// Variance and mean over `dim`, into tensors of any size.
TORCH_API std::tuple<Tensor&, Tensor&> var_mean_out(
    Tensor& result1, Tensor& result2, const Tensor& self, IntArrayRef dim, int64_t correction, bool keepdim);

} // namespace at::native
