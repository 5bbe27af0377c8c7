// Shapes of solutions of linear systems. Every function throws on bad arguments.
#pragma once

#include <aten/core/Tensor.h>
#include <aten/core/TensorSpec.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace at::shape {

/// Whether the right side of linalg_solve is a vector for each matrix, and not a matrix.
bool solve_takes_vector(const TensorBase& A, const TensorBase& B);
std::array<TensorSpec, 4> linalg_solve_ex(const char* op, const TensorBase& A, const TensorBase& B, bool left, bool check_errors);
TensorSpec linalg_lu_solve(const char* op, const TensorBase& LU, const TensorBase& pivots, const TensorBase& B, bool left, bool adjoint);
TensorSpec linalg_ldl_solve(const char* op, const TensorBase& LD, const TensorBase& pivots, const TensorBase& B, bool hermitian);
TensorSpec linalg_solve_triangular(const char* op, const TensorBase& self, const TensorBase& B, bool upper, bool left, bool unitriangular);
std::array<TensorSpec, 2> triangular_solve(const char* op, const TensorBase& self, const TensorBase& A, bool upper, bool transpose, bool unitriangular);
TensorSpec cholesky_solve(const char* op, const TensorBase& self, const TensorBase& A, bool upper);
void cholesky_solve_out(const char* op, const TensorBase& self, const TensorBase& A, bool upper, const TensorBase& out);

/// LAPACK's routines for least squares.
enum class LstsqDriver : uint8_t { Gels, Gelsy, Gelsd, Gelss };
LstsqDriver lstsq_driver(std::optional<std::string_view> name);
bool lstsq_takes_vector(const TensorBase& A, const TensorBase& B);
/// Singular values below this fraction of the largest count as zero: epsilon times the larger side.
double default_rcond(const TensorBase& A);
std::array<TensorSpec, 4> linalg_lstsq(const char* op, const TensorBase& self, const TensorBase& b, std::optional<double> rcond, std::optional<std::string_view> driver);

/// What out arguments must be: of dtypes that the results can be cast to, and of the same for triangular systems.
void linalg_lstsq_out(const char* op, const TensorBase& self, const TensorBase& b, std::optional<double> rcond, std::optional<std::string_view> driver, const TensorBase& solution, const TensorBase& residuals, const TensorBase& rank, const TensorBase& singular_values);
void linalg_solve_triangular_out(const char* op, const TensorBase& self, const TensorBase& B, bool upper, bool left, bool unitriangular, const TensorBase& out);

/// Layout of the solution: that of its spec where no output has elements in a layout, size or dtype to be copied to, else by rows.
void lstsq_in_place(std::initializer_list<const TensorBase*> outs, TensorSpec* specs);

} // namespace at::shape
