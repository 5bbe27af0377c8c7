#pragma once

#include <aten/cuda/CUDAContext.h>
