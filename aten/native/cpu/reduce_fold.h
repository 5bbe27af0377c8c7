// The loops behind every reduction that folds values with an associative operation (sum, prod, max, any, norms, ...).
// Included by kernel sources only, inside no namespace; everything is local to the including translation unit, because
// each of them is compiled for several instruction sets.
//
// An operation is a struct with
//   using In, Acc;  Acc identity() const;  Acc map(In) const;  Acc combine(Acc, Acc) const;
// and, when it can stop early, `bool done(Acc) const`. One whose steps are more than map and combine (variance) brings
// its own `Acc run(in, count, stride)` and `void rows(in, rows, row stride, width, column stride, Acc* out)` for short
// runs. Results leave through `emit(output offset, Acc)`. Half is widened to float by vectors before it is folded, so
// an operation on half should map a float as well.
//
// Note [Order of a reduction]
// Floating sums depend on the order of their terms. The inputs of one output are cut into units of a fixed size, each
// unit into short runs that are summed in several lanes, and the partial results are combined as a balanced tree. None
// of this depends on the number of threads, so neither does the result; the tree keeps the rounding error logarithmic.
#pragma once

#include <aten/native/cpu/generic/reduce_drive.h>
#include <aten/native/vec/Vec.h>

#include <c10/macros/Macros.h>
#include <c10/util/Half.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <type_traits>

namespace at::native {
inline namespace CPU_CAPABILITY {
namespace {

template <class Op>
concept HasOwnRuns = requires(const Op& op, const typename Op::In* in) { op.run(in, int64_t{}, int64_t{}); };

// Combining in any order and grouping gives the same.
template <class Op>
concept Commutative = Op::kCommutative;

template <class Op>
concept ExitsEarly = requires(const Op& op, typename Op::Acc acc) { op.done(acc); };

// Visits the flattened range [begin, end) of `dims` as runs along the last dimension: f(offset, count, stride).
// Stops when f returns false.
template <class F>
void for_runs(const WalkDims& dims, int64_t begin, int64_t end, int64_t longest, F&& f) {
  if (begin >= end) {
    return;
  }
  if (dims.empty()) {
    f(int64_t{0}, int64_t{1}, int64_t{0});
    return;
  }
  const WalkDim row = dims.back();
  const WalkDims outer(dims.begin(), dims.end() - 1);
  IndexCounter at(outer, begin / row.size);
  int64_t first = begin % row.size;
  for (int64_t left = end - begin; left > 0; at.next(), first = 0) {
    const int64_t stop = std::min(row.size, first + left);
    left -= stop - first;
    for (int64_t i = first; i < stop; i += longest) {
      if (!f(at.in + i * row.in, std::min(longest, stop - i), row.in)) {
        return;
      }
    }
  }
}

// Combines partial results as a balanced tree, in order.
template <class Op>
class Cascade {
 public:
  using Acc = typename Op::Acc;
  explicit Cascade(const Op& op) : op_(op) {}

  void push(Acc value) {
    int level = 0;
    for (; (count_ >> level) & 1; ++level) {
      value = op_.combine(levels_[level], value);
    }
    levels_[level] = value;
    ++count_;
  }

  Acc result() const {
    if (count_ == 0) {
      return op_.identity();
    }
    int level = __builtin_ctzll(count_);
    Acc value = levels_[level];
    for (++level; level < kLevels; ++level) {
      if ((count_ >> level) & 1) {
        value = op_.combine(levels_[level], value);
      }
    }
    return value;
  }

 private:
  static constexpr int kLevels = 56;
  const Op& op_;
  uint64_t count_ = 0;
  Acc levels_[kLevels];
};

// The same for blocks of neighbouring columns.
template <class Op>
class BlockCascade {
 public:
  using Acc = typename Op::Acc;
  BlockCascade(const Op& op, int64_t width) : op_(op), width_(width) {}

  void reset(int64_t width) {
    width_ = width;
    count_ = 0;
  }

  C10_NOINLINE void push(Acc* __restrict value) {
    size_t level = 0;
    for (; (count_ >> level) & 1; ++level) {
      const Acc* __restrict kept = levels_[level].get();
      for (int64_t j = 0; j < width_; ++j) {
        value[j] = op_.combine(kept[j], value[j]);
      }
    }
    if (levels_.size() <= level) {
      levels_.push_back(std::unique_ptr<Acc[]>(new Acc[kBlockColumns]));
    }
    std::copy(value, value + width_, levels_[level].get());
    ++count_;
  }

  C10_NOINLINE void result(Acc* __restrict value) const {
    bool first = true;
    for (size_t level = 0; level < levels_.size(); ++level) {
      if ((count_ >> level) & 1) {
        const Acc* __restrict kept = levels_[level].get();
        for (int64_t j = 0; j < width_; ++j) {
          value[j] = first ? kept[j] : op_.combine(kept[j], value[j]);
        }
        first = false;
      }
    }
    if (first) {
      std::fill(value, value + width_, op_.identity());
    }
  }

 private:
  const Op& op_;
  int64_t width_;
  uint64_t count_ = 0;
  c10::SmallVector<std::unique_ptr<Acc[]>, 8> levels_;
};

// Whether elements are widened to float first: half, whose conversion compilers do not vectorise though processors can.
template <class T>
#ifdef __F16C__
inline constexpr bool reads_as_float = std::is_same_v<T, c10::Half>;
#else
inline constexpr bool reads_as_float = false;
#endif

// Elements `stride` apart as adjacent floats.
template <class T>
C10_NOINLINE void widen(const T* in, int64_t count, int64_t stride, float* to) {
  int64_t i = 0;
  if (stride == 1) {
    constexpr int64_t kVector = vec::VecFloat::size();
    for (; i + kVector <= count; i += kVector) {
      vec::load_float(in + i).store(to + i);
    }
  }
  for (; i < count; ++i) {
    to[i] = static_cast<float>(in[i * stride]);
  }
}

// A row of at most kBlockColumns elements, `stride` apart as they lie or adjacent as floats.
template <class T, class Stride>
struct PlainRow {
  const T* data;
  Stride stride;
  PlainRow(const T* in, int64_t, Stride in_stride) : data(in), stride(in_stride) {}
};
template <class T>
struct WideRow {
  float data[kBlockColumns];
  std::integral_constant<int64_t, 1> stride;
  WideRow(const T* in, int64_t width, int64_t in_stride) {
    widen(in, width, in_stride, data);
  }
};
template <class T, class Stride>
using RowOf = std::conditional_t<reads_as_float<T>, WideRow<T>, PlainRow<T, Stride>>;

// A second look at a run that is in the cache: the time is used to prefetch the run behind it, which comes next.
template <class Op>
concept LooksAgain = Op::kLooksAgain;

// Prefetches the cache lines of n elements.
template <class In>
C10_ALWAYS_INLINE void prefetch(const In* in, int64_t n) {
  constexpr int64_t kLine = 64;
  const char* lines = reinterpret_cast<const char*>(in);
  for (int64_t at = 0; at < n * static_cast<int64_t>(sizeof(In)); at += kLine) {
    __builtin_prefetch(lines + at);
  }
}

// Combines lane j with lane j + kLanes / 2, then half of those, until one is left. Each step has lanes of its own,
// which compilers keep in registers.
template <int64_t kLanes, class Op>
C10_ALWAYS_INLINE typename Op::Acc join_lanes(const Op& op, const typename Op::Acc* __restrict acc) {
  if constexpr (kLanes == 1) {
    return acc[0];
  } else {
    typename Op::Acc half[kLanes / 2];
    for (int64_t j = 0; j < kLanes / 2; ++j) {
      half[j] = op.combine(acc[j], acc[j + kLanes / 2]);
    }
    return join_lanes<kLanes / 2>(op, half);
  }
}

// A contiguous run of at least kLanes inputs.
template <int64_t kLanes, class Op, class In>
typename Op::Acc fold_contiguous(const Op& op, const In* in, int64_t count) {
  using Acc = typename Op::Acc;
  Acc acc[kLanes];
  int64_t i = kLanes;
  if (count >= 2 * kLanes) {
    // Not by a copy of the first inputs: compilers make it of halves of vectors, and to read those back whole the
    // processor waits until they are in the cache, a third of the time of a row of 1024 floats.
    for (int64_t j = 0; j < kLanes; ++j) {
      acc[j] = op.combine(op.map(in[j]), op.map(in[i + j]));
    }
    i += kLanes;
  } else {
    for (int64_t j = 0; j < kLanes; ++j) {
      acc[j] = op.map(in[j]);
    }
  }
  for (; i + kLanes <= count; i += kLanes) {
    if constexpr (LooksAgain<Op>) {
      prefetch(in + count + i, kLanes);
    }
    for (int64_t j = 0; j < kLanes; ++j) {
      acc[j] = op.combine(acc[j], op.map(in[i + j]));
    }
  }
  for (int64_t j = 0; i + j < count; ++j) {
    acc[j] = op.combine(acc[j], op.map(in[i + j]));
  }
  return join_lanes<kLanes>(op, acc);
}

// One run of a reduced row. Several independent lanes, so that it vectorises and does not wait for one addition.
template <class Op, class In>
typename Op::Acc fold_lanes(const Op& op, const In* in, int64_t count, int64_t stride) {
  using Acc = typename Op::Acc;
  constexpr int64_t kLanes = std::clamp<int64_t>(256 / sizeof(Acc), 8, sizeof(In) == 1 ? 64 : 32);
  if (stride == 1 && count >= 8) {
    return count >= kLanes ? fold_contiguous<kLanes>(op, in, count) : fold_contiguous<8>(op, in, count);
  }
  if (count < 4) {
    Acc acc = op.map(in[0]);
    for (int64_t i = 1; i < count; ++i) {
      acc = op.combine(acc, op.map(in[i * stride]));
    }
    return acc;
  }
  Acc acc[4] = {op.map(in[0]), op.map(in[stride]), op.map(in[2 * stride]), op.map(in[3 * stride])};
  int64_t i = 4;
  if constexpr (std::is_floating_point_v<Acc>) {
    // Four at a time are combined before they go to a lane: the fewer steps a lane takes, the less is lost to rounding.
    for (; i + 16 <= count; i += 16) {
      for (int64_t j = 0; j < 4; ++j) {
        const In* a = in + (i + 4 * j) * stride;
        const Acc low = op.combine(op.map(a[0]), op.map(a[stride]));
        const Acc high = op.combine(op.map(a[2 * stride]), op.map(a[3 * stride]));
        acc[j] = op.combine(acc[j], op.combine(low, high));
      }
    }
  }
  for (; i + 4 <= count; i += 4) {
    for (int64_t j = 0; j < 4; ++j) {
      acc[j] = op.combine(acc[j], op.map(in[(i + j) * stride]));
    }
  }
  for (; i < count; ++i) {
    acc[0] = op.combine(acc[0], op.map(in[i * stride]));
  }
  return op.combine(op.combine(acc[0], acc[1]), op.combine(acc[2], acc[3]));
}

// A run of at most kRunInputs inputs, or kUnitInputs without order.
// The loops are kept out of line: each of the ways below to share out the work would otherwise hold a copy of them.
template <class Op>
C10_NOINLINE typename Op::Acc fold_run(const Op& op, const typename Op::In* in, int64_t count, int64_t stride) {
  if constexpr (HasOwnRuns<Op>) {
    return op.run(in, count, stride);
  } else if constexpr (reads_as_float<typename Op::In>) {
    float wide[kRunInputs];
    widen(in, count, stride, wide);
    return fold_lanes(op, wide, count, 1);
  } else {
    return fold_lanes(op, in, count, stride);
  }
}

// The inputs [begin, end) of one output whose first input is `in`; `dims` are the reduced dimensions.
template <class Op>
C10_NOINLINE typename Op::Acc fold_unit(
    const Op& op, const typename Op::In* in, const WalkDims& dims, int64_t begin, int64_t end) {
  Cascade<Op> cascade(op);
  constexpr int64_t kLongest = Commutative<Op> ? kUnitInputs : kRunInputs;
  for_runs(dims, begin, end, kLongest, [&](int64_t offset, int64_t count, int64_t stride) {
    const auto run = fold_run(op, in + offset, count, stride);
    cascade.push(run);
    if constexpr (ExitsEarly<Op>) {
      return !op.done(run);
    } else {
      return true;
    }
  });
  return cascade.result();
}

template <class Op>
typename Op::Acc fold_units(const Op& op, const typename Op::In* in, const WalkDims& dims, int64_t count) {
  if (count <= kUnitInputs) {
    return fold_unit(op, in, dims, 0, count);
  }
  Cascade<Op> cascade(op);
  for (int64_t begin = 0; begin < count; begin += kUnitInputs) {
    const auto unit = fold_unit(op, in, dims, begin, std::min(count, begin + kUnitInputs));
    cascade.push(unit);
    if constexpr (ExitsEarly<Op>) {
      if (op.done(unit)) {
        break;
      }
    }
  }
  return cascade.result();
}

// Folds `rows` rows of `width` columns into acc, which holds identities.
template <class Op, class In>
C10_NOINLINE void fold_lanes_of_rows(
    const Op& op,
    const In* in,
    int64_t rows,
    int64_t row_stride,
    int64_t width,
    int64_t column_stride,
    typename Op::Acc* __restrict acc) {
  using Acc = typename Op::Acc;
  if (column_stride != 1) {
    for (int64_t r = 0; r < rows; ++r, in += row_stride) {
      for (int64_t j = 0; j < width; ++j) {
        acc[j] = op.combine(acc[j], op.map(in[j * column_stride]));
      }
    }
    return;
  }
  constexpr int64_t kWide = 32;
  if (width <= kWide / 4 && row_stride == width && rows * width >= 4 * kWide) {
    // Narrow rows side by side in memory: take several at once to fill a vector.
    const int64_t together = kWide / width;
    const int64_t step = together * width;
    Acc wide[kWide];
    std::fill(wide, wide + step, op.identity());
    for (; rows >= together; rows -= together, in += step) {
      for (int64_t j = 0; j < step; ++j) {
        wide[j] = op.combine(wide[j], op.map(in[j]));
      }
    }
    for (int64_t j = 0; j < step; ++j) {
      acc[j % width] = op.combine(acc[j % width], wide[j]);
    }
  }
  int64_t r = 0;
  for (; r + 4 <= rows; r += 4) {
    const auto* a = in + r * row_stride;
    const auto* b = a + row_stride;
    const auto* c = b + row_stride;
    const auto* d = c + row_stride;
    for (int64_t j = 0; j < width; ++j) {
      const Acc low = op.combine(op.map(a[j]), op.map(b[j]));
      const Acc high = op.combine(op.map(c[j]), op.map(d[j]));
      acc[j] = op.combine(acc[j], op.combine(low, high));
    }
  }
  for (; r < rows; ++r) {
    const auto* a = in + r * row_stride;
    for (int64_t j = 0; j < width; ++j) {
      acc[j] = op.combine(acc[j], op.map(a[j]));
    }
  }
}

template <class Op>
void fold_run_of_rows(
    const Op& op,
    const typename Op::In* in,
    int64_t rows,
    int64_t row_stride,
    int64_t width,
    int64_t column_stride,
    typename Op::Acc* acc) {
  if constexpr (HasOwnRuns<Op>) {
    op.rows(in, rows, row_stride, width, column_stride, acc);
  } else if constexpr (reads_as_float<typename Op::In>) {
    float wide[kRunInputs];
    static_assert(kRunInputs >= 4 * kBlockColumns);
    // As many rows as fit, in fours as they are joined.
    const int64_t together = kRunInputs / width / 4 * 4;
    for (; rows > 0; rows -= together, in += together * row_stride) {
      const int64_t some = std::min(rows, together);
      if (column_stride == 1 && row_stride == width) {
        widen(in, some * width, 1, wide);
      } else {
        for (int64_t r = 0; r < some; ++r) {
          widen(in + r * row_stride, width, column_stride, wide + r * width);
        }
      }
      fold_lanes_of_rows(op, wide, some, width, width, 1, acc);
    }
  } else {
    fold_lanes_of_rows(op, in, rows, row_stride, width, column_stride, acc);
  }
}

template <class Op>
void fold_block_unit(
    const Op& op,
    const typename Op::In* in,
    const WalkDims& dims,
    int64_t begin,
    int64_t end,
    int64_t width,
    int64_t column_stride,
    BlockCascade<Op>& cascade,
    typename Op::Acc* acc) {
  // Narrow blocks take longer runs, so that combining partial results stays cheap.
  const int64_t longest = std::max(kRunRows, kRunInputs / width);
  if (end - begin <= longest && dims.size() <= 1) {
    std::fill(acc, acc + width, op.identity());
    for_runs(dims, begin, end, longest, [&](int64_t offset, int64_t count, int64_t stride) {
      fold_run_of_rows(op, in + offset, count, stride, width, column_stride, acc);
      return true;
    });
    return;
  }
  cascade.reset(width);
  for_runs(dims, begin, end, longest, [&](int64_t offset, int64_t count, int64_t stride) {
    std::fill(acc, acc + width, op.identity());
    fold_run_of_rows(op, in + offset, count, stride, width, column_stride, acc);
    cascade.push(acc);
    return true;
  });
  cascade.result(acc);
}

// All units of a block of columns, one after the other.
template <class Op>
C10_NOINLINE void fold_block(
    const Op& op,
    const typename Op::In* in,
    const WalkDims& dims,
    int64_t begin,
    int64_t end,
    int64_t width,
    int64_t column_stride,
    typename Op::Acc* acc) {
  const int64_t unit = unit_rows(width);
  BlockCascade<Op> cascade(op, width);
  BlockCascade<Op> joined(op, width);
  int64_t first = begin;
  do {
    const int64_t stop = std::min(end, first + unit);
    fold_block_unit(op, in, dims, first, stop, width, column_stride, cascade, acc);
    if (end - begin > unit) {
      joined.push(acc);
    }
    first = stop;
  } while (first < end);
  if (end - begin > unit) {
    joined.result(acc);
  }
}

template <class Op, class Emit>
class OpFolder final : public Folder {
 public:
  using Acc = typename Op::Acc;

  OpFolder(const Op& op, const typename Op::In* in, const Emit& emit)
      : Folder(sizeof(Acc)), op_(op), in_(in), emit_(emit) {}

  void rows(const ReducePlan& plan, const WalkDims& dims, int64_t begin, int64_t end) const override {
    const int64_t count = plan.inputs_per_output();
    IndexCounter at(plan.kept, begin);
    if (dims.size() == 1 && count <= kRunInputs && count > 0) {
      for (int64_t o = begin; o < end; ++o, at.next()) {
        emit_(at.out, fold_run(op_, in_ + at.in, count, plan.inner.in));
      }
      return;
    }
    for (int64_t o = begin; o < end; ++o, at.next()) {
      emit_(at.out, fold_units(op_, in_ + at.in, dims, count));
    }
  }

  void row_unit(int64_t offset, const WalkDims& dims, int64_t begin, int64_t end, void* acc) const override {
    *static_cast<Acc*>(acc) = fold_unit(op_, in_ + offset, dims, begin, end);
  }

  void column_units(
      const ColumnBlock& block, const WalkDims& dims, int64_t begin, int64_t end, void* acc) const override {
    fold_block(op_, in_ + block.in, dims, begin, end, block.width, block.in_stride, static_cast<Acc*>(acc));
  }

  void join(const void* parts, int64_t count, int64_t width, void* acc) const override {
    const Acc* part = static_cast<const Acc*>(parts);
    Acc block[kBlockColumns];
    BlockCascade<Op> cascade(op_, width);
    for (int64_t i = 0; i < count; ++i) {
      std::copy(part + i * width, part + (i + 1) * width, block);
      cascade.push(block);
    }
    cascade.result(static_cast<Acc*>(acc));
  }

  void emit(int64_t offset, int64_t stride, int64_t width, const void* acc) const override {
    const Acc* values = static_cast<const Acc*>(acc);
    for (int64_t j = 0; j < width; ++j) {
      emit_(offset + j * stride, values[j]);
    }
  }

 private:
  const Op& op_;
  const typename Op::In* in_;
  const Emit& emit_;
};

/// Folds the input at `in` as `plan` says; `emit(offset, acc)` is called once for each output.
template <class Op, class Emit>
void fold(const Op& op, const ReducePlan& plan, const typename Op::In* in, const Emit& emit) {
  run_reduction(plan, OpFolder<Op, Emit>(op, in, emit));
}

} // namespace
} // namespace CPU_CAPABILITY
} // namespace at::native
