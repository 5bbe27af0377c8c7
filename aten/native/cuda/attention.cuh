// What all kernels of attention share: sequences and the keys that their queries see, scores, dropout.
#pragma once

#include <aten/core/PhiloxRNGEngine.h>
#include <aten/cuda/PhiloxUtils.cuh>
#include <aten/native/cuda/attention.h>
#include <aten/native/cuda/memory_access.cuh>
#include <aten/native/cuda/thread_group.cuh>

#include <cmath>
#include <tuple>

namespace at::native::cuda::attention {

inline constexpr float kLog2E = 1.44269504088896340736f;

struct Max {
  __device__ float operator()(float a, float b) const {
    return a > b ? a : b;
  }
};

/// The sequences of one batch.
struct Sequences {
  std::int64_t query_start = 0, key_start = 0, sums_start = 0; // their first rows
  int query_length, key_length;
  int first, last; // query i sees the keys i + first to i + last

  __device__ Sequences(const AttentionProblem& p, int batch) : query_length(p.query_length), key_length(p.key_length) {
    find(p.queries, batch, query_start, query_length);
    find(p.keys, batch, key_start, key_length);
    sums_start = p.sums_batch_stride == 0 ? query_start : 0;
    if (p.keys_used != nullptr) {
      key_length = within(p.keys_used[batch], 0, key_length);
    }
    const int shift = p.from_the_end ? key_length - query_length : 0;
    first = shift - p.left;
    last = shift + p.right;
  }

  /// Query `row` sees the keys first_key(row) to end_key(row) - 1, and so for keys: later ones for later rows.
  __device__ int first_key(int row) const {
    return row + first > 0 ? row + first : 0;
  }
  __device__ int end_key(int row) const {
    return row + last < key_length ? row + last + 1 : key_length;
  }
  __device__ int first_query(int key) const {
    return key - last > 0 ? key - last : 0;
  }
  __device__ int end_query(int key) const {
    return key - first < query_length ? key - first + 1 : query_length;
  }

 private:
  static __device__ int within(std::int64_t value, std::int64_t least, std::int64_t most) {
    return static_cast<int>(value < least ? least : value > most ? most : value);
  }
  // Whatever `starts` holds, the rows are there.
  static __device__ void find(const AttentionSequences& all, int batch, std::int64_t& start, int& length) {
    if (all.starts != nullptr) {
      const std::int64_t from = all.starts[batch], to = all.starts[batch + 1];
      start = from < 0 ? 0 : from > all.rows ? all.rows : from;
      length = within(to - start, 0, all.rows - start < length ? all.rows - start : length);
    }
  }
};

/// The first row of a sequence.
template <class Element>
__device__ inline Element* sequence_of(const AttentionOperand& t, int batch, int head, std::int64_t start) {
  return static_cast<Element*>(t.data) + batch * t.batch_stride + head * t.head_stride + start * t.row_stride;
}

/// Row `key` of the keys or values of one sequence, whose first is `rows` unless they lie in pages. Whatever the table
/// holds, the page is there.
template <class Element>
__device__ inline const Element* key_row(
    const AttentionProblem& p, const AttentionOperand& t, const Element* rows, int batch, int head, int key) {
  if (p.pages.table == nullptr) {
    return rows + key * t.row_stride;
  }
  const int entry = key / p.pages.rows, page = p.pages.table[batch * p.pages.table_stride + entry];
  return sequence_of<const Element>(
      t,
      page < 0                   ? 0
          : page < p.pages.pages ? page
                                 : p.pages.pages - 1,
      head, key - entry * p.pages.rows);
}

/// Where logsumexp and delta of a sequence begin.
__device__ inline std::int64_t sums_of(const AttentionProblem& p, const Sequences& s, int batch, int head) {
  return batch * p.sums_batch_stride + head * p.sums_head_stride + s.sums_start;
}

/// Which weights are dropped: the same in forward and backward. A draw of 128 bits serves eight weights of a block of
/// 16 queries and 16 keys: those that one lane has of a product (Note [Fragments]).
struct Dropout {
  std::uint64_t seed = 0, offset = 0;
  std::uint32_t threshold = 0; // numbers of 16 bits below it drop
  float factor = 1; // of what stays
  int row_blocks = 0, column_blocks = 0;

  __device__ Dropout(const AttentionProblem& p, std::uint64_t seed, std::uint64_t offset)
      : seed(seed),
        offset(offset / 4),
        threshold(static_cast<std::uint32_t>(p.dropout * 65536.f + 0.5f)),
        factor(1 / (1 - p.dropout)),
        row_blocks((p.query_length + 15) / 16),
        column_blocks((p.key_length + 15) / 16) {}

  /// Of block (row_block, column_block) in the head number `pair` of all batches. Word 2 h + u has the weights of row g
  /// + 8 h in the columns 8 u + 2 t, in its lower half, and 8 u + 2 t + 1.
  __device__ void draw(std::uint32_t (&words)[4], int pair, int row_block, int column_block, int lane) const {
    const auto block = (static_cast<std::uint64_t>(pair) * row_blocks + row_block) * column_blocks + column_block;
    const std::uint64_t number = block * 32 + lane;
    const std::uint32_t count[4] = {
        static_cast<std::uint32_t>(offset), static_cast<std::uint32_t>(offset >> 32),
        static_cast<std::uint32_t>(number), static_cast<std::uint32_t>(number >> 32)};
    at::detail::philox_block(seed, count, words);
  }
  __device__ bool keeps(std::uint32_t word, int half) const {
    return (half == 0 ? word & 0xffffu : word >> 16) >= threshold;
  }

  /// 0 or the factor, for one weight.
  __device__ float operator()(int pair, int row, int column) const {
    std::uint32_t words[4];
    draw(words, pair, row / 16, column / 16, row % 8 * 4 + column % 8 / 2);
    const bool low = row % 16 < 8, left = column % 16 < 8;
    return keeps(low ? (left ? words[0] : words[1]) : (left ? words[2] : words[3]), column % 2) ? factor : 0.f;
  }
};

/// Where a forward pass draws: from its state, which the first thread of the grid leaves for backward.
__device__ inline Dropout drawn_dropout(const AttentionForward& a) {
  std::uint64_t seed = 0, offset = 0;
  if (a.problem.dropout > 0) {
    const auto unpacked = at::cuda::philox::unpack(a.philox);
    seed = std::get<0>(unpacked);
    offset = std::get<1>(unpacked);
  }
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    *a.seed = static_cast<std::int64_t>(seed);
    *a.offset = static_cast<std::int64_t>(offset);
  }
  return Dropout(a.problem, seed, offset);
}
/// What forward drew.
__device__ inline Dropout repeated_dropout(const AttentionBackward& a) {
  const bool drops = a.problem.dropout > 0;
  return Dropout(
      a.problem, drops ? static_cast<std::uint64_t>(*a.seed) : 0, drops ? static_cast<std::uint64_t>(*a.offset) : 0);
}

/// What a key gains for its distance, as a multiple of the head's slope.
__device__ inline float slope_distance(const AttentionProblem& p, const Sequences& s, int row, int column) {
  // Where no query sees the keys behind it, what rows lose as a whole does not matter.
  const int distance = row + (p.from_the_end ? s.key_length - s.query_length : 0) - column;
  return static_cast<float>(p.right == 0 ? column : distance < 0 ? distance : -distance);
}
__device__ inline float slope_of(const AttentionProblem& p, int batch, int head) {
  return p.slopes[batch * p.slopes_batch_stride + head];
}

} // namespace at::native::cuda::attention
