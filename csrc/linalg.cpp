#include <csrc/linalg.h>

#include <utility>

namespace torch::linalg {

Tensor cholesky(const Tensor& self) {
  return at::linalg_cholesky(self);
}

Tensor cholesky_out(Tensor& result, const Tensor& self) {
  return at::linalg_cholesky_out(result, self);
}

std::tuple<Tensor, Tensor> qr(const Tensor& input, std::string_view mode) {
  return at::linalg_qr(input, mode);
}

std::tuple<Tensor&, Tensor&> qr_out(Tensor& Q, Tensor& R, const Tensor& input, std::string_view mode) {
  return at::linalg_qr_out(Q, R, input, mode);
}

Tensor householder_product(const Tensor& input, const Tensor& tau) {
  return at::linalg_householder_product(input, tau);
}

Tensor& householder_product_out(Tensor& result, const Tensor& input, const Tensor& tau) {
  return at::linalg_householder_product_out(result, input, tau);
}

std::tuple<Tensor, Tensor, Tensor> lu(const Tensor& self, const bool pivot) {
  return at::linalg_lu(self, pivot);
}

std::tuple<Tensor&, Tensor&, Tensor&> lu_out(Tensor& P, Tensor& L, Tensor& U, const Tensor& self, const bool pivot) {
  return at::linalg_lu_out(P, L, U, self, pivot);
}

std::tuple<Tensor, Tensor> lu_factor(const Tensor& self, const bool pivot) {
  return at::linalg_lu_factor(self, pivot);
}

std::tuple<Tensor&, Tensor&> lu_factor_out(Tensor& LU, Tensor& pivots, const Tensor& self, const bool pivot) {
  return at::linalg_lu_factor_out(LU, pivots, self, pivot);
}

std::tuple<Tensor, Tensor> ldl_factor(const Tensor& self, bool hermitian) {
  return at::linalg_ldl_factor(self, hermitian);
}

std::tuple<Tensor&, Tensor&> ldl_factor_out(Tensor& LD, Tensor& pivots, const Tensor& self, bool hermitian) {
  return at::linalg_ldl_factor_out(LD, pivots, self, hermitian);
}

std::tuple<Tensor, Tensor, Tensor> ldl_factor_ex(const Tensor& self, bool hermitian, bool check_errors) {
  return at::linalg_ldl_factor_ex(self, hermitian, check_errors);
}

Tensor ldl_solve(const Tensor& LD, const Tensor& pivots, const Tensor& B, bool hermitian) {
  return at::linalg_ldl_solve(LD, pivots, B, hermitian);
}

std::tuple<Tensor, Tensor, Tensor> svd(
    const Tensor& input, bool full_matrices, std::optional<std::string_view> driver) {
  return at::linalg_svd(input, full_matrices, driver);
}

std::tuple<Tensor&, Tensor&, Tensor&> svd_out(
    Tensor& U, Tensor& S, Tensor& Vh, const Tensor& input, bool full_matrices, std::optional<std::string_view> driver) {
  return at::linalg_svd_out(U, S, Vh, input, full_matrices, driver);
}

Tensor svdvals(const Tensor& input, std::optional<std::string_view> driver) {
  return at::linalg_svdvals(input, driver);
}

Tensor& svdvals_out(Tensor& result, const Tensor& input, std::optional<std::string_view> driver) {
  return at::linalg_svdvals_out(result, input, driver);
}

std::tuple<Tensor, Tensor> eig(const Tensor& self) {
  return at::linalg_eig(self);
}

std::tuple<Tensor&, Tensor&> eig_out(Tensor& eigvals, Tensor& eigvecs, const Tensor& self) {
  return at::linalg_eig_out(eigvals, eigvecs, self);
}

Tensor eigvals(const Tensor& self) {
  return at::linalg_eigvals(self);
}

Tensor& eigvals_out(Tensor& result, const Tensor& self) {
  return at::linalg_eigvals_out(result, self);
}

std::tuple<Tensor, Tensor> eigh(const Tensor& self, std::string_view uplo) {
  return at::linalg_eigh(self, uplo);
}

std::tuple<Tensor&, Tensor&> eigh_out(Tensor& eigvals, Tensor& eigvecs, const Tensor& self, std::string_view uplo) {
  return at::linalg_eigh_out(eigvals, eigvecs, self, uplo);
}

Tensor eigvalsh(const Tensor& self, std::string_view uplo) {
  return at::linalg_eigvalsh(self, uplo);
}

Tensor& eigvalsh_out(Tensor& result, const Tensor& self, std::string_view uplo) {
  return at::linalg_eigvalsh_out(result, self, uplo);
}

Tensor det(const Tensor& self) {
  return at::linalg_det(self);
}

Tensor linalg_det(const Tensor& self) {
  return at::linalg_det(self);
}

std::tuple<Tensor, Tensor> slogdet(const Tensor& input) {
  return at::linalg_slogdet(input);
}

std::tuple<Tensor&, Tensor&> slogdet_out(Tensor& sign, Tensor& logabsdet, const Tensor& input) {
  return at::linalg_slogdet_out(sign, logabsdet, input);
}

Tensor inv(const Tensor& input) {
  return at::linalg_inv(input);
}

Tensor& inv_out(Tensor& result, const Tensor& input) {
  return at::linalg_inv_out(result, input);
}

std::tuple<Tensor, Tensor> inv_ex(const Tensor& input, bool check_errors) {
  return at::linalg_inv_ex(input, check_errors);
}

Tensor pinv(const Tensor& input, double rcond, bool hermitian) {
  return at::linalg_pinv(input, rcond, hermitian);
}

Tensor& pinv_out(Tensor& result, const Tensor& input, double rcond, bool hermitian) {
  return at::linalg_pinv_out(result, input, rcond, hermitian);
}

Tensor matrix_rank(const Tensor& input, double tol, bool hermitian) {
  return at::linalg_matrix_rank(input, tol, hermitian);
}

Tensor matrix_rank(const Tensor& input, const Tensor& tol, bool hermitian) {
  return at::linalg_matrix_rank(input, tol, hermitian);
}

Tensor matrix_rank(const Tensor& input, std::optional<double> atol, std::optional<double> rtol, bool hermitian) {
  return at::linalg_matrix_rank(input, atol, rtol, hermitian);
}

Tensor matrix_rank(
    const Tensor& input, const std::optional<Tensor>& atol, const std::optional<Tensor>& rtol, bool hermitian) {
  return at::linalg_matrix_rank(input, atol, rtol, hermitian);
}

Tensor& matrix_rank_out(Tensor& result, const Tensor& input, double tol, bool hermitian) {
  return at::linalg_matrix_rank_out(result, input, tol, hermitian);
}

Tensor& matrix_rank_out(Tensor& result, const Tensor& input, const Tensor& tol, bool hermitian) {
  return at::linalg_matrix_rank_out(result, input, tol, hermitian);
}

Tensor& matrix_rank_out(
    Tensor& result, const Tensor& input, std::optional<double> atol, std::optional<double> rtol, bool hermitian) {
  return at::linalg_matrix_rank_out(result, input, atol, rtol, hermitian);
}

Tensor& matrix_rank_out(
    Tensor& result,
    const Tensor& input,
    const std::optional<Tensor>& atol,
    const std::optional<Tensor>& rtol,
    bool hermitian) {
  return at::linalg_matrix_rank_out(result, input, atol, rtol, hermitian);
}

Tensor solve(const Tensor& input, const Tensor& other, bool left) {
  return at::linalg_solve(input, other, left);
}

Tensor& solve_out(Tensor& result, const Tensor& input, const Tensor& other, bool left) {
  return at::linalg_solve_out(result, input, other, left);
}

std::tuple<Tensor, Tensor> solve_ex(const Tensor& input, const Tensor& other, bool left, bool check_errors) {
  return at::linalg_solve_ex(input, other, left, check_errors);
}

std::tuple<Tensor&, Tensor&> solve_ex_out(
    Tensor& result, Tensor& info, const Tensor& input, const Tensor& other, bool left, bool check_errors) {
  return at::linalg_solve_ex_out(result, info, input, other, left, check_errors);
}

Tensor solve_triangular(const Tensor& input, const Tensor& other, bool upper, bool left, bool unitriangular) {
  return at::linalg_solve_triangular(input, other, upper, left, unitriangular);
}

Tensor& solve_triangular_out(
    Tensor& result, const Tensor& input, const Tensor& other, bool upper, bool left, bool unitriangular) {
  return at::linalg_solve_triangular_out(result, input, other, upper, left, unitriangular);
}

std::tuple<Tensor, Tensor, Tensor, Tensor> lstsq(
    const Tensor& self, const Tensor& b, std::optional<double> cond, std::optional<std::string_view> driver) {
  return at::linalg_lstsq(self, b, cond, driver);
}

Tensor tensorinv(const Tensor& self, int64_t ind) {
  return at::linalg_tensorinv(self, ind);
}

Tensor& tensorinv_out(Tensor& result, const Tensor& self, int64_t ind) {
  return at::linalg_tensorinv_out(result, self, ind);
}

Tensor tensorsolve(const Tensor& self, const Tensor& other, OptionalIntArrayRef dims) {
  return at::linalg_tensorsolve(self, other, dims);
}

Tensor& tensorsolve_out(Tensor& result, const Tensor& self, const Tensor& other, OptionalIntArrayRef dims) {
  return at::linalg_tensorsolve_out(result, self, other, dims);
}

Tensor multi_dot(TensorList tensors) {
  return at::linalg_multi_dot(tensors);
}

Tensor& multi_dot_out(TensorList tensors, Tensor& result) {
  return at::linalg_multi_dot_out(result, tensors);
}

Tensor matrix_power(const Tensor& self, int64_t n) {
  return at::linalg_matrix_power(self, n);
}

Tensor& matrix_power_out(const Tensor& self, int64_t n, Tensor& result) {
  return at::linalg_matrix_power_out(result, self, n);
}

Tensor matrix_exp(const Tensor& self) {
  return at::linalg_matrix_exp(self);
}

Tensor norm(
    const Tensor& self,
    const std::optional<Scalar>& opt_ord,
    OptionalIntArrayRef opt_dim,
    bool keepdim,
    std::optional<ScalarType> opt_dtype) {
  return at::linalg_norm(self, opt_ord, opt_dim, keepdim, opt_dtype);
}

Tensor norm(
    const Tensor& self,
    std::string_view ord,
    OptionalIntArrayRef opt_dim,
    bool keepdim,
    std::optional<ScalarType> opt_dtype) {
  return at::linalg_norm(self, ord, opt_dim, keepdim, opt_dtype);
}

Tensor& norm_out(
    Tensor& result,
    const Tensor& self,
    const std::optional<Scalar>& opt_ord,
    OptionalIntArrayRef opt_dim,
    bool keepdim,
    std::optional<ScalarType> opt_dtype) {
  return at::linalg_norm_out(result, self, opt_ord, opt_dim, keepdim, opt_dtype);
}

Tensor& norm_out(
    Tensor& result,
    const Tensor& self,
    std::string_view ord,
    OptionalIntArrayRef opt_dim,
    bool keepdim,
    std::optional<ScalarType> opt_dtype) {
  return at::linalg_norm_out(result, self, ord, opt_dim, keepdim, opt_dtype);
}

Tensor vector_norm(
    const Tensor& self, Scalar ord, OptionalIntArrayRef opt_dim, bool keepdim, std::optional<ScalarType> opt_dtype) {
  return at::linalg_vector_norm(self, ord, opt_dim, keepdim, opt_dtype);
}

Tensor& vector_norm_out(
    Tensor& result,
    const Tensor& self,
    Scalar ord,
    OptionalIntArrayRef opt_dim,
    bool keepdim,
    std::optional<ScalarType> opt_dtype) {
  return at::linalg_vector_norm_out(result, self, ord, opt_dim, keepdim, opt_dtype);
}

Tensor matrix_norm(
    const Tensor& self, const Scalar& ord, IntArrayRef dim, bool keepdim, std::optional<ScalarType> dtype) {
  return at::linalg_matrix_norm(self, ord, dim, keepdim, dtype);
}

Tensor& matrix_norm_out(
    const Tensor& self,
    const Scalar& ord,
    IntArrayRef dim,
    bool keepdim,
    std::optional<ScalarType> dtype,
    Tensor& result) {
  return at::linalg_matrix_norm_out(result, self, ord, dim, keepdim, dtype);
}

Tensor matrix_norm(
    const Tensor& self, std::string_view ord, IntArrayRef dim, bool keepdim, std::optional<ScalarType> dtype) {
  return at::linalg_matrix_norm(self, ord, dim, keepdim, dtype);
}

Tensor& matrix_norm_out(
    const Tensor& self,
    std::string_view ord,
    IntArrayRef dim,
    bool keepdim,
    std::optional<ScalarType> dtype,
    Tensor& result) {
  return at::linalg_matrix_norm_out(result, self, ord, dim, keepdim, dtype);
}

} // namespace torch::linalg
