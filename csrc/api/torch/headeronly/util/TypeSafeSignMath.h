#pragma once
#include <c10/util/TypeSafeSignMath.h>
