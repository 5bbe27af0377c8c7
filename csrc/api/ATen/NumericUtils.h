#pragma once

#include <aten/NumericUtils.h>
