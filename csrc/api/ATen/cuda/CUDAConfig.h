#pragma once

#include <aten/cuda/CUDAConfig.h>
