// Thin face of <autograd/saved_variable.h> under the name that libtorch gives it.
#pragma once

#include <autograd/saved_variable.h>
