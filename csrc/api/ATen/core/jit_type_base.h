#pragma once

#include <aten/core/jit_type_base.h>
