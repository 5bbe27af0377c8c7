// Gradients of attention from the weights computed anew: w = exp(score - logsumexp). With delta = sum of grad_out *
// out,
//   grad_value = w' grad_out,   slope = w * (grad_out value' - delta),   grad_query = slope key,   grad_key = slope'
//   query.
// A block has a tile of keys, whose gradients stay in its registers, and walks over the queries: five products a step.
// What it finds for the queries it adds to sums in memory, in float, that a last kernel rounds.
#include <aten/native/cuda/attention_tile.cuh>

namespace at::native::cuda {

namespace attention {
namespace {

inline constexpr int kThreads = 256; // eight warps, two by four over a tile

/// Queries and their grad_out come in kStages tiles, of which one is at work. D is at most 256. Small ones fit the 99
/// KiB that blocks have on sm_86 and sm_89.
template <int D, bool Small>
struct BackwardShape {
  static constexpr int kQueries = 64, kKeys = D <= 64 || (D <= 128 && !Small) ? 128 : 64,
                       kStages = kKeys == 128 ? 2 : 1;
  static constexpr int kQueryBytes = kQueries * D * 2, kKeyBytes = kKeys * D * 2, kWeightBytes = kQueries * kKeys * 2;
  static constexpr int kBytes = 2 * kKeyBytes + 2 * kStages * kQueryBytes + 2 * kWeightBytes;
  // Warps side by side over the gradient of keys; over scores and the gradient of queries there are two above four.
  static constexpr int kKeyWarps = kKeys / 32, kSizeWarps = 8 / kKeyWarps;
};
inline int greater_size(const AttentionProblem& p) {
  return p.head_size > p.value_size ? p.head_size : p.value_size;
}
inline bool is_small(const AttentionBackward& a) {
  return a.shared_bytes < BackwardShape<128, false>::kBytes;
}
inline __host__ __device__ int query_tiles(const AttentionProblem& p) {
  return (p.query_length + 63) / 64;
}

/// Eight lanes have a row, of whole tiles of queries. They also set the row's share of the sums of gradients to zero.
template <class T, int D>
__global__ void __launch_bounds__(kThreads) delta_kernel(const AttentionBackward a) {
  const AttentionProblem& p = a.problem;
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * (kThreads / 8) + threadIdx.x / 8;
  const int length = query_tiles(p) * 64;
  const int pair = static_cast<int>(i / length), row = static_cast<int>(i % length);
  const int batch = pair / p.heads, head = pair % p.heads;
  float sum = 0;
  bool there = false;
  std::int64_t to = 0;
  if (batch < p.batch) {
    const std::int64_t rows = static_cast<std::int64_t>(p.batch) * p.heads * length;
    for (int block = 0; block < (a.ordered_blocks > 0 ? a.ordered_blocks : 1); ++block) {
      float* const sums = a.query_sums + (block * rows + i) * D + threadIdx.x % 8 * 4;
#pragma unroll
      for (int j = 0; j < D; j += 32) {
        *reinterpret_cast<Aligned<float, 4>*>(sums + j) = {};
      }
    }
    const Sequences s(p, batch);
    there = row < s.query_length;
    if (there) {
      using Piece = Aligned<T, 8>;
      const auto* const g = sequence_of<const T>(a.grad_out, batch, head, s.query_start + row);
      const auto* const o = sequence_of<const T>(a.out, batch, head, s.query_start + row);
      for (int j = static_cast<int>(threadIdx.x) % 8 * 8; j < p.value_size; j += 64) {
        const Piece x = *reinterpret_cast<const Piece*>(g + j), y = *reinterpret_cast<const Piece*>(o + j);
#pragma unroll
        for (int n = 0; n < 8; ++n) {
          sum += widen(x.values[n]) * widen(y.values[n]);
        }
      }
      to = sums_of(p, s, batch, head) + row;
    }
  }
#pragma unroll
  for (int mask = 4; mask > 0; mask /= 2) {
    sum += exchange(sum, mask);
  }
  if (there && threadIdx.x % 8 == 0) {
    a.delta[to] = sum;
  }
}

/// The warp's sums of a tile of queries: 128 for each c that it has of their gradient.
template <int D>
__device__ inline float* sums_of_warp(const AttentionBackward& a, int block, int pair, int tile) {
  const AttentionProblem& p = a.problem;
  const std::int64_t number = (static_cast<std::int64_t>(block) * p.batch * p.heads + pair) * query_tiles(p) + tile;
  return a.query_sums + number * (64 * D) + static_cast<int>(threadIdx.x) / 32 * (64 * D / 8);
}

template <class T, int D, bool Small, Weights W>
__global__ void __launch_bounds__(kThreads, 1) backward_kernel(const AttentionBackward a) {
  using Shape = BackwardShape<D, Small>;
  constexpr int kQueries = Shape::kQueries, kKeys = Shape::kKeys;
  constexpr int N = kKeys / 32; // blocks of 8 keys that a warp has of the scores
  const AttentionProblem& p = a.problem;
  const int key_tiles = (p.key_length + kKeys - 1) / kKeys,
            blocks = a.ordered_blocks > 0 ? a.ordered_blocks : key_tiles;
  const int block = static_cast<int>(blockIdx.x) % blocks, key_pair = static_cast<int>(blockIdx.x) / blocks;
  const int key_head = key_pair % p.key_heads, batch = key_pair / p.key_heads, group = p.heads / p.key_heads;
  const Sequences s(p, batch);
  const Dropout dropout = repeated_dropout(a);
  const float factor = score_factor<W>(p);

  unsigned char* const memory = dynamic_memory<Shape::kBytes>();
  const Tile<D> keys{memory}, values{keys.memory + Shape::kKeyBytes};
  const Tile<kKeys> weight_tile{values.memory + Shape::kKeyBytes}, slope_tile{weight_tile.memory + Shape::kWeightBytes};
  unsigned char* const stages = slope_tile.memory + Shape::kWeightBytes;

  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  const int score_row = warp / 4 * 32, score_column = warp % 4 * (kKeys / 4);
  const int key_row = warp % Shape::kKeyWarps * 32, key_column = warp / Shape::kKeyWarps * (D / Shape::kSizeWarps);
  const int query_column = warp % 4 * (D / 4);

  for (int tile = block; tile < key_tiles; tile += blocks) {
    const int first_key = tile * kKeys;
    if (first_key >= s.key_length) {
      break;
    }
    const int last_key = first_key + kKeys < s.key_length ? first_key + kKeys - 1 : s.key_length - 1;
    const int first_query = s.first_query(first_key) / kQueries * kQueries, end_query = s.end_query(last_key);
    // The queries of all heads that share these keys, one head after the other.
    const int end_head = end_query > first_query ? (key_head + 1) * group : key_head * group;
    const auto load = [&](unsigned char* stage, int head, int row) {
      if (head < end_head) {
        const Tile<D> queries{stage}, grads{stage + Shape::kQueryBytes};
        queries.template load<kQueries, kThreads>(
            sequence_of<const std::uint16_t>(p.query, batch, head, s.query_start + row), p.query.row_stride,
            s.query_length - row, p.head_size);
        grads.template load<kQueries, kThreads>(
            sequence_of<const std::uint16_t>(a.grad_out, batch, head, s.query_start + row), a.grad_out.row_stride,
            s.query_length - row, p.value_size);
      }
      end_copy_group();
    };
    __syncthreads(); // the tile before has been written
    keys.template load<kKeys, kThreads>(
        sequence_of<const std::uint16_t>(p.key, batch, key_head, s.key_start + first_key), p.key.row_stride,
        s.key_length - first_key, p.head_size);
    values.template load<kKeys, kThreads>(
        sequence_of<const std::uint16_t>(p.value, batch, key_head, s.key_start + first_key), p.value.row_stride,
        s.key_length - first_key, p.value_size);
    unsigned char* stage = stages;
    load(stage, key_head * group, first_query);

    float grad_key[2][D / Shape::kSizeWarps / 8][4], grad_value[2][D / Shape::kSizeWarps / 8][4];
    clear(grad_key);
    clear(grad_value);
    for (int head = key_head * group, first_row = first_query; head < end_head;) {
      const int pair = batch * p.heads + head;
      const bool more = first_row + kQueries < end_query;
      const int next_head = more ? head : head + 1, next_row = more ? first_row + kQueries : first_query;
      float sums[2][2], deltas[2][2];
#pragma unroll
      for (int m = 0; m < 2; ++m) {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          const int row = first_row + score_row + 16 * m + 8 * half + lane / 4;
          const std::int64_t i = sums_of(p, s, batch, head) + row;
          sums[m][half] = row < s.query_length ? p.logsumexp[i] * kLog2E : INFINITY;
          deltas[m][half] = row < s.query_length ? a.delta[i] : 0;
        }
      }
      cp_async_wait_all();
      __syncthreads(); // queries and grad_out are there, and all have read those before, their weights and slopes
      const Tile<D> queries{stage}, grads{stage + Shape::kQueryBytes};
      if constexpr (Shape::kStages > 1) {
        stage = stage == stages ? stages + 2 * Shape::kQueryBytes : stages;
        load(stage, next_head, next_row);
      }

      float scores[2][N][4], slopes[2][N][4];
      clear(scores);
      multiply<T, D / 16>(scores, left_rows(queries, score_row), right_rows(keys, score_column));
      finish_scores<W, T>(p, s, scores, batch, head, first_row + score_row, first_key + score_column);
#pragma unroll
      for (int m = 0; m < 2; ++m) {
#pragma unroll
        for (int n = 0; n < N; ++n) {
#pragma unroll
          for (int i = 0; i < 4; ++i) {
            scores[m][n][i] = exp2_approximate(scores[m][n][i] * factor - sums[m][i / 2]);
          }
        }
      }
      // What is dropped gets a minus sign.
      if (drops<W>(p)) {
        for_each_kept(
            dropout, scores, pair, first_row + score_row, first_key + score_column,
            [](float& weight, bool kept) { weight = kept ? weight : -weight; });
      }
      clear(slopes);
      multiply<T, D / 16>(slopes, left_rows(grads, score_row), right_rows(values, score_column));
#pragma unroll
      for (int m = 0; m < 2; ++m) {
#pragma unroll
        for (int n = 0; n < N; ++n) {
#pragma unroll
          for (int i = 0; i < 4; ++i) {
            const float weight = scores[m][n][i], delta = deltas[m][i / 2];
            if (drops<W>(p)) {
              scores[m][n][i] = fmaxf(weight, 0.f) * dropout.factor;
              slopes[m][n][i] = fabsf(weight) * ((weight > 0 ? slopes[m][n][i] * dropout.factor : 0.f) - delta);
            } else {
              slopes[m][n][i] = weight * (slopes[m][n][i] - delta);
            }
          }
        }
      }
      weight_tile.template put<T>(scores, score_row, score_column);
      slope_tile.template put<T>(slopes, score_row, score_column);
      __syncthreads();
      if constexpr (W == Weights::kGeneral) {
        if (a.grad_scores.data != nullptr) {
          slope_tile.template store<kQueries, kThreads>(
              sequence_of<std::uint16_t>(a.grad_scores, batch, head, first_row) + first_key, a.grad_scores.row_stride,
              s.query_length - first_row, s.key_length - first_key);
        }
      }
      multiply<T, kQueries / 16>(grad_value, left_columns(weight_tile, key_row), right_columns(grads, key_column));
      multiply<T, kQueries / 16>(grad_key, left_columns(slope_tile, key_row), right_columns(queries, key_column));
      float grad_query[2][D / 32][4];
      clear(grad_query);
      multiply<T, kKeys / 16>(grad_query, left_rows(slope_tile, score_row), right_columns(keys, query_column));
      float* const to = sums_of_warp<D>(a, a.ordered_blocks > 0 ? block : 0, pair, first_row / kQueries);
#pragma unroll
      for (int m = 0; m < 2; ++m) {
#pragma unroll
        for (int n = 0; n < D / 32; ++n) {
          add_lane_sums(to + (m * (D / 32) + n) * 128, grad_query[m][n]);
        }
      }
      if constexpr (Shape::kStages == 1) {
        __syncthreads(); // all have read queries and grad_out
        load(stage, next_head, next_row);
      }
      head = next_head;
      first_row = next_row;
    }

    cp_async_wait_all();
    __syncthreads(); // all have read keys and values
    scale(grad_key, p.scale);
    keys.template put<T>(grad_key, key_row, key_column);
    values.template put<T>(grad_value, key_row, key_column);
    __syncthreads();
    keys.template store<kKeys, kThreads>(
        sequence_of<std::uint16_t>(a.grad_key, batch, key_head, s.key_start + first_key), a.grad_key.row_stride,
        s.key_length - first_key, p.head_size);
    values.template store<kKeys, kThreads>(
        sequence_of<std::uint16_t>(a.grad_value, batch, key_head, s.key_start + first_key), a.grad_value.row_stride,
        s.key_length - first_key, p.value_size);
  }
}

/// Rounds the sums of a tile of queries.
template <class T, int D>
__global__ void __launch_bounds__(kThreads) grad_query_kernel(const AttentionBackward a) {
  const AttentionProblem& p = a.problem;
  const int tiles = query_tiles(p), tile = static_cast<int>(blockIdx.x) % tiles,
            pair = static_cast<int>(blockIdx.x) / tiles;
  const int head = pair % p.heads, batch = pair / p.heads, first_row = tile * 64;
  const Sequences s(p, batch);
  if (first_row >= s.query_length) {
    return;
  }
  float sums[2][D / 32][4];
  clear(sums);
  for (int block = 0; block < (a.ordered_blocks > 0 ? a.ordered_blocks : 1); ++block) {
    const float* const from = sums_of_warp<D>(a, block, pair, tile);
#pragma unroll
    for (int m = 0; m < 2; ++m) {
#pragma unroll
      for (int n = 0; n < D / 32; ++n) {
        take_lane_sums(sums[m][n], from + (m * (D / 32) + n) * 128);
      }
    }
  }
  scale(sums, p.scale);
  const Tile<D> rows{dynamic_memory<64 * D * 2>()};
  const int warp = static_cast<int>(threadIdx.x) / 32;
  rows.template put<T>(sums, warp / 4 * 32, warp % 4 * (D / 4));
  __syncthreads();
  rows.template store<64, kThreads>(
      sequence_of<std::uint16_t>(a.grad_query, batch, head, s.query_start + first_row), a.grad_query.row_stride,
      s.query_length - first_row, p.head_size);
}

template <class T, int D, bool Small, Weights W>
void launch_backward(const AttentionBackward& a) {
  const AttentionProblem& p = a.problem;
  const int blocks = a.ordered_blocks > 0 ? a.ordered_blocks : attention_key_tiles(a);
  launch_with_memory(
      backward_kernel<T, D, Small, W>, static_cast<unsigned>(blocks * p.batch * p.key_heads), kThreads,
      BackwardShape<D, Small>::kBytes, p.stream, a);
}

template <class T, int D, bool Small>
void launch_backward_for(const AttentionBackward& a) {
  const AttentionProblem& p = a.problem;
  constexpr unsigned kDeltaBlocks = 64 / (kThreads / 8); // of a tile of queries
  launch_with_memory(
      delta_kernel<T, D>, static_cast<unsigned>(query_tiles(p) * p.batch * p.heads) * kDeltaBlocks, kThreads, 0,
      p.stream, a);
  switch (weights_of(p)) {
    case Weights::kPlain:
      launch_backward<T, D, Small, Weights::kPlain>(a);
      break;
    case Weights::kDropped:
      launch_backward<T, D, Small, Weights::kDropped>(a);
      break;
    case Weights::kGeneral:
      launch_backward<T, D, Small, Weights::kGeneral>(a);
      break;
  }
  launch_with_memory(
      grad_query_kernel<T, D>, static_cast<unsigned>(query_tiles(p) * p.batch * p.heads), kThreads, 64 * D * 2,
      p.stream, a);
}

template <class T>
void launch_backward_of(const AttentionBackward& a) {
  const int size = greater_size(a.problem);
  if (size <= 64) {
    launch_backward_for<T, 64, false>(a);
  } else if (size <= 128) {
    is_small(a) ? launch_backward_for<T, 128, true>(a) : launch_backward_for<T, 128, false>(a);
  } else {
    launch_backward_for<T, 256, false>(a);
  }
}

} // namespace
} // namespace attention

bool fits_attention_backward(const AttentionBackward& a) {
  using namespace attention;
  return greater_size(a.problem) <= 128 || a.shared_bytes >= BackwardShape<256, false>::kBytes;
}

int attention_key_tiles(const AttentionBackward& a) {
  using namespace attention;
  const int size = greater_size(a.problem);
  const int keys = size <= 64 ? BackwardShape<64, false>::kKeys
      : size > 128            ? BackwardShape<256, false>::kKeys
      : is_small(a)           ? BackwardShape<128, true>::kKeys
                              : BackwardShape<128, false>::kKeys;
  return (a.problem.key_length + keys - 1) / keys;
}

std::int64_t attention_query_sums(const AttentionBackward& a) {
  const AttentionProblem& p = a.problem;
  const int size = attention::greater_size(p);
  return static_cast<std::int64_t>(a.ordered_blocks > 0 ? a.ordered_blocks : 1) * p.batch * p.heads *
      attention::query_tiles(p) * 64 *
      (size <= 64        ? 64
           : size <= 128 ? 128
                         : 256);
}

void launch_attention_backward(const AttentionBackward& a) {
  a.problem.dtype == c10::ScalarType::Half ? attention::launch_backward_of<c10::Half>(a)
                                           : attention::launch_backward_of<c10::BFloat16>(a);
}

} // namespace at::native::cuda
