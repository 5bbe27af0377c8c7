// Thin face of <autograd/autograd.h> under the name that libtorch gives it.
#pragma once

#include <autograd/autograd.h>
