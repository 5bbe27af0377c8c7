#pragma once

#include <aten/cuda/CudnnHandle.h>
