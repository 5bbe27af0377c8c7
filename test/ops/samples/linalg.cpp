// Factorizations, solutions of linear systems, and functions of matrices.

#include <ATen/ATen.h>

#include "test/ops/samples.h"

namespace test {

namespace {

using Arguments = SampleSet::Arguments;
using c10::ScalarType;

/// Square matrices far from singular ones, with eigenvalues and singular values apart from each other.
at::Tensor regular(ScalarType dtype, Random& random, std::vector<int64_t> sizes) {
  const at::Tensor noise = random.tensor(dtype, sizes, -1, 1);
  const at::Tensor steps = at::arange(1, sizes.back() + 1, at::TensorOptions(at::kDouble)).mul(3);
  return noise.add(at::diag_embed(steps).to(dtype)).contiguous();
}

/// Hermitian and positive definite.
at::Tensor definite(ScalarType dtype, Random& random, std::vector<int64_t> sizes) {
  const at::Tensor a = regular(dtype, random, sizes);
  return a.matmul(a.mH()).resolve_conj().contiguous();
}

// What is gauge dependent, or reads one triangle of a Hermitian matrix, has no derivative by single elements.
constexpr SampleTraits kNoGradient{.gradient = false};

Arguments square_matrices(ScalarType dtype, Random& random) {
  return {
      {regular(dtype, random, {3, 3})},
      {regular(dtype, random, {2, 2, 2})},
      {regular(dtype, random, {1, 1})},
      {random.tensor(dtype, {0, 0})},
      {random.tensor(dtype, {0, 2, 2})}};
}

Arguments nonempty_square_matrices(ScalarType dtype, Random& random) {
  return {{regular(dtype, random, {3, 3})}, {regular(dtype, random, {2, 2, 2})}, {regular(dtype, random, {1, 1})}};
}

Arguments definite_matrices(ScalarType dtype, Random& random) {
  return {
      {definite(dtype, random, {3, 3})},
      {definite(dtype, random, {3, 3}), true},
      {definite(dtype, random, {2, 2, 2})},
      {random.tensor(dtype, {0, 0})},
      {random.tensor(dtype, {0, 2, 2})}};
}

Arguments any_matrices(ScalarType dtype, Random& random) {
  return {
      {random.tensor(dtype, {3, 3})},
      {random.tensor(dtype, {4, 2})},
      {random.tensor(dtype, {2, 2, 3})},
      {random.tensor(dtype, {3, 0})},
      {random.tensor(dtype, {0, 2, 3})}};
}

const SampleSet kCholeskyEx("linalg_cholesky_ex", definite_matrices, kNoGradient);
const SampleSet kLinalgCholesky("linalg_cholesky", definite_matrices, kNoGradient);
const SampleSet kCholesky("cholesky", definite_matrices, kNoGradient);
const SampleSet kEigh(
    "_linalg_eigh",
    [](ScalarType dtype, Random& random) -> Arguments {
      return {{definite(dtype, random, {3, 3}), "L", false}, {definite(dtype, random, {2, 2, 2}), "U", false}};
    },
    kNoGradient);
const SampleSet kEigvalsh(
    "linalg_eigvalsh",
    [](ScalarType dtype, Random& random) -> Arguments {
      return {
          {definite(dtype, random, {3, 3})}, {definite(dtype, random, {2, 2, 2}), "U"}, {random.tensor(dtype, {0, 0})}};
    },
    kNoGradient);
const SampleSet kLdl(
    "linalg_ldl_factor_ex",
    [](ScalarType dtype, Random& random) -> Arguments {
      return {{definite(dtype, random, {3, 3}), true}, {definite(dtype, random, {2, 2, 2}), true}};
    },
    kNoGradient);
const SampleSet kCholeskyInverse(
    "cholesky_inverse",
    [](ScalarType dtype, Random& random) -> Arguments {
      return {
          {at::linalg_cholesky(definite(dtype, random, {3, 3})).contiguous()},
          {at::linalg_cholesky(definite(dtype, random, {2, 2, 2}), true).contiguous(), true}};
    },
    kNoGradient);
const SampleSet kCholeskySolve(
    "cholesky_solve",
    [](ScalarType dtype, Random& random) -> Arguments {
      return {
          {random.tensor(dtype, {3, 2}), at::linalg_cholesky(definite(dtype, random, {3, 3})).contiguous()},
          {random.tensor(dtype, {2, 2, 1}), at::linalg_cholesky(definite(dtype, random, {2, 2}), true).contiguous(),
           true}};
    },
    kNoGradient);

const SampleSet kLuFactorEx("linalg_lu_factor_ex", nonempty_square_matrices);
const SampleSet kLu("linalg_lu", [](ScalarType dtype, Random& random) -> Arguments {
  return {{regular(dtype, random, {3, 3})}, {random.tensor(dtype, {4, 2})}, {random.tensor(dtype, {2, 2, 3})}};
});
const SampleSet kDet(
    "_linalg_det",
    [](ScalarType dtype, Random& random) -> Arguments {
      return {{regular(dtype, random, {3, 3})}, {regular(dtype, random, {2, 2, 2})}};
    },
    {.layouts = false});
const SampleSet kLinalgDet("linalg_det", square_matrices);
const SampleSet kSlogdet("linalg_slogdet", nonempty_square_matrices);
const SampleSet kLogdet("logdet", [](ScalarType dtype, Random& random) -> Arguments {
  return {{definite(dtype, random, {3, 3})}, {definite(dtype, random, {2, 2, 2})}};
});
const SampleSet kInvEx("linalg_inv_ex", square_matrices);
const SampleSet kInv("linalg_inv", square_matrices);
const SampleSet kInverse("inverse", square_matrices);
const SampleSet kSvdvals("linalg_svdvals", any_matrices);
const SampleSet kEigvals("linalg_eigvals", nonempty_square_matrices);
const SampleSet kQr("linalg_qr", [](ScalarType dtype, Random& random) -> Arguments {
  return {
      {random.tensor(dtype, {4, 3})}, {random.tensor(dtype, {2, 3, 3}), "complete"}, {random.tensor(dtype, {2, 3})}};
});
const SampleSet kHouseholder("linalg_householder_product", [](ScalarType dtype, Random& random) -> Arguments {
  return {
      {random.tensor(dtype, {4, 3}), random.tensor(dtype, {3})},
      {random.tensor(dtype, {2, 3, 3}), random.tensor(dtype, {2, 2})},
      {random.tensor(dtype, {3, 0}), random.tensor(dtype, {0})}};
});
const SampleSet kOrmqr("ormqr", [](ScalarType dtype, Random& random) -> Arguments {
  const at::Tensor a = random.tensor(dtype, {4, 3}), tau = random.tensor(dtype, {3});
  return {
      {a, tau, random.tensor(dtype, {4, 2})},
      {a, tau, random.tensor(dtype, {4, 2}), true, true},
      {a, tau, random.tensor(dtype, {2, 4}), false, false},
      {a, tau, random.tensor(dtype, {2, 4}), false, true}};
});

const SampleSet kSolve("linalg_solve", [](ScalarType dtype, Random& random) -> Arguments {
  return {
      {regular(dtype, random, {3, 3}), random.tensor(dtype, {3, 2})},
      {regular(dtype, random, {3, 3}), random.tensor(dtype, {3})},
      {regular(dtype, random, {2, 3, 3}), random.tensor(dtype, {2, 3})},
      {regular(dtype, random, {2, 3, 3}), random.tensor(dtype, {3, 2})},
      {regular(dtype, random, {3, 3}), random.tensor(dtype, {2, 2, 3}), false}};
});
const SampleSet kSolveEx(
    "_linalg_solve_ex",
    [](ScalarType dtype, Random& random) -> Arguments {
      return {
          {regular(dtype, random, {3, 3}), random.tensor(dtype, {3, 2})},
          {regular(dtype, random, {2, 2, 2}), random.tensor(dtype, {2, 1, 2}), false}};
    },
    {.layouts = false});
const SampleSet kLuSolve("linalg_lu_solve", [](ScalarType dtype, Random& random) -> Arguments {
  const at::Tensor lu = regular(dtype, random, {3, 3});
  const at::Tensor pivots = tensor_of(ScalarType::Int, {3}, [](int64_t i) { return i == 0 ? 2 : i + 1; });
  Arguments all;
  for (const bool adjoint : {false, true}) {
    all.push_back({lu, pivots, random.tensor(dtype, {3, 2}), true, adjoint});
    all.push_back({lu, pivots, random.tensor(dtype, {2, 2, 3}), false, adjoint});
  }
  return all;
});
const SampleSet kLdlSolve("linalg_ldl_solve", [](ScalarType dtype, Random& random) -> Arguments {
  const auto factors = at::linalg_ldl_factor(definite(dtype, random, {3, 3}));
  return {{std::get<0>(factors).contiguous(), std::get<1>(factors), random.tensor(dtype, {3, 2})}};
});
const SampleSet kSolveTriangular("linalg_solve_triangular", [](ScalarType dtype, Random& random) -> Arguments {
  const at::Tensor a = regular(dtype, random, {3, 3});
  Arguments all;
  for (const bool upper : {false, true}) {
    for (const bool unitriangular : {false, true}) {
      all.push_back({a, random.tensor(dtype, {3, 2}), upper, true, unitriangular});
      all.push_back({a, random.tensor(dtype, {2, 2, 3}), upper, false, unitriangular});
    }
  }
  return all;
});
const SampleSet kTriangularSolve("triangular_solve", [](ScalarType dtype, Random& random) -> Arguments {
  const at::Tensor a = regular(dtype, random, {3, 3}), b = random.tensor(dtype, {3, 2});
  return {{b, a}, {b, a, false}, {b, a, true, true}, {b, a, false, true, true}, {random.tensor(dtype, {2, 3, 1}), a}};
});
const SampleSet kLstsq("linalg_lstsq", [](ScalarType dtype, Random& random) -> Arguments {
  Arguments all;
  for (const char* driver : {"gels", "gelsy", "gelsd", "gelss"}) {
    all.push_back({random.tensor(dtype, {4, 2}), random.tensor(dtype, {4, 2}), none(), driver});
    all.push_back({random.tensor(dtype, {2, 2, 3}), random.tensor(dtype, {2, 2, 1}), none(), driver});
    all.push_back({random.tensor(dtype, {4, 3}), random.tensor(dtype, {4}), none(), driver});
  }
  return all;
});
const SampleSet kTensorsolve("linalg_tensorsolve", [](ScalarType dtype, Random& random) -> Arguments {
  return {
      {random.tensor(dtype, {2, 3, 6}), random.tensor(dtype, {2, 3})},
      {random.tensor(dtype, {2, 6, 3}), random.tensor(dtype, {2, 3}), ints({1})}};
});
const SampleSet kTensorinv("linalg_tensorinv", [](ScalarType dtype, Random& random) -> Arguments {
  return {{random.tensor(dtype, {2, 3, 6})}, {random.tensor(dtype, {4, 2, 2}), 1}};
});

const SampleSet kPinv("linalg_pinv", [](ScalarType dtype, Random& random) -> Arguments {
  return {
      {random.tensor(dtype, {4, 2}), 1e-15},
      {random.tensor(dtype, {2, 2, 3}), 1e-15},
      {random.tensor(dtype, {0, 3}), 1e-15}};
});
const SampleSet kMatrixRank(
    "linalg_matrix_rank",
    [](ScalarType dtype, Random& random) -> Arguments {
      const at::Tensor a = random.tensor(dtype, {4, 2});
      return {{a, 1e-3}, {a.matmul(a.mH()).contiguous(), 1e-3}, {random.tensor(dtype, {2, 0, 3}), 1e-3}};
    },
    kNoGradient);
const SampleSet kMatrixPower("linalg_matrix_power", [](ScalarType dtype, Random& random) -> Arguments {
  Arguments all;
  for (const int64_t n : {0, 1, 2, 3, 5, -1, -2}) {
    all.push_back({regular(dtype, random, {2, 2}), n});
  }
  return all;
});
const SampleSet kMatrixExp("linalg_matrix_exp", [](ScalarType dtype, Random& random) -> Arguments {
  return {
      {random.tensor(dtype, {3, 3})},
      {random.tensor(dtype, {2, 2, 2}, -0.2, 0.2)},
      {random.tensor(dtype, {1, 1})},
      {random.tensor(dtype, {0, 0})}};
});
const SampleSet kMatrixNorm("linalg_matrix_norm", [](ScalarType dtype, Random& random) -> Arguments {
  Arguments all;
  for (const double ord : {1.0, -1.0, 2.0, -2.0, double(INFINITY), -double(INFINITY)}) {
    all.push_back({random.tensor(dtype, {4, 3}), ord});
    all.push_back({random.tensor(dtype, {3, 2, 2}), ord, ints({0, 2}), true});
  }
  return all;
});
const SampleSet kMatrixNormStr("linalg_matrix_norm.str_ord", [](ScalarType dtype, Random& random) -> Arguments {
  return {
      {random.tensor(dtype, {4, 3})},
      {random.tensor(dtype, {4, 3}), "nuc"},
      {random.tensor(dtype, {3, 2, 2}), "nuc", ints({2, 0}), true}};
});
const SampleSet kNorm("linalg_norm", [](ScalarType dtype, Random& random) -> Arguments {
  const at::Tensor a = random.tensor(dtype, {4, 3});
  return {{a}, {a, 2}, {a, 1, ints({0})}, {a, 3.5, ints({1}), true}, {random.tensor(dtype, {5}), 2}};
});
const SampleSet kCond("linalg_cond", [](ScalarType dtype, Random& random) -> Arguments {
  const at::Tensor a = regular(dtype, random, {3, 3});
  return {{a}, {a, 1}, {a, -2}, {a, double(INFINITY)}, {random.tensor(dtype, {4, 2})}};
});
const SampleSet kCross("linalg_cross", [](ScalarType dtype, Random& random) -> Arguments {
  if (dtype == ScalarType::Bool) {
    return {};
  }
  return {
      {random.tensor(dtype, {2, 3}), random.tensor(dtype, {2, 3})},
      {random.tensor(dtype, {3, 1}), random.tensor(dtype, {3, 4}), 0},
      {random.tensor(dtype, {0, 3}), random.tensor(dtype, {0, 3})}};
});
const SampleSet kVander("linalg_vander", [](ScalarType dtype, Random& random) -> Arguments {
  return {{random.tensor(dtype, {3})}, {random.tensor(dtype, {2, 3}), 5}};
});

Arguments pairs_of_rows(ScalarType dtype, Random& random) {
  Arguments all;
  for (const double p : {0.0, 1.0, 1.5, 2.0, 3.0, double(INFINITY)}) {
    all.push_back({random.tensor(dtype, {3, 4}), random.tensor(dtype, {2, 4}), p, none()});
    all.push_back({random.tensor(dtype, {2, 3, 2}), random.tensor(dtype, {1, 2, 2}), p, none()});
  }
  return all;
}
const SampleSet kCdist("_cdist_forward", pairs_of_rows);
const SampleSet kEuclidean("_euclidean_dist", [](ScalarType dtype, Random& random) -> Arguments {
  return {{random.tensor(dtype, {3, 4}), random.tensor(dtype, {2, 4})}};
});
const SampleSet kPdist("_pdist_forward", [](ScalarType dtype, Random& random) -> Arguments {
  Arguments all;
  for (const double p : {0.0, 1.0, 1.5, 2.0, double(INFINITY)}) {
    all.push_back({random.tensor(dtype, {4, 3}), p});
  }
  all.push_back({random.tensor(dtype, {1, 3})});
  return all;
});

} // namespace

} // namespace test
