#pragma once
// Products of bfloat16 by the tile registers of processors with AMX.

#include <aten/native/cpu/gemm.h>

#include <c10/util/BFloat16.h>

namespace at::native {
inline namespace CPU_CAPABILITY {

/// Whether gemm_amx runs on this processor and does best with matrices of these sizes.
bool amx_supports(const Gemm<c10::BFloat16>& g);

/// Computes the batch as gemm() does. Denormals count as 0. A `bias` along the rows of C, whose columns are adjacent
/// then, is added to the plain product.
void gemm_amx(const Gemm<c10::BFloat16>& g, const c10::BFloat16* bias = nullptr);

} // namespace CPU_CAPABILITY
} // namespace at::native
