#pragma once

#include <aten/detail/AcceleratorHooksInterface.h>
