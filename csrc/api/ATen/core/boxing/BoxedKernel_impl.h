#pragma once
#include <aten/core/boxing/BoxedKernel.h>
