// What this processor has, as the operating system lets programs use it.
#pragma once

#include <aten/core/ivalue.h>
#include <c10/macros/Macros.h>

#include <cstdint>
#include <string>
#include <unordered_map>

namespace at::cpu {

TORCH_API bool is_avx2_supported();
/// AVX-512 F, BW, DQ and VL.
TORCH_API bool is_avx512_supported();
TORCH_API bool is_avx512_vnni_supported();
TORCH_API bool is_avx512_bf16_supported();
TORCH_API bool is_amx_tile_supported();
TORCH_API bool is_amx_fp16_supported();

/// Asks the system for the right to use AMX tiles in this process. False where it has none.
TORCH_API bool init_amx();

/// Bytes of a core's caches, 0 where the system does not tell.
TORCH_API uint32_t L1d_cache_size();
TORCH_API uint32_t L2_cache_size();

/// "avx2", "amx_tile" and the like with bools; "architecture" and "cpu_name"; "l1d_cache_size", "l2_cache_size",
/// "num_logical_cores" and "num_physical_cores" with integers.
TORCH_API std::unordered_map<std::string, c10::IValue> get_cpu_capabilities();

} // namespace at::cpu
