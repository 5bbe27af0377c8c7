// Thin face of <autograd/grad_mode.h> under the name that libtorch gives it.
#pragma once

#include <autograd/grad_mode.h>
