// Thin face of <autograd/edge.h> under the name that libtorch gives it.
#pragma once

#include <autograd/edge.h>
