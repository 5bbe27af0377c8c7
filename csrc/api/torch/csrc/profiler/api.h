// See <csrc/profiler/kineto.h>.
#pragma once

#include <csrc/profiler/kineto.h>
