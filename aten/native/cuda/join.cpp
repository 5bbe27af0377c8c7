// cat on CUDA devices: one copy for each tensor.
#include <aten/core/Tensor.h>
#include <aten/native/cuda/copy.h>
#include <c10/core/WrapDimMinimal.h>

namespace at::native::cuda {

void cat_kernel(TensorList tensors, int64_t dim, const TensorBase& out) {
  if (out.numel() == 0) {
    return;
  }
  dim = c10::maybe_wrap_dim(dim, out.dim());
  const Tensor whole(out);
  int64_t start = 0;
  for (const Tensor& t : tensors) {
    if (t.dim() == 1 && t.numel() == 0) {
      continue;
    }
    if (t.numel() != 0) {
      copy_on_device(whole.narrow(dim, start, t.size(dim)), t);
    }
    start += t.size(dim);
  }
}

} // namespace at::native::cuda
