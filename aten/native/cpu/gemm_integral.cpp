// Integer products, modulo two to the width of the type.
#include <aten/native/cpu/gemm_kernels.h>

namespace at::native {
inline namespace CPU_CAPABILITY {

template void gemm<uint8_t>(const Gemm<uint8_t>&);
template void gemm<int8_t>(const Gemm<int8_t>&);
template void gemm<int16_t>(const Gemm<int16_t>&);
template void gemm<int32_t>(const Gemm<int32_t>&);
template void gemm<int64_t>(const Gemm<int64_t>&);
template uint8_t dot_product<uint8_t>(int64_t, const uint8_t*, int64_t, bool, const uint8_t*, int64_t, bool);
template int8_t dot_product<int8_t>(int64_t, const int8_t*, int64_t, bool, const int8_t*, int64_t, bool);
template int16_t dot_product<int16_t>(int64_t, const int16_t*, int64_t, bool, const int16_t*, int64_t, bool);
template int32_t dot_product<int32_t>(int64_t, const int32_t*, int64_t, bool, const int32_t*, int64_t, bool);
template int64_t dot_product<int64_t>(int64_t, const int64_t*, int64_t, bool, const int64_t*, int64_t, bool);

} // namespace CPU_CAPABILITY
} // namespace at::native
