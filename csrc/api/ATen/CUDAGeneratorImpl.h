#pragma once

#include <aten/cuda/CUDAGeneratorImpl.h>
