#pragma once

#include <aten/native/cpu/zmath.h>
