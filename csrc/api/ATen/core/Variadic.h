#pragma once

#include <aten/core/Variadic.h>
