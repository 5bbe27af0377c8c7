#pragma once

// SingletonTypePtr and SingletonOrSharedTypePtr.
#include <aten/core/jit_type_base.h>
