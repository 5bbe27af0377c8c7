#pragma once

#include <c10/util/complex_math.h>
#include <c10/util/complex_type.h>
