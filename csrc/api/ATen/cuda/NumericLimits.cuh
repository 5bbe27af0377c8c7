#pragma once

#include <aten/cuda/NumericLimits.cuh>
