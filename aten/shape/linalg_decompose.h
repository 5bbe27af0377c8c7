// Shapes of matrix factorizations and of what is read off them. Every function throws on bad arguments.
#pragma once

#include <aten/core/Tensor.h>
#include <aten/core/TensorSpec.h>

#include <array>
#include <optional>
#include <string_view>
#include <utility>

namespace at::shape {

std::array<TensorSpec, 2> linalg_cholesky_ex(const char* op, const TensorBase& self, bool upper, bool check_errors);
/// The older cholesky.
TensorSpec cholesky(const char* op, const TensorBase& self, bool upper);
TensorSpec cholesky_inverse(const char* op, const TensorBase& self, bool upper);

std::array<TensorSpec, 3> linalg_lu_factor_ex(const char* op, const TensorBase& A, bool pivot, bool check_errors);
std::array<TensorSpec, 3> linalg_lu(const char* op, const TensorBase& A, bool pivot);
std::array<TensorSpec, 3> lu_unpack(const char* op, const TensorBase& LU_data, const TensorBase& LU_pivots, bool unpack_data, bool unpack_pivots);
std::array<TensorSpec, 3> linalg_det(const char* op, const TensorBase& A);
std::array<TensorSpec, 4> linalg_slogdet(const char* op, const TensorBase& A);
std::array<TensorSpec, 2> linalg_inv_ex(const char* op, const TensorBase& A, bool check_errors);

/// What linalg_qr gives in a mode: {Q is wanted, as many columns as fit}.
std::pair<bool, bool> qr_mode(std::string_view mode);
std::array<TensorSpec, 2> linalg_qr(const char* op, const TensorBase& A, std::string_view mode);
std::array<TensorSpec, 2> geqrf(const char* op, const TensorBase& self);
TensorSpec linalg_householder_product(const char* op, const TensorBase& input, const TensorBase& tau);
TensorSpec ormqr(const char* op, const TensorBase& self, const TensorBase& tau, const TensorBase& other, bool left, bool transpose);

std::array<TensorSpec, 3> linalg_svd(const char* op, const TensorBase& A, bool full_matrices, bool compute_uv, std::optional<std::string_view> driver);
std::array<TensorSpec, 2> linalg_eigh(const char* op, const TensorBase& A, std::string_view UPLO, bool compute_v);
std::array<TensorSpec, 2> linalg_eig(const char* op, const TensorBase& self);
TensorSpec linalg_eigvals(const char* op, const TensorBase& self);

std::array<TensorSpec, 3> linalg_ldl_factor_ex(const char* op, const TensorBase& self, bool hermitian, bool check_errors);

/// What out arguments must be: of a dtype that the result can be cast to; ormqr takes no other than that of the input.
void cholesky_inverse_out(const char* op, const TensorBase& self, bool upper, const TensorBase& out);
void geqrf_out(const char* op, const TensorBase& self, const TensorBase& a, const TensorBase& tau);
void linalg_householder_product_out(const char* op, const TensorBase& input, const TensorBase& tau, const TensorBase& out);
void ormqr_out(const char* op, const TensorBase& self, const TensorBase& tau, const TensorBase& other, bool left, bool transpose, const TensorBase& out);
void linalg_eig_out(const char* op, const TensorBase& self, const TensorBase& eigenvalues, const TensorBase& eigenvectors);

/// Layout of outputs that LAPACK fills where they are if it can: an empty one of the right dtype gets the layout of its spec, even
/// where its sizes fit, and any other that is resized lies by rows.
void filled_in_place(std::initializer_list<const TensorBase*> outs, TensorSpec* specs);

} // namespace at::shape
