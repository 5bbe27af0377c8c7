#pragma once

#include <aten/cuda/PhiloxCudaState.h>
#include <c10/macros/Macros.h>

#include <cstdint>
#include <tuple>

namespace at::cuda::philox {

/// (seed, offset) of a state, in a kernel or, if it was not captured, on the host.
inline C10_HOST_DEVICE std::tuple<uint64_t, uint64_t> unpack(at::PhiloxCudaState state) {
  if (state.captured_) {
    return {
        static_cast<uint64_t>(*state.seed_.ptr), static_cast<uint64_t>(*state.offset_.ptr) + state.offset_intragraph_};
  }
  return {state.seed_.val, state.offset_.val};
}

} // namespace at::cuda::philox
