#pragma once
#include <aten/core/Range.h>
