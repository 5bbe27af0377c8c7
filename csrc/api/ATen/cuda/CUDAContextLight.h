#pragma once

#include <aten/cuda/CUDAContextLight.h>
