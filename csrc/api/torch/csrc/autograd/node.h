// Thin face of <autograd/function.h> under the name that libtorch gives it.
#pragma once

#include <autograd/function.h>
