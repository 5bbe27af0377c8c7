#pragma once

#include <aten/cuda/CUDAGraphsUtils.cuh>
