#pragma once

#include <aten/cuda/PhiloxUtils.cuh>
