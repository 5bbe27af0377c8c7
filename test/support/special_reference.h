// Special functions by roads that kernels do not take, for the reference expressions of operator entries.
#pragma once

namespace test {

/// Chebyshev polynomials of the second kind as the explicit sum of powers, n >= 0; the other kinds follow from these.
double chebyshev_u(double x, double n);
double chebyshev_t(double x, double n);
double chebyshev_v(double x, double n);
double chebyshev_w(double x, double n);

/// The regularised lower incomplete gamma function by quadrature of its integral.
double incomplete_gamma(double a, double x);

} // namespace test
