// Thin face of <autograd/functions/basic_ops.h> under the name that libtorch gives it.
#pragma once

#include <autograd/functions/basic_ops.h>
