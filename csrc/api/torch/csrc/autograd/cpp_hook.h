// Thin face of <autograd/cpp_hook.h> under the name that libtorch gives it.
#pragma once

#include <autograd/cpp_hook.h>
