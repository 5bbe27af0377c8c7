// The profiler; see <csrc/profiler/profile.h>.
#pragma once

#include <csrc/profiler/profile.h>
