#pragma once

#include <aten/detail/FunctionTraits.h>
