// torch::special: special functions under the names that programs use.
#pragma once

#include <csrc/types.h>

#include <optional>

namespace torch::special {

// ---- error functions and the normal distribution
// ---------------------------------------------------------------------------

inline Tensor erf(const Tensor& self) {
  return at::special_erf(self);
}
inline Tensor& erf_out(Tensor& result, const Tensor& self) {
  return at::special_erf_out(result, self);
}
inline Tensor erfc(const Tensor& self) {
  return at::special_erfc(self);
}
inline Tensor& erfc_out(Tensor& result, const Tensor& self) {
  return at::special_erfc_out(result, self);
}
inline Tensor erfcx(const Tensor& self) {
  return at::special_erfcx(self);
}
inline Tensor& erfcx_out(Tensor& result, const Tensor& self) {
  return at::special_erfcx_out(result, self);
}
inline Tensor erfinv(const Tensor& self) {
  return at::special_erfinv(self);
}
inline Tensor& erfinv_out(Tensor& result, const Tensor& self) {
  return at::special_erfinv_out(result, self);
}
inline Tensor ndtr(const Tensor& self) {
  return at::special_ndtr(self);
}
inline Tensor& ndtr_out(Tensor& result, const Tensor& self) {
  return at::special_ndtr_out(result, self);
}
inline Tensor log_ndtr(const Tensor& self) {
  return at::special_log_ndtr(self);
}
inline Tensor& log_ndtr_out(Tensor& result, const Tensor& self) {
  return at::special_log_ndtr_out(result, self);
}
inline Tensor ndtri(const Tensor& self) {
  return at::special_ndtri(self);
}
inline Tensor& ndtri_out(Tensor& result, const Tensor& self) {
  return at::special_ndtri_out(result, self);
}

// ---- gamma functions
// -------------------------------------------------------------------------------------------------------

inline Tensor gammaln(const Tensor& self) {
  return at::special_gammaln(self);
}
inline Tensor& gammaln_out(Tensor& result, const Tensor& self) {
  return at::special_gammaln_out(result, self);
}
inline Tensor digamma(const Tensor& self) {
  return at::special_digamma(self);
}
inline Tensor& digamma_out(Tensor& result, const Tensor& self) {
  return at::special_digamma_out(result, self);
}
inline Tensor psi(const Tensor& self) {
  return at::special_psi(self);
}
inline Tensor& psi_out(Tensor& result, const Tensor& self) {
  return at::special_psi_out(result, self);
}
inline Tensor polygamma(int64_t n, const Tensor& self) {
  return at::special_polygamma(n, self);
}
inline Tensor& polygamma_out(Tensor& result, int64_t n, const Tensor& self) {
  return at::special_polygamma_out(result, n, self);
}
inline Tensor multigammaln(const Tensor& self, int64_t p) {
  return at::special_multigammaln(self, p);
}
inline Tensor& multigammaln_out(Tensor& result, const Tensor& self, int64_t p) {
  return at::special_multigammaln_out(result, self, p);
}
inline Tensor gammainc(const Tensor& self, const Tensor& other) {
  return at::special_gammainc(self, other);
}
inline Tensor& gammainc_out(Tensor& result, const Tensor& self, const Tensor& other) {
  return at::special_gammainc_out(result, self, other);
}
inline Tensor gammaincc(const Tensor& self, const Tensor& other) {
  return at::special_gammaincc(self, other);
}
inline Tensor& gammaincc_out(Tensor& result, const Tensor& self, const Tensor& other) {
  return at::special_gammaincc_out(result, self, other);
}
inline Tensor zeta(const Tensor& self, const Tensor& other) {
  return at::special_zeta(self, other);
}
inline Tensor& zeta_out(Tensor& result, const Tensor& self, const Tensor& other) {
  return at::special_zeta_out(result, self, other);
}
inline Tensor zeta(const Scalar& self, const Tensor& other) {
  return at::special_zeta(self, other);
}
inline Tensor& zeta_out(Tensor& result, const Scalar& self, const Tensor& other) {
  return at::special_zeta_out(result, self, other);
}
inline Tensor zeta(const Tensor& self, const Scalar& other) {
  return at::special_zeta(self, other);
}
inline Tensor& zeta_out(Tensor& result, const Tensor& self, const Scalar& other) {
  return at::special_zeta_out(result, self, other);
}

// ---- exponentials and logarithms
// -------------------------------------------------------------------------------------------

inline Tensor exp2(const Tensor& self) {
  return at::special_exp2(self);
}
inline Tensor& exp2_out(Tensor& result, const Tensor& self) {
  return at::special_exp2_out(result, self);
}
inline Tensor expm1(const Tensor& self) {
  return at::special_expm1(self);
}
inline Tensor& expm1_out(Tensor& result, const Tensor& self) {
  return at::special_expm1_out(result, self);
}
inline Tensor log1p(const Tensor& self) {
  return at::special_log1p(self);
}
inline Tensor& log1p_out(Tensor& result, const Tensor& self) {
  return at::special_log1p_out(result, self);
}
inline Tensor expit(const Tensor& self) {
  return at::special_expit(self);
}
inline Tensor& expit_out(Tensor& result, const Tensor& self) {
  return at::special_expit_out(result, self);
}
inline Tensor entr(const Tensor& self) {
  return at::special_entr(self);
}
inline Tensor& entr_out(Tensor& result, const Tensor& self) {
  return at::special_entr_out(result, self);
}
inline Tensor logit(const Tensor& self) {
  return at::special_logit(self);
}
inline Tensor& logit_out(Tensor& result, const Tensor& self) {
  return at::special_logit_out(result, self);
}
inline Tensor xlogy(const Tensor& self, const Tensor& other) {
  return at::special_xlogy(self, other);
}
inline Tensor& xlogy_out(Tensor& result, const Tensor& self, const Tensor& other) {
  return at::special_xlogy_out(result, self, other);
}
inline Tensor xlogy(const Scalar& self, const Tensor& other) {
  return at::special_xlogy(self, other);
}
inline Tensor& xlogy_out(Tensor& result, const Scalar& self, const Tensor& other) {
  return at::special_xlogy_out(result, self, other);
}
inline Tensor xlogy(const Tensor& self, const Scalar& other) {
  return at::special_xlogy(self, other);
}
inline Tensor& xlogy_out(Tensor& result, const Tensor& self, const Scalar& other) {
  return at::special_xlogy_out(result, self, other);
}
inline Tensor xlog1py(const Tensor& self, const Tensor& other) {
  return at::special_xlog1py(self, other);
}
inline Tensor& xlog1py_out(Tensor& result, const Tensor& self, const Tensor& other) {
  return at::special_xlog1py_out(result, self, other);
}
inline Tensor xlog1py(const Scalar& self, const Tensor& other) {
  return at::special_xlog1py(self, other);
}
inline Tensor& xlog1py_out(Tensor& result, const Scalar& self, const Tensor& other) {
  return at::special_xlog1py_out(result, self, other);
}
inline Tensor xlog1py(const Tensor& self, const Scalar& other) {
  return at::special_xlog1py(self, other);
}
inline Tensor& xlog1py_out(Tensor& result, const Tensor& self, const Scalar& other) {
  return at::special_xlog1py_out(result, self, other);
}
inline Tensor logsumexp(const Tensor& self, IntArrayRef dims, bool keepdim) {
  return at::special_logsumexp(self, dims, keepdim);
}
inline Tensor& logsumexp_out(Tensor& result, const Tensor& self, IntArrayRef dims, bool keepdim) {
  return at::special_logsumexp_out(result, self, dims, keepdim);
}
inline Tensor softmax(const Tensor& self, int64_t dim, std::optional<ScalarType> dtype) {
  return at::special_softmax(self, dim, dtype);
}
inline Tensor log_softmax(const Tensor& self, int64_t dim, std::optional<ScalarType> dtype) {
  return at::special_log_softmax(self, dim, dtype);
}

// ---- Bessel and Airy functions
// ---------------------------------------------------------------------------------------------

inline Tensor i0(const Tensor& self) {
  return at::special_i0(self);
}
inline Tensor& i0_out(Tensor& result, const Tensor& self) {
  return at::special_i0_out(result, self);
}
inline Tensor i0e(const Tensor& self) {
  return at::special_i0e(self);
}
inline Tensor& i0e_out(Tensor& result, const Tensor& self) {
  return at::special_i0e_out(result, self);
}
inline Tensor i1(const Tensor& self) {
  return at::special_i1(self);
}
inline Tensor& i1_out(Tensor& result, const Tensor& self) {
  return at::special_i1_out(result, self);
}
inline Tensor i1e(const Tensor& self) {
  return at::special_i1e(self);
}
inline Tensor& i1e_out(Tensor& result, const Tensor& self) {
  return at::special_i1e_out(result, self);
}
inline Tensor bessel_j0(const Tensor& self) {
  return at::special_bessel_j0(self);
}
inline Tensor& bessel_j0_out(Tensor& result, const Tensor& self) {
  return at::special_bessel_j0_out(result, self);
}
inline Tensor bessel_j1(const Tensor& self) {
  return at::special_bessel_j1(self);
}
inline Tensor& bessel_j1_out(Tensor& result, const Tensor& self) {
  return at::special_bessel_j1_out(result, self);
}
inline Tensor bessel_y0(const Tensor& self) {
  return at::special_bessel_y0(self);
}
inline Tensor& bessel_y0_out(Tensor& result, const Tensor& self) {
  return at::special_bessel_y0_out(result, self);
}
inline Tensor bessel_y1(const Tensor& self) {
  return at::special_bessel_y1(self);
}
inline Tensor& bessel_y1_out(Tensor& result, const Tensor& self) {
  return at::special_bessel_y1_out(result, self);
}
inline Tensor modified_bessel_i0(const Tensor& self) {
  return at::special_modified_bessel_i0(self);
}
inline Tensor& modified_bessel_i0_out(Tensor& result, const Tensor& self) {
  return at::special_modified_bessel_i0_out(result, self);
}
inline Tensor modified_bessel_i1(const Tensor& self) {
  return at::special_modified_bessel_i1(self);
}
inline Tensor& modified_bessel_i1_out(Tensor& result, const Tensor& self) {
  return at::special_modified_bessel_i1_out(result, self);
}
inline Tensor modified_bessel_k0(const Tensor& self) {
  return at::special_modified_bessel_k0(self);
}
inline Tensor& modified_bessel_k0_out(Tensor& result, const Tensor& self) {
  return at::special_modified_bessel_k0_out(result, self);
}
inline Tensor modified_bessel_k1(const Tensor& self) {
  return at::special_modified_bessel_k1(self);
}
inline Tensor& modified_bessel_k1_out(Tensor& result, const Tensor& self) {
  return at::special_modified_bessel_k1_out(result, self);
}
inline Tensor scaled_modified_bessel_k0(const Tensor& self) {
  return at::special_scaled_modified_bessel_k0(self);
}
inline Tensor& scaled_modified_bessel_k0_out(Tensor& result, const Tensor& self) {
  return at::special_scaled_modified_bessel_k0_out(result, self);
}
inline Tensor scaled_modified_bessel_k1(const Tensor& self) {
  return at::special_scaled_modified_bessel_k1(self);
}
inline Tensor& scaled_modified_bessel_k1_out(Tensor& result, const Tensor& self) {
  return at::special_scaled_modified_bessel_k1_out(result, self);
}
inline Tensor spherical_bessel_j0(const Tensor& self) {
  return at::special_spherical_bessel_j0(self);
}
inline Tensor& spherical_bessel_j0_out(Tensor& result, const Tensor& self) {
  return at::special_spherical_bessel_j0_out(result, self);
}
inline Tensor airy_ai(const Tensor& self) {
  return at::special_airy_ai(self);
}
inline Tensor& airy_ai_out(Tensor& result, const Tensor& self) {
  return at::special_airy_ai_out(result, self);
}

// ---- orthogonal polynomials of degree n
// ------------------------------------------------------------------------------------

inline Tensor chebyshev_polynomial_t(const Tensor& x, const Tensor& n) {
  return at::special_chebyshev_polynomial_t(x, n);
}
inline Tensor& chebyshev_polynomial_t_out(Tensor& result, const Tensor& x, const Tensor& n) {
  return at::special_chebyshev_polynomial_t_out(result, x, n);
}
inline Tensor chebyshev_polynomial_t(const Scalar& x, const Tensor& n) {
  return at::special_chebyshev_polynomial_t(x, n);
}
inline Tensor& chebyshev_polynomial_t_out(Tensor& result, const Scalar& x, const Tensor& n) {
  return at::special_chebyshev_polynomial_t_out(result, x, n);
}
inline Tensor chebyshev_polynomial_t(const Tensor& x, const Scalar& n) {
  return at::special_chebyshev_polynomial_t(x, n);
}
inline Tensor& chebyshev_polynomial_t_out(Tensor& result, const Tensor& x, const Scalar& n) {
  return at::special_chebyshev_polynomial_t_out(result, x, n);
}
inline Tensor chebyshev_polynomial_u(const Tensor& x, const Tensor& n) {
  return at::special_chebyshev_polynomial_u(x, n);
}
inline Tensor& chebyshev_polynomial_u_out(Tensor& result, const Tensor& x, const Tensor& n) {
  return at::special_chebyshev_polynomial_u_out(result, x, n);
}
inline Tensor chebyshev_polynomial_u(const Scalar& x, const Tensor& n) {
  return at::special_chebyshev_polynomial_u(x, n);
}
inline Tensor& chebyshev_polynomial_u_out(Tensor& result, const Scalar& x, const Tensor& n) {
  return at::special_chebyshev_polynomial_u_out(result, x, n);
}
inline Tensor chebyshev_polynomial_u(const Tensor& x, const Scalar& n) {
  return at::special_chebyshev_polynomial_u(x, n);
}
inline Tensor& chebyshev_polynomial_u_out(Tensor& result, const Tensor& x, const Scalar& n) {
  return at::special_chebyshev_polynomial_u_out(result, x, n);
}
inline Tensor chebyshev_polynomial_v(const Tensor& x, const Tensor& n) {
  return at::special_chebyshev_polynomial_v(x, n);
}
inline Tensor& chebyshev_polynomial_v_out(Tensor& result, const Tensor& x, const Tensor& n) {
  return at::special_chebyshev_polynomial_v_out(result, x, n);
}
inline Tensor chebyshev_polynomial_v(const Scalar& x, const Tensor& n) {
  return at::special_chebyshev_polynomial_v(x, n);
}
inline Tensor& chebyshev_polynomial_v_out(Tensor& result, const Scalar& x, const Tensor& n) {
  return at::special_chebyshev_polynomial_v_out(result, x, n);
}
inline Tensor chebyshev_polynomial_v(const Tensor& x, const Scalar& n) {
  return at::special_chebyshev_polynomial_v(x, n);
}
inline Tensor& chebyshev_polynomial_v_out(Tensor& result, const Tensor& x, const Scalar& n) {
  return at::special_chebyshev_polynomial_v_out(result, x, n);
}
inline Tensor chebyshev_polynomial_w(const Tensor& x, const Tensor& n) {
  return at::special_chebyshev_polynomial_w(x, n);
}
inline Tensor& chebyshev_polynomial_w_out(Tensor& result, const Tensor& x, const Tensor& n) {
  return at::special_chebyshev_polynomial_w_out(result, x, n);
}
inline Tensor chebyshev_polynomial_w(const Scalar& x, const Tensor& n) {
  return at::special_chebyshev_polynomial_w(x, n);
}
inline Tensor& chebyshev_polynomial_w_out(Tensor& result, const Scalar& x, const Tensor& n) {
  return at::special_chebyshev_polynomial_w_out(result, x, n);
}
inline Tensor chebyshev_polynomial_w(const Tensor& x, const Scalar& n) {
  return at::special_chebyshev_polynomial_w(x, n);
}
inline Tensor& chebyshev_polynomial_w_out(Tensor& result, const Tensor& x, const Scalar& n) {
  return at::special_chebyshev_polynomial_w_out(result, x, n);
}
inline Tensor hermite_polynomial_h(const Tensor& x, const Tensor& n) {
  return at::special_hermite_polynomial_h(x, n);
}
inline Tensor& hermite_polynomial_h_out(Tensor& result, const Tensor& x, const Tensor& n) {
  return at::special_hermite_polynomial_h_out(result, x, n);
}
inline Tensor hermite_polynomial_h(const Scalar& x, const Tensor& n) {
  return at::special_hermite_polynomial_h(x, n);
}
inline Tensor& hermite_polynomial_h_out(Tensor& result, const Scalar& x, const Tensor& n) {
  return at::special_hermite_polynomial_h_out(result, x, n);
}
inline Tensor hermite_polynomial_h(const Tensor& x, const Scalar& n) {
  return at::special_hermite_polynomial_h(x, n);
}
inline Tensor& hermite_polynomial_h_out(Tensor& result, const Tensor& x, const Scalar& n) {
  return at::special_hermite_polynomial_h_out(result, x, n);
}
inline Tensor hermite_polynomial_he(const Tensor& x, const Tensor& n) {
  return at::special_hermite_polynomial_he(x, n);
}
inline Tensor& hermite_polynomial_he_out(Tensor& result, const Tensor& x, const Tensor& n) {
  return at::special_hermite_polynomial_he_out(result, x, n);
}
inline Tensor hermite_polynomial_he(const Scalar& x, const Tensor& n) {
  return at::special_hermite_polynomial_he(x, n);
}
inline Tensor& hermite_polynomial_he_out(Tensor& result, const Scalar& x, const Tensor& n) {
  return at::special_hermite_polynomial_he_out(result, x, n);
}
inline Tensor hermite_polynomial_he(const Tensor& x, const Scalar& n) {
  return at::special_hermite_polynomial_he(x, n);
}
inline Tensor& hermite_polynomial_he_out(Tensor& result, const Tensor& x, const Scalar& n) {
  return at::special_hermite_polynomial_he_out(result, x, n);
}
inline Tensor laguerre_polynomial_l(const Tensor& x, const Tensor& n) {
  return at::special_laguerre_polynomial_l(x, n);
}
inline Tensor& laguerre_polynomial_l_out(Tensor& result, const Tensor& x, const Tensor& n) {
  return at::special_laguerre_polynomial_l_out(result, x, n);
}
inline Tensor laguerre_polynomial_l(const Scalar& x, const Tensor& n) {
  return at::special_laguerre_polynomial_l(x, n);
}
inline Tensor& laguerre_polynomial_l_out(Tensor& result, const Scalar& x, const Tensor& n) {
  return at::special_laguerre_polynomial_l_out(result, x, n);
}
inline Tensor laguerre_polynomial_l(const Tensor& x, const Scalar& n) {
  return at::special_laguerre_polynomial_l(x, n);
}
inline Tensor& laguerre_polynomial_l_out(Tensor& result, const Tensor& x, const Scalar& n) {
  return at::special_laguerre_polynomial_l_out(result, x, n);
}
inline Tensor legendre_polynomial_p(const Tensor& x, const Tensor& n) {
  return at::special_legendre_polynomial_p(x, n);
}
inline Tensor& legendre_polynomial_p_out(Tensor& result, const Tensor& x, const Tensor& n) {
  return at::special_legendre_polynomial_p_out(result, x, n);
}
inline Tensor legendre_polynomial_p(const Scalar& x, const Tensor& n) {
  return at::special_legendre_polynomial_p(x, n);
}
inline Tensor& legendre_polynomial_p_out(Tensor& result, const Scalar& x, const Tensor& n) {
  return at::special_legendre_polynomial_p_out(result, x, n);
}
inline Tensor legendre_polynomial_p(const Tensor& x, const Scalar& n) {
  return at::special_legendre_polynomial_p(x, n);
}
inline Tensor& legendre_polynomial_p_out(Tensor& result, const Tensor& x, const Scalar& n) {
  return at::special_legendre_polynomial_p_out(result, x, n);
}
inline Tensor shifted_chebyshev_polynomial_t(const Tensor& x, const Tensor& n) {
  return at::special_shifted_chebyshev_polynomial_t(x, n);
}
inline Tensor& shifted_chebyshev_polynomial_t_out(Tensor& result, const Tensor& x, const Tensor& n) {
  return at::special_shifted_chebyshev_polynomial_t_out(result, x, n);
}
inline Tensor shifted_chebyshev_polynomial_t(const Scalar& x, const Tensor& n) {
  return at::special_shifted_chebyshev_polynomial_t(x, n);
}
inline Tensor& shifted_chebyshev_polynomial_t_out(Tensor& result, const Scalar& x, const Tensor& n) {
  return at::special_shifted_chebyshev_polynomial_t_out(result, x, n);
}
inline Tensor shifted_chebyshev_polynomial_t(const Tensor& x, const Scalar& n) {
  return at::special_shifted_chebyshev_polynomial_t(x, n);
}
inline Tensor& shifted_chebyshev_polynomial_t_out(Tensor& result, const Tensor& x, const Scalar& n) {
  return at::special_shifted_chebyshev_polynomial_t_out(result, x, n);
}
inline Tensor shifted_chebyshev_polynomial_u(const Tensor& x, const Tensor& n) {
  return at::special_shifted_chebyshev_polynomial_u(x, n);
}
inline Tensor& shifted_chebyshev_polynomial_u_out(Tensor& result, const Tensor& x, const Tensor& n) {
  return at::special_shifted_chebyshev_polynomial_u_out(result, x, n);
}
inline Tensor shifted_chebyshev_polynomial_u(const Scalar& x, const Tensor& n) {
  return at::special_shifted_chebyshev_polynomial_u(x, n);
}
inline Tensor& shifted_chebyshev_polynomial_u_out(Tensor& result, const Scalar& x, const Tensor& n) {
  return at::special_shifted_chebyshev_polynomial_u_out(result, x, n);
}
inline Tensor shifted_chebyshev_polynomial_u(const Tensor& x, const Scalar& n) {
  return at::special_shifted_chebyshev_polynomial_u(x, n);
}
inline Tensor& shifted_chebyshev_polynomial_u_out(Tensor& result, const Tensor& x, const Scalar& n) {
  return at::special_shifted_chebyshev_polynomial_u_out(result, x, n);
}
inline Tensor shifted_chebyshev_polynomial_v(const Tensor& x, const Tensor& n) {
  return at::special_shifted_chebyshev_polynomial_v(x, n);
}
inline Tensor& shifted_chebyshev_polynomial_v_out(Tensor& result, const Tensor& x, const Tensor& n) {
  return at::special_shifted_chebyshev_polynomial_v_out(result, x, n);
}
inline Tensor shifted_chebyshev_polynomial_v(const Scalar& x, const Tensor& n) {
  return at::special_shifted_chebyshev_polynomial_v(x, n);
}
inline Tensor& shifted_chebyshev_polynomial_v_out(Tensor& result, const Scalar& x, const Tensor& n) {
  return at::special_shifted_chebyshev_polynomial_v_out(result, x, n);
}
inline Tensor shifted_chebyshev_polynomial_v(const Tensor& x, const Scalar& n) {
  return at::special_shifted_chebyshev_polynomial_v(x, n);
}
inline Tensor& shifted_chebyshev_polynomial_v_out(Tensor& result, const Tensor& x, const Scalar& n) {
  return at::special_shifted_chebyshev_polynomial_v_out(result, x, n);
}
inline Tensor shifted_chebyshev_polynomial_w(const Tensor& x, const Tensor& n) {
  return at::special_shifted_chebyshev_polynomial_w(x, n);
}
inline Tensor& shifted_chebyshev_polynomial_w_out(Tensor& result, const Tensor& x, const Tensor& n) {
  return at::special_shifted_chebyshev_polynomial_w_out(result, x, n);
}
inline Tensor shifted_chebyshev_polynomial_w(const Scalar& x, const Tensor& n) {
  return at::special_shifted_chebyshev_polynomial_w(x, n);
}
inline Tensor& shifted_chebyshev_polynomial_w_out(Tensor& result, const Scalar& x, const Tensor& n) {
  return at::special_shifted_chebyshev_polynomial_w_out(result, x, n);
}
inline Tensor shifted_chebyshev_polynomial_w(const Tensor& x, const Scalar& n) {
  return at::special_shifted_chebyshev_polynomial_w(x, n);
}
inline Tensor& shifted_chebyshev_polynomial_w_out(Tensor& result, const Tensor& x, const Scalar& n) {
  return at::special_shifted_chebyshev_polynomial_w_out(result, x, n);
}

// ---- others
// ----------------------------------------------------------------------------------------------------------------

inline Tensor sinc(const Tensor& self) {
  return at::special_sinc(self);
}
inline Tensor& sinc_out(Tensor& result, const Tensor& self) {
  return at::special_sinc_out(result, self);
}
inline Tensor round(const Tensor& self) {
  return at::special_round(self);
}
inline Tensor& round_out(Tensor& result, const Tensor& self) {
  return at::special_round_out(result, self);
}

} // namespace torch::special
