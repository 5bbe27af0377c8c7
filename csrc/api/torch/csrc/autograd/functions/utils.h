// Thin face of <autograd/functions/utils.h> under the name that libtorch gives it.
#pragma once

#include <autograd/functions/utils.h>
