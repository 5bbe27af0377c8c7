#pragma once

#include <aten/detail/CUDAHooksInterface.h>
