// The unique family. Values are found by sorting keys (see sort_keys.h) or, for the consecutive forms, in one walk.
#include <aten/core/Tensor.h>
#include <aten/core/TensorSpec.h>
#include <aten/core/dtype_dispatch.h>
#include <aten/native/cpu/generic/reduce_plan.h>
#include <aten/native/cpu/generic/sort_long_row.h>
#include <c10/core/CPUAllocator.h>

#include <numeric>
#include <tuple>
#include <vector>

namespace at::native {

namespace {

using Uniques = std::tuple<Tensor, Tensor, Tensor>;

constexpr auto kSortable = kBooleans | kIntegral | kUnsigned | kFloating;

Tensor make(const TensorBase& like, IntArrayRef sizes) {
  return at::empty_contiguous(sizes, like.scalar_type(), like.device());
}

Tensor make_long(const TensorBase& like, IntArrayRef sizes) {
  return at::empty_contiguous(sizes, ScalarType::Long, like.device());
}

Tensor to_tensor(const TensorBase& like, const std::vector<int64_t>& values) {
  Tensor result = make_long(like, {static_cast<int64_t>(values.size())});
  std::copy(values.begin(), values.end(), result.mutable_data_ptr<int64_t>());
  return result;
}

// Lengths of groups from the indices where they start, with `total` as the last end.
std::vector<int64_t> lengths(const std::vector<int64_t>& starts, int64_t total) {
  std::vector<int64_t> result(starts.size());
  for (size_t i = 0; i < starts.size(); ++i) {
    result[i] = (i + 1 < starts.size() ? starts[i + 1] : total) - starts[i];
  }
  return result;
}

// Sorted keys of all elements with their places, in memory of the allocator of tensors, which keeps large blocks for
// reuse.
template <class T>
class SortedEntries {
 public:
  using Entry = sorting::Entry<T>;

  SortedEntries(const T* in, int64_t count)
      : threads_(count >= sorting::kLongRow ? at::get_num_threads() : 1),
        memory_(c10::GetCPUAllocator()->allocate((threads_ > 1 ? 3 : 2) * count * sizeof(Entry))),
        entries_(static_cast<Entry*>(memory_.get())) {
    if (count == 0) {
      return;
    }
    Entry *const unsorted = entries_, *const scratch = entries_ + count;
    at::parallel_for(0, count, at::internal::GRAIN_SIZE, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        unsorted[i] = Entry(sorting::key_of(in[i]), i);
      }
    });
    if (threads_ > 1) {
      entries_ = scratch + count;
      sorting::sort_long_row(
          unsorted, count, scratch, threads_, sorting::sort_entries<T>,
          [this](int64_t i, const Entry& entry) { entries_[i] = entry; });
    } else {
      sorting::sort_entries<T>(unsorted, count, scratch);
    }
  }

  const Entry& operator[](int64_t i) const {
    return entries_[i];
  }

  /// Whether a group of equal elements starts here. NaNs are not equal to each other.
  bool starts_group(int64_t i) const {
    return i == 0 || entries_[i].key() != entries_[i - 1].key() || sorting::is_nan_key<T>(entries_[i].key());
  }

  int64_t threads() const {
    return threads_;
  }

 private:
  int64_t threads_;
  c10::DataPtr memory_;
  Entry* entries_;
};

template <class T>
Uniques unique_values(const TensorBase& self, bool return_inverse, bool return_counts) {
  const TensorBase flat = self.contiguous();
  const int64_t count = flat.numel();
  const T* in = flat.const_data_ptr<T>();
  const SortedEntries<T> entries(in, count);
  // Each part of the entries counts its groups; then it knows the number of its first one.
  const int64_t parts = entries.threads();
  const auto for_parts = [&](const auto& f) {
    at::parallel_for(0, parts, 1, [&](int64_t first, int64_t last) {
      for (int64_t part = first; part < last; ++part) {
        f(part, count * part / parts, count * (part + 1) / parts);
      }
    });
  };
  std::vector<int64_t> first_group(parts + 1, 0);
  for_parts([&](int64_t part, int64_t begin, int64_t end) {
    int64_t groups = 0;
    for (int64_t i = begin; i < end; ++i) {
      groups += entries.starts_group(i);
    }
    first_group[part + 1] = groups;
  });
  std::partial_sum(first_group.begin(), first_group.end(), first_group.begin());

  Tensor inverse = return_inverse ? make_long(self, self.sizes()) : make_long(self, {0});
  int64_t* group_of = return_inverse ? inverse.mutable_data_ptr<int64_t>() : nullptr;
  Tensor values = make(self, {first_group[parts]});
  T* out = values.mutable_data_ptr<T>();
  std::vector<int64_t> starts(return_counts ? first_group[parts] : 0);
  for_parts([&](int64_t part, int64_t begin, int64_t end) {
    int64_t group = first_group[part] - 1;
    for (int64_t i = begin; i < end; ++i) {
      if (entries.starts_group(i)) {
        ++group;
        out[group] = in[entries[i].index()];
        if (return_counts) {
          starts[group] = i;
        }
      }
      if (group_of != nullptr) {
        group_of[entries[i].index()] = group;
      }
    }
  });
  Tensor counts = return_counts ? to_tensor(self, lengths(starts, count)) : make_long(self, {0});
  return {std::move(values), std::move(inverse), std::move(counts)};
}

// A tensor seen as `count` slices along a dimension; slice i consists of `outer` runs of `inner` elements.
template <class T>
struct Slices {
  const T* data;
  int64_t outer = 1;
  int64_t count;
  int64_t inner = 1;

  Slices(const TensorBase& contiguous, int64_t dim)
      : data(contiguous.const_data_ptr<T>()), count(contiguous.sizes()[dim]) {
    for (int64_t d = 0; d < contiguous.dim(); ++d) {
      if (d != dim) {
        (d < dim ? outer : inner) *= contiguous.sizes()[d];
      }
    }
  }

  const T* run(int64_t block, int64_t slice) const {
    return data + (block * count + slice) * inner;
  }

  bool equal(int64_t a, int64_t b) const {
    for (int64_t block = 0; block < outer; ++block) {
      if (!std::equal(run(block, a), run(block, a) + inner, run(block, b))) {
        return false;
      }
    }
    return true;
  }

  bool less(int64_t a, int64_t b) const {
    if constexpr (c10::is_complex<T>::value) {
      return false;
    } else {
      for (int64_t block = 0; block < outer; ++block) {
        const T* left = run(block, a);
        const T* right = run(block, b);
        for (int64_t i = 0; i < inner; ++i) {
          if (left[i] < right[i] || right[i] < left[i]) {
            return left[i] < right[i];
          }
        }
      }
      return false;
    }
  }
};

template <class T>
Uniques unique_slices(const TensorBase& self, int64_t dim, bool sort) {
  const TensorBase input = self.contiguous();
  const Slices<T> slices(input, dim);
  std::vector<int64_t> order(slices.count);
  std::iota(order.begin(), order.end(), int64_t{0});
  if (sort) {
    std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return slices.less(a, b); });
  }
  Tensor inverse = make_long(self, {slices.count});
  int64_t* group_of = inverse.mutable_data_ptr<int64_t>();
  std::vector<int64_t> starts;
  for (int64_t i = 0; i < slices.count; ++i) {
    if (i == 0 || !slices.equal(order[i], order[i - 1])) {
      starts.push_back(i);
    }
    group_of[order[i]] = static_cast<int64_t>(starts.size()) - 1;
  }
  const auto kept = static_cast<int64_t>(starts.size());
  c10::DimVector sizes(self.sizes().begin(), self.sizes().end());
  sizes[dim] = kept;
  // The slices lie one after the other, as they were gathered; the result is a view of them with `dim` back in its
  // place.
  c10::DimVector gathered = sizes;
  std::swap(gathered[0], gathered[dim]);
  c10::DimVector strides(sizes.size());
  int64_t step = 1;
  for (auto d = static_cast<int64_t>(sizes.size()) - 1; d >= 0; --d) {
    strides[d] = step;
    step *= gathered[d];
  }
  std::swap(strides[0], strides[dim]);
  TensorSpec spec = TensorSpec::like(self, sizes);
  spec.strides = strides;
  Tensor values = at::empty_spec(spec);
  T* out = values.mutable_data_ptr<T>();
  WalkDims walk;
  for (size_t d = 0; d < sizes.size(); ++d) {
    walk.push_back({sizes[d], 0, strides[d]});
  }
  IndexCounter at(walk);
  for (int64_t block = 0; block < slices.outer; ++block) {
    for (int64_t i = 0; i < kept; ++i) {
      const T* run = slices.run(block, order[starts[i]]);
      for (int64_t j = 0; j < slices.inner; ++j, at.next()) {
        out[at.out] = run[j];
      }
    }
  }
  return {std::move(values), std::move(inverse), to_tensor(self, lengths(starts, slices.count))};
}

// Indices and counts are given whether asked for or not.
Uniques unique_along(const char* name, const Tensor& self, int64_t dim, bool sort) {
  dim = c10::maybe_wrap_dim(dim, self.dim(), /*wrap_scalar=*/false);
  int64_t empty_dims = 0;
  for (const int64_t size : self.sizes()) {
    empty_dims += size == 0 ? 1 : 0;
  }
  if (self.sizes()[dim] == 0) {
    TORCH_CHECK(
        empty_dims == 1,
        "Number of zero sized dimensions is more than one, so unique cannot be applied to an input of shape ",
        self.sizes());
    return {make(self, self.sizes()), make_long(self, {0}), make_long(self, {0})};
  }
  TORCH_CHECK(
      empty_dims == 0,
      "There are 0 sized dimensions, and they aren't selected, so unique cannot be applied to an input of shape ",
      self.sizes(), " and dim ", dim);
  const auto run = [&]<class T> { return unique_slices<T>(self, dim, sort); };
  return sort ? dispatch(name, self.scalar_type(), kSortable, run)
              : dispatch(name, self.scalar_type(), kSortable | kComplex, run);
}

template <class T>
Uniques unique_runs(const TensorBase& self, bool return_inverse, bool return_counts) {
  const TensorBase flat = self.contiguous();
  const int64_t count = flat.numel();
  const T* in = flat.const_data_ptr<T>();
  Tensor inverse = return_inverse ? make_long(self, self.sizes()) : make_long(self, {0});
  int64_t* group_of = return_inverse ? inverse.mutable_data_ptr<int64_t>() : nullptr;
  std::vector<int64_t> starts;
  for (int64_t i = 0; i < count; ++i) {
    if (i == 0 || !(in[i] == in[i - 1])) {
      starts.push_back(i);
    }
    if (group_of != nullptr) {
      group_of[i] = static_cast<int64_t>(starts.size()) - 1;
    }
  }
  Tensor values = make(self, {static_cast<int64_t>(starts.size())});
  T* out = values.mutable_data_ptr<T>();
  for (size_t i = 0; i < starts.size(); ++i) {
    out[i] = in[starts[i]];
  }
  Tensor counts = return_counts ? to_tensor(self, lengths(starts, count)) : make_long(self, {0});
  return {std::move(values), std::move(inverse), std::move(counts)};
}

} // namespace

std::tuple<Tensor, Tensor, Tensor> unique2_cpu(const Tensor& self, bool, bool return_inverse, bool return_counts) {
  return dispatch("unique", self.scalar_type(), kSortable, [&]<class T> {
    return unique_values<T>(self, return_inverse, return_counts);
  });
}

std::tuple<Tensor, Tensor> unique_cpu(const Tensor& self, bool sorted, bool return_inverse) {
  auto [values, inverse, counts] = unique2_cpu(self, sorted, return_inverse, /*return_counts=*/false);
  return {std::move(values), std::move(inverse)};
}

std::tuple<Tensor, Tensor, Tensor> unique_dim_cpu(const Tensor& self, int64_t dim, bool, bool, bool) {
  return unique_along("unique_dim", self, dim, /*sort=*/true);
}

std::tuple<Tensor, Tensor, Tensor> unique_dim_consecutive_cpu(const Tensor& self, int64_t dim, bool, bool) {
  return unique_along("unique_dim_consecutive", self, dim, /*sort=*/false);
}

std::tuple<Tensor, Tensor, Tensor> unique_consecutive_cpu(
    const Tensor& self, bool return_inverse, bool return_counts, std::optional<int64_t> dim) {
  if (!dim.has_value() || (self.dim() == 1 && *dim == 0)) { // along dim -1, what was not asked for is returned too
    return dispatch("unique_consecutive", self.scalar_type(), kSortable | kComplex, [&]<class T> {
      return unique_runs<T>(self, return_inverse, return_counts);
    });
  }
  return unique_dim_consecutive_cpu(self, *dim, return_inverse, return_counts);
}

} // namespace at::native
