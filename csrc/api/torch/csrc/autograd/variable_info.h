// Thin face of <autograd/custom_function.h> under the name that libtorch gives it.
#pragma once

#include <autograd/custom_function.h>
