#include <aten/native/lapack/info.h>

#include <aten/core/Tensor.h>
#include <aten/native/lapack/matrices.h>

#include <string>

namespace at::native {
namespace lapack {
namespace {

bool has(std::string_view text, std::string_view word) {
  return text.find(word) != std::string_view::npos;
}

[[noreturn]] void fail(std::string_view api, const std::string& where, int info) {
  const std::string begin = std::string(api) + ": " + where;
  TORCH_CHECK(
      info > 0, begin, "LAPACK was given a bad argument ", -info,
      "; the input most likely contains NaN or infinity, which this factorization cannot work on");
  if (has(api, "cholesky_inverse") || has(api, "inv")) {
    TORCH_CHECK_LINALG(
        false, begin, "The diagonal element ", info,
        " is zero, the inversion could not be completed because the input matrix is singular.");
  }
  if (has(api, "cholesky")) {
    TORCH_CHECK_LINALG(
        false, begin,
        "The factorization could not be completed because the input is not positive-definite (the leading minor of "
        "order ",
        info, " is not positive-definite).");
  }
  if (has(api, "solve")) {
    TORCH_CHECK_LINALG(false, begin, "The solver failed because the input matrix is singular.");
  }
  if (has(api, "svd")) {
    TORCH_CHECK_LINALG(
        false, begin,
        "The algorithm failed to converge because the input matrix is ill-conditioned or has too many repeated "
        "singular "
        "values (error code: ",
        info, ").");
  }
  if (has(api, "eig")) {
    TORCH_CHECK_LINALG(
        false, begin,
        "The algorithm failed to converge because the input matrix is ill-conditioned or has too many repeated "
        "eigenvalues "
        "(error code: ",
        info, ").");
  }
  if (has(api, "lstsq")) {
    TORCH_CHECK_LINALG(
        false, begin,
        "The least squares solution could not be computed because the input matrix does not have full rank (error "
        "code: ",
        info, ").");
  }
  if (has(api, "lu_factor")) {
    TORCH_CHECK(
        false, begin, "U[", info, ",", info,
        "] is zero and using it on lu_solve would result in a division by zero. If you still want to perform the "
        "factorization, consider calling linalg.lu(A, pivot) or linalg.lu_factor_ex(A, pivot)");
  }
  TORCH_CHECK_LINALG(
      false, begin, "The factorization could not be completed because the diagonal element ", info, " is zero.");
}

} // namespace

void check_info(std::string_view api, const TensorBase& infos, bool is_matrix) {
  const Batch<const int> numbers(infos, 0);
  for (int64_t i = 0; i < numbers.count(); ++i) {
    const int info = *numbers[i].data;
    if (info != 0) {
      fail(api, is_matrix ? "" : "(Batch element " + std::to_string(i) + "): ", info);
    }
  }
}

} // namespace lapack

void linalg_check_errors(const Tensor& info, std::string_view api_name, bool is_matrix) {
  TORCH_CHECK(
      info.scalar_type() == kInt, "_linalg_check_errors: info must be of dtype int32, got ", info.scalar_type());
  if (!info.is_meta()) {
    lapack::check_info(api_name, info.cpu(), is_matrix);
  }
}

} // namespace at::native
