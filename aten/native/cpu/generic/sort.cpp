// sort along a dimension, with indices. Always stable.
#include <aten/core/dtype_dispatch.h>
#include <aten/native/cpu/generic/row_walk.h>
#include <aten/native/cpu/generic/sort_long_row.h>
#include <aten/parallel/Parallel.h>
#include <c10/core/CPUAllocator.h>

namespace at::native {

namespace {

// Sorts the rows of one thread. Its memory comes from the allocator of tensors, which keeps large blocks for reuse.
template <class T>
class RowSorter {
 public:
  using Entry = sorting::Entry<T>;

  RowSorter(int64_t count, bool descending, int64_t threads)
      : count_(count),
        mask_(descending ? static_cast<Key>(~Key{0}) : Key{0}),
        threads_(threads),
        memory_(c10::GetCPUAllocator()->allocate(2 * count * sizeof(Entry))) {}

  /// Calls store(i, value, index) for the elements, on several threads where the row is sorted by several.
  template <class Store>
  void operator()(const T* row, int64_t stride, const Store& store) const {
    if constexpr (sizeof(Key) == 8) {
      if (const auto packing = sorting::pack_words(row, count_, stride, mask_)) {
        return sort_as_words(row, stride, *packing, store);
      }
    }
    auto* entries = static_cast<Entry*>(memory_.get());
    for_places([&](int64_t i) { entries[i] = Entry(static_cast<Key>(sorting::key_of(row[i * stride]) ^ mask_), i); });
    sort(entries, sorting::sort_entries<T>, [&](int64_t i, const Entry& entry) {
      const int64_t place = entry.index();
      store(i, row[place * stride], place);
    });
  }

 private:
  using Key = sorting::Key<T>;

  /// Calls f(i) for all elements of the row.
  template <class F>
  void for_places(const F& f) const {
    const auto some = [&f](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        f(i);
      }
    };
    if (threads_ > 1) {
      at::parallel_for(0, count_, at::internal::GRAIN_SIZE, some);
    } else {
      some(0, count_);
    }
  }

  /// Sorts the entries and calls emit(index, entry) for each.
  template <class E, class Sort, class Emit>
  void sort(E* entries, const Sort& sort, const Emit& emit) const {
    if (threads_ > 1) {
      return sorting::sort_long_row(entries, count_, entries + count_, threads_, sort, emit);
    }
    sort(entries, count_, entries + count_);
    for (int64_t i = 0; i < count_; ++i) {
      emit(i, entries[i]);
    }
  }

  template <class Store>
  void sort_as_words(const T* row, int64_t stride, const sorting::WordPacking& packing, const Store& store) const {
    auto* words = static_cast<uint64_t*>(memory_.get());
    for_places([&](int64_t i) { words[i] = packing.word(sorting::key_of(row[i * stride]) ^ mask_, i); });
    const auto sort_some = [&](uint64_t* some, int64_t count, uint64_t* scratch) {
      sorting::sort_words(some, count, scratch, packing);
    };
    sort(words, sort_some, [&](int64_t i, uint64_t word) {
      const int64_t place = packing.index(word);
      if constexpr (std::is_integral_v<T>) {
        store(i, sorting::value_of<T>(static_cast<Key>(packing.key(word) ^ mask_)), place);
      } else {
        store(i, row[place * stride], place); // keys do not tell 0.0 from -0.0, nor NaNs
      }
    });
  }

  int64_t count_;
  Key mask_;
  int64_t threads_;
  c10::DataPtr memory_;
};

template <class T>
void sort_rows(
    const TensorBase& self, int64_t dim, bool descending, const TensorBase& values, const TensorBase& indices) {
  const int64_t count = row_size(self, dim);
  const int64_t in_stride = row_stride(self, dim);
  const int64_t value_stride = row_stride(values, dim);
  const int64_t index_stride = row_stride(indices, dim);
  const T* in = self.const_data_ptr<T>();
  T* value = values.mutable_data_ptr<T>();
  int64_t* index = indices.mutable_data_ptr<int64_t>();
  const int64_t threads =
      count >= sorting::kLongRow && self.numel() / count < at::get_num_threads() ? at::get_num_threads() : 1;

  for_rows<3>({&self, &values, &indices}, dim, threads > 1 ? 1 : count * 8, [&] {
    return [&, sorter = RowSorter<T>(count, descending, threads)](const std::array<int64_t, 3>& at) {
      sorter(in + at[0], in_stride, [&](int64_t i, T x, int64_t place) {
        value[at[1] + i * value_stride] = x;
        index[at[2] + i * index_stride] = place;
      });
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
    TORCH_CHECK(
        row_size(self, dim) <= sorting::kLongestRow<T>, "sort(): a row of ", row_size(self, dim),
        " elements is too long; rows may have up to 2^32 - 1 elements of this dtype");
    sort_rows<T>(self, dim, descending, values, indices);
  });
}

} // namespace at::native
