// gather and scatter, and the index_* operators along one dimension.
#include <aten/Parallel.h>
#include <aten/core/Tensor.h>
#include <aten/core/TensorSpec.h>
#include <aten/core/dtype_dispatch.h>
#include <aten/native/convert.h>
#include <aten/native/index_support.h>
#include <c10/core/WrapDimMinimal.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>

namespace at::native {
namespace {

using c10::DimVector;

/// out = self, unless they are one tensor already.
void start_from(const TensorBase& self, const TensorBase& out) {
  if (!out.is_same(self)) {
    convert_tensor(out, self);
  }
}

/// Strides of a tensor for `ndim` dimensions; a 0-dim tensor counts as one of size 1.
DimVector strides_of(const TensorBase& t) {
  return t.dim() == 0 ? DimVector{1} : DimVector(t.strides().begin(), t.strides().end());
}

DimVector sizes_of(const TensorBase& t) {
  return t.dim() == 0 ? DimVector{1} : DimVector(t.sizes().begin(), t.sizes().end());
}

/// All index values, checked against the indexed dimension before anything is written.
std::vector<int64_t> checked_values(const TensorBase& index, int64_t size, int64_t dim) {
  std::vector<int64_t> values = index_values(index);
  for (const int64_t value : values) {
    TORCH_CHECK(
        value >= 0 && value < size, "index ", value, " is out of bounds for dimension ", dim, " with size ", size);
  }
  return values;
}

/// For every element of `index`: f(offset in a, offset in b), where `a` is addressed with the index value in dimension
/// `dim` and `b` with the element's own position. Lines along `dim` stay together, so threads may split the rest.
template <class F>
void for_each_indexed(
    const TensorBase& index, const std::vector<int64_t>& values, int64_t dim, const TensorBase& a, const TensorBase& b,
    F f) {
  const DimVector sizes = sizes_of(index);
  const DimVector a_strides = strides_of(a);
  const DimVector b_strides = strides_of(b);
  const auto ndim = static_cast<int64_t>(sizes.size());
  DimVector steps(ndim);
  int64_t step = 1;
  for (int64_t d = ndim - 1; d >= 0; --d) {
    steps[d] = step;
    step *= sizes[d];
  }
  if (step == 0) {
    return;
  }
  const int64_t length = sizes[dim];
  const int64_t lines = step / length;
  at::parallel_for(0, lines, std::max<int64_t>(1, 16384 / length), [&](int64_t begin, int64_t end) {
    for (int64_t line = begin; line < end; ++line) {
      int64_t rest = line;
      int64_t position = 0;
      int64_t a_offset = 0;
      int64_t b_offset = 0;
      for (int64_t d = ndim - 1; d >= 0; --d) {
        if (d == dim) {
          continue;
        }
        const int64_t i = rest % sizes[d];
        rest /= sizes[d];
        position += i * steps[d];
        a_offset += i * a_strides[d];
        b_offset += i * b_strides[d];
      }
      for (int64_t k = 0; k < length; ++k) {
        f(a_offset + values[position + k * steps[dim]] * a_strides[dim], b_offset + k * b_strides[dim]);
      }
    }
  });
}

int64_t dim_size(const TensorBase& t, int64_t dim) {
  return t.dim() == 0 ? 1 : t.size(dim);
}

/// self[index] = combine(self[index], src) into `out`.
template <class T, class Combine>
void scatter_with(
    const TensorBase& index, const std::vector<int64_t>& values, int64_t dim, const TensorBase& src, const TensorBase& out,
    Combine combine) {
  T* to = out.mutable_data_ptr<T>();
  const T* from = src.const_data_ptr<T>();
  for_each_indexed(index, values, dim, out, src, [=](int64_t o, int64_t s) { to[o] = combine(to[o], from[s]); });
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

/// Calls f with the function that a reduction joins two values by; mean adds, and is divided at the end.
template <class T, class F>
void with_combine(std::string_view reduce, F f) {
  if (reduce == "sum" || reduce == "mean") {
    return f([](T a, T b) { return static_cast<T>(a + b); });
  }
  if (reduce == "prod") {
    return f([](T a, T b) { return static_cast<T>(a * b); });
  }
  if constexpr (!c10::is_complex<T>::value) {
    if (reduce == "amax") {
      return f([](T a, T b) { return maximum(a, b); });
    }
    f([](T a, T b) { return minimum(a, b); });
  }
}

/// out /= counts, integers rounding down; `counts` is contiguous, of int64. Those below 2 change nothing.
template <class T>
void divide_by_counts(const TensorBase& out, const TensorBase& counts) {
  const int64_t* n = counts.const_data_ptr<int64_t>();
  T* to = out.mutable_data_ptr<T>();
  const DimVector sizes = sizes_of(out);
  const DimVector strides = strides_of(out);
  for (int64_t i = 0; i < counts.numel(); ++i) {
    if (n[i] <= 1) {
      continue;
    }
    int64_t rest = i;
    int64_t offset = 0;
    for (int64_t d = static_cast<int64_t>(sizes.size()) - 1; d >= 0; --d) {
      offset += rest % sizes[d] * strides[d];
      rest /= sizes[d];
    }
    if constexpr (std::is_integral_v<T>) {
      to[offset] = static_cast<T>(std::floor(static_cast<double>(to[offset]) / static_cast<double>(n[i])));
    } else {
      to[offset] = static_cast<T>(to[offset] / static_cast<T>(static_cast<float>(n[i])));
    }
  }
}

} // namespace

void gather_kernel(const TensorBase& self, int64_t dim, const TensorBase& index, bool, const TensorBase& out) {
  dim = c10::maybe_wrap_dim(dim, self.dim());
  const std::vector<int64_t> values = checked_values(index, dim_size(self, dim), dim);
  by_element_size(self.itemsize(), [&](auto word) {
    using T = decltype(word);
    const T* from = static_cast<const T*>(self.const_data_ptr());
    T* to = static_cast<T*>(out.mutable_data_ptr());
    for_each_indexed(index, values, dim, self, out, [=](int64_t s, int64_t o) { to[o] = from[s]; });
  });
}

void scatter_src_kernel(
    const TensorBase& self, int64_t dim, const TensorBase& index, const TensorBase& src, const TensorBase& out) {
  dim = c10::maybe_wrap_dim(dim, self.dim());
  const std::vector<int64_t> values = checked_values(index, dim_size(self, dim), dim);
  start_from(self, out);
  by_element_size(self.itemsize(), [&](auto word) {
    using T = decltype(word);
    const T* from = static_cast<const T*>(src.const_data_ptr());
    T* to = static_cast<T*>(out.mutable_data_ptr());
    for_each_indexed(index, values, dim, out, src, [=](int64_t o, int64_t s) { to[o] = from[s]; });
  });
}

void scatter_value_kernel(
    const TensorBase& self, int64_t dim, const TensorBase& index, const Scalar& value, const TensorBase& out) {
  dim = c10::maybe_wrap_dim(dim, self.dim());
  const std::vector<int64_t> values = checked_values(index, dim_size(self, dim), dim);
  start_from(self, out);
  dispatch("scatter", self.scalar_type(), at::kAll | at::kComplexHalves, [&]<class T> {
    T* to = out.mutable_data_ptr<T>();
    const T x = value.to<T>();
    for_each_indexed(index, values, dim, out, out, [=](int64_t o, int64_t) { to[o] = x; });
  });
}

void scatter_add_kernel(
    const TensorBase& self, int64_t dim, const TensorBase& index, const TensorBase& src, const TensorBase& out) {
  dim = c10::maybe_wrap_dim(dim, self.dim());
  const std::vector<int64_t> values = checked_values(index, dim_size(self, dim), dim);
  start_from(self, out);
  dispatch("scatter_add", self.scalar_type(), at::kAll, [&]<class T> {
    scatter_with<T>(index, values, dim, src, out, [](T a, T b) { return static_cast<T>(a + b); });
  });
}

void scatter_reduce_src_kernel(
    const TensorBase& self, int64_t dim, const TensorBase& index, const TensorBase& src, std::string_view reduce,
    const TensorBase& out) {
  if (reduce == "add") {
    return scatter_add_kernel(self, dim, index, src, out);
  }
  dim = c10::maybe_wrap_dim(dim, self.dim());
  const std::vector<int64_t> values = checked_values(index, dim_size(self, dim), dim);
  start_from(self, out);
  dispatch("scatter", self.scalar_type(), at::kAll, [&]<class T> {
    scatter_with<T>(index, values, dim, src, out, [](T a, T b) { return static_cast<T>(a * b); });
  });
}

void scatter_reduce_value_kernel(
    const TensorBase& self, int64_t dim, const TensorBase& index, const Scalar& value, std::string_view reduce,
    const TensorBase& out) {
  dim = c10::maybe_wrap_dim(dim, self.dim());
  const std::vector<int64_t> values = checked_values(index, dim_size(self, dim), dim);
  start_from(self, out);
  const bool adds = reduce == "add";
  dispatch("scatter", self.scalar_type(), at::kAll, [&]<class T> {
    T* to = out.mutable_data_ptr<T>();
    const T x = value.to<T>();
    for_each_indexed(index, values, dim, out, out, [=](int64_t o, int64_t) {
      to[o] = adds ? static_cast<T>(to[o] + x) : static_cast<T>(to[o] * x);
    });
  });
}

void scatter_reduce_two_kernel(
    const TensorBase& self, int64_t dim, const TensorBase& index, const TensorBase& src, std::string_view reduce,
    bool include_self, const TensorBase& out) {
  dim = c10::maybe_wrap_dim(dim, self.dim());
  const std::vector<int64_t> values = checked_values(index, dim_size(self, dim), dim);
  start_from(self, out);
  dispatch("scatter_reduce", self.scalar_type(), at::kAll, [&]<class T> {
    if constexpr (c10::is_complex<T>::value) {
      TORCH_CHECK_NOT_IMPLEMENTED(
          reduce != "amax" && reduce != "amin", "\"scatter_reduce\" not implemented for '", self.scalar_type(), "' with reduce=",
          reduce, ": complex numbers have no order");
    }
    T* to = out.mutable_data_ptr<T>();
    if (!include_self) {
      const T start = reduction_start<T>(reduce);
      for_each_indexed(index, values, dim, out, out, [=](int64_t o, int64_t) { to[o] = start; });
    }
    with_combine<T>(reduce, [&](auto combine) { scatter_with<T>(index, values, dim, src, out, combine); });
    if (reduce == "mean") {
      const Tensor counts = empty_contiguous(out.sizes(), kLong, kCPU).fill_(include_self ? 1 : 0);
      int64_t* n = counts.mutable_data_ptr<int64_t>();
      for_each_indexed(index, values, dim, counts, counts, [=](int64_t o, int64_t) { ++n[o]; });
      divide_by_counts<T>(out, counts);
    }
  });
}

// ---- along one dimension, whole slices -------------------------------------------------------

namespace {

/// For slice k of `from` (k-th along dim) and slice index[k] of `to`: f(offset in to, offset in from) for each element.
template <class F>
void for_each_slice_element(
    const TensorBase& to, const TensorBase& from, int64_t dim, const std::vector<int64_t>& to_index,
    const std::vector<int64_t>& from_index, F f) {
  const DimVector sizes = sizes_of(to);
  const DimVector to_strides = strides_of(to);
  const DimVector from_strides = from.dim() == 0 && to.dim() != 0 ? DimVector(sizes.size(), 0) : strides_of(from);
  int64_t slice = 1;
  for (size_t d = 0; d < sizes.size(); ++d) {
    slice *= static_cast<int64_t>(d) == dim ? 1 : sizes[d];
  }
  for (int64_t e = 0; e < slice; ++e) {
    int64_t rest = e;
    int64_t to_base = 0;
    int64_t from_base = 0;
    for (int64_t d = static_cast<int64_t>(sizes.size()) - 1; d >= 0; --d) {
      if (d == dim) {
        continue;
      }
      const int64_t i = rest % sizes[d];
      rest /= sizes[d];
      to_base += i * to_strides[d];
      from_base += i * from_strides[d];
    }
    for (size_t k = 0; k < to_index.size(); ++k) {
      f(to_base + to_index[k] * to_strides[dim], from_base + from_index[k] * from_strides[dim]);
    }
  }
}

std::vector<int64_t> count_up(size_t n) {
  std::vector<int64_t> result(n);
  for (size_t i = 0; i < n; ++i) {
    result[i] = static_cast<int64_t>(i);
  }
  return result;
}

std::vector<int64_t> slice_index(const char* op, const TensorBase& index, int64_t size) {
  std::vector<int64_t> values = index_values(index);
  for (const int64_t value : values) {
    TORCH_CHECK_INDEX(
        value >= 0 && value < size, "index out of range in self: ", op, "(): index ", value,
        " is out of range for dimension with size ", size);
  }
  return values;
}

} // namespace

void index_select_kernel(const TensorBase& self, int64_t dim, const TensorBase& index, const TensorBase& out) {
  dim = c10::maybe_wrap_dim(dim, self.dim());
  std::vector<int64_t> values = index_values(index);
  const int64_t size = dim_size(self, dim);
  for (const int64_t value : values) {
    const bool inside = value >= 0 && value < size;
    // The words that PyTorch has for dimension 1.
    TORCH_CHECK(
        inside || dim != 1, "INDICES element is out of DATA bounds, id=", value, " axis_dim=", size, " (in index_select)");
    TORCH_CHECK_INDEX(
        inside, "index out of range in self: index ", value, " for dimension ", dim, " with size ", size);
  }
  by_element_size(self.itemsize(), [&](auto word) {
    using T = decltype(word);
    const T* from = static_cast<const T*>(self.const_data_ptr());
    T* to = static_cast<T*>(out.mutable_data_ptr());
    if (self.is_contiguous() && out.is_contiguous() && self.dim() > 0) {
      int64_t inner = 1;
      for (int64_t d = dim + 1; d < self.dim(); ++d) {
        inner *= self.size(d);
      }
      const auto count = static_cast<int64_t>(values.size());
      const int64_t outer = size * inner == 0 ? 0 : self.numel() / (size * inner);
      at::parallel_for(0, outer * count, std::max<int64_t>(1, 16384 / std::max<int64_t>(inner, 1)), [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          std::copy_n(from + (i / count * size + values[i % count]) * inner, inner, to + i * inner);
        }
      });
      return;
    }
    for_each_slice_element(
        out, self, dim, count_up(values.size()), values, [=](int64_t o, int64_t s) { to[o] = from[s]; });
  });
}

void index_add_kernel(
    const TensorBase& self, int64_t dim, const TensorBase& index, const TensorBase& source, const Scalar& alpha,
    const TensorBase& out) {
  dim = c10::maybe_wrap_dim(dim, self.dim());
  const std::vector<int64_t> values = slice_index("index_add", index, dim_size(self, dim));
  start_from(self, out);
  dispatch("index_add", self.scalar_type(), at::kAll | at::kComplexHalves, [&]<class T> {
    const T* from = source.const_data_ptr<T>();
    T* to = out.mutable_data_ptr<T>();
    const T factor = alpha.to<T>();
    for_each_slice_element(out, source, dim, values, count_up(values.size()), [=](int64_t o, int64_t s) {
      to[o] = static_cast<T>(to[o] + static_cast<T>(from[s] * factor));
    });
  });
}

void index_reduce_kernel(
    const TensorBase& self, int64_t dim, const TensorBase& index, const TensorBase& source, std::string_view reduce,
    bool include_self, const TensorBase& out) {
  dim = c10::maybe_wrap_dim(dim, self.dim());
  const std::vector<int64_t> values = slice_index("index_reduce", index, dim_size(self, dim));
  const std::vector<int64_t> order = count_up(values.size());
  start_from(self, out);
  dispatch("index_reduce", self.scalar_type(), at::kBooleans | at::kIntegral | at::kFloating, [&]<class T> {
    const T* from = source.const_data_ptr<T>();
    T* to = out.mutable_data_ptr<T>();
    if (!include_self) {
      const T start = reduction_start<T>(reduce);
      for_each_slice_element(out, out, dim, values, values, [=](int64_t o, int64_t) { to[o] = start; });
    }
    with_combine<T>(reduce, [&](auto combine) {
      for_each_slice_element(
          out, source, dim, values, order, [=](int64_t o, int64_t s) { to[o] = combine(to[o], from[s]); });
    });
    if (reduce == "mean") {
      const Tensor counts = empty_contiguous(out.sizes(), kLong, kCPU).fill_(include_self ? 1 : 0);
      int64_t* n = counts.mutable_data_ptr<int64_t>();
      for_each_slice_element(counts, counts, dim, values, values, [=](int64_t o, int64_t) { ++n[o]; });
      divide_by_counts<T>(out, counts);
    }
  });
}

void index_copy_kernel(
    const TensorBase& self, int64_t dim, const TensorBase& index, const TensorBase& source, const TensorBase& out) {
  dim = c10::maybe_wrap_dim(dim, self.dim());
  const std::vector<int64_t> values = checked_values(index, dim_size(self, dim), dim);
  start_from(self, out);
  by_element_size(self.itemsize(), [&](auto word) {
    using T = decltype(word);
    const T* from = static_cast<const T*>(source.const_data_ptr());
    T* to = static_cast<T*>(out.mutable_data_ptr());
    for_each_slice_element(
        out, source, dim, values, count_up(values.size()), [=](int64_t o, int64_t s) { to[o] = from[s]; });
  });
}

void index_fill_kernel(
    const TensorBase& self, int64_t dim, const TensorBase& index, const Scalar& value, const TensorBase& out) {
  dim = c10::maybe_wrap_dim(dim, self.dim());
  std::vector<int64_t> values = index_values(index);
  for (int64_t& value : values) {
    value = checked_index(value, dim_size(self, dim), dim);
  }
  start_from(self, out);
  dispatch("index_fill", self.scalar_type(), at::kAll | at::kComplexHalves, [&]<class T> {
    T* to = out.mutable_data_ptr<T>();
    const T x = value.to<T>();
    for_each_slice_element(
        out, out, dim, values, count_up(values.size()), [=](int64_t o, int64_t) { to[o] = x; });
  });
}

} // namespace at::native
