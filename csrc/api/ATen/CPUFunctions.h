#pragma once

#include <aten/CPUFunctions.h>
