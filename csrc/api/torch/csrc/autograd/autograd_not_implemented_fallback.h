// Thin face of <autograd/autograd_not_implemented_fallback.h> under the name that libtorch gives it.
#pragma once

#include <autograd/autograd_not_implemented_fallback.h>
