#pragma once

#include <aten/WrapDimUtilsMulti.h>
