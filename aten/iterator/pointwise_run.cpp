#include <aten/iterator/pointwise_run.h>

#include <aten/iterator/TensorIteratorDetail.h>
#include <aten/native/support/index_rows.h>
#include <aten/native/support/streamed.h>
#include <aten/native/support/transposed_copy.h>
#include <aten/parallel/Parallel.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace at::native {

namespace {

struct PointwiseRun {
  BlockKernel kernel;
  BlockFunctor functor;
};

thread_local PointwiseListener* listener = nullptr;

constexpr int kMaxOperands = 9;
// Elements below which one thread is enough.
constexpr std::int64_t kGrain = at::internal::GRAIN_SIZE;
constexpr std::int64_t kBlockBytes = 4096;
// Where a value is repeated along a row, and another along the next: one short run of it is read again and again.
constexpr std::int64_t kRepeatedBytes = 1024;
// Rows at least this long are handled one by one; shorter ones are gathered together.
constexpr std::int64_t kLongRow = 64;

template <std::size_t Size>
struct Word;
template <>
struct Word<1> {
  using type = std::uint8_t;
};
template <>
struct Word<2> {
  using type = std::uint16_t;
};
template <>
struct Word<4> {
  using type = std::uint32_t;
};
template <>
struct Word<8> {
  using type = std::uint64_t;
};
template <>
struct Word<16> {
  struct alignas(8) type {
    std::uint64_t parts[2];
  };
};

template <class W>
void move_typed(char* dst, std::int64_t dst_stride, const char* src, std::int64_t src_stride, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i, dst += dst_stride, src += src_stride) {
    *reinterpret_cast<W*>(dst) = *reinterpret_cast<const W*>(src);
  }
}

// n elements between strided places.
void move(int size, char* dst, std::int64_t dst_stride, const char* src, std::int64_t src_stride, std::int64_t n) {
  switch (size) {
    case 1:
      return move_typed<Word<1>::type>(dst, dst_stride, src, src_stride, n);
    case 2:
      return move_typed<Word<2>::type>(dst, dst_stride, src, src_stride, n);
    case 4:
      return move_typed<Word<4>::type>(dst, dst_stride, src, src_stride, n);
    case 8:
      return move_typed<Word<8>::type>(dst, dst_stride, src, src_stride, n);
    default:
      return move_typed<Word<16>::type>(dst, dst_stride, src, src_stride, n);
  }
}

// A row again and again, until `bytes` are written.
void repeat_row(char* dst, const char* row, std::int64_t row_bytes, std::int64_t bytes) {
  std::memcpy(dst, row, static_cast<std::size_t>(row_bytes));
  for (std::int64_t done = row_bytes; done < bytes;) {
    const std::int64_t part = std::min(done, bytes - done);
    std::memcpy(dst + done, dst, static_cast<std::size_t>(part));
    done += part;
  }
}

struct Walk {
  BlockKernel kernel;
  BlockContext context;
  int count; // operands: the output, then inputs
  int size[kMaxOperands]; // bytes of an element
  std::int64_t block = 0; // elements that fit a buffer
  bool streamed = false; // see Note [Streamed results]
};

// Whether a result of so many bytes at `data`[0] is streamed: one whose old values are read comes into the cache
// anyway.
template <class Pointer>
bool is_streamed(const Pointer* data, int count, std::int64_t bytes) {
  return bytes >= kStreamedBytes && std::find(data + 1, data + count, data[0]) == data + count;
}

C10_NOINLINE void compute_streamed(const Walk& walk, char* out, const char* const* inputs, std::int64_t n) {
  const auto block = [&](char* buffer, std::int64_t first, std::int64_t count) {
    const char* from[kMaxOperands];
    for (int i = 1; i < walk.count; ++i) {
      from[i - 1] = inputs[i - 1] + first * walk.size[i];
      ResultStream::prefetch_ahead(from[i - 1], count * walk.size[i]);
    }
    walk.kernel(walk.context, buffer, from, count);
  };
  ResultStream::write_computed(out, n, walk.size[0], kBlockBytes / walk.block, block);
}

// n elements of dense operands.
inline void compute(const Walk& walk, char* out, const char* const* inputs, std::int64_t n) {
  if (C10_UNLIKELY(walk.streamed)) {
    return compute_streamed(walk, out, inputs, n);
  }
  walk.kernel(walk.context, out, inputs, n);
}

// Elements [first, first + n) of an n0-wide grid, to or from a dense buffer.
template <bool ToBuffer>
void move_grid(
    int size,
    char* buffer,
    char* grid,
    std::int64_t s0,
    std::int64_t s1,
    std::int64_t n0,
    std::int64_t first,
    std::int64_t n) {
  std::int64_t row = first / n0, col = first % n0;
  while (n > 0) {
    const std::int64_t part = std::min(n, n0 - col);
    char* place = grid + row * s1 + col * s0;
    if (s0 == size) {
      std::memcpy(ToBuffer ? buffer : place, ToBuffer ? place : buffer, static_cast<std::size_t>(part * size));
    } else if (ToBuffer) {
      move(size, buffer, size, place, s0, part);
    } else {
      move(size, place, s0, buffer, size, part);
    }
    buffer += part * size;
    n -= part;
    col = 0;
    ++row;
  }
}

// Rows that are turned together: as many elements of four bytes as a cache line holds.
constexpr std::int64_t kTurnedRows = 16;

// Whether operand i is dense down the columns of a grid, where a walk along its rows takes one element of each cache
// line (Note [Transposed copies]).
bool is_turned(const Walk& walk, const std::int64_t* strides, int i) {
  return i > 0 && strides[i] != 0 && strides[i] != walk.size[i] && strides[walk.count + i] == walk.size[i];
}

// A grid with such operands, tile by tile: these are read by whole lines and turned into their buffers.
__attribute__((noinline)) void walk_tiles(
    const Walk& walk, char* const* data, const std::int64_t* strides, std::int64_t n0, std::int64_t n1) {
  alignas(64) char buffers[kMaxOperands][kBlockBytes + 64]; // room for repeat_element() and turn_tile()
  const int count = walk.count;
  const std::int64_t* outer = strides + count;
  const std::int64_t block = walk.block / kTurnedRows;
  const char* inputs[kMaxOperands];
  for (std::int64_t row = 0; row < n1; row += kTurnedRows) {
    const std::int64_t rows = std::min(kTurnedRows, n1 - row);
    for (std::int64_t first = 0; first < n0; first += block) {
      const std::int64_t n = std::min(block, n0 - first);
      const auto place = [&](int i, std::int64_t r) { return data[i] + (row + r) * outer[i] + first * strides[i]; };
      for (int i = 1; i < count; ++i) {
        if (is_turned(walk, strides, i)) {
          turn_tile(walk.size[i], place(i, 0), strides[i], n, rows, buffers[i]);
        }
      }
      for (std::int64_t r = 0; r < rows; ++r) {
        for (int i = 1; i < count; ++i) {
          inputs[i - 1] = buffers[i];
          if (is_turned(walk, strides, i)) {
            inputs[i - 1] += r * n * walk.size[i];
          } else if (strides[i] == walk.size[i]) {
            inputs[i - 1] = place(i, r);
          } else if (strides[i] == 0) {
            repeat_element(walk.size[i], buffers[i], place(i, r), n);
          } else {
            move(walk.size[i], buffers[i], walk.size[i], place(i, r), strides[i], n);
          }
        }
        if (strides[0] == walk.size[0]) {
          compute(walk, place(0, r), inputs, n);
        } else {
          walk.kernel(walk.context, buffers[0], inputs, n);
          move(walk.size[0], place(0, r), strides[0], buffers[0], walk.size[0], n);
        }
      }
    }
  }
}

// One two-dimensional piece of the iteration.
__attribute__((noinline)) void walk_grid(
    const Walk& walk, char** data, const std::int64_t* strides, std::int64_t n0, std::int64_t n1) {
  alignas(64) char buffers[kMaxOperands][kBlockBytes + 64]; // room for repeat_element()
  const int count = walk.count;
  const std::int64_t* outer = strides + count;
  const char* inputs[kMaxOperands];
  char* rows[kMaxOperands];
  const ResultStream stream(walk.streamed);
  for (int i = 0; i < count; ++i) { // few, so a loop beats a call
    rows[i] = data[i];
  }

  if (n0 < kLongRow && n1 > 1) {
    const std::int64_t total = n0 * n1;
    const std::int64_t block = walk.block - walk.block % n0; // of whole rows
    bool filled[kMaxOperands] = {};
    // Operands that are dense as a whole need no gathering.
    const auto whole = [&](int i) { return strides[i] == walk.size[i] && outer[i] == n0 * walk.size[i]; };
    for (std::int64_t first = 0; first < total; first += block) {
      const std::int64_t n = std::min(block, total - first);
      for (int i = 1; i < count; ++i) {
        if (whole(i)) {
          inputs[i - 1] = rows[i] + first * walk.size[i];
          continue;
        }
        inputs[i - 1] = buffers[i];
        if (outer[i] == 0 && (strides[i] == 0 || strides[i] == walk.size[i])) { // each row is the same
          if (filled[i]) {
            continue;
          }
          if (strides[i] == 0) {
            repeat_element(walk.size[i], buffers[i], rows[i], std::min(block, total));
          } else {
            repeat_row(buffers[i], rows[i], n0 * walk.size[i], std::min(block, total) * walk.size[i]);
          }
          filled[i] = true;
        } else {
          move_grid<true>(walk.size[i], buffers[i], rows[i], strides[i], outer[i], n0, first, n);
        }
      }
      if (whole(0)) {
        compute(walk, rows[0] + first * walk.size[0], inputs, n);
        continue;
      }
      walk.kernel(walk.context, buffers[0], inputs, n);
      move_grid<false>(walk.size[0], buffers[0], rows[0], strides[0], outer[0], n0, first, n);
    }
    return;
  }

  for (int i = 1; i < count; ++i) {
    if (n1 >= kTurnedRows / 2 && is_turned(walk, strides, i)) {
      return walk_tiles(walk, data, strides, n0, n1);
    }
  }
  bool dense[kMaxOperands];
  bool all_dense = true;
  const char* constant_of[kMaxOperands] = {}; // the value that a buffer is filled with
  std::int64_t block = walk.block;
  for (int i = 0; i < count; ++i) {
    dense[i] = strides[i] == walk.size[i];
    all_dense = all_dense && dense[i];
    if (strides[i] == 0 && outer[i] != 0) {
      block = walk.block / (kBlockBytes / kRepeatedBytes);
    }
  }
  for (std::int64_t row = 0; row < n1; ++row) {
    if (all_dense) {
      std::copy(rows + 1, rows + count, inputs);
      compute(walk, rows[0], inputs, n0);
    } else {
      for (std::int64_t first = 0; first < n0; first += block) {
        const std::int64_t n = std::min(block, n0 - first);
        for (int i = 1; i < count; ++i) {
          if (dense[i]) {
            inputs[i - 1] = rows[i] + first * walk.size[i];
            continue;
          }
          inputs[i - 1] = buffers[i];
          if (strides[i] != 0) {
            move(walk.size[i], buffers[i], walk.size[i], rows[i] + first * strides[i], strides[i], n);
          } else if (constant_of[i] != rows[i]) {
            repeat_element(walk.size[i], buffers[i], rows[i], std::min(block, n0));
            constant_of[i] = rows[i];
          }
        }
        if (dense[0]) {
          compute(walk, rows[0] + first * walk.size[0], inputs, n);
        } else {
          walk.kernel(walk.context, buffers[0], inputs, n);
          move(walk.size[0], rows[0] + first * strides[0], strides[0], buffers[0], walk.size[0], n);
        }
      }
    }
    for (int i = 0; i < count; ++i) {
      rows[i] += outer[i];
    }
  }
}

} // namespace

namespace {

// Rows of tensors that are broadcast over each other, few enough for one thread.
C10_NOINLINE void run_grid(const PointwiseCall& call, const PointwiseRun& run) {
  const at::detail::PointwiseGrid grid = at::detail::PointwiseGrid::of(call);
  Walk walk{run.kernel, {run.functor.data, 0}, call.count, {}};
  walk.block = kBlockBytes / std::max(call.input_size, call.output_size);
  char* data[PointwiseCall::kMax];
  std::int64_t strides[2 * PointwiseCall::kMax];
  for (int i = 0; i < walk.count; ++i) {
    walk.size[i] = i == 0 ? call.output_size : call.input_size;
    data[i] = static_cast<char*>(call.data[i]);
    strides[i] = grid.inner_stride(call, i);
    strides[walk.count + i] = grid.outer_stride(call, i);
  }
  walk_grid(walk, data, strides, grid.row_numel, call.numel_1d / grid.row_numel);
}

// Dense runs, perhaps beside single values.
C10_NOINLINE void run_fast(const PointwiseCall& fast, std::int64_t numel, const PointwiseRun& run) {
  if (fast.repeated == at::detail::kGrid) {
    return run_grid(fast, run);
  }
  BlockContext context{run.functor.data, 0};
  const int count = fast.count;
  char* data[PointwiseCall::kMax];
  float wide_values[PointwiseCall::kMax];
  std::copy(reinterpret_cast<char* const*>(fast.data), reinterpret_cast<char* const*>(fast.data) + count, data);
  if (run.functor.wide_scalars && fast.scalars != 0) {
    for (int i = 1; i < count; ++i) {
      if ((fast.scalars >> i) & 1u) {
        wide_values[i] = static_cast<float>(fast.source[i].scalar->toDouble());
        data[i] = reinterpret_cast<char*>(&wide_values[i]);
        context.wide_inputs |= 1u << (i - 1);
      }
    }
  }
  const bool streamed = is_streamed(data, count, numel * fast.output_size);
  if ((fast.repeated == 0 && !streamed) || numel == 1) {
    const auto part = [&](std::int64_t begin, std::int64_t end) {
      const char* inputs[PointwiseCall::kMax];
      for (int i = 1; i < count; ++i) {
        inputs[i - 1] = data[i] + begin * fast.input_size;
      }
      run.kernel(context, data[0] + begin * fast.output_size, inputs, end - begin);
    };
    if (numel <= kGrain) {
      part(0, numel);
    } else {
      at::parallel_for(0, numel, kGrain, part);
    }
    return;
  }
  Walk walk{run.kernel, context, count, {}, 0, streamed};
  std::int64_t strides[2 * PointwiseCall::kMax] = {};
  for (int i = 0; i < count; ++i) {
    walk.size[i] = i == 0 ? fast.output_size : (context.wide_inputs << 1 >> i) & 1u ? 4 : fast.input_size;
    strides[i] = (fast.repeated >> i) & 1u ? 0 : walk.size[i];
  }
  walk.block = kBlockBytes / std::max<int>(walk.context.wide_inputs != 0 ? 4 : fast.input_size, fast.output_size);
  const auto part = [&](std::int64_t begin, std::int64_t end) {
    char* places[PointwiseCall::kMax];
    for (int i = 0; i < count; ++i) {
      places[i] = data[i] + begin * strides[i];
    }
    walk_grid(walk, places, strides, end - begin, 1);
  };
  if (numel <= kGrain) {
    part(0, numel);
  } else {
    at::parallel_for(0, numel, kGrain, part);
  }
}

} // namespace

namespace {

/// An input lies in the output's memory without being the same elements: then each element sees what those before it
/// wrote, and none may be read ahead.
bool has_inout_alias(const TensorIteratorBase& iter) {
  const auto reach = [&](int operand) {
    std::int64_t bytes = iter.element_size(operand);
    for (int d = 0; d < iter.ndim(); ++d) {
      bytes += (iter.shape()[d] - 1) * iter.strides(operand)[d];
    }
    return bytes;
  };
  const char* out = static_cast<const char*>(iter.data_ptr(0));
  const char* out_end = out + reach(0);
  for (int i = 1; i < iter.ntensors(); ++i) {
    const char* in = static_cast<const char*>(iter.data_ptr(i));
    if (in < out_end && out < in + reach(i) && (in != out || !iter.strides(i).equals(iter.strides(0)))) {
      return true;
    }
  }
  return false;
}

void run_one_by_one(TensorIteratorBase& iter, const Walk& walk) {
  const auto rows = [&walk](char** data, const std::int64_t* strides, std::int64_t n0, std::int64_t n1) {
    const std::int64_t* outer = strides + walk.count;
    const char* inputs[kMaxOperands];
    for (std::int64_t row = 0; row < n1; ++row) {
      for (std::int64_t col = 0; col < n0; ++col) {
        for (int i = 1; i < walk.count; ++i) {
          inputs[i - 1] = data[i] + row * outer[i] + col * strides[i];
        }
        walk.kernel(walk.context, data[0] + row * outer[0] + col * strides[0], inputs, 1);
      }
    }
  };
  iter.serial_for_each(rows, {0, iter.numel()});
}

} // namespace

struct PointwiseListening {
  static void tell(const PointwiseListener& to, TensorIteratorBase& iter, BlockKernel kernel, BlockFunctor functor) {
    to.hear_(iter, kernel, functor);
  }
};

PointwiseListener::PointwiseListener(Hear hear) : hear_(hear), outer_(std::exchange(listener, this)) {}
PointwiseListener::~PointwiseListener() {
  listener = outer_;
}

namespace {

// Strided, broadcast and converted operands.
C10_NOINLINE void run_general(TensorIteratorBase& iter, const PointwiseRun& run) {
  if (C10_UNLIKELY(listener != nullptr)) {
    return PointwiseListening::tell(*listener, iter, run.kernel, run.functor);
  }
  Walk walk{run.kernel, {run.functor.data, 0}, iter.ntensors(), {}};
  TORCH_INTERNAL_ASSERT(walk.count <= kMaxOperands && iter.noutputs() == 1);
  const std::int64_t numel = iter.numel();
  if (numel == 0) {
    return;
  }
  float wide_values[kMaxOperands];
  int largest = 1;
  bool dense = iter.ndim() <= 1;
  for (int i = 0; i < walk.count; ++i) {
    walk.size[i] = static_cast<int>(c10::elementSize(iter.dtype(i)));
    if (run.functor.wide_scalars && iter.operand(i).is_scalar()) {
      wide_values[i] = iter.original_scalar_value<float>(i);
      iter.unsafe_replace_operand(i, &wide_values[i]);
      walk.size[i] = sizeof(float);
      walk.context.wide_inputs |= 1u << (i - 1);
    }
    largest = std::max(largest, walk.size[i]);
    dense = dense && (numel == 1 || iter.strides(i)[0] == walk.size[i]);
  }
  walk.block = kBlockBytes / largest;
  const void* places[kMaxOperands];
  for (int i = 0; i < walk.count; ++i) {
    places[i] = iter.data_ptr(i);
  }
  walk.streamed = is_streamed(places, walk.count, numel * walk.size[0]);

  if (C10_UNLIKELY(has_inout_alias(iter))) {
    run_one_by_one(iter, walk);
    return;
  }
  if (dense) {
    const auto part = [&](std::int64_t begin, std::int64_t end) {
      const char* inputs[kMaxOperands];
      for (int i = 1; i < walk.count; ++i) {
        inputs[i - 1] = static_cast<const char*>(iter.data_ptr(i)) + begin * walk.size[i];
      }
      const ResultStream stream(walk.streamed);
      compute(walk, static_cast<char*>(iter.data_ptr(0)) + begin * walk.size[0], inputs, end - begin);
    };
    if (numel <= kGrain) {
      part(0, numel);
    } else {
      at::parallel_for(0, numel, kGrain, part);
    }
  } else if (iter.ndim() <= 2 && numel <= kGrain) {
    char* data[kMaxOperands];
    std::int64_t strides[2 * kMaxOperands];
    const bool rows = iter.ndim() == 2;
    for (int i = 0; i < walk.count; ++i) {
      const IntArrayRef own = iter.strides(i);
      data[i] = static_cast<char*>(iter.data_ptr(i));
      strides[i] = own[0];
      strides[walk.count + i] = rows ? own[1] : 0;
    }
    walk_grid(walk, data, strides, iter.shape()[0], rows ? iter.shape()[1] : 1);
  } else {
    iter.for_each(
        [&walk](char** data, const std::int64_t* strides, std::int64_t n0, std::int64_t n1) {
          walk_grid(walk, data, strides, n0, n1);
        },
        kGrain);
  }
}

} // namespace

void run_pointwise(PointwiseCall& call, BlockKernel kernel, BlockFunctor functor) {
  if (C10_LIKELY(call.count != 0)) {
    // One dimension. A single part that is dense, as most are, goes straight to the kernel.
    const std::int64_t numel = call.numel_1d;
    const bool dense = call.repeated == 0 || (numel == 1 && !(functor.wide_scalars && call.scalars != 0));
    if (C10_LIKELY(dense && static_cast<std::uint64_t>(numel) - 1 < static_cast<std::uint64_t>(kGrain))) {
      kernel(
          {functor.data, 0}, static_cast<char*>(call.data[0]), reinterpret_cast<const char* const*>(call.data + 1),
          numel);
    } else if (numel != 0) {
      run_fast(call, numel, {kernel, functor});
    }
    return;
  }
  run_general(static_cast<TensorIteratorBase&>(call), {kernel, functor});
}

} // namespace at::native
