#include "test/ops/determined.h"

#include <ATen/Functions.h>
#include <ATen/TensorOperators.h>
#include <c10/core/WrapDimMinimal.h>

#include <map>
#include <stdexcept>

namespace test {

namespace {

using at::Tensor;
using Results = std::vector<Tensor>;

struct Call {
  const BoxedOp& op;
  const Stack& args;

  const c10::IValue& argument(const char* name) const {
    return args.at(op.position(name).value());
  }
};

/// Results (values, indices) along the argument `dim`.
Results chosen_elements(const Call& call, Results results) {
  const Tensor self = call.argument("self").toTensor();
  const Tensor source = self.dim() == 0 ? self.unsqueeze(0) : self;
  const int64_t dim = self.dim() == 0 ? 0 : c10::maybe_wrap_dim(call.argument("dim").toInt(), self.dim());
  Tensor indices = results.at(1);
  if (indices.dim() < source.dim()) {
    indices = indices.unsqueeze(dim);
  }
  if (indices.size(dim) > 1) {
    const Tensor sorted = std::get<0>(indices.sort(dim));
    const int64_t rest = sorted.size(dim) - 1;
    if (sorted.narrow(dim, 1, rest).eq(sorted.narrow(dim, 0, rest)).any().item<bool>()) {
      throw std::runtime_error("an index came twice in one line");
    }
  }
  results[1] = source.gather(dim, indices);
  return results;
}

Results chosen_elements_sorted(const Call& call, Results results) {
  results = chosen_elements(call, std::move(results));
  const auto sorted = call.op.position("sorted");
  if (results[0].dim() != 0 && !(sorted.has_value() && call.args.at(*sorted).toBool())) {
    const int64_t dim = call.argument("dim").toInt();
    for (Tensor& result : results) {
      result = std::get<0>(result.sort(dim));
    }
  }
  return results;
}

/// V^H V, the identity where columns are orthonormal.
Tensor products_of_columns(const Tensor& v) {
  return v.mH().matmul(v);
}

Results singular_values(const Call&, Results results) {
  const Tensor U = results.at(0), S = results.at(1), Vh = results.at(2);
  if (U.numel() == 0 || Vh.numel() == 0) {
    return {S};
  }
  const int64_t rank = S.size(-1);
  const Tensor product = (U.narrow(-1, 0, rank) * S.unsqueeze(-2)).matmul(Vh.narrow(-2, 0, rank));
  return {S, product, products_of_columns(U), products_of_columns(Vh.mH())};
}

Results hermitian_eigenvalues(const Call&, Results results) {
  const Tensor L = results.at(0), V = results.at(1);
  if (V.numel() == 0) {
    return {L};
  }
  return {L, (V * L.unsqueeze(-2)).matmul(V.mH()), products_of_columns(V)};
}

Results magnitudes(const Call&, Results results) {
  return {std::get<0>(results.at(0).abs().sort(-1))};
}

/// Values by their magnitudes; vectors have length one and are those of the matrix.
Results eigenvalues(const Call& call, Results results) {
  const Tensor L = results.at(0), V = results.at(1);
  const Tensor residual = call.argument("self").toTensor().to(V.scalar_type()).matmul(V) - V * L.unsqueeze(-2);
  return {std::get<0>(L.abs().sort(-1)), at::linalg_vector_norm(V, 2, {{-2}}), residual};
}

Results orthogonal_triangular(const Call&, Results results) {
  const Tensor Q = results.at(0), R = results.at(1);
  if (Q.numel() == 0) {
    return {R.abs()};
  }
  return {Q.matmul(R), products_of_columns(Q), R.abs()};
}

/// Results from `first` on that are LU and pivots.
template <size_t first>
Results factored(const Call&, Results results) {
  const auto [P, L, U] = at::lu_unpack(results.at(first), results.at(first + 1));
  results[first] = P.matmul(L).matmul(U);
  results.erase(results.begin() + first + 1);
  return results;
}

Results factored_apart(const Call&, Results results) {
  const Tensor P = results.at(0), L = results.at(1), U = results.at(2);
  return {P.numel() == 0 ? L.matmul(U) : P.matmul(L).matmul(U)};
}

/// Gelu is the approximation by tanh on CUDA alone.
Results without_gelu(const Call& call, Results results) {
  return call.argument("use_gelu").toBool() ? Results() : results;
}

/// Results LD and pivots: the inverse that they give.
Results factored_symmetric(const Call& call, Results results) {
  const Tensor LD = results.at(0), pivots = results.at(1);
  const Tensor one = at::eye(LD.size(-1), LD.options()).expand(LD.sizes()).contiguous();
  results[0] = at::linalg_ldl_solve(LD, pivots, one, call.argument("hermitian").toBool());
  results.erase(results.begin() + 1);
  return results;
}

} // namespace

Results determined(const std::string& name, const BoxedOp& op, const Stack& args, Results results) {
  static const std::map<std::string, Results (*)(const Call&, Results)> kRules = {
      {"kthvalue", chosen_elements},
      {"mode", chosen_elements},
      {"median.dim", chosen_elements},
      {"nanmedian.dim", chosen_elements},
      {"topk", chosen_elements_sorted},
      {"_linalg_svd", singular_values},
      {"linalg_svd", singular_values},
      {"_linalg_eigh", hermitian_eigenvalues},
      {"linalg_eigh", hermitian_eigenvalues},
      {"_linalg_eigvals", magnitudes},
      {"linalg_eigvals", magnitudes},
      {"linalg_eig", eigenvalues},
      {"linalg_qr", orthogonal_triangular},
      {"linalg_lu_factor", factored<0>},
      {"linalg_lu_factor_ex", factored<0>},
      {"linalg_lu", factored_apart},
      {"_linalg_det", factored<1>},
      {"_linalg_slogdet", factored<2>},
      {"_linalg_solve_ex", factored<1>},
      {"_addmm_activation", without_gelu},
      {"linalg_ldl_factor", factored_symmetric},
      {"linalg_ldl_factor_ex", factored_symmetric},
  };
  const auto rule = kRules.find(name);
  return rule == kRules.end() ? results : rule->second({op, args}, std::move(results));
}

} // namespace test
