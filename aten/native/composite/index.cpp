// Indexing operators written with other operators.
#include <aten/Functions.h>
#include <aten/core/List.h>
#include <aten/core/ivalue.h>
#include <aten/iterator/ExpandUtils.h>
#include <aten/iterator/MemoryOverlap.h>
#include <c10/core/WrapDimMinimal.h>
#include <c10/util/DimVector.h>
#include <c10/util/safe_numerics.h>

#include <algorithm>

namespace at::native {

namespace {

bool is_one_mask(const c10::List<std::optional<Tensor>>& indices) {
  int64_t masks = 0;
  for (size_t i = 0; i < indices.size(); ++i) {
    const std::optional<Tensor> index = indices.get(i);
    if (index && index->defined()) {
      const ScalarType dtype = index->scalar_type();
      masks += dtype == kBool || dtype == kByte ? 1 : 2;
    }
  }
  return masks == 1;
}

} // namespace

Tensor& index_put_(
    Tensor& self, const c10::List<std::optional<Tensor>>& indices, const Tensor& values, bool accumulate) {
  const bool fills_mask = values.numel() == 1 && values.is_cpu() && !accumulate && is_one_mask(indices);
  if (!fills_mask) {
    at::assert_no_overlap(self, values);
    for (const std::optional<Tensor>& index : indices) {
      if (index && index->defined()) {
        at::assert_no_overlap(self, *index);
      }
    }
  }
  // One number for a mask's indices may have another dtype, and more dimensions than there are indices, as in
  // masked_fill_.
  const bool fits = values.scalar_type() == self.scalar_type() && values.dim() <= 1;
  if (!fits && fills_mask) {
    return at::_index_put_impl_(
        self, indices, at::scalar_tensor(values.item(), self.options()), accumulate, /*unsafe=*/false);
  }
  return at::_index_put_impl_(self, indices, values, accumulate, /*unsafe=*/false);
}

Tensor index_put(
    const Tensor& self, const c10::List<std::optional<Tensor>>& indices, const Tensor& values, bool accumulate) {
  return self.clone(at::MemoryFormat::Preserve).index_put_(indices, values, accumulate);
}

Tensor index_select_backward(const Tensor& grad, IntArrayRef self_sizes, int64_t dim, const Tensor& index) {
  return grad.new_zeros(self_sizes, grad.options()).index_add_(dim, index, grad);
}

Tensor gather_backward(const Tensor& grad, const Tensor& self, int64_t dim, const Tensor& index, bool sparse_grad) {
  if (sparse_grad) {
    return at::_gather_sparse_backward(self, dim, index, grad);
  }
  return grad.new_zeros(self.sizes(), grad.options()).scatter_add_(dim, index, grad);
}

Tensor masked_select_backward(const Tensor& grad, const Tensor& input, const Tensor& mask) {
  const Tensor zeros = at::zeros_like(input); // expand_outplace may borrow it
  const auto [grad_input, keep] = at::expand_outplace(zeros, mask);
  return grad_input->contiguous().masked_scatter(*keep, grad);
}

Tensor _unsafe_index(const Tensor& self, const c10::List<std::optional<Tensor>>& indices) {
  return self.index(indices);
}

Tensor nonzero_static(const Tensor& self, int64_t size, int64_t fill_value) {
  TORCH_CHECK(size >= 0, "nonzero_static: 'size' must be an non-negative integer, got ", size);
  const Tensor positions = self.nonzero();
  const int64_t count = std::min(size, positions.size(0));
  const Tensor result = at::full({size, self.dim()}, fill_value, positions.options());
  result.narrow(0, 0, count).copy_(positions.narrow(0, 0, count));
  return result;
}

Tensor masked_scatter_backward(const Tensor& grad_output, const Tensor& mask, IntArrayRef sizes) {
  int64_t numel = 1;
  for (const int64_t size : sizes) {
    TORCH_CHECK(size >= 0, "masked_scatter_backward: sizes must not be negative, got ", sizes);
    TORCH_CHECK(
        !c10::mul_overflows(numel, size, &numel), "masked_scatter_backward: the element count of sizes ", sizes,
        " overflows");
  }
  const Tensor picked = grad_output.masked_select(mask);
  const int64_t missing = std::max<int64_t>(numel - picked.numel(), 0);
  return at::constant_pad_nd(picked.narrow(0, 0, numel - missing), {0, missing}).view(sizes);
}

Tensor& index_fill_tensor_(Tensor& self, int64_t dim, const Tensor& index, const Tensor& value) {
  TORCH_CHECK(
      value.dim() == 0, "index_fill_ only supports a 0-dimensional value tensor, but got tensor with ", value.dim(),
      " dimension(s).");
  return self.index_fill_(dim, index, value.item());
}

Tensor index_fill_tensor(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& value) {
  TORCH_CHECK(
      value.dim() == 0, "index_fill_ only supports a 0-dimensional value tensor, but got tensor with ", value.dim(),
      " dimension(s).");
  return self.index_fill(dim, index, value.item());
}

Tensor masked_scatter(const Tensor& self, const Tensor& mask, const Tensor& source) {
  const auto [keep, to] = at::expand_outplace(mask, self);
  return to->clone(at::MemoryFormat::Contiguous).masked_scatter_(*keep, source);
}

std::vector<Tensor> nonzero_numpy(const Tensor& self) {
  return self.dim() == 0 ? self.unsqueeze(0).nonzero().unbind(1) : self.nonzero().unbind(1);
}

Tensor argwhere(const Tensor& self) {
  return self.nonzero();
}

namespace {

/// What `gather` is called with for take_along_dim.
struct Taken {
  Tensor from;
  int64_t dim;
  Tensor index;
};

Taken take_along(const Tensor& self, const Tensor& indices, std::optional<int64_t> opt_dim) {
  TORCH_CHECK(
      !opt_dim || self.dim() == indices.dim(),
      "torch.take_along_dim(): input and indices should have the same number of dimensions, but got ", self.dim(),
      " dimensions for input, and ", indices.dim(), " dimensions for indices");
  TORCH_CHECK(
      indices.scalar_type() == kLong, "torch.take_along_dim(): dtype of indices should be Long but got ",
      indices.scalar_type());
  if (!opt_dim) {
    return {self.reshape(-1), 0, indices.reshape(-1)};
  }
  const int64_t dim = c10::maybe_wrap_dim(*opt_dim, self.dim());
  c10::DimVector self_sizes(self.sizes().begin(), self.sizes().end());
  c10::DimVector index_sizes(indices.sizes().begin(), indices.sizes().end());
  self_sizes[dim] = indices.size(dim);
  index_sizes[dim] = self.size(dim);
  const c10::DimVector index_target = at::infer_size_dimvector(self_sizes, indices.sizes());
  const c10::DimVector self_target = at::infer_size_dimvector(index_sizes, self.sizes());
  return {self.expand(self_target), dim, indices.expand(index_target)};
}

} // namespace

Tensor take_along_dim(const Tensor& self, const Tensor& indices, std::optional<int64_t> dim) {
  const Taken taken = take_along(self, indices, dim);
  return at::gather(taken.from, taken.dim, taken.index);
}

Tensor& take_along_dim_out(const Tensor& self, const Tensor& indices, std::optional<int64_t> dim, Tensor& out) {
  const Taken taken = take_along(self, indices, dim);
  return at::gather_out(out, taken.from, taken.dim, taken.index);
}

Tensor combinations(const Tensor& self, int64_t r, bool with_replacement) {
  TORCH_CHECK(self.dim() == 1, "Expect a 1D vector, but got shape ", self.sizes());
  TORCH_CHECK(r >= 0, "Expect a non-negative number, but got ", r);
  if (r == 0) {
    return at::empty({0}, self.options());
  }
  const int64_t n = self.numel();
  // How many there are: n over r, or n + r - 1 over r. Each step of the product stays a whole number.
  int64_t choices = n;
  TORCH_CHECK(
      !with_replacement || !c10::add_overflows(n, r - 1, &choices), "combinations: too many to hold, ", r, " of ", n,
      " elements");
  if (n == 0 || choices < r) {
    return self.index_select(0, at::empty({0}, self.options().dtype(kLong))).view({0, r});
  }
  int64_t count = 1;
  for (int64_t i = 0; i < std::min(r, choices - r); ++i) {
    TORCH_CHECK(
        !c10::mul_overflows(count, choices - i, &count), "combinations: too many to hold, ", r, " of ", n, " elements");
    count /= i + 1;
  }
  int64_t elements = 0;
  TORCH_CHECK(
      !c10::mul_overflows(count, r, &elements), "combinations: too many to hold, ", count, " rows of ", r, " elements");
  const Tensor places = at::empty({elements}, kLong);
  int64_t* to = places.mutable_data_ptr<int64_t>();
  const Tensor row_places = at::empty({r}, kLong);
  int64_t* const row = row_places.mutable_data_ptr<int64_t>();
  for (int64_t k = 0; k < r; ++k) {
    row[k] = with_replacement ? 0 : k;
  }
  for (int64_t i = 0; i < count; ++i) {
    to = std::copy(row, row + r, to);
    // The last place that can still grow; those after it start over behind it.
    int64_t k = r - 1;
    while (k >= 0 && row[k] == (with_replacement ? n - 1 : n - r + k)) {
      --k;
    }
    if (k >= 0) {
      ++row[k];
      for (int64_t j = k + 1; j < r; ++j) {
        row[j] = with_replacement ? row[k] : row[j - 1] + 1;
      }
    }
  }
  return self.index_select(0, places.to(self.device())).view({count, r});
}

Tensor put(const Tensor& self, const Tensor& index, const Tensor& source, bool accumulate) {
  return self.clone(at::MemoryFormat::Preserve).put_(index, source, accumulate);
}

// ---- indices that a mask guards
// --------------------------------------------------------------------------------------------

namespace {

/// Indices moved into the range of their dimension: where the mask is false they may lie outside.
c10::List<std::optional<Tensor>> into_range(const Tensor& self, const c10::List<std::optional<Tensor>>& indices) {
  TORCH_CHECK_INDEX(
      static_cast<int64_t>(indices.size()) <= self.dim(), "too many indices for tensor of dimension ", self.dim(),
      " (got ", indices.size(), ")");
  c10::List<std::optional<Tensor>> result;
  for (size_t i = 0; i < indices.size(); ++i) {
    const std::optional<Tensor> index = indices.get(i);
    const int64_t size = self.size(static_cast<int64_t>(i));
    const bool is_index = index.has_value() && index->defined();
    result.push_back(is_index ? std::optional<Tensor>(index->clamp(-size, size - 1)) : index);
  }
  return result;
}

} // namespace

Tensor _unsafe_masked_index(
    const Tensor& self, const Tensor& mask, const c10::List<std::optional<Tensor>>& indices, const Scalar& fill) {
  if (self.numel() == 0) {
    // There is nothing to take, but the sizes are those of a tensor that has something.
    const Tensor like = at::zeros({}, self.options()).expand(DimVector(self.dim(), 1));
    c10::List<std::optional<Tensor>> zeros = into_range(like, indices);
    return at::full_like(at::index(like, zeros), fill);
  }
  return at::index(self, into_range(self, indices)).masked_fill(mask.logical_not(), fill);
}

Tensor _unsafe_masked_index_put_accumulate(
    const Tensor& self, const Tensor& mask, const c10::List<std::optional<Tensor>>& indices, const Tensor& values) {
  if (self.numel() == 0) {
    return self.clone();
  }
  return at::index_put(self, into_range(self, indices), values.masked_fill(mask.logical_not(), 0), /*accumulate=*/true);
}

std::tuple<Tensor, Tensor> _rowwise_prune(
    const Tensor& weight, const Tensor& mask, ScalarType compressed_indices_dtype) {
  TORCH_CHECK(weight.dim() == 2, "'weight' should have 2 dimensions, got sizes ", weight.sizes());
  TORCH_CHECK(
      mask.dim() == 1 && mask.size(0) == weight.size(0), "'mask' should have one element for each of the ",
      weight.size(0), " rows of 'weight', got sizes ", mask.sizes());
  TORCH_CHECK(
      compressed_indices_dtype == kInt || compressed_indices_dtype == kLong,
      "compressed_indices_dtype should be int32 or int64, got ", compressed_indices_dtype);
  const Tensor keep = mask.to(kBool);
  Tensor numbers = (keep.cumsum(0) - 1).masked_fill(keep.logical_not(), -1).to(compressed_indices_dtype);
  return {weight.index_select(0, keep.nonzero().squeeze(1)), std::move(numbers)};
}

} // namespace at::native
