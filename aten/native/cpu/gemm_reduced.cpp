// Half and bfloat16 products, summed in float.
#include <aten/native/cpu/gemm_kernels.h>

namespace at::native {
inline namespace CPU_CAPABILITY {

template void gemm<c10::Half>(const Gemm<c10::Half>&);
template void gemm<c10::BFloat16>(const Gemm<c10::BFloat16>&);
template c10::Half dot_product<c10::Half>(int64_t, const c10::Half*, int64_t, bool, const c10::Half*, int64_t, bool);
template c10::BFloat16 dot_product<c10::BFloat16>(
    int64_t, const c10::BFloat16*, int64_t, bool, const c10::BFloat16*, int64_t, bool);

} // namespace CPU_CAPABILITY
} // namespace at::native
