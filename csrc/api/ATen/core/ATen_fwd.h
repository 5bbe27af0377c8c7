#pragma once

#include <aten/core/Tensor.h>
