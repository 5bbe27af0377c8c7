#pragma once

#include <aten/cuda/PhiloxCudaState.h>
