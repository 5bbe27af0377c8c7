// Thin face of <autograd/VariableTypeUtils.h> under the name that libtorch gives it.
#pragma once

#include <autograd/VariableTypeUtils.h>
