// What tests of sparse tensors share.
#pragma once

#include <ATen/ATen.h>
#include <torch/torch.h>

#include <catch2/catch.hpp>

#include <sstream>
#include <string>
#include <vector>

#include "test/support/matchers.h"

namespace sparse_test {

using at::Tensor;
using test::Says;

inline Tensor indices(const std::vector<int64_t>& list) {
  return at::tensor(list, at::TensorOptions(at::kLong));
}

/// A matrix with these rows, each the coordinates of all elements in one dimension.
inline Tensor places(const std::vector<std::vector<int64_t>>& rows) {
  std::vector<Tensor> tensors;
  for (const std::vector<int64_t>& row : rows) {
    tensors.push_back(indices(row));
  }
  return at::stack(tensors);
}

inline Tensor coo(const std::vector<std::vector<int64_t>>& rows, const Tensor& values, at::IntArrayRef size) {
  return at::sparse_coo_tensor(places(rows), values, size);
}

inline std::string numbers(const Tensor& t) {
  std::ostringstream text;
  const Tensor flat = t.detach().to(at::kDouble).contiguous().view({-1});
  for (int64_t i = 0; i < flat.numel(); ++i) {
    text << (i ? " " : "") << flat.const_data_ptr<double>()[i];
  }
  return text.str();
}

/// A tensor of any layout in a line: layout, size and members.
inline std::string show(const Tensor& t) {
  std::ostringstream text;
  switch (t.layout()) {
    case at::kStrided:
      text << t.sizes() << " " << numbers(t);
      return text.str();
    case at::kSparse:
      text << (t.is_coalesced() ? "sorted " : "coo ") << t.sizes() << " at " << numbers(t._indices()) << " are "
           << numbers(t._values());
      return text.str();
    case at::kSparseCsr:
      text << "csr ";
      break;
    case at::kSparseCsc:
      text << "csc ";
      break;
    case at::kSparseBsr:
      text << "bsr ";
      break;
    default:
      text << "bsc ";
  }
  const bool rows = t.layout() == at::kSparseCsr || t.layout() == at::kSparseBsr;
  text << t.sizes() << " from " << numbers(rows ? t.crow_indices() : t.ccol_indices()) << " at "
       << numbers(rows ? t.col_indices() : t.row_indices()) << " are " << numbers(t.values());
  return text.str();
}

} // namespace sparse_test
