// Numbers that archives of programs have for dtypes, layouts and memory formats. They are not those of this library.
#pragma once

#include <c10/core/Layout.h>
#include <c10/core/MemoryFormat.h>
#include <c10/core/ScalarType.h>

#include <cstdint>
#include <string_view>

namespace torch::program {

/// How the names of records with objects of bound classes begin.
inline constexpr std::string_view kObjectPrefix = "custom_obj_";

/// These throw c10::Error for unknown numbers.
c10::ScalarType dtype_from_number(int64_t number);
c10::Layout layout_from_number(int64_t number);
c10::MemoryFormat memory_format_from_number(int64_t number);

/// The other way round; throw for what archives cannot hold.
int64_t number_of(c10::ScalarType dtype);
int64_t number_of(c10::Layout layout);
int64_t number_of(c10::MemoryFormat format);

} // namespace torch::program
