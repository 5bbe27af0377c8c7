// topk, kthvalue, median, nanmedian, mode: order statistics along a dimension, on the keys of sort_keys.h.
#include <aten/core/dtype_dispatch.h>
#include <aten/native/cpu/generic/row_walk.h>
#include <aten/native/cpu/generic/sort_keys.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>

namespace at::native {

namespace {

using sorting::Entry;
using sorting::is_nan_key;

constexpr auto kSelectable = kIntegral | kUnsigned | kFloating;

// Elements of a row that are worth another thread.
constexpr int64_t kLeastPart = 65536;

// Entries that select_first may want room for.
constexpr int64_t first_capacity(int64_t k, int64_t count) {
  return k > count / 4 ? count : std::min(count, std::max<int64_t>(64, 2 * k));
}

// Puts the first `k` entries of a row in order at the front of `buffer`, which holds `capacity` entries. Short rows are
// loaded whole; of long ones only those are kept that beat the k-th best of what has been seen.
template <class T>
void select_first(
    const T* row, int64_t count, int64_t stride, bool flip, int64_t k, Entry<T>* buffer, int64_t capacity) {
  if (k == 0) {
    return;
  }
  if (capacity >= count) {
    sorting::load_entries(row, count, stride, flip, buffer);
    if (k < count) {
      std::nth_element(buffer, buffer + k - 1, buffer + count);
    }
  } else {
    const sorting::Key<T> mask = flip ? static_cast<sorting::Key<T>>(~sorting::Key<T>{0}) : sorting::Key<T>{0};
    sorting::load_entries(row, capacity, stride, flip, buffer);
    std::nth_element(buffer, buffer + k - 1, buffer + capacity);
    Entry<T> bar = buffer[k - 1];
    int64_t size = k;
    for (int64_t i = capacity; i < count; ++i) {
      const Entry<T> entry(static_cast<sorting::Key<T>>(sorting::key_of(row[i * stride]) ^ mask), i);
      if (entry < bar) {
        buffer[size++] = entry;
        if (size == capacity) {
          std::nth_element(buffer, buffer + k - 1, buffer + size);
          bar = buffer[k - 1];
          size = k;
        }
      }
    }
    std::nth_element(buffer, buffer + k - 1, buffer + size);
  }
  std::sort(buffer, buffer + k);
}

// The same for a long row, by parts on several threads: the first `k` of each, and of these the first again. Entries
// are all different, so that the cuts do not show.
template <class T>
void select_first_by_parts(
    const T* row, int64_t count, int64_t stride, bool flip, int64_t k, int64_t parts, Entry<T>* buffer) {
  const auto found = std::make_unique_for_overwrite<Entry<T>[]>(parts * k);
  at::parallel_for(0, parts, 1, [&](int64_t begin, int64_t end) {
    for (int64_t part = begin; part < end; ++part) {
      const int64_t first = count * part / parts, size = count * (part + 1) / parts - first;
      const int64_t capacity = first_capacity(k, size);
      const auto own = std::make_unique_for_overwrite<Entry<T>[]>(capacity);
      select_first(row + first * stride, size, stride, flip, k, own.get(), capacity);
      std::transform(own.get(), own.get() + k, found.get() + part * k, [first](const Entry<T>& e) {
        return Entry<T>(e.key(), first + e.index());
      });
    }
  });
  std::nth_element(found.get(), found.get() + k - 1, found.get() + parts * k);
  std::sort(found.get(), found.get() + k);
  std::copy(found.get(), found.get() + k, buffer);
}

template <class T>
void topk_rows(
    const TensorBase& self, int64_t k, int64_t dim, bool largest, const TensorBase& values, const TensorBase& indices) {
  const int64_t count = row_size(self, dim);
  const int64_t in_stride = row_stride(self, dim);
  const int64_t value_stride = row_stride(values, dim);
  const int64_t index_stride = row_stride(indices, dim);
  const T* in = self.const_data_ptr<T>();
  T* value = values.mutable_data_ptr<T>();
  int64_t* index = indices.mutable_data_ptr<int64_t>();
  const int64_t capacity = first_capacity(k, count);
  const int64_t least_part = std::max<int64_t>(kLeastPart, 8 * k);
  for_rows<3>({&self, &values, &indices}, dim, count * 2, [&] {
    return [&, buffer = std::make_unique_for_overwrite<Entry<T>[]>(capacity)](const std::array<int64_t, 3>& at) {
      const int64_t parts = count > least_part && k > 0 ? at::internal::threads_for(count, least_part) : 1;
      if (parts > 1) {
        select_first_by_parts(in + at[0], count, in_stride, largest, k, parts, buffer.get());
      } else {
        select_first(in + at[0], count, in_stride, largest, k, buffer.get(), capacity);
      }
      for (int64_t i = 0; i < k; ++i) {
        const int64_t place = buffer[i].index();
        value[at[1] + i * value_stride] = in[at[0] + place * in_stride];
        index[at[2] + i * index_stride] = place;
      }
    };
  });
}

// Which entry of a row is wanted: `choose(entries, count)` returns its place in the row.
template <class T, class Choose>
void choose_in_rows(
    const TensorBase& self, int64_t dim, const TensorBase& values, const TensorBase& indices, const Choose& choose) {
  const int64_t count = row_size(self, dim);
  const int64_t stride = row_stride(self, dim);
  const T* in = self.const_data_ptr<T>();
  T* value = values.mutable_data_ptr<T>();
  int64_t* index = indices.mutable_data_ptr<int64_t>();
  for_rows<3>({&self, &values, &indices}, dim, count * 4, [&] {
    return [&, entries = std::make_unique_for_overwrite<Entry<T>[]>(count)](const std::array<int64_t, 3>& at) {
      sorting::load_entries(in + at[0], count, stride, /*flip=*/false, entries.get());
      const int64_t place = choose(entries.get(), count);
      value[at[1]] = in[at[0] + place * stride];
      index[at[2]] = place;
    };
  });
}

template <class T>
int64_t kth_place(Entry<T>* entries, int64_t count, int64_t k) {
  std::nth_element(entries, entries + k, entries + count);
  return entries[k].index();
}

// The same by exchanges about the median of three, of which equal elements take part as they lie: the one of them that
// ends up at `k` is the one that PyTorch's kthvalue names.
template <class T>
int64_t kth_place_by_exchange(Entry<T>* entries, int64_t count, int64_t k) {
  const auto greater = [entries](int64_t a, int64_t b) { return entries[a].key() > entries[b].key(); };
  const auto exchange = [entries](int64_t a, int64_t b) { std::swap(entries[a], entries[b]); };
  const auto order = [&](int64_t a, int64_t b) {
    if (greater(a, b)) {
      exchange(a, b);
    }
  };
  for (int64_t low = 0, high = count - 1; low < high;) {
    if (high == low + 1) {
      order(low, high);
      break;
    }
    // The median goes to `low`; what stands beside it and at `high` stops the scans.
    exchange(low + (high - low) / 2, low + 1);
    order(low + 1, high);
    order(low, high);
    order(low + 1, low);
    int64_t left = low + 1, right = high;
    for (;;) {
      while (greater(low, ++left)) {
      }
      while (greater(--right, low)) {
      }
      if (right < left) {
        break;
      }
      exchange(left, right);
    }
    exchange(low, right);
    if (right >= k) {
      high = right - 1;
    }
    if (right <= k) {
      low = left;
    }
  }
  return entries[k].index();
}

// The lower of the two middle elements. A NaN decides the median, but is passed over by nanmedian.
template <class T>
int64_t median_place(Entry<T>* entries, int64_t count, bool ignore_nan) {
  int64_t nans = 0;
  for (int64_t i = 0; sorting::is_float_like<T> && i < count; ++i) {
    if (is_nan_key<T>(entries[i].key())) {
      if (!ignore_nan) {
        return entries[i].index();
      }
      ++nans;
    }
  }
  return kth_place(entries, count, std::max<int64_t>(0, count - nans - 1) / 2);
}

// std::sort of so few elements is sorting by insertion.
constexpr int64_t kSortedByInsertion = 16;

// The same steps where a NaN compares as it does: less than nothing, and nothing less than it. So it stays where it
// stands, and what is behind it does not come past it.
template <class T>
void sort_around_nans(Entry<T>* entries, int64_t count) {
  const auto less = [](const Entry<T>& a, const Entry<T>& b) { return a.key() < b.key() && !is_nan_key<T>(b.key()); };
  for (int64_t i = 1; i < count; ++i) {
    const Entry<T> entry = entries[i];
    int64_t to = i;
    if (less(entry, entries[0])) {
      to = 0;
    } else {
      while (less(entry, entries[to - 1])) {
        --to;
      }
    }
    std::move_backward(entries + to, entries + i, entries + i + 1);
    entries[to] = entry;
  }
}

// The smallest of the most frequent values, at the index that comes last when the row is sorted by std::sort, which is
// also what PyTorch does: of up to 16 elements the last one, of more any. NaNs are not equal to each other. PyTorch
// compares them as they are; in longer rows, where that would be no order, they are larger than the rest, but where
// nothing repeats, one at the front stays there.
template <class T>
int64_t mode_place(Entry<T>* entries, int64_t count) {
  if (sorting::is_float_like<T> && count <= kSortedByInsertion) {
    sort_around_nans<T>(entries, count);
  } else {
    std::sort(entries, entries + count, [](const Entry<T>& a, const Entry<T>& b) { return a.key() < b.key(); });
  }
  int64_t best = 0;
  int64_t best_length = 0;
  for (int64_t first = 0, i = 0; i < count; ++i) {
    if (entries[i].key() != entries[first].key() || is_nan_key<T>(entries[i].key())) {
      first = i;
    }
    if (i - first + 1 > best_length) {
      best_length = i - first + 1;
      best = i;
    }
  }
  for (int64_t i = count;
       count > kSortedByInsertion && best_length <= 1 && i-- > 0 && is_nan_key<T>(entries[i].key());) {
    if (entries[i].index() == 0) {
      return 0;
    }
  }
  return entries[best].index();
}

template <class Choose>
void choose_along(
    const char* name,
    const TensorBase& self,
    int64_t dim,
    const TensorBase& values,
    const TensorBase& indices,
    const Choose& choose) {
  if (self.numel() == 0 || copy_scalar(self, values, indices)) {
    return;
  }
  dim = c10::maybe_wrap_dim(dim, self.dim());
  dispatch(name, self.scalar_type(), kSelectable, [&]<class T> {
    choose_in_rows<T>(
        self, dim, values, indices, [&](Entry<T>* entries, int64_t count) { return choose(entries, count); });
  });
}

void median_of_all(const TensorBase& self, bool ignore_nan, const TensorBase& out) {
  const TensorBase flat = self.contiguous();
  const int64_t count = flat.numel();
  if (count == 0 && self.scalar_type() == ScalarType::Bool) {
    *out.mutable_data_ptr<bool>() = true; // as NaN is when converted
    return;
  }
  dispatch("median_cpu", self.scalar_type(), kSelectable, [&]<class T> {
    T* result = out.mutable_data_ptr<T>();
    if (count == 0) {
      // Integers have no NaN; their empty median is the value that stands for an invalid conversion, which goes by 32
      // bits.
      const T invalid = sizeof(T) < 4 ? T(0) : std::numeric_limits<T>::min();
      *result = sorting::is_float_like<T> ? std::numeric_limits<T>::quiet_NaN() : invalid;
      return;
    }
    const auto entries = std::make_unique_for_overwrite<Entry<T>[]>(count);
    const T* in = flat.const_data_ptr<T>();
    sorting::load_entries(in, count, 1, /*flip=*/false, entries.get());
    *result = in[median_place<T>(entries.get(), count, ignore_nan)];
  });
}

} // namespace

void topk_kernel(
    const TensorBase& self,
    int64_t k,
    int64_t dim,
    bool largest,
    bool,
    const TensorBase& values,
    const TensorBase& indices) {
  if (values.numel() == 0 || copy_scalar(self, values, indices)) {
    return;
  }
  dim = c10::maybe_wrap_dim(dim, self.dim());
  dispatch("topk_cpu", self.scalar_type(), kSelectable, [&]<class T> {
    topk_rows<T>(self, k, dim, largest, values, indices);
  });
}

void kthvalue_kernel(
    const TensorBase& self, int64_t k, int64_t dim, bool, const TensorBase& values, const TensorBase& indices) {
  choose_along("kthvalue_cpu", self, dim, values, indices, [k]<class E>(E* entries, int64_t count) {
    return kth_place_by_exchange(entries, count, k - 1);
  });
}

void median_kernel(const TensorBase& self, int64_t dim, bool, const TensorBase& values, const TensorBase& indices) {
  choose_along("median_out", self, dim, values, indices, []<class E>(E* entries, int64_t count) {
    return median_place(entries, count, /*ignore_nan=*/false);
  });
}

void nanmedian_kernel(const TensorBase& self, int64_t dim, bool, const TensorBase& values, const TensorBase& indices) {
  choose_along("median_out", self, dim, values, indices, []<class E>(E* entries, int64_t count) {
    return median_place(entries, count, /*ignore_nan=*/true);
  });
}

void median_all_kernel(const TensorBase& self, const TensorBase& out) {
  median_of_all(self, /*ignore_nan=*/false, out);
}

void nanmedian_all_kernel(const TensorBase& self, const TensorBase& out) {
  median_of_all(self, /*ignore_nan=*/true, out);
}

void mode_kernel(const TensorBase& self, int64_t dim, bool, const TensorBase& values, const TensorBase& indices) {
  if (self.numel() == 0 || copy_scalar(self, values, indices)) {
    return;
  }
  dim = c10::maybe_wrap_dim(dim, self.dim());
  dispatch("mode_cpu", self.scalar_type(), kSelectable | kBooleans, [&]<class T> {
    choose_in_rows<T>(
        self, dim, values, indices, [](Entry<T>* entries, int64_t count) { return mode_place<T>(entries, count); });
  });
}

} // namespace at::native
