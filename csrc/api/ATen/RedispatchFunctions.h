#pragma once

#include <aten/RedispatchFunctions.h>
