// What the operators of sparse tensors cannot be written with: the loops of devices other than the CPU.
//
// On the CPU indices are walked by loops. On other devices the operators are made of operators on indices and values,
// and of these kernels, which a backend registers when it is loaded.
#pragma once

#include <aten/core/Tensor.h>
#include <c10/core/Device.h>

namespace at::native {

struct SparseDeviceKernels {
  /// out[g] = the sum of values[order[k]] for k from starts[g] up to starts[g + 1], the last group up to the end, in
  /// order. `values` is contiguous, [elements, ...], and `out` too.
  void (*sum_groups)(const Tensor& values, const Tensor& order, const Tensor& starts, const Tensor& out);
  /// out = alpha * (sparse @ dense) + beta * out for row starts, columns (int64) and values of a sparse matrix.
  /// Floating or complex, not half or bfloat16; all contiguous.
  void (*add_row_products)(
      const Tensor& out,
      const Tensor& starts,
      const Tensor& cols,
      const Tensor& values,
      const Tensor& dense,
      const Scalar& alpha);
  /// out = (left @ right) at the places of row starts and columns. `left` and `right` are contiguous.
  void (*sampled_product)(
      const Tensor& left, const Tensor& right, const Tensor& starts, const Tensor& cols, const Tensor& out);
};

/// For a backend. Null takes them away again.
TORCH_API void register_sparse_kernels(c10::DeviceType device, const SparseDeviceKernels* kernels);

/// Null where the CPU's loops serve.
TORCH_API const SparseDeviceKernels* sparse_kernels(const Tensor& t);

} // namespace at::native
