#pragma once

#include <aten/cuda/CUDADataType.h>
