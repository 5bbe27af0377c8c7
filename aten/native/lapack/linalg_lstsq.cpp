// Least squares solutions of A X = B.
#include <aten/native/lapack/matrices.h>

#include <aten/core/Tensor.h>
#include <aten/shape/solve_rules.h>

#include <limits>
#include <optional>

namespace at::native {

using namespace lapack;

namespace {

template <class T>
void least_squares(
    at::shape::LstsqDriver driver,
    double rcond,
    const TensorBase& A,
    const TensorBase& B,
    bool vector,
    const TensorBase& solution,
    const TensorBase& residuals,
    const TensorBase& rank,
    const TensorBase& singular_values,
    int* infos) {
  using R = real_t<T>;
  using at::shape::LstsqDriver;
  const int64_t trailing = vector ? 1 : 2;
  const IntArrayRef batch = solution.sizes().slice(0, solution.dim() - trailing);
  const Batch<const T> matrices(A, 2, batch), from(B, trailing, batch);
  const bool iterates = driver == LstsqDriver::Gelsd || driver == LstsqDriver::Gelss;
  TORCH_CHECK_LINALG(
      !iterates || (all_finite(matrices) && all_finite(from)),
      "torch.linalg.lstsq: the singular values of input cannot be computed because input or other contains infs or "
      "NaNs. "
      "The drivers gels and gelsy do without them.");
  const Batch<T> to(solution, trailing);
  const bool want_rank = driver != LstsqDriver::Gels;
  const bool want_values = iterates;
  std::optional<Batch<int64_t>> to_rank;
  std::optional<Batch<R>> to_values;
  // Outputs that were not asked for are empty vectors, not batches.
  if (want_rank) {
    to_rank.emplace(rank, 0, batch);
  }
  if (want_values) {
    to_values.emplace(singular_values, 1, batch);
  }
  const bool want_residuals = residuals.dim() + 1 == solution.dim() + vector && residuals.numel() > 0;
  std::optional<Batch<R>> to_residuals;
  if (want_residuals) {
    to_residuals.emplace(residuals, 1, batch);
  }

  const int64_t m = matrices.rows(), n = matrices.cols(), columns = from.cols(), k = std::min(m, n);
  for_each_matrix(to.count(), 4 * m * n * k, [&](int64_t i) {
    ByColumns<T> a(m, n), x(std::max(m, n), columns);
    a.load(matrices, i);
    x.fill(T(0));
    copy_matrix(from, from[i], x.data(), 1, x.leading());
    const auto values = scratch<R>(k);
    int found = 0;
    const int rows = a.rows(), cols = a.cols(), rhs = to_int(columns);
    if (m == 0 || n == 0 || columns == 0) {
      x.fill(T(0));
      infos[i] = 0;
    } else if (driver == LstsqDriver::Gels) {
      infos[i] = gels(rows, cols, rhs, a.data(), a.leading(), x.data(), x.leading());
    } else if (driver == LstsqDriver::Gelsy) {
      infos[i] = gelsy(rows, cols, rhs, a.data(), a.leading(), x.data(), x.leading(), R(rcond), &found);
    } else {
      const auto run = driver == LstsqDriver::Gelsd ? &gelsd<T> : &gelss<T>;
      infos[i] = run(rows, cols, rhs, a.data(), a.leading(), x.data(), x.leading(), values.get(), R(rcond), &found);
    }
    const Strided<T> out = to[i];
    for (int64_t col = 0; col < columns; ++col) {
      for (int64_t row = 0; row < n; ++row) {
        out(row, col) = x(row, col);
      }
    }
    if (to_rank) {
      *(*to_rank)[i].data = found;
    }
    if (to_values) {
      const Strided<R> s = (*to_values)[i];
      for (int64_t j = 0; j < k; ++j) {
        s(j, 0) = values[j];
      }
    }
    if (to_residuals) {
      // LAPACK leaves what could not be fitted below the solution.
      const Strided<R> r = (*to_residuals)[i];
      for (int64_t col = 0; col < columns; ++col) {
        R sum(0);
        for (int64_t row = n; row < m; ++row) {
          const R size = std::abs(x(row, col));
          sum += size * size;
        }
        r(col, 0) = sum;
      }
    }
  });
}

} // namespace

void linalg_lstsq_kernel(
    const TensorBase& self,
    const TensorBase& b,
    std::optional<double> rcond,
    std::optional<std::string_view> driver,
    const TensorBase& solution,
    const TensorBase& residuals,
    const TensorBase& rank,
    const TensorBase& singular_values) {
  const auto method = at::shape::lstsq_driver(driver);
  const double smallest = rcond.value_or(at::shape::default_rcond(self));
  const bool vector = at::shape::lstsq_takes_vector(self, b);
  const int64_t trailing = vector ? 1 : 2;
  int64_t count = 1;
  for (const int64_t size : solution.sizes().slice(0, solution.dim() - trailing)) {
    count *= size;
  }
  const auto batch_infos = scratch<int>(count);
  dispatch("linalg_lstsq_cpu", self.scalar_type(), kDtypes, [&]<class T> {
    least_squares<T>(method, smallest, self, b, vector, solution, residuals, rank, singular_values, batch_infos.get());
  });
  for (int64_t i = 0; i < count; ++i) {
    TORCH_CHECK_LINALG(
        batch_infos[i] >= 0, "torch.linalg.lstsq: (Batch element ", i,
        "): LAPACK refused the input, which most likely contains NaN or infinity");
    TORCH_CHECK_LINALG(
        batch_infos[i] == 0 || method != at::shape::LstsqDriver::Gelsd, "torch.linalg.lstsq: (Batch element ", i,
        "): the algorithm for the singular values failed to converge (error code: ", batch_infos[i], ")");
  }
}

} // namespace at::native
