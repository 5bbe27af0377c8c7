// The table behind Sobol sequences: primitive polynomials and first direction numbers of 21,201 dimensions, by S. Joe
// and F. Y. Kuo: Constructing Sobol sequences with better two-dimensional projections, SIAM J. Sci. Comput. 30, 2008
// (their file new-joe-kuo-6.21201).
//
// For each dimension after the first, ordered by the degree of its polynomial, bits follow each other: the polynomial's
// coefficients between the first and the last, which are 1, highest power first; then for i = 1 .. degree the direction
// number m_i, which is odd and below 2^i, by i - 1 bits without its last. Eight bits make a byte, the first one the
// highest.
#pragma once

#include <cstdint>

/// The bits, from sobol_directions.bin.
extern "C" [[gnu::visibility("hidden")]] const uint8_t tensor_sobol_directions[];

namespace at::native {

inline constexpr int64_t kSobolDimensions = 21201;
/// How many primitive polynomials of degree 1, 2, ... there are.
inline constexpr int64_t kSobolPolynomials[] = {1,  1,   2,   2,   6,   6,    18,   16,   48,
                                                60, 176, 144, 630, 756, 1800, 2048, 7710, 7776};

} // namespace at::native
