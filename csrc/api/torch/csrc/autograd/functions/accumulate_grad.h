// Thin face of <autograd/functions/accumulate_grad.h> under the name that libtorch gives it.
#pragma once

#include <autograd/functions/accumulate_grad.h>
