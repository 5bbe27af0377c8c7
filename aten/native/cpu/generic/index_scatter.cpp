// gather and scatter, and the index_* operators along one dimension.
#include <aten/core/Tensor.h>
#include <aten/core/TensorSpec.h>
#include <aten/core/dtype_dispatch.h>
#include <aten/native/cpu/generic/indexed_walk.h>
#include <aten/native/pointwise/math.h>
#include <aten/native/support/convert.h>
#include <aten/native/support/index_support.h>
#include <aten/parallel/Parallel.h>
#include <c10/core/WrapDimMinimal.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>
#include <string_view>
#include <type_traits>

namespace at::native {
namespace {

using c10::DimVector;

int64_t dim_size(const TensorBase& t, int64_t dim) {
  return t.dim() == 0 ? 1 : t.size(dim);
}

/// out = self, unless they are one tensor already.
void start_from(const TensorBase& self, const TensorBase& out) {
  if (!out.is_same(self)) {
    convert_tensor(out, self);
  }
}

/// The index without the dimensions that it repeats itself over, as one that was expanded to rows does.
Tensor unrepeated(const TensorBase& index) {
  Tensor result(index);
  for (int64_t d = 0; index.numel() > 0 && d < index.dim(); ++d) {
    if (index.stride(d) == 0 && index.size(d) > 1) {
      result = result.narrow(d, 0, 1);
    }
  }
  return result;
}

/// All index values, once where they repeat, checked against the indexed dimension before anything is written.
IndexSpan checked_values(const TensorBase& index, int64_t size, int64_t dim) {
  IndexSpan values(unrepeated(index));
  if (const std::optional<int64_t> value = values.first_outside(size)) {
    TORCH_CHECK(false, "index ", *value, " is out of bounds for dimension ", dim, " with size ", size);
  }
  return values;
}

/// The pairs of gather and scatter: one for each element of the index.
IndexedWalk index_walk(const TensorBase& index, int64_t dim, const TensorBase& a, const TensorBase& b) {
  IndexedWalk walk{sizes_of(index), dim, {}, strides_of(a), strides_of(b), dim_size(a, dim)};
  walk.value_strides.resize(walk.sizes.size());
  int64_t step = 1;
  for (size_t d = walk.sizes.size(); d-- > 0;) {
    const bool repeats = index.dim() > 0 && index.stride(d) == 0 && walk.sizes[d] > 1;
    walk.value_strides[d] = repeats ? 0 : step;
    step *= repeats ? 1 : walk.sizes[d];
  }
  return walk;
}

template <class F>
void for_each_indexed(
    const TensorBase& index,
    const IndexSpan& values,
    int64_t dim,
    const TensorBase& a,
    const TensorBase& b,
    F f,
    bool free_order = false) {
  if (index.numel() == 0) {
    return; // an index without elements may have any number of dimensions
  }
  for_each_pair(index_walk(index, dim, a, b), values.data(), free_order, f);
}

/// Elements of `from` copied to `to`, one by one or some side by side. The first index is in `to` (Scatter) or in
/// `from`.
template <class T, bool Scatter>
struct CopiedElements {
  T* to;
  const T* from;

  void operator()(int64_t a, int64_t b) const {
    to[Scatter ? a : b] = from[Scatter ? b : a];
  }
  void row(int64_t a, int64_t b, int64_t n) const {
    std::memcpy(to + (Scatter ? a : b), from + (Scatter ? b : a), n * sizeof(T));
  }
  void picked(int64_t a, const int64_t* places, int64_t b, int64_t n) const
    requires(!Scatter)
  {
    copy_picked(sizeof(T), from + a, places, n, to + b);
  }
  C10_ALWAYS_INLINE void prefetch_target(int64_t a, int64_t n, int64_t picks) const {
    prefetch_picked_row((Scatter ? to : from) + a, n * int64_t(sizeof(T)), picks);
  }
};

/// Elements added in `to`.
template <class T>
struct AddedElements {
  T* to;
  const T* from;
  AddRow* add_row;

  void operator()(int64_t o, int64_t s) const {
    to[o] = pointwise::add(to[o], from[s]);
  }
  void row(int64_t o, int64_t s, int64_t n) const {
    add_row(to + o, from + s, n, nullptr);
  }
  C10_ALWAYS_INLINE void prefetch_target(int64_t o, int64_t n, int64_t picks) const {
    prefetch_picked_row(to + o, n * int64_t(sizeof(T)), picks);
  }
};

/// How many elements come to each index.
struct CountedElements {
  int64_t* counts;

  void operator()(int64_t o, int64_t) const {
    ++counts[o];
  }
  void row(int64_t o, int64_t, int64_t n) const {
    for (int64_t i = o; i < o + n; ++i) {
      ++counts[i];
    }
  }
};

/// Elements combined in `to`, one by one or some side by side.
template <class T, class Combine>
struct JoinedElements {
  T* to;
  const T* from;
  Combine combine;

  void operator()(int64_t o, int64_t s) const {
    to[o] = combine(to[o], from[s]);
  }
  void row(int64_t o, int64_t s, int64_t n) const {
    T* const a = to + o;
    const T* const b = from + s;
#pragma omp simd
    for (int64_t i = 0; i < n; ++i) {
      a[i] = combine(a[i], b[i]);
    }
  }
  C10_ALWAYS_INLINE void prefetch_target(int64_t o, int64_t n, int64_t picks) const {
    prefetch_picked_row(to + o, n * int64_t(sizeof(T)), picks);
  }
};

// Structs, because each loop with a lambda of its own would be compiled again.
template <class T>
struct JoinBySum {
  T operator()(T a, T b) const {
    return pointwise::add(a, b);
  }
};
template <class T>
struct JoinByProduct {
  T operator()(T a, T b) const {
    return pointwise::mul(a, b);
  }
};

/// self[index] = combine(self[index], src) into `out`.
template <class T, class Combine>
void scatter_with(
    const TensorBase& index,
    const IndexSpan& values,
    int64_t dim,
    const TensorBase& src,
    const TensorBase& out,
    Combine combine) {
  T* const to = out.mutable_data_ptr<T>();
  const T* const from = src.const_data_ptr<T>();
  if constexpr (std::is_same_v<Combine, JoinBySum<T>>) {
    for_each_indexed(
        index, values, dim, out, src, AddedElements<T>{to, from, add_row_of(out.scalar_type(), /*scaled=*/false)});
  } else {
    for_each_indexed(index, values, dim, out, src, JoinedElements<T, Combine>{to, from, combine});
  }
}

/// One element of any dtype: stores of it are compiled by size.
struct OneElement {
  alignas(16) char bytes[16] = {};

  template <class T>
  static OneElement of(T value) {
    OneElement result;
    std::memcpy(result.bytes, &value, sizeof(T));
    return result;
  }
  template <class Word>
  Word word() const {
    Word result;
    std::memcpy(&result, bytes, sizeof(Word));
    return result;
  }
};

/// out[index] = element.
void scatter_element(
    const TensorBase& index, const IndexSpan& values, int64_t dim, const OneElement& element, const TensorBase& out) {
  by_element_size(out.itemsize(), [&](auto word) {
    using T = decltype(word);
    const T x = element.word<T>();
    T* to = static_cast<T*>(out.mutable_data_ptr());
    for_each_indexed(index, values, dim, out, out, [=](int64_t o, int64_t) { to[o] = x; });
  });
}

/// How many values a reduction combines in each index of `out`.
Tensor counts_of(const TensorBase& out, bool include_self) {
  return empty_contiguous(out.sizes(), kLong, kCPU).fill_(include_self ? 1 : 0);
}

Tensor scatter_counts(
    const TensorBase& index, const IndexSpan& values, int64_t dim, const TensorBase& out, bool include_self) {
  const Tensor counts = counts_of(out, include_self);
  for_each_indexed(index, values, dim, counts, counts, CountedElements{counts.mutable_data_ptr<int64_t>()});
  return counts;
}

template <class T>
T maximum(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    return std::max(a, b);
  } else {
    return a != a || a > b ? a : b;
  }
}

template <class T>
T minimum(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    return std::min(a, b);
  } else {
    return a != a || a < b ? a : b;
  }
}

/// What a reduction that leaves self out starts from.
template <class T>
T reduction_start(std::string_view reduce) {
  if constexpr (!c10::is_complex<T>::value) {
    using Limits = std::numeric_limits<T>;
    if (reduce == "amax") {
      return Limits::has_infinity ? static_cast<T>(-Limits::infinity()) : Limits::lowest();
    }
    if (reduce == "amin") {
      return Limits::has_infinity ? Limits::infinity() : Limits::max();
    }
  }
  return reduce == "prod" ? T(1) : T(0);
}

/// Calls f with the function that a reduction combines two values by; mean adds, and is divided at the end.
template <class T, class F>
void with_combine(std::string_view reduce, F f) {
  if (reduce == "sum" || reduce == "mean") {
    return f(JoinBySum<T>());
  }
  if (reduce == "prod") {
    return f(JoinByProduct<T>());
  }
  if constexpr (!c10::is_complex<T>::value) {
    if (reduce == "amax") {
      return f([](T a, T b) { return maximum(a, b); });
    }
    f([](T a, T b) { return minimum(a, b); });
  }
}

/// sum / count of integers, rounded down.
template <class T>
T divided(T sum, int64_t count) {
  if constexpr (std::is_unsigned_v<T>) {
    return static_cast<T>(sum / static_cast<uint64_t>(count));
  } else {
    const int64_t wide = sum;
    return static_cast<T>(wide / count - (wide % count < 0 ? 1 : 0));
  }
}

/// out /= counts, integers rounding down; `counts` is contiguous, of int64. Those below 2 change nothing.
template <class T>
void divide_by_counts(const TensorBase& out, const TensorBase& counts) {
  const int64_t* n = counts.const_data_ptr<int64_t>();
  T* to = out.mutable_data_ptr<T>();
  const bool is_dense = out.is_contiguous();
  if constexpr (!std::is_integral_v<T> && !c10::is_complex<T>::value) {
    if (is_dense) {
      // Without a branch: division by 1 is exact.
      for (int64_t i = 0; i < counts.numel(); ++i) {
        to[i] = static_cast<T>(to[i] / static_cast<T>(static_cast<float>(std::max<int64_t>(n[i], 1))));
      }
      return;
    }
  }
  const DimVector sizes = sizes_of(out);
  const DimVector strides = strides_of(out);
  for (int64_t i = 0; i < counts.numel(); ++i) {
    if (n[i] <= 1) {
      continue;
    }
    int64_t rest = i;
    int64_t offset = is_dense ? i : 0;
    for (int64_t d = static_cast<int64_t>(sizes.size()) - 1; !is_dense && d >= 0; --d) {
      offset += rest % sizes[d] * strides[d];
      rest /= sizes[d];
    }
    if constexpr (std::is_integral_v<T>) {
      to[offset] = divided(to[offset], n[i]);
    } else {
      to[offset] = static_cast<T>(to[offset] / static_cast<T>(static_cast<float>(n[i])));
    }
  }
}

} // namespace

void gather_kernel(const TensorBase& self, int64_t dim, const TensorBase& index, bool, const TensorBase& out) {
  dim = c10::maybe_wrap_dim(dim, self.dim());
  const IndexSpan values = checked_values(index, dim_size(self, dim), dim);
  by_element_size(self.itemsize(), [&](auto word) {
    using T = decltype(word);
    const CopiedElements<T, false> copy{
        static_cast<T*>(out.mutable_data_ptr()), static_cast<const T*>(self.const_data_ptr())};
    for_each_indexed(index, values, dim, self, out, copy, /*free_order=*/true);
  });
}

void scatter_src_kernel(
    const TensorBase& self, int64_t dim, const TensorBase& index, const TensorBase& src, const TensorBase& out) {
  dim = c10::maybe_wrap_dim(dim, self.dim());
  const IndexSpan values = checked_values(index, dim_size(self, dim), dim);
  start_from(self, out);
  by_element_size(self.itemsize(), [&](auto word) {
    using T = decltype(word);
    const CopiedElements<T, true> copy{
        static_cast<T*>(out.mutable_data_ptr()), static_cast<const T*>(src.const_data_ptr())};
    for_each_indexed(index, values, dim, out, src, copy);
  });
}

void scatter_value_kernel(
    const TensorBase& self, int64_t dim, const TensorBase& index, const Scalar& value, const TensorBase& out) {
  dim = c10::maybe_wrap_dim(dim, self.dim());
  const IndexSpan values = checked_values(index, dim_size(self, dim), dim);
  dispatch("scatter", self.scalar_type(), at::kAll | at::kUnsigned | at::kComplexHalves, [&]<class T> {
    const auto element = OneElement::of(value.to<T>());
    start_from(self, out);
    scatter_element(index, values, dim, element, out);
  });
}

void scatter_add_kernel(
    const TensorBase& self, int64_t dim, const TensorBase& index, const TensorBase& src, const TensorBase& out) {
  dim = c10::maybe_wrap_dim(dim, self.dim());
  const IndexSpan values = checked_values(index, dim_size(self, dim), dim);
  dispatch("scatter_add", self.scalar_type(), at::kAll | at::kUnsigned, [&]<class T> {
    start_from(self, out);
    scatter_with<T>(index, values, dim, src, out, JoinBySum<T>());
  });
}

void scatter_reduce_src_kernel(
    const TensorBase& self,
    int64_t dim,
    const TensorBase& index,
    const TensorBase& src,
    std::string_view reduce,
    const TensorBase& out) {
  if (reduce == "add") {
    return scatter_add_kernel(self, dim, index, src, out);
  }
  dim = c10::maybe_wrap_dim(dim, self.dim());
  const IndexSpan values = checked_values(index, dim_size(self, dim), dim);
  dispatch("scatter", self.scalar_type(), at::kAll | at::kUnsigned, [&]<class T> {
    start_from(self, out);
    scatter_with<T>(index, values, dim, src, out, JoinByProduct<T>());
  });
}

void scatter_reduce_value_kernel(
    const TensorBase& self,
    int64_t dim,
    const TensorBase& index,
    const Scalar& value,
    std::string_view reduce,
    const TensorBase& out) {
  dim = c10::maybe_wrap_dim(dim, self.dim());
  const IndexSpan values = checked_values(index, dim_size(self, dim), dim);
  const bool adds = reduce == "add";
  dispatch("scatter", self.scalar_type(), at::kAll | at::kUnsigned, [&]<class T> {
    const T x = value.to<T>();
    start_from(self, out);
    T* to = out.mutable_data_ptr<T>();
    for_each_indexed(index, values, dim, out, out, [=](int64_t o, int64_t) {
      to[o] = adds ? pointwise::add(to[o], x) : pointwise::mul(to[o], x);
    });
  });
}

void scatter_reduce_two_kernel(
    const TensorBase& self,
    int64_t dim,
    const TensorBase& index,
    const TensorBase& src,
    std::string_view reduce,
    bool include_self,
    const TensorBase& out) {
  dim = c10::maybe_wrap_dim(dim, self.dim());
  const IndexSpan values = checked_values(index, dim_size(self, dim), dim);
  dispatch("scatter_reduce", self.scalar_type(), at::kAll | at::kUnsigned, [&]<class T> {
    if constexpr (c10::is_complex<T>::value) {
      TORCH_CHECK_NOT_IMPLEMENTED(
          reduce != "amax" && reduce != "amin", "\"scatter_reduce\" not implemented for '", self.scalar_type(),
          "' with reduce=", reduce, ": complex numbers have no order");
    }
    start_from(self, out);
    if (!include_self) {
      scatter_element(index, values, dim, OneElement::of(reduction_start<T>(reduce)), out);
    }
    with_combine<T>(reduce, [&](auto combine) { scatter_with<T>(index, values, dim, src, out, combine); });
    if (reduce == "mean") {
      divide_by_counts<T>(out, scatter_counts(index, values, dim, out, include_self));
    }
  });
}

// ---- along one dimension, whole slices -------------------------------------------------------

namespace {

/// For slice k of `b` (k-th along dim) and slice index[k] of `a`: f(offset in a, offset in b) for each element.
template <class F>
void for_each_slice_pair(
    const TensorBase& a, const TensorBase& b, int64_t dim, const IndexSpan& index, F f, bool free_order = false) {
  IndexedWalk walk{sizes_of(a), dim, {}, strides_of(a), {}, dim_size(a, dim)};
  walk.sizes[dim] = index.size();
  walk.value_strides.assign(walk.sizes.size(), 0);
  walk.value_strides[dim] = 1;
  walk.b_strides = b.dim() == 0 && a.dim() != 0 ? DimVector(walk.sizes.size(), 0) : strides_of(b);
  for_each_pair(walk, index.data(), free_order, f);
}

/// The slices of `out` that the index names = element.
void fill_slices(const TensorBase& out, int64_t dim, const IndexSpan& index, const OneElement& element) {
  by_element_size(out.itemsize(), [&](auto word) {
    using T = decltype(word);
    const T x = element.word<T>();
    T* to = static_cast<T*>(out.mutable_data_ptr());
    for_each_slice_pair(out, out, dim, index, [=](int64_t o, int64_t) { to[o] = x; });
  });
}

Tensor slice_counts(const TensorBase& out, int64_t dim, const IndexSpan& index, bool include_self) {
  const Tensor counts = counts_of(out, include_self);
  int64_t* n = counts.mutable_data_ptr<int64_t>();
  for_each_slice_pair(counts, counts, dim, index, [=](int64_t o, int64_t) { ++n[o]; });
  return counts;
}

template <class T>
struct AddScaled {
  T* to;
  const T* from;
  T factor;
  AddRow* add_row;

  void operator()(int64_t o, int64_t s) const {
    to[o] = pointwise::add(to[o], pointwise::mul(from[s], factor));
  }
  void row(int64_t o, int64_t s, int64_t n) const {
    add_row(to + o, from + s, n, &factor);
  }
  void prefetch_row(int64_t s, int64_t n) const {
    constexpr int64_t kLine = 64;
    for (int64_t at = 0; at < n * int64_t(sizeof(T)); at += kLine) {
      __builtin_prefetch(reinterpret_cast<const char*>(from + s) + at);
    }
  }
};

IndexSpan slice_index(const char* op, const TensorBase& index, int64_t size) {
  IndexSpan values(index);
  if (const std::optional<int64_t> value = values.first_outside(size)) {
    TORCH_CHECK_INDEX(
        false, "index out of range in self: ", op, "(): index ", *value, " is out of range for dimension with size ",
        size);
  }
  return values;
}

} // namespace

void index_select_kernel(const TensorBase& self, int64_t dim, const TensorBase& index, const TensorBase& out) {
  dim = c10::maybe_wrap_dim(dim, self.dim());
  const IndexSpan values(index);
  const int64_t size = dim_size(self, dim);
  if (const std::optional<int64_t> value = values.first_outside(size)) {
    if (self.numel() == 0 && self.dim() > 1) {
      TORCH_CHECK(
          size > 0, "index_select(): self indexing axis dim should be positive, got size ", size, " for dimension ",
          dim);
      TORCH_CHECK(
          false, "INDICES element is out of DATA bounds, id=", *value, " axis_dim=", size, " (in index_select)");
    }
    // The message that PyTorch has for dimension 1.
    TORCH_CHECK(
        dim != 1, "INDICES element is out of DATA bounds, id=", *value, " axis_dim=", size, " (in index_select)");
    TORCH_CHECK_INDEX(false, "index out of range in self: index ", *value, " for dimension ", dim, " with size ", size);
  }
  by_element_size(self.itemsize(), [&](auto word) {
    using T = decltype(word);
    const T* from = static_cast<const T*>(self.const_data_ptr());
    T* to = static_cast<T*>(out.mutable_data_ptr());
    if (self.is_contiguous() && out.is_contiguous() && self.dim() > 0 && dim < self.dim() - 1) {
      // Whole rows, all dimensions after `dim` at once.
      int64_t inner = 1;
      for (int64_t d = dim + 1; d < self.dim(); ++d) {
        inner *= self.size(d);
      }
      const int64_t count = values.size();
      const int64_t outer = size * inner == 0 ? 0 : self.numel() / (size * inner);
      const int64_t bytes = inner * int64_t(sizeof(T));
      at::parallel_for(
          0, outer * count, std::max<int64_t>(1, 16384 / std::max<int64_t>(inner, 1)), [&](int64_t begin, int64_t end) {
            for (int64_t i = begin; i < end;) {
              const int64_t first = i % count, last = std::min(count, first + end - i);
              copy_rows(
                  reinterpret_cast<const char*>(from) + i / count * size * bytes, values.data(), first, last, bytes,
                  reinterpret_cast<char*>(to) + (i - first) * bytes);
              i += last - first;
            }
          });
      return;
    }
    for_each_slice_pair(self, out, dim, values, CopiedElements<T, /*Scatter=*/false>{to, from}, /*free_order=*/true);
  });
}

void index_add_kernel(
    const TensorBase& self,
    int64_t dim,
    const TensorBase& index,
    const TensorBase& source,
    const Scalar& alpha,
    const TensorBase& out) {
  dim = c10::maybe_wrap_dim(dim, self.dim());
  const IndexSpan values = slice_index("index_add", index, dim_size(self, dim));
  dispatch("index_add", self.scalar_type(), at::kAll | at::kUnsigned | at::kComplexHalves, [&]<class T> {
    const T scale = alpha.to<T>();
    start_from(self, out);
    const AddScaled<T> add{
        out.mutable_data_ptr<T>(), source.const_data_ptr<T>(), scale, add_row_of(self.scalar_type(), !alpha.equal(1))};
    for_each_slice_pair(out, source, dim, values, add);
  });
}

void index_reduce_kernel(
    const TensorBase& self,
    int64_t dim,
    const TensorBase& index,
    const TensorBase& source,
    std::string_view reduce,
    bool include_self,
    const TensorBase& out) {
  dim = c10::maybe_wrap_dim(dim, self.dim());
  const IndexSpan values = slice_index("index_reduce", index, dim_size(self, dim));
  dispatch("index_func_", self.scalar_type(), at::kIntegral | at::kFloating, [&]<class T> {
    start_from(self, out);
    const T* from = source.const_data_ptr<T>();
    T* to = out.mutable_data_ptr<T>();
    if (!include_self) {
      fill_slices(out, dim, values, OneElement::of(reduction_start<T>(reduce)));
    }
    with_combine<T>(reduce, [&](auto combine) {
      for_each_slice_pair(out, source, dim, values, [=](int64_t o, int64_t s) { to[o] = combine(to[o], from[s]); });
    });
    if (reduce == "mean") {
      divide_by_counts<T>(out, slice_counts(out, dim, values, include_self));
    }
  });
}

void index_copy_kernel(
    const TensorBase& self, int64_t dim, const TensorBase& index, const TensorBase& source, const TensorBase& out) {
  dim = c10::maybe_wrap_dim(dim, self.dim());
  const IndexSpan values(index);
  const int64_t size = dim_size(self, dim);
  if (const std::optional<int64_t> value = values.first_outside(size)) {
    TORCH_CHECK_INDEX(
        false, "index_copy_(): index ", *value, " is out of bounds for dimension ", dim, " with size ", size);
  }
  start_from(self, out);
  by_element_size(self.itemsize(), [&](auto word) {
    using T = decltype(word);
    const T* from = static_cast<const T*>(source.const_data_ptr());
    T* to = static_cast<T*>(out.mutable_data_ptr());
    for_each_slice_pair(out, source, dim, values, [=](int64_t o, int64_t s) { to[o] = from[s]; });
  });
}

void index_fill_kernel(
    const TensorBase& self, int64_t dim, const TensorBase& index, const Scalar& value, const TensorBase& out) {
  dim = c10::maybe_wrap_dim(dim, self.dim());
  for (int64_t d = 0; d < self.dim(); ++d) {
    if (d != dim && self.size(d) == 0) {
      return; // each slice is empty, so any index will do
    }
  }
  // Negative values count from the end.
  const Tensor wrapped = empty_contiguous(index.sizes(), kLong, kCPU);
  const IndexSpan given(index);
  std::transform(given.data(), given.data() + given.size(), wrapped.mutable_data_ptr<int64_t>(), [&](int64_t value) {
    return checked_index(value, dim_size(self, dim), dim);
  });
  const IndexSpan values(wrapped);
  dispatch("index_fill", self.scalar_type(), at::kAll | at::kComplexHalves, [&]<class T> {
    const auto element = OneElement::of(value.to<T>());
    start_from(self, out);
    fill_slices(out, dim, values, element);
  });
}

} // namespace at::native
