#pragma once

// libtorch's name for the header of Symbol.
#include <aten/core/symbol.h>
