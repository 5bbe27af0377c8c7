#pragma once

#include <string>

// Numbers from and to text, under the names that programs use since compilers without them.

namespace c10 {

using std::stod;
using std::stoi;
using std::stoll;
using std::stoull;
using std::to_string;

} // namespace c10
