// kthvalue, median, nanmedian and mode: one element of each row, found by a block, or indices in sorted rows. Arguments
// are checked by aten/shape/sort.cpp.
#include <aten/Functions.h>
#include <aten/core/Tensor.h>
#include <aten/core/TensorOperators.h>
#include <aten/core/dtype_dispatch.h>
#include <aten/native/cuda/copy.h>
#include <aten/native/cuda/sort_rows.h>
#include <c10/core/WrapDimMinimal.h>
#include <c10/cuda/CUDAStream.h>

#include <limits>
#include <tuple>

namespace at::native::cuda {

namespace {

constexpr auto kSelectable = kIntegral | kUnsigned | kFloating;

template <std::uint64_t Dtypes>
void check_dtype(const char* op, const TensorBase& t, DtypeSet<Dtypes> set) {
  if (!set.contains(t.scalar_type())) {
    at::detail::dtype_not_supported(op, t.scalar_type(), Dtypes);
  }
}

/// Rows along the last dimension, in ascending order with equal elements as they stood; NaN is the greatest.
struct SortedRows {
  Tensor values, places;

  SortedRows(const TensorBase& self, int64_t dim) {
    const Tensor rows = self.dim() == 0 ? Tensor(self).unsqueeze(0) : Tensor(self).movedim(dim, -1);
    std::tie(values, places) = at::sort(rows, /*stable=*/true, -1, /*descending=*/false);
  }
  int64_t count() const {
    return values.size(-1);
  }
  /// NaNs of each row, which stand at its end.
  Tensor nans() const {
    return values.ne(values).sum(-1, /*keepdim=*/true);
  }
};

/// Stores the elements of sorted rows at `at`: one number for all, or one for each row, with the last dimension kept.
void store(const SortedRows& rows, const Tensor& at, const TensorBase& values, const TensorBase& indices) {
  copy_on_device(values, rows.values.gather(-1, at).view(values.sizes()));
  copy_on_device(indices, rows.places.gather(-1, at).view(indices.sizes()));
}

/// Where the lower of the middle elements stands. A NaN decides the median, the first of several, but is passed over by
/// nanmedian.
Tensor median_place(const SortedRows& rows, bool ignore_nan) {
  const Tensor nans = rows.nans(), last = rows.count() - 1 - nans;
  if (ignore_nan) {
    return at::floor_divide(last.clamp_min(0), 2);
  }
  return at::where(nans > 0, last + 1, at::full({}, (rows.count() - 1) / 2, last.options()));
}

/// The one element wanted of each row along `dim`, in one launch, if the rows are short or can be selected from; the
/// k-th counts from 1.
bool find_one(
    const TensorBase& self,
    int64_t dim,
    Selection wanted,
    int64_t k,
    const TensorBase& values,
    const TensorBase& indices) {
  if (sort_short(self, dim, /*descending=*/false, {wanted, k - 1, 1}, values, indices)) {
    return true;
  }
  const int64_t size = self.dim() == 0 ? 1 : self.size(dim);
  if (!may_select(self.numel() / size, size) || !values.is_contiguous() ||
      (indices.defined() && !indices.is_contiguous())) {
    return false;
  }
  const Tensor rows = Tensor(self).movedim(dim, -1).contiguous();
  launch_select_one(
      {self.numel() / size, size, k, self.scalar_type(), /*largest=*/false, rows.const_data_ptr(),
       values.mutable_data_ptr(), indices.defined() ? indices.mutable_data_ptr<int64_t>() : nullptr,
       c10::cuda::getCurrentCUDAStream()},
      wanted);
  return true;
}

Selection median_selection(bool ignore_nan) {
  return ignore_nan ? Selection::NanMedian : Selection::Median;
}

void median_along(
    const TensorBase& self, int64_t dim, bool ignore_nan, const TensorBase& values, const TensorBase& indices) {
  check_dtype("median_cuda", self, kSelectable);
  dim = self.dim() == 0 ? 0 : c10::maybe_wrap_dim(dim, self.dim());
  if (self.numel() != 0 && !find_one(self, dim, median_selection(ignore_nan), 1, values, indices)) {
    const SortedRows rows(self, dim);
    store(rows, median_place(rows, ignore_nan), values, indices);
  }
}

void median_of_all(const TensorBase& self, bool ignore_nan, const TensorBase& out) {
  if (self.numel() == 0) {
    // Integers have no NaN; their empty median is the value that stands for an invalid conversion.
    if (c10::isFloatingType(self.scalar_type())) {
      out.fill_(std::numeric_limits<double>::quiet_NaN());
    } else if (self.scalar_type() == kBool) {
      out.fill_(1);
    } else {
      dispatch(
          "median_cuda", self.scalar_type(), kIntegral, [&]<class T> { out.fill_(std::numeric_limits<T>::min()); });
    }
    return;
  }
  check_dtype("median_cuda", self, kSelectable);
  const Tensor all = Tensor(self).reshape({-1});
  if (find_one(all, 0, median_selection(ignore_nan), 1, out, {})) {
    return;
  }
  const SortedRows rows(all, 0);
  copy_on_device(out, rows.values.gather(-1, median_place(rows, ignore_nan)).view(out.sizes()));
}

} // namespace

void kthvalue_kernel(
    const TensorBase& self, int64_t k, int64_t dim, bool, const TensorBase& values, const TensorBase& indices) {
  check_dtype("kthvalue_cuda", self, kSelectable);
  if (self.numel() == 0) {
    return;
  }
  dim = self.dim() == 0 ? 0 : c10::maybe_wrap_dim(dim, self.dim());
  if (find_one(self, dim, Selection::Run, k, values, indices)) {
    return;
  }
  const SortedRows rows(self, dim);
  copy_on_device(values, rows.values.select(-1, k - 1).reshape(values.sizes()));
  copy_on_device(indices, rows.places.select(-1, k - 1).reshape(indices.sizes()));
}

void median_kernel(const TensorBase& self, int64_t dim, bool, const TensorBase& values, const TensorBase& indices) {
  median_along(self, dim, /*ignore_nan=*/false, values, indices);
}

void nanmedian_kernel(const TensorBase& self, int64_t dim, bool, const TensorBase& values, const TensorBase& indices) {
  median_along(self, dim, /*ignore_nan=*/true, values, indices);
}

void median_all_kernel(const TensorBase& self, const TensorBase& out) {
  median_of_all(self, /*ignore_nan=*/false, out);
}

void nanmedian_all_kernel(const TensorBase& self, const TensorBase& out) {
  median_of_all(self, /*ignore_nan=*/true, out);
}

// See Note [The mode of a row].
void mode_kernel(const TensorBase& self, int64_t dim, bool, const TensorBase& values, const TensorBase& indices) {
  check_dtype("mode_cuda", self, kSelectable | kBooleans);
  if (self.numel() == 0) {
    return;
  }
  dim = self.dim() == 0 ? 0 : c10::maybe_wrap_dim(dim, self.dim());
  if (sort_short(self, dim, /*descending=*/false, {Selection::Mode, 0, 1}, values, indices)) {
    return;
  }
  const SortedRows rows(self, dim);
  const int64_t count = rows.count();
  const Tensor place = at::arange(count, rows.places.options()).expand(rows.places.sizes());
  // Where the run of equal values begins that an element is in.
  const Tensor begins = at::cat(
      {at::ones_like(place.narrow(-1, 0, 1), place.options().dtype(kBool)),
       rows.values.narrow(-1, 1, count - 1).ne(rows.values.narrow(-1, 0, count - 1))},
      -1);
  const Tensor start = std::get<0>(place.mul(begins).cummax(-1));
  const auto [length, best] = (place - start).max(-1, /*keepdim=*/true);
  const Tensor front = rows.places.eq(0).logical_and_(rows.values.ne(rows.values)); // a NaN that was the first element
  const Tensor stays = length.eq(0).logical_and_(front.any(-1, /*keepdim=*/true));
  store(rows, at::where(stays, front.to(kLong).argmax(-1, /*keepdim=*/true), best), values, indices);
}

} // namespace at::native::cuda
