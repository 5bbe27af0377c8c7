// Thin face of <autograd/InferenceMode.h> under the name that libtorch gives it.
#pragma once

#include <autograd/InferenceMode.h>
