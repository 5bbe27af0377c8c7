#pragma once

#include <aten/cuda/CUDAEvent.h>
