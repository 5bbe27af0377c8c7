#pragma once

#include <cstdint>

namespace at::cuda::detail {

/// Seeds the default generators of all devices, also of those that are made later.
void seed_all_default_generators(uint64_t seed);

} // namespace at::cuda::detail
