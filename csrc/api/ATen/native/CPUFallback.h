#pragma once

#include <aten/native/CPUFallback.h>
