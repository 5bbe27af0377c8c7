#pragma once

#include <aten/core/boxing/OperatorKernel.h>
