// What libtorch's own headers include along the way and programs therefore use without naming it: `std::cout`,
// `std::setprecision`, `std::accumulate`, C10_LOG_API_USAGE_ONCE. Only the public headers include this one.
#pragma once

#include <c10/util/Registry.h>
#include <c10/util/StringUtil.h>
#include <c10/util/api_usage.h>
#include <c10/util/irange.h>
#include <c10/util/print_containers.h>
#include <c10/util/string_utils.h>

#include <bitset>
#include <cassert>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <deque>
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
