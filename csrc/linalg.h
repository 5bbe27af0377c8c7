// torch::linalg: linear algebra under the names that programs use.
#pragma once

#include <c10/macros/Export.h>
#include <csrc/types.h>

#include <optional>
#include <string_view>
#include <tuple>

namespace torch::linalg {

// ---- factorizations
// ------------------------------------------------------------------------------------------------------

TORCH_API Tensor cholesky(const Tensor& self);
TORCH_API Tensor cholesky_out(Tensor& result, const Tensor& self);
TORCH_API std::tuple<Tensor, Tensor> qr(const Tensor& input, std::string_view mode = "reduced");
TORCH_API std::tuple<Tensor&, Tensor&> qr_out(
    Tensor& Q, Tensor& R, const Tensor& input, std::string_view mode = "reduced");
TORCH_API Tensor householder_product(const Tensor& input, const Tensor& tau);
TORCH_API Tensor& householder_product_out(Tensor& result, const Tensor& input, const Tensor& tau);
TORCH_API std::tuple<Tensor, Tensor, Tensor> lu(const Tensor& self, const bool pivot = true);
TORCH_API std::tuple<Tensor&, Tensor&, Tensor&> lu_out(
    Tensor& P, Tensor& L, Tensor& U, const Tensor& self, const bool pivot = true);
TORCH_API std::tuple<Tensor, Tensor> lu_factor(const Tensor& self, const bool pivot = true);
TORCH_API std::tuple<Tensor&, Tensor&> lu_factor_out(
    Tensor& LU, Tensor& pivots, const Tensor& self, const bool pivot = true);
TORCH_API std::tuple<Tensor, Tensor> ldl_factor(const Tensor& self, bool hermitian = false);
TORCH_API std::tuple<Tensor&, Tensor&> ldl_factor_out(
    Tensor& LD, Tensor& pivots, const Tensor& self, bool hermitian = false);
TORCH_API std::tuple<Tensor, Tensor, Tensor> ldl_factor_ex(const Tensor& self, bool hermitian, bool check_errors);
TORCH_API Tensor ldl_solve(const Tensor& LD, const Tensor& pivots, const Tensor& B, bool hermitian);

// ---- singular values and eigenvalues
// -----------------------------------------------------------------------------------------

TORCH_API std::tuple<Tensor, Tensor, Tensor> svd(
    const Tensor& input, bool full_matrices, std::optional<std::string_view> driver = std::nullopt);
TORCH_API std::tuple<Tensor&, Tensor&, Tensor&> svd_out(
    Tensor& U,
    Tensor& S,
    Tensor& Vh,
    const Tensor& input,
    bool full_matrices,
    std::optional<std::string_view> driver = std::nullopt);
TORCH_API Tensor svdvals(const Tensor& input, std::optional<std::string_view> driver = std::nullopt);
TORCH_API Tensor& svdvals_out(
    Tensor& result, const Tensor& input, std::optional<std::string_view> driver = std::nullopt);
TORCH_API std::tuple<Tensor, Tensor> eig(const Tensor& self);
TORCH_API std::tuple<Tensor&, Tensor&> eig_out(Tensor& eigvals, Tensor& eigvecs, const Tensor& self);
TORCH_API Tensor eigvals(const Tensor& self);
TORCH_API Tensor& eigvals_out(Tensor& result, const Tensor& self);
TORCH_API std::tuple<Tensor, Tensor> eigh(const Tensor& self, std::string_view uplo = "L");
TORCH_API std::tuple<Tensor&, Tensor&> eigh_out(
    Tensor& eigvals, Tensor& eigvecs, const Tensor& self, std::string_view uplo = "L");
TORCH_API Tensor eigvalsh(const Tensor& self, std::string_view uplo = "L");
TORCH_API Tensor& eigvalsh_out(Tensor& result, const Tensor& self, std::string_view uplo = "L");

// ---- determinants, inverses, rank
// ----------------------------------------------------------------------------------------------

TORCH_API Tensor det(const Tensor& self);
TORCH_API Tensor linalg_det(const Tensor& self);
TORCH_API std::tuple<Tensor, Tensor> slogdet(const Tensor& input);
TORCH_API std::tuple<Tensor&, Tensor&> slogdet_out(Tensor& sign, Tensor& logabsdet, const Tensor& input);
TORCH_API Tensor inv(const Tensor& input);
TORCH_API Tensor& inv_out(Tensor& result, const Tensor& input);
TORCH_API std::tuple<Tensor, Tensor> inv_ex(const Tensor& input, bool check_errors = false);
TORCH_API Tensor pinv(const Tensor& input, double rcond = 1e-15, bool hermitian = false);
TORCH_API Tensor& pinv_out(Tensor& result, const Tensor& input, double rcond = 1e-15, bool hermitian = false);
TORCH_API Tensor matrix_rank(const Tensor& input, double tol, bool hermitian);
TORCH_API Tensor matrix_rank(const Tensor& input, const Tensor& tol, bool hermitian);
TORCH_API Tensor
matrix_rank(const Tensor& input, std::optional<double> atol, std::optional<double> rtol, bool hermitian);
TORCH_API Tensor
matrix_rank(const Tensor& input, const std::optional<Tensor>& atol, const std::optional<Tensor>& rtol, bool hermitian);
TORCH_API Tensor& matrix_rank_out(Tensor& result, const Tensor& input, double tol, bool hermitian);
TORCH_API Tensor& matrix_rank_out(Tensor& result, const Tensor& input, const Tensor& tol, bool hermitian);
TORCH_API Tensor& matrix_rank_out(
    Tensor& result, const Tensor& input, std::optional<double> atol, std::optional<double> rtol, bool hermitian);
TORCH_API Tensor& matrix_rank_out(
    Tensor& result,
    const Tensor& input,
    const std::optional<Tensor>& atol,
    const std::optional<Tensor>& rtol,
    bool hermitian);

// ---- solutions
// -------------------------------------------------------------------------------------------------------------------

TORCH_API Tensor solve(const Tensor& input, const Tensor& other, bool left = true);
TORCH_API Tensor& solve_out(Tensor& result, const Tensor& input, const Tensor& other, bool left = true);
TORCH_API std::tuple<Tensor, Tensor> solve_ex(const Tensor& input, const Tensor& other, bool left, bool check_errors);
TORCH_API std::tuple<Tensor&, Tensor&> solve_ex_out(
    Tensor& result, Tensor& info, const Tensor& input, const Tensor& other, bool left, bool check_errors);
TORCH_API Tensor solve_triangular(const Tensor& input, const Tensor& other, bool upper, bool left, bool unitriangular);
TORCH_API Tensor& solve_triangular_out(
    Tensor& result, const Tensor& input, const Tensor& other, bool upper, bool left, bool unitriangular);
TORCH_API std::tuple<Tensor, Tensor, Tensor, Tensor> lstsq(
    const Tensor& self,
    const Tensor& b,
    std::optional<double> cond = std::nullopt,
    std::optional<std::string_view> driver = std::nullopt);
TORCH_API Tensor tensorinv(const Tensor& self, int64_t ind);
TORCH_API Tensor& tensorinv_out(Tensor& result, const Tensor& self, int64_t ind);
TORCH_API Tensor tensorsolve(const Tensor& self, const Tensor& other, OptionalIntArrayRef dims);
TORCH_API Tensor& tensorsolve_out(Tensor& result, const Tensor& self, const Tensor& other, OptionalIntArrayRef dims);

// ---- products and functions
// --------------------------------------------------------------------------------------------------------

TORCH_API Tensor multi_dot(at::TensorList tensors);
TORCH_API Tensor& multi_dot_out(at::TensorList tensors, Tensor& result);
TORCH_API Tensor matrix_power(const Tensor& self, int64_t n);
TORCH_API Tensor& matrix_power_out(const Tensor& self, int64_t n, Tensor& result);
TORCH_API Tensor matrix_exp(const Tensor& self);

// ---- norms
// ---------------------------------------------------------------------------------------------------------------------

TORCH_API Tensor norm(
    const Tensor& self,
    const std::optional<Scalar>& opt_ord,
    OptionalIntArrayRef opt_dim,
    bool keepdim,
    std::optional<ScalarType> opt_dtype);
TORCH_API Tensor norm(
    const Tensor& self,
    std::string_view ord,
    OptionalIntArrayRef opt_dim,
    bool keepdim,
    std::optional<ScalarType> opt_dtype);
TORCH_API Tensor& norm_out(
    Tensor& result,
    const Tensor& self,
    const std::optional<Scalar>& opt_ord,
    OptionalIntArrayRef opt_dim,
    bool keepdim,
    std::optional<ScalarType> opt_dtype);
TORCH_API Tensor& norm_out(
    Tensor& result,
    const Tensor& self,
    std::string_view ord,
    OptionalIntArrayRef opt_dim,
    bool keepdim,
    std::optional<ScalarType> opt_dtype);
TORCH_API Tensor vector_norm(
    const Tensor& self, Scalar ord, OptionalIntArrayRef opt_dim, bool keepdim, std::optional<ScalarType> opt_dtype);
TORCH_API Tensor& vector_norm_out(
    Tensor& result,
    const Tensor& self,
    Scalar ord,
    OptionalIntArrayRef opt_dim,
    bool keepdim,
    std::optional<ScalarType> opt_dtype);
TORCH_API Tensor
matrix_norm(const Tensor& self, const Scalar& ord, IntArrayRef dim, bool keepdim, std::optional<ScalarType> dtype);
TORCH_API Tensor& matrix_norm_out(
    const Tensor& self,
    const Scalar& ord,
    IntArrayRef dim,
    bool keepdim,
    std::optional<ScalarType> dtype,
    Tensor& result);
TORCH_API Tensor
matrix_norm(const Tensor& self, std::string_view ord, IntArrayRef dim, bool keepdim, std::optional<ScalarType> dtype);
TORCH_API Tensor& matrix_norm_out(
    const Tensor& self,
    std::string_view ord,
    IntArrayRef dim,
    bool keepdim,
    std::optional<ScalarType> dtype,
    Tensor& result);

} // namespace torch::linalg
