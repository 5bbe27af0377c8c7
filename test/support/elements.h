// Elements of raw memory by dtype, converted without help from the library under test.
#pragma once

#include <c10/core/ScalarType.h>

#include <complex>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace test {

enum class Category : uint8_t { Bool, Integer, Float, Complex };

struct DTypeInfo {
  std::string_view name; // as Python writes it
  c10::ScalarType type;
  size_t item_size;
  Category category;
};

/// Facts about a dtype; throws std::runtime_error for one that is only storage (float8, quantized ...).
const DTypeInfo& dtype_info(c10::ScalarType type);
const DTypeInfo& dtype_info(std::string_view name);

/// Name of any dtype, "dtype#N" for those that dtype_info refuses.
std::string dtype_name(c10::ScalarType type);

/// Reads a bool or an integer.
int64_t read_integer(c10::ScalarType type, const std::byte* at);
/// Reads an element of any category.
std::complex<double> read_number(c10::ScalarType type, const std::byte* at);
/// Writes `value`, rounded to `type`; integers wrap around.
void write_number(c10::ScalarType type, std::complex<double> value, std::byte* at);

void write_integer(c10::ScalarType type, int64_t value, std::byte* at);

/// Largest finite value of a floating or complex dtype.
double largest_finite(c10::ScalarType type);

} // namespace test
