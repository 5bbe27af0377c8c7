// Convolution as a product of matrices (implicit_gemm.h) of bfloat16, by tensor cores.
#include <aten/native/cuda/implicit_gemm.cuh>

namespace at::native::cuda {

void launch_bfloat16_gemm(const ImplicitGemm& p, GemmKind kind) {
  implicit_gemm::launch_tensor_core<c10::BFloat16>(p, kind);
}

} // namespace at::native::cuda
