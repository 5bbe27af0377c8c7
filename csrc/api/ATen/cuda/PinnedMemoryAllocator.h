#pragma once

#include <aten/cuda/PinnedMemoryAllocator.h>
