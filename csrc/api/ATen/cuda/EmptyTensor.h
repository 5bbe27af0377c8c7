#pragma once

#include <aten/cuda/EmptyTensor.h>
