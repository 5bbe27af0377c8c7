#pragma once

#include <aten/core/symint_conversions.h>
