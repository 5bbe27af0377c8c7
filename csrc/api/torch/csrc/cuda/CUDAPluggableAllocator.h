#pragma once

#include <csrc/cuda/CUDAPluggableAllocator.h>
