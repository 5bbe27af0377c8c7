#pragma once

#include <aten/core/CPUGeneratorImpl.h>

namespace at {
using mt19937_engine = mt19937;
} // namespace at
