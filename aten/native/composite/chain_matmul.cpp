// Products of many matrices in the cheapest order.

#include <aten/Functions.h>
#include <aten/core/Tensor.h>
#include <aten/native/support/OutArgument.h>

#include <c10/util/irange.h>

#include <limits>
#include <vector>

namespace at::native {
namespace {

/// split[i][j] says after which matrix the cheapest product of matrices i..j is cut.
std::vector<std::vector<size_t>> cheapest_splits(TensorList matrices) {
  const size_t n = matrices.size();
  std::vector<int64_t> sizes{matrices.front().size(0)};
  for (const Tensor& m : matrices) {
    sizes.push_back(m.size(1));
  }
  std::vector<std::vector<double>> cost(n, std::vector<double>(n, 0));
  std::vector<std::vector<size_t>> split(n, std::vector<size_t>(n, 0));
  for (size_t length = 1; length < n; ++length) {
    for (size_t i = 0; i + length < n; ++i) {
      const size_t j = i + length;
      cost[i][j] = std::numeric_limits<double>::infinity();
      for (size_t k = i; k < j; ++k) {
        const double here =
            cost[i][k] + cost[k + 1][j] + double(sizes[i]) * double(sizes[k + 1]) * double(sizes[j + 1]);
        if (here < cost[i][j]) {
          cost[i][j] = here;
          split[i][j] = k;
        }
      }
    }
  }
  return split;
}

Tensor multiply_range(TensorList matrices, const std::vector<std::vector<size_t>>& split, size_t i, size_t j) {
  if (i == j) {
    return matrices[i];
  }
  const size_t k = split[i][j];
  return multiply_range(matrices, split, i, k).mm(multiply_range(matrices, split, k + 1, j));
}

} // namespace

Tensor linalg_multi_dot(TensorList tensors) {
  const size_t n = tensors.size();
  TORCH_CHECK(n >= 2, "multi_dot(): expected at least 2 tensors but got ", n);
  std::vector<Tensor> matrices(tensors.begin(), tensors.end());
  // The ends may be vectors: a row in front, a column behind.
  const bool row = matrices.front().dim() == 1, column = matrices.back().dim() == 1;
  TORCH_CHECK(
      row || matrices.front().dim() == 2, "multi_dot(): the first tensor must be 1D or 2D but got ",
      matrices.front().dim(), "D");
  TORCH_CHECK(
      column || matrices.back().dim() == 2, "multi_dot(): the last tensor must be 1D or 2D but got ",
      matrices.back().dim(), "D");
  DimVector sizes;
  if (row) {
    matrices.front() = matrices.front().unsqueeze(0);
  } else {
    sizes.push_back(matrices.front().size(0));
  }
  if (column) {
    matrices.back() = matrices.back().unsqueeze(1);
  } else {
    sizes.push_back(matrices.back().size(1));
  }
  for (const auto i : c10::irange(n)) {
    TORCH_CHECK(matrices[i].dim() == 2, "multi_dot(): tensor ", i, " must be 2D but got ", matrices[i].dim(), "D");
    TORCH_CHECK(
        matrices[i].scalar_type() == matrices[0].scalar_type(),
        "multi_dot(): all tensors must have be the same dtype but tensor 0 is ", matrices[0].dtype().name(),
        " and tensor ", i, " ", matrices[i].dtype().name());
    TORCH_CHECK(
        matrices[i].device() == matrices[0].device(),
        "multi_dot(): all tensors must be on the same device but tensor 0 is on ", matrices[0].device(), " and tensor ",
        i, " on ", matrices[i].device());
    TORCH_CHECK(
        i == 0 || matrices[i - 1].size(1) == matrices[i].size(0), "multi_dot(): tensors ", i - 1, " and ", i,
        " with shapes ", tensors[i == 0 ? 0 : i - 1].sizes(), " and ", tensors[i].sizes(), " cannot be multiplied");
  }
  return multiply_range(matrices, cheapest_splits(matrices), 0, n - 1).view(sizes);
}

Tensor& linalg_multi_dot_out(TensorList tensors, Tensor& out) {
  TORCH_CHECK(
      tensors.empty() || out.scalar_type() == tensors[0].scalar_type(),
      "multi_dot(): expected out tensor to have dtype ", tensors.empty() ? "" : std::string(tensors[0].dtype().name()),
      " but got ", out.dtype().name());
  const Tensor result = at::linalg_multi_dot(tensors);
  check_out_without_grad("mm", out);
  check_out_without_grad("mm", result);
  copy_into_out("linalg_multi_dot", out, result);
  return out;
}

Tensor chain_matmul(TensorList matrices) {
  TORCH_CHECK(!matrices.empty(), "chain_matmul(): Expected one or more matrices");
  for (const auto i : c10::irange(matrices.size())) {
    TORCH_CHECK(
        matrices[i].dim() == 2, "Tensor dimension is ", matrices[i].dim(),
        ", expected 2 instead. (in chain_matmul, tensor ", i, ")");
  }
  return matrices.size() == 1 ? matrices[0].clone() : at::linalg_multi_dot(matrices);
}

} // namespace at::native
