#pragma once

#include <aten/cuda/detail/IntegerDivider.cuh>
