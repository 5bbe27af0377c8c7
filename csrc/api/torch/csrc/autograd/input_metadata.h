// Thin face of <autograd/input_metadata.h> under the name that libtorch gives it.
#pragma once

#include <autograd/input_metadata.h>
