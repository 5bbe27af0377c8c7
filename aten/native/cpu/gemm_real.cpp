// float and double products.
#include <aten/native/cpu/gemm_kernels.h>

namespace at::native {
inline namespace CPU_CAPABILITY {

template void gemm<float>(const Gemm<float>&);
template void gemm<double>(const Gemm<double>&);
template float dot_product<float>(int64_t, const float*, int64_t, bool, const float*, int64_t, bool);
template double dot_product<double>(int64_t, const double*, int64_t, bool, const double*, int64_t, bool);

} // namespace CPU_CAPABILITY
} // namespace at::native
