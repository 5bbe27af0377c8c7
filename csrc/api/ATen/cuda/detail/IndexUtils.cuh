#pragma once

#include <aten/cuda/detail/IndexUtils.cuh>
