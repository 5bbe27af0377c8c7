#pragma once

#include <aten/native/cuda/Loops.cuh>
