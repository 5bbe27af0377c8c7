// Solutions of linear systems in their public forms.

#include <aten/Functions.h>
#include <aten/core/Tensor.h>
#include <aten/core/TensorOperators.h>
#include <aten/native/composite/linalg_support.h>
#include <aten/native/support/OutArgument.h>
#include <aten/native/support/replace_output.h>

#include <c10/core/WrapDimMinimal.h>
#include <c10/util/accumulate.h>

#include <algorithm>
#include <numeric>

namespace at::native {
std::tuple<Tensor, Tensor> linalg_solve_ex(const Tensor& A, const Tensor& B, bool left, bool check_errors) {
  const auto results = at::_linalg_solve_ex(A, B, left, check_errors);
  return {std::get<0>(results), std::get<3>(results)};
}

std::tuple<Tensor&, Tensor&> linalg_solve_ex_out(
    const Tensor& A, const Tensor& B, bool left, bool check_errors, Tensor& result, Tensor& info) {
  Tensor LU = at::empty({0}, A.options()), pivots = at::empty({0}, A.options().dtype(kInt));
  at::_linalg_solve_ex_out(result, LU, pivots, info, A, B, left, check_errors);
  return {result, info};
}

Tensor linalg_solve(const Tensor& A, const Tensor& B, bool left) {
  const auto [result, info] = at::linalg_solve_ex(A, B, left, /*check_errors=*/false);
  at::_linalg_check_errors(info, "torch.linalg.solve", /*is_matrix=*/A.dim() == 2);
  return result;
}

Tensor& linalg_solve_out(const Tensor& A, const Tensor& B, bool left, Tensor& out) {
  check_out_without_grad("linalg_solve", out);
  // Where there is no solution, the output keeps what it holds.
  Tensor result = at::empty({0}, out.options()), info = at::empty({0}, A.options().dtype(kInt));
  at::linalg_solve_ex_out(result, info, A, B, left, /*check_errors=*/false);
  at::_linalg_check_errors(info, "torch.linalg.solve", /*is_matrix=*/A.dim() == 2);
  if (out.sizes() == result.sizes()) {
    copy_into_out("linalg_solve", out, result);
  } else {
    replace_output(out, result); // with its strides
  }
  return out;
}

Tensor lu_solve(const Tensor& self, const Tensor& LU_data, const Tensor& LU_pivots) {
  return at::linalg_lu_solve(LU_data, LU_pivots, self);
}

Tensor& lu_solve_out(const Tensor& self, const Tensor& LU_data, const Tensor& LU_pivots, Tensor& out) {
  return at::linalg_lu_solve_out(out, LU_data, LU_pivots, self);
}

Tensor linalg_tensorsolve(const Tensor& self, const Tensor& other, OptionalIntArrayRef dims) {
  Tensor A = self;
  if (dims.has_value()) {
    DimVector order;
    std::vector<bool> moved(self.dim(), false);
    for (const int64_t dim : *dims) {
      moved[c10::maybe_wrap_dim(dim, self.dim(), /*wrap_scalar=*/false)] = true;
    }
    for (int64_t d = 0; d < self.dim(); ++d) {
      if (!moved[d]) {
        order.push_back(d);
      }
    }
    // The named dimensions go to the end, in the order they are named in.
    for (const int64_t dim : *dims) {
      order.push_back(c10::maybe_wrap_dim(dim, self.dim()));
    }
    A = self.permute(order);
  }
  TORCH_CHECK(
      other.dim() <= A.dim(), "linalg.tensorsolve: self must have at least as many dimensions as other, got ", A.dim(),
      " and ", other.dim());
  const IntArrayRef result_sizes = A.sizes().slice(other.dim());
  const int64_t unknowns = c10::multiply_integers(result_sizes),
                equations = c10::multiply_integers(A.sizes().slice(0, other.dim()));
  TORCH_CHECK(
      unknowns == equations, "Expected self to satisfy the requirement prod(self.shape[other.ndim:]) == ",
      "prod(self.shape[:other.ndim]), but got ", unknowns, " != ", equations);
  TORCH_CHECK(
      other.numel() == unknowns, "linalg.tensorsolve: other must have ", unknowns, " elements to fit self, got ",
      other.sizes());
  return at::linalg_solve(A.reshape({unknowns, unknowns}), other.reshape({-1})).reshape(result_sizes);
}

Tensor& linalg_tensorsolve_out(const Tensor& self, const Tensor& other, OptionalIntArrayRef dims, Tensor& out) {
  write_linalg_out("tensorsolve", out, native::linalg_tensorsolve(self, other, dims), "result");
  return out;
}

Tensor linalg_tensorinv(const Tensor& self, int64_t ind) {
  TORCH_CHECK(ind > 0, "Expected a strictly positive integer for 'ind', but got ", ind);
  const int64_t split = std::min(ind, self.dim());
  const IntArrayRef back = self.sizes().slice(split), front = self.sizes().slice(0, split);
  const int64_t rows = c10::multiply_integers(front), cols = c10::multiply_integers(back);
  TORCH_CHECK(
      rows == cols,
      "Expected self to satisfy the requirement prod(self.shape[ind:]) == prod(self.shape[:ind]), but got ", cols,
      " != ", rows);
  DimVector sizes(back.begin(), back.end());
  sizes.insert(sizes.end(), front.begin(), front.end());
  const auto [inverse, info] = at::linalg_inv_ex(self.reshape({cols, rows}), /*check_errors=*/false);
  at::_linalg_check_errors(info, "inv", /*is_matrix=*/true);
  return inverse.reshape(sizes);
}

Tensor& linalg_tensorinv_out(const Tensor& self, int64_t ind, Tensor& out) {
  write_linalg_out("tensorinv", out, native::linalg_tensorinv(self, ind), "result");
  return out;
}

} // namespace at::native
