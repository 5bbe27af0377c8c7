#pragma once

#include <cstdint>
#include <string>

namespace mnist {

/// Writes a set of drawn digits in MNIST's file format to a folder, which is created: 28 x 28 pixels, strokes of random
/// slant, size, place and width. The same seed gives the same files. Throws std::runtime_error if they cannot be
/// written.
void write_drawn_digits(const std::string& folder, int64_t train, int64_t test, uint32_t seed);

} // namespace mnist
