#pragma once

#include <aten/cuda/Atomic.cuh>
