#pragma once

#include <aten/cuda/ApplyGridUtils.cuh>
