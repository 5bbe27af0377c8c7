#pragma once

#include <aten/cuda/CUDAContextLight.h>
#include <aten/cuda/Exceptions.h>
#include <c10/cuda/CUDAStream.h>
#include <c10/util/Logging.h>
