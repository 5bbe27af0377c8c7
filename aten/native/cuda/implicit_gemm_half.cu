// Convolution as a product of matrices (implicit_gemm.h) of half, by tensor cores.
#include <aten/native/cuda/implicit_gemm.cuh>

namespace at::native::cuda {

void launch_half_gemm(const ImplicitGemm& p, GemmKind kind) {
  implicit_gemm::launch_tensor_core<c10::Half>(p, kind);
}

} // namespace at::native::cuda
