#pragma once

#include <c10/util/complex.h>

#include <string>
#include <string_view>

// Literals as a schema writes them; the schema parser reads them back.

namespace c10 {

/// With double quotes and C escapes.
std::string quoted_text(std::string_view text);
/// Shortest of 17 digits, always recognisable as floating point: "1.", "0.5", "1e-08", "inf".
std::string float_literal(double value);
/// "1.+2.j"
std::string complex_literal(const c10::complex<double>& value);

} // namespace c10
