#pragma once

#include <aten/cuda/detail/TensorInfo.cuh>
