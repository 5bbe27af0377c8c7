// What libtorch's own headers include along the way and programs therefore use without naming it: `std::cout`,
// `std::setprecision`, `std::accumulate`, C10_LOG_API_USAGE_ONCE, LOG, RECORD_FUNCTION. Only the public headers include
// this one.
#pragma once

#include <aten/iterator/MemoryOverlap.h>
#include <aten/observe/record_function.h>
#include <aten/parallel/ThreadLocalState.h>
#include <c10/core/impl/checked_memory_format.h>
#include <c10/util/Deprecated.h>
#include <c10/util/Logging.h>
#include <c10/util/StringUtil.h>
#include <c10/util/accumulate.h>
#include <c10/util/api_usage.h>
#include <c10/util/env.h>
#include <c10/util/irange.h>
#include <c10/util/print_containers.h>
#include <csrc/compat/aten/Utils.h>
#include <csrc/compat/aten/core/functional.h>
#include <csrc/compat/c10/util/Bitset.h>
#include <csrc/compat/c10/util/CallOnce.h>
#include <csrc/compat/c10/util/Flags.h>
#include <csrc/compat/c10/util/IdWrapper.h>
#include <csrc/compat/c10/util/Registry.h>
#include <csrc/compat/c10/util/Synchronized.h>
#include <csrc/compat/c10/util/ThreadLocal.h>
#include <csrc/compat/c10/util/TypeSafeSignMath.h>
#include <csrc/compat/c10/util/bit_cast.h>
#include <csrc/compat/c10/util/hash.h>
#include <csrc/compat/c10/util/overloaded.h>
#include <csrc/compat/c10/util/string_utils.h>

#include <stdlib.h> // abs(x) of a floating-point x without std::: <cstdlib> alone leaves C's, which takes an int

#include <bitset>
#include <cassert>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <deque>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <map>
#include <mutex>
#include <numeric>
#include <set>
#include <sstream>
#include <thread>
#include <unordered_map>
#include <unordered_set>
