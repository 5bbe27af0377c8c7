// Attention in one pass over the keys: a block keeps, for each of its queries, the greatest score so far, the sum of
// weights, and the weighted sum of values, all of which are scaled down when a greater score comes (Milakov and
// Gimelshein, 2018; Dao et al., 2022). Where queries are too few to keep a device busy, several blocks share the keys
// of each, and a second kernel combines what they found (flash decoding; Dao et al., 2023).
#include <aten/native/cuda/attention_tile.cuh>

#include <algorithm>
#include <limits>

namespace at::native::cuda {

namespace attention {
namespace {

inline constexpr int kThreads = 128; // four warps, which share the queries of a block

/// A warp has kRowBlocks blocks of 16 queries: what it reads of keys and values serves all of them. Queries, and three
/// tiles of keys or values: one at work, two under way. kBlocks: of a multiprocessor. A third of those that have most
/// queries would make registers spill in the loop. Split: blocks share keys, which may lie in pages. They wait for
/// memory more than they multiply.
template <int D, bool Split>
struct ForwardShape {
  static constexpr int kRowBlocks = D <= 128 && !Split ? 2 : 1, kKeys = D <= 128 ? 64 : 32,
                       kBlocks = D <= 128 && Split ? 3 : 2;
  static constexpr int kRows = 64 * kRowBlocks, kTileBytes = kKeys * D * 2;
  static constexpr int kBytes = kRows * D * 2 + 3 * kTileBytes;
  static_assert(kAttentionPageRows % kKeys == 0);
};

/// What blocks that share keys leave for each query, and for each of them: weighted sums of the values, over the sum of
/// the weights, and the logarithm of that sum, base 2.
struct Parts {
  float *out, *sums;
  std::int64_t rows;

  __host__ __device__ explicit Parts(const AttentionForward& a)
      : out(a.parts), rows(static_cast<std::int64_t>(a.problem.batch) * a.problem.heads * a.problem.query_length) {
    sums = out + a.splits * rows * a.problem.value_size;
  }
  /// The number of a query among all of them.
  static __device__ std::int64_t row(const AttentionProblem& p, int pair, int row) {
    return static_cast<std::int64_t>(pair) * p.query_length + row;
  }
};

template <class T, int D, Weights W, bool Split>
__global__ void __launch_bounds__(kThreads, ForwardShape<D, Split>::kBlocks)
    forward_kernel(const AttentionForward arguments) {
  using Shape = ForwardShape<D, Split>;
  constexpr int R = Shape::kRowBlocks, kRows = Shape::kRows, kKeys = Shape::kKeys;
  const AttentionProblem& p = arguments.problem;
  const int tiles = (p.query_length + kRows - 1) / kRows;
  // The last queries have most keys where attention is causal: they begin first.
  const int tile = tiles - 1 - static_cast<int>(blockIdx.x) % tiles, part = static_cast<int>(blockIdx.x) / tiles;
  const int splits = Split ? arguments.splits : 1, split = part % splits, pair = part / splits;
  const int head = pair % p.heads, batch = pair / p.heads, key_head = head / (p.heads / p.key_heads);
  const Dropout dropout = drawn_dropout(arguments);
  const Sequences s(p, batch);
  const int first_row = tile * kRows;
  if (first_row >= s.query_length) {
    return;
  }
  const int warp_row = first_row + static_cast<int>(threadIdx.x) / 32 * 16 * R;
  const bool busy = !Split || warp_row < s.query_length; // few queries leave warps that only copy
  const int last_row = first_row + kRows < s.query_length ? first_row + kRows - 1 : s.query_length - 1;
  int first_key = s.first_key(first_row) / kKeys * kKeys, end_key = s.end_key(last_row);
  if constexpr (Split) {
    const int key_tiles = (end_key - first_key + kKeys - 1) / kKeys, share = (key_tiles + splits - 1) / splits * kKeys;
    first_key += split * share;
    end_key = first_key + share < end_key ? first_key + share : end_key;
  }

  unsigned char* const memory = dynamic_memory<Shape::kBytes>();
  const Tile<D> queries{memory};
  Tile<D> keys{memory + kRows * D * 2}, values{keys.memory + Shape::kTileBytes},
      next{values.memory + Shape::kTileBytes};
  const auto* const key_rows = sequence_of<const std::uint16_t>(p.key, batch, key_head, s.key_start);
  const auto* const value_rows = sequence_of<const std::uint16_t>(p.value, batch, key_head, s.key_start);
  const auto load = [&](const Tile<D>& to, const AttentionOperand& from, const std::uint16_t* rows, int size, int key) {
    if (key < end_key) {
      const std::uint16_t* const first =
          Split ? key_row(p, from, rows, batch, key_head, key) : rows + key * from.row_stride;
      to.template load<kKeys, kThreads>(first, from.row_stride, s.key_length - key, size);
    }
    end_copy_group();
  };
  queries.template load<kRows, kThreads>(
      sequence_of<const std::uint16_t>(p.query, batch, head, s.query_start + first_row), p.query.row_stride,
      s.query_length - first_row, p.head_size);
  load(keys, p.key, key_rows, p.head_size, first_key);
  load(values, p.value, value_rows, p.value_size, first_key);

  const float factor = score_factor<W>(p);
  float out[R][D / 8][4], greatest[R][2], sum[R][2];
  clear(out);
#pragma unroll
  for (int m = 0; m < R; ++m) {
    greatest[m][0] = greatest[m][1] = -INFINITY;
    sum[m][0] = sum[m][1] = 0;
  }
  for (int key = first_key; key < end_key; key += kKeys) {
    cp_async_wait_group<1>();
    __syncthreads(); // the keys are there, and all have read what `next` had
    load(next, p.key, key_rows, p.head_size, key + kKeys);
    float scores[R][kKeys / 8][4];
    if (busy) {
      clear(scores);
      multiply<T, D / 16>(scores, left_rows(queries, warp_row - first_row), right_rows(keys, 0));
      finish_scores<W, T>(p, s, scores, batch, head, warp_row, key);

      float base[R][2];
      bool grows = false;
#pragma unroll
      for (int m = 0; m < R; ++m) {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          float most = greatest[m][half];
#pragma unroll
          for (int n = 0; n < kKeys / 8; ++n) {
            most = fmaxf(most, fmaxf(scores[m][n][2 * half], scores[m][n][2 * half + 1]));
          }
          base[m][half] = over_row(most, Max());
          grows |= base[m][half] > greatest[m][half];
        }
      }
      if (any_lane(grows)) {
#pragma unroll
        for (int m = 0; m < R; ++m) {
#pragma unroll
          for (int half = 0; half < 2; ++half) {
            const float most = base[m][half];
            const float shrink = most == -INFINITY ? 1 : exp2_approximate((greatest[m][half] - most) * factor);
            greatest[m][half] = most;
            sum[m][half] *= shrink;
#pragma unroll
            for (int n = 0; n < D / 8; ++n) {
              out[m][n][2 * half] *= shrink;
              out[m][n][2 * half + 1] *= shrink;
            }
          }
        }
      }
#pragma unroll
      for (int m = 0; m < R; ++m) {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          // Zero for a row of which nothing counts yet.
          const float zero = greatest[m][half] == -INFINITY ? 0 : greatest[m][half] * factor;
#pragma unroll
          for (int n = 0; n < kKeys / 8; ++n) {
#pragma unroll
            for (int i = 2 * half; i < 2 * half + 2; ++i) {
              scores[m][n][i] = exp2_approximate(scores[m][n][i] * factor - zero);
              sum[m][half] += scores[m][n][i];
            }
          }
        }
      }
      if (drops<W>(p)) {
        for_each_kept(dropout, scores, pair, warp_row, key, [&](float& weight, bool kept) {
          weight = kept ? weight * dropout.factor : 0.f;
        });
      }
    }

    cp_async_wait_group<1>();
    __syncthreads(); // the values are there, and all have read the keys
    const Tile<D> read = keys;
    load(read, p.value, value_rows, p.value_size, key + kKeys);
    if (busy) {
      multiply<T, kKeys / 16>(out, Rounded<T, R, kKeys / 8>{scores}, right_columns(values, 0));
    }
    keys = next;
    next = values;
    values = read;
  }

#pragma unroll
  for (int m = 0; m < R; ++m) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const float total = over_row(sum[m][half], Add());
      sum[m][half] = total;
      const float inverse = total > 0 ? 1 / total : 0;
#pragma unroll
      for (int n = 0; n < D / 8; ++n) {
        out[m][n][2 * half] *= inverse;
        out[m][n][2 * half + 1] *= inverse;
      }
    }
  }
  cp_async_wait_all();
  const int lane = static_cast<int>(threadIdx.x) % 32;
  if (splits > 1) {
    const Parts parts(arguments);
#pragma unroll
    for (int m = 0; m < R; ++m) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int row = warp_row + 16 * m + 8 * half + lane / 4;
        if (row < s.query_length) {
          const std::int64_t place = split * parts.rows + Parts::row(p, pair, row);
          float* const to = parts.out + place * p.value_size + lane % 4 * 2;
#pragma unroll
          for (int n = 0; n < D / 8; ++n) {
            if (8 * n < p.value_size) {
              *reinterpret_cast<Aligned<float, 2>*>(to + 8 * n) = {out[m][n][2 * half], out[m][n][2 * half + 1]};
            }
          }
          if (lane % 4 == 0) {
            parts.sums[place] = sum[m][half] > 0 ? greatest[m][half] * factor + ::log2f(sum[m][half]) : -INFINITY;
          }
        }
      }
    }
    return;
  }
#pragma unroll
  for (int m = 0; m < R; ++m) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const float total = sum[m][half];
      const int row = warp_row + 16 * m + 8 * half + lane / 4;
      if (p.logsumexp != nullptr && lane % 4 == 0 && row < s.query_length) {
        // Infinite where nothing counts: then backward finds weights of zero.
        p.logsumexp[sums_of(p, s, batch, head) + row] =
            total > 0 ? greatest[m][half] * factor / kLog2E + ::logf(total) : INFINITY;
      }
    }
  }
  __syncthreads(); // all have read the queries
  queries.template put<T>(out, warp_row - first_row, 0);
  __syncthreads();
  queries.template store<kRows, kThreads>(
      sequence_of<std::uint16_t>(arguments.out, batch, head, s.query_start + first_row), arguments.out.row_stride,
      s.query_length - first_row, p.value_size);
}

/// Combines what blocks that share keys have found, a warp for each query: their sums weigh them.
template <class T>
__global__ void __launch_bounds__(kThreads) join_kernel(const AttentionForward arguments) {
  const AttentionProblem& p = arguments.problem;
  const Parts parts(arguments);
  const std::int64_t number = static_cast<std::int64_t>(blockIdx.x) * (kThreads / 32) + threadIdx.x / 32;
  if (number >= parts.rows) {
    return;
  }
  const int pair = static_cast<int>(number / p.query_length), row = static_cast<int>(number % p.query_length);
  const int head = pair % p.heads, batch = pair / p.heads, lane = static_cast<int>(threadIdx.x) % 32;
  const Sequences s(p, batch);
  if (row >= s.query_length) {
    return;
  }
  const float* const sums = parts.sums + number;
  float greatest = -INFINITY;
  for (int split = lane; split < arguments.splits; split += 32) {
    greatest = Max()(greatest, sums[split * parts.rows]);
  }
  greatest = ThreadGroup<false>::reduce(greatest, Max());
  float total = 0;
  for (int split = lane; split < arguments.splits; split += 32) {
    total += greatest == -INFINITY ? 0 : exp2_approximate(sums[split * parts.rows] - greatest);
  }
  total = ThreadGroup<false>::reduce(total, Add());
  // Infinite where nothing counts: then all weights are zero.
  const float whole = total > 0 ? greatest + ::log2f(total) : INFINITY;
  if (p.logsumexp != nullptr && lane == 0) {
    p.logsumexp[sums_of(p, s, batch, head) + row] = whole / kLog2E;
  }
  T* const to = sequence_of<T>(arguments.out, batch, head, s.query_start + row);
  for (int column = lane * 4; column < p.value_size; column += 128) {
    using Four = Aligned<float, 4>;
    float out[4] = {};
#pragma unroll 4
    for (int split = 0; split < arguments.splits; ++split) {
      const float weight = exp2_approximate(sums[split * parts.rows] - whole);
      const Four found =
          *reinterpret_cast<const Four*>(parts.out + (split * parts.rows + number) * p.value_size + column);
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        out[i] += weight * found.values[i];
      }
    }
    Aligned<T, 4> rounded;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      rounded.values[i] = narrow<T>(out[i]);
    }
    *reinterpret_cast<Aligned<T, 4>*>(to + column) = rounded;
  }
}

template <class T, int D, Weights W, bool Split = false>
void launch_forward(const AttentionForward& a) {
  using Shape = ForwardShape<D, Split>;
  const AttentionProblem& p = a.problem;
  const int blocks = (p.query_length + Shape::kRows - 1) / Shape::kRows * p.heads * p.batch * a.splits;
  launch_with_memory(
      forward_kernel<T, D, W, Split>, static_cast<unsigned>(blocks), kThreads, Shape::kBytes, p.stream, a);
  if (a.splits > 1) {
    const std::int64_t rows = Parts(a).rows, joining = (rows + kThreads / 32 - 1) / (kThreads / 32);
    launch_with_memory(join_kernel<T>, static_cast<unsigned>(joining), kThreads, 0, p.stream, a);
  }
}

template <class T, int D>
void launch_forward_for(const AttentionForward& a) {
  if (a.splits > 1 || a.problem.pages.table != nullptr) {
    return weights_of(a.problem) == Weights::kPlain ? launch_forward<T, D, Weights::kPlain, true>(a)
                                                    : launch_forward<T, D, Weights::kGeneral, true>(a);
  }
  switch (weights_of(a.problem)) {
    case Weights::kPlain:
      return launch_forward<T, D, Weights::kPlain>(a);
    case Weights::kDropped:
      return launch_forward<T, D, Weights::kDropped>(a);
    case Weights::kGeneral:
      return launch_forward<T, D, Weights::kGeneral>(a);
  }
}

template <class T>
void launch_forward_of(const AttentionForward& a) {
  const int size = a.problem.head_size > a.problem.value_size ? a.problem.head_size : a.problem.value_size;
  size <= 64        ? launch_forward_for<T, 64>(a)
      : size <= 128 ? launch_forward_for<T, 128>(a)
                    : launch_forward_for<T, 256>(a);
}

/// What attention_splits() goes by.
struct ForwardWork {
  std::int64_t blocks, key_tiles; // without splits, and tiles of keys that a block sees
  std::int64_t whole_blocks; // without splits, as the other kernel cuts queries
  int blocks_at_once; // of a multiprocessor
};
template <int D>
ForwardWork forward_work(const AttentionProblem& p) {
  using Shape = ForwardShape<D, true>;
  const auto tiles = [](std::int64_t length, int each) { return (length + each - 1) / each; };
  const std::int64_t pairs = std::int64_t{p.heads} * p.batch, seen = std::int64_t{Shape::kRows} + p.left + p.right;
  return {
      tiles(p.query_length, Shape::kRows) * pairs, tiles(std::min<std::int64_t>(seen, p.key_length), Shape::kKeys),
      tiles(p.query_length, ForwardShape<D, false>::kRows) * pairs, Shape::kBlocks};
}

} // namespace
} // namespace attention

int attention_splits(const AttentionForward& a, std::int64_t wanted, int multiprocessors) {
  using namespace attention;
  const AttentionProblem& p = a.problem;
  const int size = p.head_size > p.value_size ? p.head_size : p.value_size;
  const ForwardWork work = size <= 64 ? forward_work<64>(p) : size <= 128 ? forward_work<128>(p) : forward_work<256>(p);
  constexpr std::int64_t kMost = 128;
  if (wanted > 0) {
    const std::int64_t fit = std::numeric_limits<int>::max() / std::max<std::int64_t>(work.blocks, 1);
    return static_cast<int>(std::clamp(std::min({wanted, work.key_tiles, fit}), std::int64_t{1}, kMost));
  }
  // A second launch pays where each block still has some tiles, and the device is not nearly full without it.
  constexpr std::int64_t kLeastTiles = 4;
  if (5 * work.whole_blocks >= 4 * std::int64_t{multiprocessors}) {
    return 1;
  }
  const std::int64_t room = work.blocks_at_once * std::int64_t{multiprocessors} / work.blocks;
  return static_cast<int>(std::clamp(std::min(work.key_tiles / kLeastTiles, room), std::int64_t{1}, kMost));
}

std::int64_t attention_parts(const AttentionForward& a) {
  return a.splits * attention::Parts(a).rows * (std::int64_t{a.problem.value_size} + 1);
}

void launch_attention_forward(const AttentionForward& a) {
  a.problem.dtype == c10::ScalarType::Half ? attention::launch_forward_of<c10::Half>(a)
                                           : attention::launch_forward_of<c10::BFloat16>(a);
}

} // namespace at::native::cuda
