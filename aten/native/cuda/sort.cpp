// sort and topk on CUDA devices: the host side of sort.cu.
#include <aten/Functions.h>
#include <aten/core/dtype_dispatch.h>
#include <aten/native/cuda/copy.h>
#include <aten/native/cuda/sort_rows.h>
#include <c10/core/WrapDimMinimal.h>
#include <c10/cuda/CUDAStream.h>

#include <algorithm>
#include <utility>

namespace at::native::cuda {

namespace {

constexpr auto kSortable = kBooleans | kIntegral | kUnsigned | kFloating;

/// A few of many rows are selected by blocks, one a row, and so are those of rows that a block soon has read; what is
/// selected is then sorted.
bool should_select(int64_t rows, int64_t size, int64_t k) {
  constexpr int64_t kFew = 8;
  return k <= size / kFew && may_select(rows, size);
}

/// The first k of each sorted row to `values` and `indices`. All are contiguous, rows along the last dimension.
void first_of_rows(const Tensor& input, bool descending, int64_t k, const Tensor& values, const Tensor& indices) {
  const int64_t size = input.sizes().back(), rows = input.numel() / size;
  if (!should_select(rows, size, k)) {
    if (k == size) {
      return sort_rows(input, descending, values, indices);
    }
    const Tensor all = at::empty_like(input), places = at::empty(input.sizes(), input.options().dtype(at::kLong));
    sort_rows(input, descending, all, places);
    copy_on_device(values, all.narrow(-1, 0, k));
    copy_on_device(indices, places.narrow(-1, 0, k));
    return;
  }
  const Tensor chosen = at::empty(values.sizes(), values.options()),
               places = at::empty(indices.sizes(), indices.options());
  launch_select(
      {rows, size, k, input.scalar_type(), descending, input.const_data_ptr(), chosen.mutable_data_ptr(),
       places.mutable_data_ptr<int64_t>(), c10::cuda::getCurrentCUDAStream()});
  if (k <= kShortRow) {
    launch_sort_short(
        {rows, k, /*inner=*/1, input.scalar_type(), descending, Selection::Run, 0, k, chosen.const_data_ptr(),
         places.const_data_ptr<int64_t>(), values.mutable_data_ptr(), indices.mutable_data_ptr<int64_t>(),
         c10::cuda::getCurrentCUDAStream()});
    return;
  }
  const Tensor order = at::empty(indices.sizes(), indices.options());
  sort_rows(chosen, descending, values, order);
  copy_on_device(indices, places.gather(-1, order));
}

/// The first k of each sorted row.
void first_sorted(
    const char* op,
    const TensorBase& self,
    int64_t dim,
    bool descending,
    int64_t k,
    const TensorBase& values,
    const TensorBase& indices) {
  if (values.numel() == 0) {
    return;
  }
  if (self.dim() == 0) {
    copy_on_device(values, self);
    indices.fill_(0);
    return;
  }
  if (!kSortable.contains(self.scalar_type())) {
    at::detail::dtype_not_supported(op, self.scalar_type(), kSortable.bits);
  }
  dim = c10::maybe_wrap_dim(dim, self.dim());
  if (sort_short(self, dim, descending, {Selection::Run, 0, k}, values, indices)) {
    return;
  }
  const Tensor input = Tensor(self).movedim(dim, -1).contiguous();
  if (dim == self.dim() - 1 && values.is_contiguous() && indices.is_contiguous()) {
    return first_of_rows(input, descending, k, Tensor(values), Tensor(indices));
  }
  DimVector sizes(input.sizes().begin(), input.sizes().end());
  sizes.back() = k;
  const Tensor first = at::empty(sizes, input.options()), places = at::empty(sizes, input.options().dtype(at::kLong));
  first_of_rows(input, descending, k, first, places);
  copy_on_device(Tensor(values).movedim(dim, -1), first);
  copy_on_device(Tensor(indices).movedim(dim, -1), places);
}

/// One row of `values` and its indices, sorted in pieces of up to `most` elements, which are merged.
void sort_by_merging(const SortRows& row, int64_t most, const Tensor& values, const Tensor& indices) {
  const auto itemsize = static_cast<int64_t>(values.itemsize());
  const Tensor other_values = at::empty({row.size}, values.options()),
               other_indices = at::empty({row.size}, indices.options());
  struct Run {
    char* values;
    int64_t* indices;
  };
  Run from{static_cast<char*>(row.values), row.indices};
  Run to{static_cast<char*>(other_values.mutable_data_ptr()), other_indices.mutable_data_ptr<int64_t>()};
  for (int64_t run = most; run < row.size; run *= 2) {
    std::swap(from, to); // the last of the rounds to come writes where the result is wanted
  }
  for (int64_t start = 0; start < row.size; start += most) {
    launch_sort(
        {1, std::min(most, row.size - start), row.dtype, row.descending,
         static_cast<const char*>(row.in) + start * itemsize, from.values + start * itemsize, from.indices + start,
         row.stream, start});
  }
  for (int64_t run = most; run < row.size; run *= 2) {
    for (int64_t start = 0; start < row.size; start += 2 * run) {
      const int64_t front = std::min(run, row.size - start), back = std::min(run, row.size - start - front);
      launch_merge(
          {front, back, row.dtype, row.descending, from.values + start * itemsize, from.indices + start,
           to.values + start * itemsize, to.indices + start, row.stream});
    }
    std::swap(from, to);
  }
}

} // namespace

bool may_select(int64_t rows, int64_t size) {
  constexpr int64_t kEnoughRows = 16, kSoonRead = 1 << 16;
  return rows <= INT32_MAX && size <= INT32_MAX && size > kShortRow && (rows >= kEnoughRows || size <= kSoonRead);
}

bool sort_short(
    const TensorBase& self,
    int64_t dim,
    bool descending,
    const WantedOfRow& wanted,
    const TensorBase& values,
    const TensorBase& indices) {
  const int64_t size = self.dim() == 0 ? 1 : self.size(dim);
  if (size > kShortRow || !values.is_contiguous() || (indices.defined() && !indices.is_contiguous())) {
    return false;
  }
  int64_t inner = 1;
  for (int64_t d = dim + 1; d < self.dim(); ++d) {
    inner *= self.size(d);
  }
  const TensorBase input = self.contiguous();
  launch_sort_short(
      {self.numel() / size, size, inner, self.scalar_type(), descending, wanted.what, wanted.first, wanted.count,
       input.const_data_ptr(), /*places=*/nullptr, values.mutable_data_ptr(),
       indices.defined() ? indices.mutable_data_ptr<int64_t>() : nullptr, c10::cuda::getCurrentCUDAStream()});
  return true;
}

void sort_rows(const TensorBase& input, bool descending, const Tensor& values, const Tensor& indices, int64_t most) {
  // Some rows fill a device as well as all of them, and take less memory beside them.
  constexpr int64_t kEnough = 1 << 28;
  const int64_t size = input.sizes().back(), rows = input.numel() / size;
  if (size <= most && sort_short(input, input.dim() - 1, descending, {Selection::Run, 0, size}, values, indices)) {
    return;
  }
  const int64_t rows_at_once = std::max<int64_t>(std::min(most, kEnough) / size, 1);
  const auto itemsize = static_cast<int64_t>(input.itemsize());
  for (int64_t row = 0; row < rows; row += rows_at_once) {
    const int64_t start = row * size;
    const SortRows part{
        std::min(rows_at_once, rows - row),
        size,
        input.scalar_type(),
        descending,
        static_cast<const char*>(input.const_data_ptr()) + start * itemsize,
        static_cast<char*>(values.mutable_data_ptr()) + start * itemsize,
        indices.mutable_data_ptr<int64_t>() + start,
        c10::cuda::getCurrentCUDAStream()};
    if (size <= most) {
      launch_sort(part);
    } else {
      sort_by_merging(part, most, values, indices);
    }
  }
}

void sort_stable_kernel(
    const TensorBase& self,
    std::optional<bool>,
    int64_t dim,
    bool descending,
    const TensorBase& values,
    const TensorBase& indices) {
  const int64_t size = self.dim() == 0 ? 1 : self.size(dim);
  first_sorted("sort", self, dim, descending, size, values, indices);
}

void topk_kernel(
    const TensorBase& self,
    int64_t k,
    int64_t dim,
    bool largest,
    bool,
    const TensorBase& values,
    const TensorBase& indices) {
  first_sorted("topk", self, dim, largest, k, values, indices);
}

} // namespace at::native::cuda
