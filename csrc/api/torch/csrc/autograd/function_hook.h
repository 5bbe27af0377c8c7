// Thin face of <autograd/function_hook.h> under the name that libtorch gives it.
#pragma once

#include <autograd/function_hook.h>
