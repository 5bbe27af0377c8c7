#pragma once

#include <aten/cuda/ThrustAllocator.h>
