#pragma once

#include <aten/WrapDimUtils.h>
