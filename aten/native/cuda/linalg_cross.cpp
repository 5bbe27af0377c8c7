#include <aten/native/cuda/linalg_cross.h>

#include <aten/core/Tensor.h>
#include <aten/core/dtype_dispatch.h>
#include <c10/core/WrapDimMinimal.h>
#include <c10/cuda/CUDAStream.h>

namespace at::native::cuda {

namespace {

/// A tensor as operand `i` of a walk, read or written in bytes.
template <int Operands>
void set_operand(StridedWalk<Operands>& walk, int i, const TensorBase& tensor) {
  walk.data[i] = static_cast<char*>(const_cast<void*>(tensor.const_data_ptr()));
  for (int64_t d = 0; d < tensor.dim(); ++d) {
    walk.strides[i].push_back(tensor.stride(d) * static_cast<int64_t>(tensor.itemsize()));
  }
}

} // namespace

void linalg_cross_kernel(const TensorBase& self, const TensorBase& other, int64_t dim, const TensorBase& out) {
  constexpr auto kDtypes = kAll - kBooleans;
  if (!kDtypes.contains(out.scalar_type())) {
    at::detail::dtype_not_supported("cross", out.scalar_type(), kDtypes.bits);
  }
  if (out.numel() == 0) {
    return;
  }
  dim = c10::maybe_wrap_dim(dim, out.dim());
  // What is read twice where it broadcasts has a step of 0.
  const Tensor a = Tensor(self).resolve_conj().resolve_neg().expand(out.sizes());
  const Tensor b = Tensor(other).resolve_conj().resolve_neg().expand(out.sizes());
  StridedWalk<3> walk;
  walk.sizes.assign(out.sizes().begin(), out.sizes().end());
  set_operand(walk, 0, out);
  set_operand(walk, 1, a);
  set_operand(walk, 2, b);
  const int64_t steps[3] = {walk.strides[0][dim], walk.strides[1][dim], walk.strides[2][dim]};
  walk.sizes[dim] = 1;
  const c10::cuda::CUDAStream stream = c10::cuda::getCurrentCUDAStream();
  each_launch(walk, [&](const StridedLaunch<3>& part) { launch_cross(out.scalar_type(), part, steps, stream); });
}

} // namespace at::native::cuda
