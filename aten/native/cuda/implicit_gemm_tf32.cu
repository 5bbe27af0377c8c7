// Convolution as a product of matrices (implicit_gemm.h) of floats that are rounded to TF32, by tensor cores.
#include <aten/native/cuda/implicit_gemm.cuh>

namespace at::native::cuda {

void launch_tf32_gemm(const ImplicitGemm& p, GemmKind kind) {
  implicit_gemm::launch_tensor_core<float>(p, kind);
}

} // namespace at::native::cuda
