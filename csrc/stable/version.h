// Versions that code of the stable interface compares.
#pragma once

#include <csrc/version.h>

#define TORCH_VERSION_2_9_0 ((2ULL << 56) | (9ULL << 48))
#define TORCH_VERSION_2_10_0 ((2ULL << 56) | (10ULL << 48))
#define TORCH_VERSION_2_11_0 ((2ULL << 56) | (11ULL << 48))
#define TORCH_VERSION_2_12_0 ((2ULL << 56) | (12ULL << 48))
#define TORCH_VERSION_2_13_0 ((2ULL << 56) | (13ULL << 48))
#define TORCH_VERSION_2_14_0 ((2ULL << 56) | (14ULL << 48))
#define TORCH_VERSION_2_15_0 ((2ULL << 56) | (15ULL << 48))

#ifdef TORCH_TARGET_VERSION
#define TORCH_FEATURE_VERSION TORCH_TARGET_VERSION
#else
#define TORCH_FEATURE_VERSION TORCH_ABI_VERSION
#endif
