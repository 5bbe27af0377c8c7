#pragma once
// Products of bfloat16 by the tile registers of processors with AMX.

#include <aten/native/cpu/gemm.h>

#include <c10/util/BFloat16.h>

namespace at::native {
inline namespace CPU_CAPABILITY {

/// Whether gemm_amx runs on this processor and does best with matrices of these sizes, which are large.
bool amx_takes(const Gemm<c10::BFloat16>& g);

/// Computes the batch as gemm() does. Denormals count as 0.
void gemm_amx(const Gemm<c10::BFloat16>& g);

} // namespace CPU_CAPABILITY
} // namespace at::native
