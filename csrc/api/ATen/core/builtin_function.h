#pragma once

#include <aten/core/builtin_function.h>
