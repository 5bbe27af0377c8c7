#pragma once

#include <aten/cuda/CUDADevice.h>
