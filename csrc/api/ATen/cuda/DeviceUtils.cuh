#pragma once

#include <aten/cuda/DeviceUtils.cuh>
