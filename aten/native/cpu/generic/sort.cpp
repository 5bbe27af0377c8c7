// sort along a dimension, with indices. Always stable.
#include <aten/core/dtype_dispatch.h>
#include <aten/native/cpu/generic/row_walk.h>
#include <aten/native/cpu/generic/sort_keys.h>

#include <memory>

namespace at::native {

namespace {

// Sorts chunks on all threads, then merges neighbours. Worth it for one long row only.
template <class T>
void sort_long_row(sorting::Entry<T>* entries, int64_t count, sorting::Entry<T>* scratch, int64_t chunks) {
  const int64_t chunk = (count + chunks - 1) / chunks;
  at::parallel_for(0, chunks, 1, [&](int64_t begin, int64_t end) {
    for (int64_t c = begin; c < end; ++c) {
      const int64_t first = std::min(count, c * chunk);
      sorting::sort_entries<T>(entries + first, std::min(count, first + chunk) - first, scratch + first);
    }
  });
  auto* from = entries;
  auto* to = scratch;
  for (int64_t width = chunk; width < count; width *= 2) {
    const int64_t pairs = (count + 2 * width - 1) / (2 * width);
    at::parallel_for(0, pairs, 1, [&](int64_t begin, int64_t end) {
      for (int64_t p = begin; p < end; ++p) {
        const int64_t first = p * 2 * width;
        const int64_t middle = std::min(count, first + width);
        const int64_t last = std::min(count, first + 2 * width);
        std::merge(from + first, from + middle, from + middle, from + last, to + first);
      }
    });
    std::swap(from, to);
  }
  if (from != entries) {
    std::copy(from, from + count, entries);
  }
}

constexpr int64_t kLongRow = 1 << 17;

template <class T>
void sort_rows(const TensorBase& self, int64_t dim, bool descending, const TensorBase& values, const TensorBase& indices) {
  using sorting::Entry;
  const int64_t count = row_size(self, dim);
  const int64_t in_stride = row_stride(self, dim);
  const int64_t value_stride = row_stride(values, dim);
  const int64_t index_stride = row_stride(indices, dim);
  const T* in = self.const_data_ptr<T>();
  T* value = values.mutable_data_ptr<T>();
  int64_t* index = indices.mutable_data_ptr<int64_t>();
  const int64_t threads = count >= kLongRow && self.numel() / count < at::get_num_threads() ? at::get_num_threads() : 1;

  for_rows<3>({&self, &values, &indices}, dim, threads > 1 ? 1 : count * 8, [&] {
    return [&, entries = std::make_unique_for_overwrite<Entry<T>[]>(count),
            scratch = std::make_unique_for_overwrite<Entry<T>[]>(count)](const std::array<int64_t, 3>& at) {
      sorting::load_entries(in + at[0], count, in_stride, descending, entries.get());
      if (threads > 1) {
        sort_long_row<T>(entries.get(), count, scratch.get(), threads);
      } else {
        sorting::sort_entries<T>(entries.get(), count, scratch.get());
      }
      for (int64_t i = 0; i < count; ++i) {
        const int64_t place = entries[i].index();
        value[at[1] + i * value_stride] = in[at[0] + place * in_stride];
        index[at[2] + i * index_stride] = place;
      }
    };
  });
}

} // namespace

void sort_stable_kernel(
    const TensorBase& self,
    std::optional<bool>,
    int64_t dim,
    bool descending,
    const TensorBase& values,
    const TensorBase& indices) {
  if (self.numel() == 0 || copy_scalar(self, values, indices)) {
    return;
  }
  dim = c10::maybe_wrap_dim(dim, self.dim());
  dispatch("sort_cpu", self.scalar_type(), kBooleans | kIntegral | kUnsigned | kFloating, [&]<class T> {
    TORCH_CHECK(row_size(self, dim) <= sorting::kLongestRow<T>, "sort(): a row of ", row_size(self, dim),
                " elements is too long; rows may have up to 2^32 - 1 elements of this dtype");
    sort_rows<T>(self, dim, descending, values, indices);
  });
}

} // namespace at::native
