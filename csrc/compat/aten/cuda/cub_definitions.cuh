// What CUB can do, asked by the preprocessor.
#pragma once

#include <cub/version.cuh>

#define USE_GLOBAL_CUB_WRAPPED_NAMESPACE() true
// The first generation of CUB 3 from 2.8 on, and what came with 3.4.
#define CUB_V3_PLUS() (CUB_VERSION >= 200800 && CUB_VERSION < 300400)
#define CUB_V3_4_PLUS() (CUB_VERSION >= 300400)
