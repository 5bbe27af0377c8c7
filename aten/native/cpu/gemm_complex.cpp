// Complex products.
#include <aten/native/cpu/gemm_kernels.h>

namespace at::native {
inline namespace CPU_CAPABILITY {

template void gemm<c10::complex<float>>(const Gemm<c10::complex<float>>&);
template void gemm<c10::complex<double>>(const Gemm<c10::complex<double>>&);
template c10::complex<float> dot_product<c10::complex<float>>(
    int64_t, const c10::complex<float>*, int64_t, bool, const c10::complex<float>*, int64_t, bool);
template c10::complex<double> dot_product<c10::complex<double>>(
    int64_t, const c10::complex<double>*, int64_t, bool, const c10::complex<double>*, int64_t, bool);

} // namespace CPU_CAPABILITY
} // namespace at::native
