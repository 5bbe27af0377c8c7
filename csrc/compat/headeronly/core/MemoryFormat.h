#pragma once
#include <c10/core/MemoryFormat.h>

namespace torch::headeronly {
using c10::MemoryFormat;
using c10::get_contiguous_memory_format;
} // namespace torch::headeronly
