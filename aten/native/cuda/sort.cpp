// sort, topk, randperm and nonzero on CUDA devices: the host side of sort.cu.
#include <aten/Functions.h>
#include <aten/core/dtype_dispatch.h>
#include <aten/native/OutArgument.h>
#include <aten/native/cuda/copy.h>
#include <aten/native/cuda/sort_rows.h>
#include <c10/core/WrapDimMinimal.h>
#include <c10/cuda/CUDAStream.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

namespace at::native {

namespace cuda {

namespace {

constexpr auto kSortable = kBooleans | kIntegral | kUnsigned | kFloating;

struct Sorted {
  Tensor values, indices; // with the dimension in question last
};

Sorted sorted(const Tensor& input, bool descending) {
  const Sorted result{at::empty_like(input), at::empty(input.sizes(), input.options().dtype(kLong))};
  sort_rows(input, descending, result.values, result.indices);
  return result;
}

/// A few of many rows are selected by blocks, one a row; what is selected is then sorted.
bool should_select(int64_t rows, int64_t size, int64_t k) {
  constexpr int64_t kEnoughRows = 16, kLong = 1024, kFew = 8;
  return rows >= kEnoughRows && rows <= INT32_MAX && size >= kLong && size <= INT32_MAX && k <= size / kFew;
}

Sorted selected(const Tensor& input, bool largest, int64_t k) {
  DimVector sizes(input.sizes().begin(), input.sizes().end());
  const int64_t size = sizes.back();
  sizes.back() = k;
  const Tensor values = at::empty(sizes, input.options()), places = at::empty(sizes, input.options().dtype(at::kLong));
  launch_select(
      {input.numel() / size, size, k, input.scalar_type(), largest, input.const_data_ptr(), values.mutable_data_ptr(),
       places.mutable_data_ptr<int64_t>(), c10::cuda::getCurrentCUDAStream()});
  const Sorted order = sorted(values, largest);
  return {order.values, places.gather(-1, order.indices)};
}

/// The first k of each sorted row.
void first_sorted(
    const char* op, const TensorBase& self, int64_t dim, bool descending, int64_t k, const TensorBase& values,
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
  const Tensor input = Tensor(self).movedim(dim, -1).contiguous();
  const int64_t size = input.size(-1);
  const Sorted all = should_select(input.numel() / size, size, k) ? selected(input, descending, k) : sorted(input, descending);
  copy_on_device(Tensor(values).movedim(dim, -1), all.values.narrow(-1, 0, k));
  copy_on_device(Tensor(indices).movedim(dim, -1), all.indices.narrow(-1, 0, k));
}

/// One row of `values` and its indices, sorted in pieces of up to `most` elements, which are merged.
void sort_by_merging(const SortRows& row, int64_t most, const Tensor& values, const Tensor& indices) {
  const auto itemsize = static_cast<int64_t>(values.itemsize());
  const Tensor other_values = at::empty({row.size}, values.options()), other_indices = at::empty({row.size}, indices.options());
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
        {1, std::min(most, row.size - start), row.dtype, row.descending, static_cast<const char*>(row.in) + start * itemsize,
         from.values + start * itemsize, from.indices + start, row.stream, start});
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

void sort_rows(const TensorBase& input, bool descending, const Tensor& values, const Tensor& indices, int64_t most) {
  // Some rows fill a device as well as all of them, and take less memory beside them.
  constexpr int64_t kEnough = 1 << 28;
  const int64_t size = input.sizes().back(), rows = input.numel() / size;
  const bool is_short = size <= std::min(most, kShortRow);
  const int64_t rows_at_once = is_short ? most : std::max<int64_t>(std::min(most, kEnough) / size, 1);
  const auto itemsize = static_cast<int64_t>(input.itemsize());
  for (int64_t row = 0; row < rows; row += rows_at_once) {
    const int64_t start = row * size;
    const SortRows part{
        std::min(rows_at_once, rows - row), size, input.scalar_type(), descending,
        static_cast<const char*>(input.const_data_ptr()) + start * itemsize,
        static_cast<char*>(values.mutable_data_ptr()) + start * itemsize, indices.mutable_data_ptr<int64_t>() + start,
        c10::cuda::getCurrentCUDAStream()};
    if (is_short) {
      launch_sort_short(part);
    } else if (size <= most) {
      launch_sort(part);
    } else {
      sort_by_merging(part, most, values, indices);
    }
  }
}

void sort_stable_kernel(const TensorBase& self, std::optional<bool>, int64_t dim, bool descending, const TensorBase& values, const TensorBase& indices) {
  const int64_t size = self.dim() == 0 ? 1 : self.size(dim);
  first_sorted("sort", self, dim, descending, size, values, indices);
}

void topk_kernel(const TensorBase& self, int64_t k, int64_t dim, bool largest, bool, const TensorBase& values, const TensorBase& indices) {
  first_sorted("topk", self, dim, largest, k, values, indices);
}

} // namespace cuda

Tensor& randperm_out_cuda(int64_t n, std::optional<Generator> generator, Tensor& out) {
  TORCH_CHECK(n >= 0, "Trying to create tensor with negative dimension ", n, ": [", n, "] (in randperm)");
  dispatch("randperm", out.scalar_type(), at::kIntegral | at::kFloating, [&]<class T> {
    const double most = std::is_integral_v<T> ? static_cast<double>(std::numeric_limits<T>::max())
                                              : std::ldexp(1.0, std::numeric_limits<T>::digits);
    TORCH_CHECK(
        static_cast<double>(n - 1) <= most || n == 0, "n is too large for result tensor type: '", out.toString(), "'");
  });
  resize_output(out, {n});
  if (n == 0) {
    return out;
  }
  // Equal keys among 64 bits are so rare that they do not matter.
  const auto options = out.options().dtype(kLong);
  const Tensor keys = at::empty({n}, options).random_(std::numeric_limits<int64_t>::lowest(), std::nullopt, std::move(generator));
  if (n > cuda::kMostSorted) {
    cuda::copy_on_device(out, std::get<1>(keys.sort()));
    return out;
  }
  const Tensor order = at::empty({n}, options);
  cuda::launch_order_of_keys(
      static_cast<std::uint64_t*>(keys.mutable_data_ptr()), n, order.mutable_data_ptr<int64_t>(),
      c10::cuda::getCurrentCUDAStream());
  cuda::copy_on_device(out, order);
  return out;
}

Tensor nonzero_cuda(const Tensor& self) {
  const Tensor flags = (self.scalar_type() == kBool ? self : self.ne(0)).contiguous();
  const int64_t n = flags.numel(), ndim = self.dim();
  const auto options = self.options().dtype(kLong);
  // Waits for the device: the result's size depends on it.
  const int64_t count = n == 0 ? 0 : at::count_nonzero(flags).item<int64_t>();
  // Column by column, as PyTorch lays it out.
  const Tensor result = at::empty_strided({count, ndim}, {1, count}, options);
  if (count == 0) {
    return result;
  }
  const c10::cuda::CUDAStream stream = c10::cuda::getCurrentCUDAStream();
  const Tensor places = ndim == 1 ? result.select(1, 0) : at::empty({count}, options), found = at::empty({}, options);
  cuda::launch_find_true(
      static_cast<const std::uint8_t*>(flags.const_data_ptr()), n, places.mutable_data_ptr<int64_t>(),
      found.mutable_data_ptr<int64_t>(), stream);
  if (ndim > 1) {
    TORCH_CHECK(ndim <= cuda::Coordinates::kMostDims, "nonzero: on CUDA up to ", cuda::Coordinates::kMostDims, " dimensions are supported, got ", ndim);
    cuda::Coordinates p{count, static_cast<int>(ndim), {}, places.const_data_ptr<int64_t>(), result.mutable_data_ptr<int64_t>(), stream};
    std::copy(self.sizes().begin(), self.sizes().end(), p.sizes);
    cuda::launch_coordinates(p);
  }
  return result;
}

} // namespace at::native
