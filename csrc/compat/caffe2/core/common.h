#pragma once

#include <c10/macros/Macros.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <numeric>
#include <set>
#include <sstream>
#include <string>
#include <type_traits>
#include <vector>

namespace caffe2 {

using std::make_unique;
using std::round;
using std::set;
using std::string;
using std::unique_ptr;
using std::vector;

} // namespace caffe2
