// Records of functions, and the profiler; see <csrc/profiler/profile.h> and <csrc/profiler/kineto.h>.
#pragma once

#include <aten/record_function.h>
#include <csrc/profiler/kineto.h>
#include <csrc/profiler/profile.h>
