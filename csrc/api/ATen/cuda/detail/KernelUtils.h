#pragma once

#include <aten/cuda/detail/KernelUtils.h>
