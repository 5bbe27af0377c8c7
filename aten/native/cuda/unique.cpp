// The unique family: differences between neighbours, in sorted order or as they stand.
#include <aten/Functions.h>
#include <aten/core/Tensor.h>
#include <aten/core/TensorOperators.h>
#include <aten/core/dtype_dispatch.h>
#include <c10/core/WrapDimMinimal.h>

#include <algorithm>
#include <tuple>

namespace at::native {

namespace {

using Uniques = std::tuple<Tensor, Tensor, Tensor>;

constexpr auto kSortable = kBooleans | kIntegral | kUnsigned | kFloating;

template <std::uint64_t Dtypes>
void check_dtype(const char* op, const Tensor& t, DtypeSet<Dtypes> set) {
  if (!set.contains(t.scalar_type())) {
    at::detail::dtype_not_supported(op, t.scalar_type(), Dtypes);
  }
}

/// Groups of neighbours: where each begins, of how many elements it is, and the group of each element.
struct Groups {
  Tensor starts, counts, group;

  /// differs[i]: are elements i and i + 1 different?
  explicit Groups(const Tensor& differs) {
    const int64_t total = differs.numel() + 1;
    const Tensor begins = at::cat({at::ones({1}, differs.options()), differs});
    starts = at::nonzero(begins).view({-1});
    counts = at::cat({starts.slice(0, 1), at::full({1}, total, starts.options())}).sub_(starts);
    group = begins.cumsum(0).sub_(1);
  }
};

Tensor none_like(const Tensor& self) {
  return at::empty({0}, self.options().dtype(kLong));
}

/// Values of a vector, in an order that `indices` tells (undefined: as they stand).
Uniques unique_vector(
    const Tensor& self, const Tensor& values, const Tensor& places, bool return_inverse, bool return_counts) {
  if (self.numel() == 0) {
    const auto longs = self.options().dtype(kLong);
    return {
        at::empty({0}, self.options()), return_inverse ? at::empty(self.sizes(), longs) : none_like(self),
        none_like(self)};
  }
  const int64_t count = values.numel();
  const Groups groups(values.slice(0, 1).ne(values.slice(0, 0, count - 1)));
  Tensor inverse = none_like(self);
  if (return_inverse) {
    inverse = (places.defined() ? at::empty_like(groups.group).scatter_(0, places, groups.group) : groups.group)
                  .view(self.sizes());
  }
  return {values.index_select(0, groups.starts), inverse, return_counts ? groups.counts : none_like(self)};
}

/// The order of the rows of a matrix, by their first elements, among equal ones by the next, ...
Tensor row_order(const Tensor& rows) {
  Tensor order = at::arange(rows.size(0), rows.options().dtype(kLong));
  for (int64_t column = rows.size(1) - 1; column >= 0; --column) {
    const Tensor keys = rows.select(1, column).index_select(0, order);
    order = order.index_select(0, std::get<1>(at::sort(keys, /*stable=*/true, 0, /*descending=*/false)));
  }
  return order;
}

// Indices and counts are given whether asked for or not.
Uniques unique_along(const char* name, const Tensor& self, int64_t dim, bool sort) {
  sort ? check_dtype(name, self, kSortable) : check_dtype(name, self, kSortable | kComplex);
  TORCH_CHECK(self.dim() > 0, name, "(): dim needs an input of at least one dimension, got a 0-dim tensor");
  dim = c10::maybe_wrap_dim(dim, self.dim());
  const int64_t empty_dims = std::count(self.sizes().begin(), self.sizes().end(), 0);
  if (self.size(dim) == 0) {
    TORCH_CHECK(
        empty_dims == 1,
        "Number of zero sized dimensions is more than one, so unique cannot be applied to an input of shape ",
        self.sizes());
    return {at::empty(self.sizes(), self.options()), none_like(self), none_like(self)};
  }
  TORCH_CHECK(
      empty_dims == 0,
      "There are 0 sized dimensions, and they aren't selected, so unique cannot be applied to an input of shape ",
      self.sizes(), " and dim ", dim);
  const int64_t count = self.size(dim);
  const Tensor rows = self.movedim(dim, 0).reshape({count, -1});
  const Tensor order = sort ? row_order(rows) : at::arange(count, self.options().dtype(kLong));
  const Tensor sorted = sort ? rows.index_select(0, order) : rows;
  const Groups groups(sorted.slice(0, 1).ne(sorted.slice(0, 0, count - 1)).any(1));
  const Tensor kept = order.index_select(0, groups.starts);
  // The slices lie one after the other, as they are gathered.
  const Tensor values = self.transpose(0, dim).contiguous().index_select(0, kept).transpose(0, dim);
  return {values, at::empty_like(order).scatter_(0, order, groups.group), groups.counts};
}

} // namespace

Uniques unique2_cuda(const Tensor& self, bool, bool return_inverse, bool return_counts) {
  check_dtype("unique", self, kSortable);
  const auto [values, places] = at::sort(self.reshape({-1}), /*stable=*/true, 0, /*descending=*/false);
  return unique_vector(self, values, places, return_inverse, return_counts);
}

std::tuple<Tensor, Tensor> unique_cuda(const Tensor& self, bool sorted, bool return_inverse) {
  auto [values, inverse, counts] = unique2_cuda(self, sorted, return_inverse, /*return_counts=*/false);
  return {std::move(values), std::move(inverse)};
}

Uniques unique_dim_cuda(const Tensor& self, int64_t dim, bool, bool, bool) {
  return unique_along("unique_dim", self, dim, /*sort=*/true);
}

Uniques unique_dim_consecutive_cuda(const Tensor& self, int64_t dim, bool, bool) {
  return unique_along("unique_dim_consecutive", self, dim, /*sort=*/false);
}

Uniques unique_consecutive_cuda(
    const Tensor& self, bool return_inverse, bool return_counts, std::optional<int64_t> dim) {
  if (!dim.has_value() || (self.dim() == 1 && *dim == 0)) { // along dim -1, what was not asked for is returned too
    check_dtype("unique_consecutive", self, kSortable | kComplex);
    return unique_vector(self, self.reshape({-1}), Tensor(), return_inverse, return_counts);
  }
  return unique_dim_consecutive_cuda(self, *dim, return_inverse, return_counts);
}

} // namespace at::native
