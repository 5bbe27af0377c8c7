#pragma once

#include <c10/cuda/PeerToPeerAccess.h>

namespace at::cuda {
using c10::cuda::get_p2p_access;
} // namespace at::cuda
