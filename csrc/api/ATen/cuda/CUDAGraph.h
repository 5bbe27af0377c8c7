#pragma once

#include <aten/cuda/CUDAGraph.h>
