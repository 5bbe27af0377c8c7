#pragma once
#include <aten/core/boxing/impl/WrapFunctionIntoFunctor.h>
