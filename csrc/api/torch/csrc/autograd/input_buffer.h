// Thin face of <autograd/input_buffer.h> under the name that libtorch gives it.
#pragma once

#include <autograd/input_buffer.h>
