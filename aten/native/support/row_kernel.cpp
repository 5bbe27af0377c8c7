#include <aten/native/support/row_kernel.h>

#include <aten/native/support/cpu_isa.h>

#include <utility>

namespace at::native {

namespace {

template <class F>
F* of_this_processor(F* v2, F* v3, F* v4) {
  return cpu_isa_level() >= 2 ? v4 : cpu_isa_level() == 1 ? v3 : v2;
}

} // namespace

RowKernel find_row_kernel(RowOperator op, c10::ScalarType dtype, c10::ScalarType other) {
  if (!c10::isFloatingType(dtype) || c10::isFloat8Type(dtype)) {
    return nullptr;
  }
  switch (op) {
    case RowOperator::LayerNorm:
      return of_this_processor(v2::layer_norm_row_kernel, v3::layer_norm_row_kernel, v4::layer_norm_row_kernel)(
          dtype, other);
    case RowOperator::Sum:
    case RowOperator::Mean:
      return of_this_processor(v2::sum_row_kernel, v3::sum_row_kernel, v4::sum_row_kernel)(op, dtype);
    default:
      return of_this_processor(v2::softmax_row_kernel, v3::softmax_row_kernel, v4::softmax_row_kernel)(op, dtype);
  }
}

} // namespace at::native
