// Thin face of <aten/core/VariableHooksInterface.h> under the name that libtorch gives it.
#pragma once

#include <aten/core/VariableHooksInterface.h>
