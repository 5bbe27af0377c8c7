// Thin face of <autograd/functions/tensor.h> under the name that libtorch gives it.
#pragma once

#include <autograd/functions/tensor.h>
