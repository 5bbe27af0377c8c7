// Thin face of <aten/record_function.h> under the name that libtorch gives it.
#pragma once

#include <aten/record_function.h>
