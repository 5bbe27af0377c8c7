// Thin face of <aten/ThreadLocalState.h> under the name that libtorch gives it.
#pragma once

#include <aten/ThreadLocalState.h>
