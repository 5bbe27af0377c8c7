// Thin face of <autograd/function.h> under the name that libtorch gives it.
#pragma once

#include <autograd/function.h>
#include <autograd/saved_variable.h>
#include <autograd/variable.h>
