#pragma once

#include <aten/core/jit_type.h>
