// Thin face of <autograd/engine.h> under the name that libtorch gives it.
#pragma once

#include <autograd/engine.h>
