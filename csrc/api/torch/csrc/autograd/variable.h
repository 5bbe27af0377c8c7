// Thin face of <autograd/variable.h> under the name that libtorch gives it.
#pragma once

#include <autograd/variable.h>
