#pragma once

#include <aten/cuda/CUDABlas.h>
