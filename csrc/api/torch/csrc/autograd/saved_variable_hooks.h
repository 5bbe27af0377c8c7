// Thin face of <autograd/saved_variable_hooks.h> under the name that libtorch gives it.
#pragma once

#include <autograd/saved_variable_hooks.h>
