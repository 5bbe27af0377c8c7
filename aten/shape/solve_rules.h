// How arguments of linear systems and least squares are read.
#pragma once

#include <aten/core/TensorBase.h>

#include <cstdint>
#include <optional>
#include <string_view>

namespace at::shape {

/// Whether the right side of linalg_solve is a vector for each matrix, and not a matrix.
bool solve_takes_vector(const TensorBase& A, const TensorBase& B);

/// LAPACK's routines for least squares.
enum class LstsqDriver : uint8_t { Gels, Gelsy, Gelsd, Gelss };
LstsqDriver lstsq_driver(std::optional<std::string_view> name);
bool lstsq_takes_vector(const TensorBase& A, const TensorBase& B);
/// Singular values below this fraction of the largest count as zero: epsilon times the larger side.
double default_rcond(const TensorBase& A);

} // namespace at::shape
