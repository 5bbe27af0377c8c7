#pragma once

#include <aten/cuda/CachingHostAllocator.h>
