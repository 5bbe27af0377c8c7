#pragma once

#include <aten/CPUGeneratorImpl.h>

namespace at {
using mt19937_engine = mt19937;
} // namespace at
