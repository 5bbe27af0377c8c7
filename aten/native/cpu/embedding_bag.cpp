// embedding_bag: each bag of indices reduces rows of a table to one row.
#include <aten/core/OpMathType.h>
#include <aten/core/Tensor.h>
#include <aten/core/dtype_dispatch.h>
#include <aten/native/support/convert.h>
#include <aten/native/support/index_support.h>
#include <aten/native/vec/Vec.h>
#include <aten/parallel/Parallel.h>

#include <algorithm>
#include <vector>

namespace at::native {
inline namespace CPU_CAPABILITY {
namespace {

enum Mode : int64_t { Sum, Mean, Max };

using Values = std::vector<int64_t>;

bool given(const std::optional<Tensor>& t) {
  return t.has_value() && t->defined();
}

/// Throws unless all indices name rows of the table.
void check_rows(const Values& indices, int64_t rows) {
  for (size_t i = 0; i < indices.size(); ++i) {
    TORCH_CHECK(
        indices[i] >= 0 && indices[i] < rows, "embedding_bag: Expected idx >= 0 && idx < num_embeddings: Index ", i,
        " of input takes value ", indices[i], " which is not in the valid range [0, ", rows, ")");
  }
}

/// Where each bag starts, and the end of the last one.
Values bag_bounds(const TensorBase& offsets, int64_t bags, int64_t count) {
  Values bounds = index_values(offsets);
  if (!bounds.empty()) {
    TORCH_CHECK(
        bounds.front() == 0,
        "offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start from position 0. However, "
        "got ",
        bounds.front());
    TORCH_CHECK(
        bounds.back() <= count, "offsets[-1] can not be greater than input's length ", count,
        " but got offsets[-1] of ", bounds.back());
  }
  for (size_t i = 1; i < bounds.size(); ++i) {
    TORCH_CHECK(
        bounds[i - 1] <= bounds[i], "embedding_bag: offsets must not decrease, got ", bounds[i - 1], " before ",
        bounds[i], " at position ", i);
  }
  bounds.resize(bags);
  bounds.push_back(count);
  return bounds;
}

/// The bag of each of `count` indices. Nothing is in a bag where there are none.
Values bags_of(const Values& bounds, int64_t count) {
  Values bag(count, 0);
  for (size_t b = 0; b + 1 < bounds.size(); ++b) {
    std::fill(bag.begin() + bounds[b], bag.begin() + bounds[b + 1], static_cast<int64_t>(b));
  }
  return bag;
}

void store_indices(const Values& values, const TensorBase& out) {
  const int64_t size = sizeof(int64_t);
  convert_elements(
      out.scalar_type(), out.mutable_data_ptr(), static_cast<int64_t>(out.itemsize()), kLong, values.data(), size,
      static_cast<int64_t>(values.size()));
}

struct Bags {
  const Values& indices;
  const Values& bounds;
  int64_t padding_idx;
  int64_t width;
};

/// sum += scale * row
template <class T>
void add_scaled(const T* row, at::opmath_type<T> scale, int64_t width, at::opmath_type<T>* sum) {
  int64_t j = 0;
  if constexpr (sizeof(T) == 2) {
    using V = vec::VecFloat;
    for (; j + V::size() <= width; j += V::size()) {
      (V::load(sum + j) + vec::load_float(row + j) * V(scale)).store(sum + j);
    }
  }
  for (; j < width; ++j) {
    sum[j] += static_cast<at::opmath_type<T>>(row[j]) * scale;
  }
}

/// A vector of elements in the type that sums are taken in.
template <class T>
VEC_INLINE vec::Vec<at::opmath_type<T>> load_wide(const T* from) {
  if constexpr (std::is_same_v<T, double>) {
    return vec::Vec<double>::load(from);
  } else {
    return vec::load_float(from);
  }
}
template <class T>
VEC_INLINE void store_wide(vec::Vec<at::opmath_type<T>> value, T* to) {
  if constexpr (std::is_same_v<T, double>) {
    value.store(to);
  } else {
    vec::store_float(value, to);
  }
}

/// Sum or mean of the rows of bag `b`. Returns how many they are.
template <class T>
int64_t add_rows(
    const Bags& bags, int64_t b, const T* table, const T* scales, bool mean, at::opmath_type<T>* sum, T* to) {
  using R = at::opmath_type<T>;
  using V = vec::Vec<R>;
  const int64_t begin = bags.bounds[b], end = bags.bounds[b + 1];
  const int64_t* const indices = bags.indices.data();
  const int64_t used = (end - begin) - std::count(indices + begin, indices + end, bags.padding_idx);
  const R divisor = mean && used > 0 ? static_cast<R>(used) : R(1);
  // Columns whose sums stay in registers.
  constexpr int kVectors = 4;
  constexpr int64_t kColumns = kVectors * V::size();
  int64_t j = 0;
  for (; j + kColumns <= bags.width; j += kColumns) {
    V columns[kVectors];
    for (V& column : columns) {
      column = V(R(0));
    }
    for (int64_t i = begin; i < end; ++i) {
      if (indices[i] == bags.padding_idx) {
        continue;
      }
      const T* row = table + indices[i] * bags.width + j;
      const V scale = V(scales == nullptr ? R(1) : static_cast<R>(scales[i]));
      for (int k = 0; k < kVectors; ++k) {
        columns[k] = columns[k] + load_wide(row + k * V::size()) * scale;
      }
    }
    for (int k = 0; k < kVectors; ++k) {
      store_wide(columns[k] / V(divisor), to + j + k * V::size());
    }
  }
  const int64_t rest = bags.width - j;
  std::fill_n(sum, rest, R(0));
  for (int64_t i = begin; i < end; ++i) {
    if (indices[i] == bags.padding_idx) {
      continue;
    }
    const T* row = table + indices[i] * bags.width + j;
    add_scaled(row, scales == nullptr ? R(1) : static_cast<R>(scales[i]), rest, sum);
  }
  for (int64_t k = 0; k < rest; ++k) {
    to[j + k] = static_cast<T>(sum[k] / divisor);
  }
  return used;
}

/// The maximum of the rows of bag `b` and the row of each; zeros for an empty bag. Returns how many rows there are.
template <class T>
int64_t max_rows(const Bags& bags, int64_t b, const T* table, T* to, int64_t* rows) {
  std::fill_n(to, bags.width, T(0));
  int64_t used = 0;
  for (int64_t i = bags.bounds[b]; i < bags.bounds[b + 1]; ++i) {
    const int64_t index = bags.indices[i];
    if (index == bags.padding_idx) {
      continue;
    }
    const T* row = table + index * bags.width;
    for (int64_t j = 0; j < bags.width; ++j) {
      if (used == 0 || row[j] > to[j]) {
        to[j] = row[j];
        rows[j] = index;
      }
    }
    ++used;
  }
  return used;
}

} // namespace

void embedding_bag_kernel(
    const TensorBase& weight,
    const TensorBase& indices,
    const TensorBase& offsets,
    bool,
    int64_t mode,
    bool,
    const std::optional<Tensor>& per_sample_weights,
    bool,
    int64_t padding_idx,
    const TensorBase& out,
    const TensorBase& offset2bag,
    const TensorBase& bag_size,
    const TensorBase& max_indices) {
  const int64_t bag_count = out.size(0);
  const Values index = index_values(indices);
  const auto count = static_cast<int64_t>(index.size());
  const Values bounds = bag_bounds(offsets, bag_count, count);
  check_rows(index, weight.size(0));
  const Bags bags{index, bounds, padding_idx, weight.size(1)};
  const TensorBase table = weight.contiguous();
  const Tensor scales = given(per_sample_weights) ? per_sample_weights->contiguous() : Tensor();
  Values sizes(bag_count, 0);
  Values rows(mode == Max ? max_indices.numel() : 0, 0);
  dispatch("embedding_bag", weight.scalar_type(), kFloating, [&]<class T> {
    const T* from = table.const_data_ptr<T>();
    const T* scale = scales.defined() ? scales.const_data_ptr<T>() : nullptr;
    T* to = out.mutable_data_ptr<T>();
    const int64_t per_bag = std::max<int64_t>(1, bags.width * (count / std::max<int64_t>(bag_count, 1) + 1));
    at::parallel_for(
        0, bag_count, std::max<int64_t>(1, at::internal::GRAIN_SIZE / per_bag), [&](int64_t begin, int64_t end) {
          std::vector<at::opmath_type<T>> sum(bags.width);
          for (int64_t b = begin; b < end; ++b) {
            sizes[b] = mode == Max ? max_rows(bags, b, from, to + b * bags.width, rows.data() + b * bags.width)
                                   : add_rows(bags, b, from, scale, mode == Mean, sum.data(), to + b * bags.width);
          }
        });
  });
  if (mode == Sum) {
    sizes.assign(bag_size.numel(), 0);
  }
  store_indices(sizes, bag_size);
  store_indices(mode == Max ? rows : sizes, max_indices);
  if (offset2bag.numel() > 0) {
    store_indices(bags_of(bounds, count), offset2bag);
  }
}

void embedding_bag_dense_backward_kernel(
    const TensorBase& grad,
    const TensorBase& indices,
    const TensorBase& offset2bag,
    const TensorBase& bag_size,
    const TensorBase& maximum_indices,
    int64_t num_weights,
    bool scale_grad_by_freq,
    int64_t mode,
    const std::optional<Tensor>& per_sample_weights,
    int64_t padding_idx,
    const TensorBase& out) {
  const Values index = index_values(indices);
  check_rows(index, num_weights);
  const Values bag = mode == Max ? Values() : index_values(offset2bag);
  const Values sizes = mode == Sum ? Values() : index_values(bag_size);
  const Values rows = mode == Max ? index_values(maximum_indices) : Values();
  const int64_t bag_count = grad.size(0);
  const int64_t width = grad.size(1);
  for (const int64_t b : bag) {
    TORCH_CHECK(
        b >= 0 && (b < bag_count || bag_count == 0), "embedding_bag: offset2bag names bag ", b, " of ", bag_count);
  }
  check_rows(rows, num_weights);
  Values uses(scale_grad_by_freq ? num_weights : 0, 0);
  for (size_t i = 0; scale_grad_by_freq && i < index.size(); ++i) {
    ++uses[index[i]];
  }
  const TensorBase dense = grad.contiguous();
  const Tensor scales = given(per_sample_weights) ? per_sample_weights->contiguous() : Tensor();
  dispatch("embedding_bag_backward", grad.scalar_type(), kFloating, [&]<class T> {
    using R = at::opmath_type<T>;
    const T* from = dense.const_data_ptr<T>();
    const T* scale_of = scales.defined() ? scales.const_data_ptr<T>() : nullptr;
    std::vector<R> sums(num_weights * width, R(0));
    if (mode == Max) {
      for (int64_t i = 0; i < bag_count * width; ++i) {
        if (sizes[i / width] > 0) {
          sums[rows[i] * width + i % width] += static_cast<R>(from[i]);
        }
      }
    }
    for (size_t i = 0; mode != Max && bag_count > 0 && i < index.size(); ++i) {
      if (index[i] == padding_idx) {
        continue;
      }
      R scale = scale_of == nullptr ? R(1) : static_cast<R>(scale_of[i]);
      if (scale_grad_by_freq) {
        scale /= static_cast<R>(uses[index[i]]);
      }
      if (mode == Mean && sizes[bag[i]] > 0) {
        scale /= static_cast<R>(sizes[bag[i]]);
      }
      const T* row = from + bag[i] * width;
      add_scaled(row, scale, width, sums.data() + index[i] * width);
    }
    std::transform(sums.begin(), sums.end(), out.mutable_data_ptr<T>(), [](R sum) { return static_cast<T>(sum); });
  });
}

void embedding_bag_per_sample_weights_backward_kernel(
    const TensorBase& grad,
    const TensorBase& weight,
    const TensorBase& indices,
    const TensorBase& offsets,
    const TensorBase& offset2bag,
    int64_t,
    int64_t padding_idx,
    const TensorBase& out) {
  const Values index = index_values(indices);
  check_rows(index, weight.size(0));
  const auto count = static_cast<int64_t>(index.size());
  const int64_t bag_count = grad.size(0);
  const Values bag = offset2bag.numel() > 0
      ? index_values(offset2bag)
      : bags_of(bag_bounds(offsets, std::min(bag_count, offsets.numel()), count), count);
  for (const int64_t b : bag) {
    TORCH_CHECK(
        b >= 0 && (b < bag_count || bag_count == 0), "embedding_bag: offset2bag names bag ", b, " of ", bag_count);
  }
  const TensorBase dense = grad.contiguous();
  const TensorBase table = weight.contiguous();
  const int64_t width = weight.size(1);
  dispatch("_embedding_bag_per_sample_weights_backward", grad.scalar_type(), kFloating, [&]<class T> {
    using R = at::opmath_type<T>;
    const T* g = dense.const_data_ptr<T>();
    const T* w = table.const_data_ptr<T>();
    T* to = out.mutable_data_ptr<T>();
    at::parallel_for(
        0, count, std::max<int64_t>(1, at::internal::GRAIN_SIZE / std::max<int64_t>(width, 1)),
        [&](int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; ++i) {
            R sum(0);
            for (int64_t j = 0; index[i] != padding_idx && bag_count > 0 && j < width; ++j) {
              sum += static_cast<R>(g[bag[i] * width + j]) * static_cast<R>(w[index[i] * width + j]);
            }
            to[i] = static_cast<T>(sum);
          }
        });
  });
}

} // namespace CPU_CAPABILITY
} // namespace at::native
