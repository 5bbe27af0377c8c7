// Coordinate tensors in another order, in part, and concatenated.
#include <aten/native/sparse/coo.h>
#include <aten/native/sparse/values.h>

#include <aten/Functions.h>
#include <aten/core/TensorOperators.h>
#include <aten/native/explicit/type_properties.h>
#include <c10/core/WrapDimMinimal.h>
#include <c10/util/DimVector.h>

#include <algorithm>
#include <vector>

namespace at::native {

using c10::DimVector;

namespace {

/// The elements whose numbers `kept` lists.
Tensor kept_elements(const Tensor& t, const Tensor& kept, int64_t dim) {
  return t.index_select(dim, kept);
}

Tensor without_row(const Tensor& indices, int64_t row) {
  return at::cat({indices.narrow(0, 0, row), indices.narrow(0, row + 1, indices.size(0) - row - 1)}, 0);
}

} // namespace

Tensor permute_coo(const Tensor& self, IntArrayRef dims) {
  TORCH_CHECK(
      self.dim() == static_cast<int64_t>(dims.size()),
      "permute(sparse_coo): number of dimensions in the tensor input does not match the length of the desired ordering "
      "of "
      "dimensions i.e. input.dim() = ",
      self.dim(), " is not equal to len(dims) = ", dims.size());
  const SparseTensorImpl* impl = get_sparse_impl(self);
  const int64_t sparse_dim = impl->sparse_dim();
  DimVector order, sizes, sparse_order, dense_order{0};
  std::vector<bool> seen(dims.size());
  for (const int64_t given : dims) {
    const int64_t d = c10::maybe_wrap_dim(given, self.dim());
    TORCH_CHECK(!seen[d], "permute(): duplicate dims are not allowed.");
    seen[d] = true;
    const bool to_sparse = static_cast<int64_t>(order.size()) < sparse_dim;
    TORCH_CHECK(
        to_sparse == (d < sparse_dim),
        "permute(sparse_coo): transpositions between sparse and dense dimensions are not allowed.",
        "Got permutation of ", dims, " with ", sparse_dim, " sparse dimensions");
    if (to_sparse) {
      sparse_order.push_back(d);
    } else {
      dense_order.push_back(d - sparse_dim + 1);
    }
    order.push_back(d);
    sizes.push_back(self.size(d));
  }
  const bool same_order = std::is_sorted(sparse_order.begin(), sparse_order.end());
  const Tensor indices =
      same_order ? impl->indices() : impl->indices().index_select(0, int64_tensor(sparse_order, self.device()));
  return make_coo(sizes, indices, impl->values().permute(dense_order), impl->coalesced() && same_order);
}

Tensor transpose_coo(const Tensor& self, int64_t dim0, int64_t dim1) {
  dim0 = c10::maybe_wrap_dim(dim0, self.dim());
  dim1 = c10::maybe_wrap_dim(dim1, self.dim());
  if (self.dim() == 0) {
    return at::clone(self);
  }
  DimVector order(self.dim());
  for (int64_t d = 0; d < self.dim(); ++d) {
    order[d] = d;
  }
  std::swap(order[dim0], order[dim1]);
  return at::native::permute_coo(self, order);
}

Tensor t_coo(const Tensor& self) {
  TORCH_CHECK(
      get_sparse_impl(self)->sparse_dim() <= 2 && get_sparse_impl(self)->dense_dim() == 0,
      "t() expects a tensor with <= 2 sparse and 0 dense dimensions, but got ", get_sparse_impl(self)->sparse_dim(),
      " sparse and ", get_sparse_impl(self)->dense_dim(), " dense dimensions");
  return self.dim() < 2 ? at::clone(self) : at::native::transpose_coo(self, 0, 1);
}

Tensor& transpose_coo_(Tensor& self, int64_t dim0, int64_t dim1) {
  write_sparse("transpose_", self, at::native::transpose_coo(self, dim0, dim1));
  return self;
}

Tensor& t_coo_(Tensor& self) {
  write_sparse("t_", self, at::native::t_coo(self));
  return self;
}

Tensor unsqueeze_coo(const Tensor& self, int64_t dim) {
  const int64_t at = c10::maybe_wrap_dim(dim, self.dim() + 1);
  const SparseTensorImpl* impl = get_sparse_impl(self);
  DimVector sizes(self.sizes().begin(), self.sizes().end());
  sizes.insert(sizes.begin() + at, 1);
  if (at > impl->sparse_dim()) {
    return make_coo(sizes, impl->indices(), impl->values().unsqueeze(at - impl->sparse_dim() + 1), impl->coalesced());
  }
  const Tensor& old = impl->indices();
  const Tensor indices = at::cat(
      {old.narrow(0, 0, at), at::zeros({1, impl->nnz()}, old.options()), old.narrow(0, at, old.size(0) - at)}, 0);
  return make_coo(sizes, indices, impl->values(), impl->coalesced());
}

Tensor select_coo(const Tensor& self, int64_t dim_, int64_t index_) {
  TORCH_CHECK_INDEX(self.dim() > 0, "select() cannot be applied to a 0-dim tensor.");
  const int64_t dim = c10::maybe_wrap_dim(dim_, self.dim());
  const int64_t size = self.size(dim);
  TORCH_CHECK_INDEX(
      index_ >= -size && index_ < size, "select(): index ", index_, " out of range for tensor of size ", self.sizes(),
      " at dimension ", dim);
  const int64_t index = index_ < 0 ? index_ + size : index_;
  const SparseTensorImpl* impl = get_sparse_impl(self);
  DimVector sizes(self.sizes().begin(), self.sizes().end());
  sizes.erase(sizes.begin() + dim);
  if (dim >= impl->sparse_dim()) {
    return make_coo(
        sizes, impl->indices(), impl->values().select(dim - impl->sparse_dim() + 1, index), impl->coalesced());
  }
  const Tensor kept = impl->indices().select(0, dim).eq(index).nonzero().squeeze(1);
  const Tensor values = kept_elements(impl->values(), kept, 0);
  if (impl->sparse_dim() == 1) {
    // Nothing sparse is left: the sum of what is there.
    return values.sum(IntArrayRef{0}).to(self.scalar_type());
  }
  return make_coo(sizes, without_row(kept_elements(impl->indices(), kept, 1), dim), values, impl->coalesced());
}

Tensor index_select_coo(const Tensor& self, int64_t dim_, const Tensor& index_) {
  TORCH_CHECK_INDEX(self.dim() > 0, "index_select() cannot be applied to a 0-dim tensor.");
  const int64_t dim = c10::maybe_wrap_dim(dim_, self.dim());
  TORCH_CHECK_INDEX(
      index_.dim() == 1 && index_.layout() == kStrided,
      "index_select() argument index must be 1-D strided (non-sparse) tensor.");
  TORCH_CHECK_INDEX(
      index_.scalar_type() == kLong || index_.scalar_type() == kInt,
      "index_select() argument index must be of type long or int.");
  const int64_t size = self.size(dim);
  const Tensor index = index_.to(kCPU, kLong).contiguous();
  const int64_t* wanted = index.const_data_ptr<int64_t>();
  const int64_t count = index.numel();
  const SparseTensorImpl* impl = get_sparse_impl(self);
  DimVector sizes(self.sizes().begin(), self.sizes().end());
  sizes[dim] = count;
  std::vector<int64_t> want(wanted, wanted + count);
  for (int64_t& w : want) {
    TORCH_CHECK_INDEX(
        w >= -size && w < size, "index_select(): index contains ", w, " that is out of range for tensor of size ",
        self.sizes(), " at dimension ", dim);
    w += w < 0 ? size : 0;
  }
  if (dim >= impl->sparse_dim()) {
    return make_coo(
        sizes, impl->indices().clone(),
        impl->values().index_select(dim - impl->sparse_dim() + 1, int64_tensor(want, self.device())),
        impl->coalesced());
  }
  // Elements by their coordinate in `dim`, in their order; then for each wanted coordinate its elements.
  const auto [sorted, order] = impl->indices().select(0, dim).to(kCPU).sort(/*stable=*/true, 0, false);
  const int64_t* coordinate = sorted.const_data_ptr<int64_t>();
  const int64_t* element = order.const_data_ptr<int64_t>();
  std::vector<int64_t> elements, places;
  for (int64_t place = 0; place < count; ++place) {
    const int64_t* first = std::lower_bound(coordinate, coordinate + impl->nnz(), want[place]);
    for (; first != coordinate + impl->nnz() && *first == want[place]; ++first) {
      elements.push_back(element[first - coordinate]);
      places.push_back(place);
    }
  }
  const Tensor chosen = int64_tensor(elements, self.device());
  Tensor indices = kept_elements(impl->indices(), chosen, 1);
  indices.select(0, dim).copy_(int64_tensor(places, self.device()));
  return make_coo(sizes, indices, kept_elements(impl->values(), chosen, 0), /*coalesced=*/false);
}

Tensor cat_coo(TensorList tensors, int64_t dim_) {
  TORCH_CHECK(!tensors.empty(), "torch.cat(): expected a non-empty list of Tensors");
  for (size_t i = 0; i < tensors.size(); ++i) {
    TORCH_CHECK(
        tensors[i].is_sparse(), "Concatenating sparse tensors, but a dense tensor was found at position ", i, ".");
  }
  const Tensor& first = tensors[0];
  const int64_t dim = c10::maybe_wrap_dim(dim_, first.dim());
  TORCH_CHECK(first.dim() > 0, "zero-dimensional tensor (at position 0) cannot be concatenated");
  const int64_t sparse_dim = get_sparse_impl(first)->sparse_dim();
  DimVector sizes(first.sizes().begin(), first.sizes().end());
  sizes[dim] = 0;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const Tensor& t = tensors[i];
    bool fits = t.dim() == first.dim();
    for (int64_t d = 0; fits && d < t.dim(); ++d) {
      fits = d == dim || t.size(d) == first.size(d);
    }
    TORCH_CHECK(
        fits, "All tensors must have the same shape: ", first.sizes(),
        " (except in the concatenating dimension), but found shape: ", t.sizes(), " at position ", i, ".");
    TORCH_CHECK(
        at::sparse::is_same_density(t, first), "All tensors must have the same sparse_dim and dense_dim: ", sparse_dim,
        ", ", get_sparse_impl(first)->dense_dim(), ", but tensor at position ", i, " has ",
        get_sparse_impl(t)->sparse_dim(), ", ", get_sparse_impl(t)->dense_dim(), ".");
    sizes[dim] += t.size(dim);
  }
  const ScalarType dtype = at::native::result_type(tensors);
  std::vector<Tensor> indices, values;
  int64_t before = 0;
  for (const Tensor& t : tensors) {
    const SparseTensorImpl* impl = get_sparse_impl(t);
    Tensor places = impl->indices();
    Tensor elements = impl->values().to(dtype);
    if (dim < sparse_dim) {
      places = places.clone();
      places.select(0, dim).add_(before);
    } else {
      // Each block becomes one of the result's, with zeros before and after.
      DimVector padding(2 * (elements.dim() - 1 - (dim - sparse_dim)), 0);
      padding[padding.size() - 2] = before;
      padding[padding.size() - 1] = sizes[dim] - before - t.size(dim);
      elements = at::constant_pad_nd(elements, padding, 0);
    }
    before += t.size(dim);
    indices.push_back(places);
    values.push_back(elements);
  }
  return make_coo(sizes, at::cat(indices, 1), at::cat(values, 0), /*coalesced=*/false);
}

} // namespace at::native
