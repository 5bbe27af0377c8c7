// Attention in one pass over the keys: a block keeps, for each of its queries, the greatest score so far, the sum of weights, and
// the weighted sum of values, all of which are scaled down when a greater score comes (Milakov and Gimelshein, 2018; Dao et al.,
// 2022).
#include <aten/native/cuda/attention_tile.cuh>

namespace at::native::cuda {

namespace attention {
namespace {

inline constexpr int kThreads = 128; // four warps, which share the queries of a block

/// A warp has kRowBlocks blocks of 16 queries: what it reads of keys and values serves all of them. Queries, and three tiles of
/// keys or values: one at work, two under way.
template <int D>
struct ForwardShape {
  static constexpr int kRowBlocks = D <= 128 ? 2 : 1, kKeys = D <= 128 ? 64 : 32;
  static constexpr int kRows = 64 * kRowBlocks, kTileBytes = kKeys * D * 2;
  static constexpr int kBytes = kRows * D * 2 + 3 * kTileBytes;
};

/// Blocks of a multiprocessor. A third, for small heads, would make registers spill in the loop.
constexpr int kForwardBlocks = 2;

template <class T, int D, Weights W>
__global__ void __launch_bounds__(kThreads, kForwardBlocks) forward_kernel(const AttentionForward arguments) {
  using Shape = ForwardShape<D>;
  constexpr int R = Shape::kRowBlocks, kRows = Shape::kRows, kKeys = Shape::kKeys;
  const AttentionProblem& p = arguments.problem;
  const int tiles = (p.query_length + kRows - 1) / kRows;
  // The last queries have most keys where attention is causal: they begin first.
  const int tile = tiles - 1 - static_cast<int>(blockIdx.x) % tiles, pair = static_cast<int>(blockIdx.x) / tiles;
  const int head = pair % p.heads, batch = pair / p.heads, key_head = head / (p.heads / p.key_heads);
  const Dropout dropout = drawn_dropout(arguments);
  const Sequences s(p, batch);
  const int first_row = tile * kRows;
  if (first_row >= s.query_length) {
    return;
  }
  const int warp_row = first_row + static_cast<int>(threadIdx.x) / 32 * 16 * R;
  const int last_row = first_row + kRows < s.query_length ? first_row + kRows - 1 : s.query_length - 1;
  const int first_key = s.first_key(first_row) / kKeys * kKeys, end_key = s.end_key(last_row);

  unsigned char* const memory = dynamic_memory<Shape::kBytes>();
  const Tile<D> queries{memory};
  Tile<D> keys{memory + kRows * D * 2}, values{keys.memory + Shape::kTileBytes}, next{values.memory + Shape::kTileBytes};
  const auto* const key_rows = sequence_of<const std::uint16_t>(p.key, batch, key_head, s.key_start);
  const auto* const value_rows = sequence_of<const std::uint16_t>(p.value, batch, key_head, s.key_start);
  const auto load = [&](const Tile<D>& to, const std::uint16_t* rows, std::int64_t stride, int size, int key) {
    if (key < end_key) {
      to.template load<kKeys, kThreads>(rows + key * stride, stride, s.key_length - key, size);
    }
    end_copy_group();
  };
  queries.template load<kRows, kThreads>(
      sequence_of<const std::uint16_t>(p.query, batch, head, s.query_start + first_row), p.query.row_stride, s.query_length - first_row,
      p.head_size);
  load(keys, key_rows, p.key.row_stride, p.head_size, first_key);
  load(values, value_rows, p.value.row_stride, p.value_size, first_key);

  const float factor = score_factor<W>(p);
  float out[R][D / 8][4], greatest[R][2], sum[R][2];
  clear(out);
#pragma unroll
  for (int m = 0; m < R; ++m) {
    greatest[m][0] = greatest[m][1] = -INFINITY;
    sum[m][0] = sum[m][1] = 0;
  }
  for (int key = first_key; key < end_key; key += kKeys) {
    copies_done_but<1>();
    __syncthreads(); // the keys are there, and all have read what `next` had
    load(next, key_rows, p.key.row_stride, p.head_size, key + kKeys);
    float scores[R][kKeys / 8][4];
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
      for_each_kept(dropout, scores, pair, warp_row, key, [&](float& weight, bool kept) { weight = kept ? weight * dropout.factor : 0.f; });
    }

    copies_done_but<1>();
    __syncthreads(); // the values are there, and all have read the keys
    const Tile<D> read = keys;
    load(read, value_rows, p.value.row_stride, p.value_size, key + kKeys);
    multiply<T, kKeys / 16>(out, Rounded<T, R, kKeys / 8>{scores}, right_columns(values, 0));
    keys = next;
    next = values;
    values = read;
  }

#pragma unroll
  for (int m = 0; m < R; ++m) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const float total = over_row(sum[m][half], Add());
      const float inverse = total > 0 ? 1 / total : 0;
#pragma unroll
      for (int n = 0; n < D / 8; ++n) {
        out[m][n][2 * half] *= inverse;
        out[m][n][2 * half + 1] *= inverse;
      }
      const int lane = static_cast<int>(threadIdx.x) % 32, row = warp_row + 16 * m + 8 * half + lane / 4;
      if (p.logsumexp != nullptr && lane % 4 == 0 && row < s.query_length) {
        // Infinite where nothing counts: then backward finds weights of zero.
        p.logsumexp[sums_of(p, s, batch, head) + row] =
            total > 0 ? greatest[m][half] * factor / kLog2E + ::logf(total) : INFINITY;
      }
    }
  }
  copies_done();
  __syncthreads(); // all have read the queries
  queries.template put<T>(out, warp_row - first_row, 0);
  __syncthreads();
  queries.template store<kRows, kThreads>(
      sequence_of<std::uint16_t>(arguments.out, batch, head, s.query_start + first_row), arguments.out.row_stride,
      s.query_length - first_row, p.value_size);
}

template <class T, int D, Weights W>
void launch_forward(const AttentionForward& a) {
  using Shape = ForwardShape<D>;
  const AttentionProblem& p = a.problem;
  const int blocks = (p.query_length + Shape::kRows - 1) / Shape::kRows * p.heads * p.batch;
  launch_with_memory(forward_kernel<T, D, W>, static_cast<unsigned>(blocks), kThreads, Shape::kBytes, p.stream, a);
}

template <class T, int D>
void launch_forward_for(const AttentionForward& a) {
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
  size <= 64 ? launch_forward_for<T, 64>(a) : size <= 128 ? launch_forward_for<T, 128>(a) : launch_forward_for<T, 256>(a);
}

} // namespace
} // namespace attention

void launch_attention_forward(const AttentionForward& a) {
  a.problem.dtype == c10::ScalarType::Half ? attention::launch_forward_of<c10::Half>(a)
                                           : attention::launch_forward_of<c10::BFloat16>(a);
}

} // namespace at::native::cuda
