// The table behind Sobol sequences.
//
// For each dimension after the first, ordered by the degree of its polynomial, bits stand one after the other: the
// polynomial's coefficients between the first and the last, which are 1, highest power first; then for i = 1 .. degree
// the direction number m_i, which is odd and below 2^i, by i - 1 bits without its last. A character holds six bits, in
// base64's alphabet.
#pragma once

#include <cstdint>

namespace at::native {

inline constexpr int64_t kSobolDimensions = 21201;
/// Characters in a row of the table.
inline constexpr int64_t kSobolRow = 120;
extern const char kSobolDirections[4374][kSobolRow + 1];
/// How many primitive polynomials of degree 1, 2, ... there are.
inline constexpr int64_t kSobolPolynomials[] = {1,  1,   2,   2,   6,   6,    18,   16,   48,
                                                60, 176, 144, 630, 756, 1800, 2048, 7710, 7776};

} // namespace at::native
