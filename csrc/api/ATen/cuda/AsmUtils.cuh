#pragma once

#include <aten/cuda/AsmUtils.cuh>
