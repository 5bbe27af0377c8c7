#pragma once

#include <aten/cuda/cub.cuh>
