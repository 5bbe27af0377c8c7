#pragma once
#include <aten/core/boxing/KernelFunction.h>
