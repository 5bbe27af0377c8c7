// argmax, argmin, and max and min along a dimension with indices. The first of equal elements wins; so does the first
// NaN.
#include <aten/native/cpu/reduce_extremum_op.h>
#include <aten/parallel/Parallel.h>

#include <memory>
#include <type_traits>

namespace at::native {
inline namespace CPU_CAPABILITY {

namespace {

template <class Op>
struct Found {
  typename Op::Acc value;
  int64_t index;
};

template <class Op>
Found<Op> find_strided(const Op& op, const typename Op::In* in, int64_t count, int64_t stride) {
  Found<Op> best{op.map(in[0]), 0};
  for (int64_t i = 1; i < count; ++i) {
    const auto value = op.map(in[i * stride]);
    if (Op::replaces(value, best.value)) {
      best = {value, i};
    }
  }
  return best;
}

// The index of the first element that is `wanted`, or NaN if that is; there is one.
template <class Op, class In>
int64_t find_place(const Op& op, const In* in, int64_t count, typename Op::Acc wanted) {
  using Acc = typename Op::Acc;
  constexpr int64_t kTogether = 64; // without a branch, so that it vectorises, in lanes as wide as the values
  using Flag = std::conditional_t<sizeof(Acc) == 8, int64_t, std::conditional_t<sizeof(Acc) == 4, int32_t, int8_t>>;
  const auto search = [&](auto is_wanted) {
    int64_t i = 0;
    for (; i + kTogether <= count; i += kTogether) {
      prefetch(in + count + i, kTogether); // the next row
      Flag here = 0;
      for (int64_t j = 0; j < kTogether; ++j) {
        here |= Flag{is_wanted(op.map(in[i + j]))};
      }
      if (here != 0) {
        break;
      }
    }
    while (!is_wanted(op.map(in[i]))) {
      ++i;
    }
    return i;
  };
  return wanted == wanted ? search([&](Acc x) { return x == wanted; }) : search([](Acc x) { return x != x; });
}

// Finds the value chunk by chunk with the vectorised fold, then looks for its place in the winning chunk.
template <class Op>
C10_NOINLINE Found<Op> find(const Op& op, const typename Op::In* in, int64_t count, int64_t stride) {
  if (stride != 1 || count < 64) {
    return find_strided(op, in, count, stride);
  }
  auto best = op.map(in[0]);
  int64_t chunk = 0;
  for (int64_t begin = 0; begin < count && best == best; begin += kRunInputs) {
    const auto value = fold_run(op, in + begin, std::min(kRunInputs, count - begin), 1);
    if (Op::replaces(value, best)) {
      best = value;
      chunk = begin;
    }
  }
  const int64_t size = std::min(kRunInputs, count - chunk);
  if constexpr (reads_as_float<typename Op::In>) {
    float wide[kRunInputs];
    widen(in + chunk, size, 1, wide);
    return {best, chunk + find_place(op, wide, size, best)};
  } else {
    return {best, chunk + find_place(op, in + chunk, size, best)};
  }
}

template <class Op, class Emit>
void find_in_rows(
    const Op& op,
    const WalkDims& rows,
    int64_t row_count,
    const typename Op::In* in,
    int64_t count,
    int64_t stride,
    const Emit& emit) {
  const int64_t units = (count + kUnitInputs - 1) / kUnitInputs;
  if (units > 1 && row_count < at::get_num_threads()) {
    std::unique_ptr<Found<Op>[]> partial(new Found<Op>[row_count * units]);
    at::parallel_for(0, row_count * units, 1, [&](int64_t begin, int64_t end) {
      for (int64_t task = begin; task < end; ++task) {
        const IndexCounter at(rows, task / units);
        const int64_t first = (task % units) * kUnitInputs;
        auto found = find(op, in + at.in + first * stride, std::min(kUnitInputs, count - first), stride);
        found.index += first;
        partial[task] = found;
      }
    });
    IndexCounter at(rows);
    for (int64_t r = 0; r < row_count; ++r, at.next()) {
      Found<Op> best = partial[r * units];
      for (int64_t u = 1; u < units; ++u) {
        if (Op::replaces(partial[r * units + u].value, best.value)) {
          best = partial[r * units + u];
        }
      }
      emit(at.out, best.value, best.index);
    }
    return;
  }
  at::parallel_for(0, row_count, std::max<int64_t>(1, kUnitInputs / count), [&](int64_t begin, int64_t end) {
    IndexCounter at(rows, begin);
    for (int64_t r = begin; r < end; ++r, at.next()) {
      const auto found = find(op, in + at.in, count, stride);
      emit(at.out, found.value, found.index);
    }
  });
}

template <class Op>
C10_ALWAYS_INLINE void take_better(typename Op::Acc x, int32_t i, typename Op::Acc& best, int32_t& place) {
  const bool take = Op::replaces(x, best);
  best = take ? x : best;
  place = take ? i : place;
}

// Neighbouring columns side by side. Indices are 32-bit here, which keeps them as wide as most values.
template <class Op, class Emit>
void find_in_columns(
    const Op& op,
    const WalkDims& rows,
    int64_t row_count,
    const WalkDim& columns,
    const typename Op::In* in,
    int64_t count,
    int64_t stride,
    const Emit& emit) {
  using Acc = typename Op::Acc;
  using Adjacent = std::integral_constant<int64_t, 1>;
  using Row = RowOf<typename Op::In, Adjacent>;
  const int64_t blocks = (columns.size + kBlockColumns - 1) / kBlockColumns;
  const int64_t work = count * std::min(columns.size, kBlockColumns);
  at::parallel_for(0, row_count * blocks, std::max<int64_t>(1, kUnitInputs / work), [&](int64_t begin, int64_t end) {
    Acc value[kBlockColumns];
    int32_t index[kBlockColumns];
    for (int64_t task = begin; task < end; ++task) {
      const IndexCounter at(rows, task / blocks);
      const int64_t first = (task % blocks) * kBlockColumns;
      const int64_t width = std::min(kBlockColumns, columns.size - first);
      const auto row_at = [&](int64_t i) { return Row(in + at.in + first + i * stride, width, Adjacent{}); };
      const Row row = row_at(0);
      for (int64_t j = 0; j < width; ++j) {
        value[j] = op.map(row.data[j]);
        index[j] = 0;
      }
      int64_t i = 1;
      for (; i + 4 <= count; i += 4) {
        const Row next[4] = {row_at(i), row_at(i + 1), row_at(i + 2), row_at(i + 3)};
        for (int64_t j = 0; j < width; ++j) {
          Acc best = value[j];
          int32_t place = index[j];
          for (int r = 0; r < 4; ++r) {
            take_better<Op>(op.map(next[r].data[j]), static_cast<int32_t>(i + r), best, place);
          }
          value[j] = best;
          index[j] = place;
        }
      }
      for (; i < count; ++i) {
        const Row next = row_at(i);
        for (int64_t j = 0; j < width; ++j) {
          take_better<Op>(op.map(next.data[j]), static_cast<int32_t>(i), value[j], index[j]);
        }
      }
      for (int64_t j = 0; j < width; ++j) {
        emit(at.out + (first + j) * columns.out, value[j], index[j]);
      }
    }
  });
}

// Both results of a search, contiguous; the values may be unwanted.
template <class Op>
struct StoreFound {
  Op op;
  typename Op::In* values;
  int64_t* indices;
  void operator()(int64_t offset, typename Op::Acc key, int64_t index) const {
    if (values != nullptr) {
      values[offset] = op.value(key);
    }
    indices[offset] = index;
  }
};

template <class Op, class Emit>
void find_along(const Op& op, const TensorBase& self, int64_t dim, const typename Op::In* in, const Emit& emit) {
  const bool scalar = self.dim() == 0;
  const int64_t count = scalar ? 1 : self.sizes()[dim];
  const int64_t stride = scalar ? 1 : self.strides()[dim];
  c10::SmallVector<int64_t, 6> out_strides(self.dim(), 0);
  int64_t row_count = 1;
  for (int64_t d = self.dim() - 1; d >= 0; --d) {
    if (d != dim) {
      out_strides[d] = row_count;
      row_count *= self.sizes()[d];
    }
  }
  if (row_count == 0) {
    return;
  }
  WalkDims rows = plan_rows(self.sizes(), self.strides(), out_strides, dim);
  if (!rows.empty() && rows.back().in == 1 && rows.back().size >= 4 && stride != 1 && count < INT32_MAX) {
    const WalkDim columns = rows.back();
    rows.pop_back();
    find_in_columns(op, rows, row_count / columns.size, columns, in, count, stride, emit);
  } else {
    find_in_rows(op, rows, row_count, in, count, stride, emit);
  }
}

// `values` may be undefined. Without `dim` the flattened input is searched.
void extremum_along(
    const char* name,
    const TensorBase& self,
    bool largest,
    std::optional<int64_t> dim,
    const TensorBase& values,
    const TensorBase& indices) {
  if (indices.numel() == 0) {
    return;
  }
  const TensorBase input = dim.has_value() ? self : self.contiguous();
  with_extremum(name, input, largest, [&]<class Op>(const Op& op, const typename Op::In* in) {
    auto* value = values.defined() ? static_cast<typename Op::In*>(values.mutable_data_ptr()) : nullptr;
    const StoreFound<Op> store{op, value, indices.mutable_data_ptr<int64_t>()};
    if (dim.has_value()) {
      find_along(op, input, c10::maybe_wrap_dim(*dim, input.dim()), in, store);
    } else {
      find_in_rows(op, WalkDims{}, 1, in, input.numel(), 1, store);
    }
  });
}

} // namespace

void argmax_kernel(const TensorBase& self, std::optional<int64_t> dim, bool, const TensorBase& out) {
  extremum_along("argmax_cpu", self, /*largest=*/true, dim, TensorBase(), out);
}

void argmin_kernel(const TensorBase& self, std::optional<int64_t> dim, bool, const TensorBase& out) {
  extremum_along("argmin_cpu", self, /*largest=*/false, dim, TensorBase(), out);
}

void max_dim_kernel(const TensorBase& self, int64_t dim, bool, const TensorBase& values, const TensorBase& indices) {
  extremum_along("max_cpu", self, /*largest=*/true, dim, values, indices);
}

void min_dim_kernel(const TensorBase& self, int64_t dim, bool, const TensorBase& values, const TensorBase& indices) {
  extremum_along("min_cpu", self, /*largest=*/false, dim, values, indices);
}

} // namespace CPU_CAPABILITY
} // namespace at::native
