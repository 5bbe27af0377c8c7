// How a transform of a certain length is done: its factors and the roots of one it needs.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace at::native {

/// One pass of a Stockham transform: `rest` groups of `radix` points.
struct FftPass {
  int64_t radix;
  int64_t rest;
  int64_t first_twiddle; // of (radix - 1) * rest roots: w^(p k) at first_twiddle + p * (radix - 1) + (k - 1)
  int64_t first_root; // of `radix` roots of one, for radices without code of their own
};

template <class T>
struct FftPlan;

/// One line as a matrix, by rows: its columns are transformed side by side, then its rows, which were turned to
/// columns.
template <class T>
struct FftColumns {
  std::shared_ptr<const FftPlan<T>> along; // as many points as there are rows
  std::shared_ptr<const FftPlan<T>> across; // as many points as there are columns
  std::vector<T> re, im; // exp(-2 pi i row column / n), by rows
};

/// Roots are exp(-2 pi i k / n): a forward transform. A backward one swaps real and imaginary parts.
template <class T>
struct FftPlan {
  int64_t n = 0;
  std::vector<FftPass> passes;
  std::vector<T> re, im; // roots for all passes

  std::unique_ptr<FftColumns<T>> columns; // of lines that are long enough
  std::vector<T> half_re, half_im; // exp(-pi i k / n), k <= n / 2: for real lines of 2 n points

  // A length with a large prime factor becomes a convolution of a length without (Bluestein): `inner` transforms that.
  std::shared_ptr<const FftPlan> inner;
  std::vector<T> chirp_re, chirp_im; // exp(-pi i k^2 / n)
  std::vector<T> kernel_re, kernel_im; // transform of the conjugate chirp, over the inner length, scaled by 1 / that
};

/// A plan for n >= 1 points, made once and shared while it is among the last used. `lanes` is how many numbers a vector
/// has.
template <class T>
std::shared_ptr<const FftPlan<T>> fft_plan(int64_t n, int64_t lanes);

} // namespace at::native
