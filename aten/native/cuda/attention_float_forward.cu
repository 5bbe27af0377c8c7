// Attention in float, in one pass over the keys as attention_forward.cu has it, by ordinary multiplications: nothing is
// rounded to less than float.
#include <aten/native/cuda/attention_float.cuh>

#include <c10/cuda/CUDAException.h>

namespace at::native::cuda {

namespace attention {
namespace {

/// R queries a block. Heads have up to D elements.
template <int D, int R>
__global__ void __launch_bounds__(kThreads) float_forward_kernel(const AttentionForward arguments) {
  constexpr int kKeys = 32, RT = R / 8, CT = kKeys / 16, DT = D / 16;
  const AttentionProblem& p = arguments.problem;
  __shared__ alignas(16) float queries[R * padded(D)];
  __shared__ alignas(16) float keys[kKeys * padded(D)]; // and then values
  __shared__ alignas(16) float weights[R * padded(kKeys)];

  const int tiles = (p.query_length + R - 1) / R;
  // The last queries have most keys where attention is causal: they begin first.
  const int tile = tiles - 1 - static_cast<int>(blockIdx.x) % tiles, pair = static_cast<int>(blockIdx.x) / tiles;
  const int head = pair % p.heads, batch = pair / p.heads, key_head = head / (p.heads / p.key_heads);
  const Dropout dropout = drawn_dropout(arguments);
  const Sequences s(p, batch);
  const Place place;
  const int first_row = tile * R, own_row = first_row + place.y * RT;
  if (first_row >= s.query_length) {
    return;
  }
  const auto* const k = sequence_of<const float>(p.key, batch, key_head, s.key_start);
  const auto* const v = sequence_of<const float>(p.value, batch, key_head, s.key_start);
  load_tile<R, D>(
      queries, sequence_of<const float>(p.query, batch, head, s.query_start), p.query.row_stride, first_row,
      s.query_length, p.head_size);
  float out[RT][DT], greatest[RT], sum[RT];
#pragma unroll
  for (int r = 0; r < RT; ++r) {
    greatest[r] = -INFINITY;
    sum[r] = 0;
#pragma unroll
    for (int j = 0; j < DT; ++j) {
      out[r][j] = 0;
    }
  }
  const int last_row = first_row + R < s.query_length ? first_row + R - 1 : s.query_length - 1,
            end_key = s.end_key(last_row);
  for (int first_key = s.first_key(first_row) / kKeys * kKeys; first_key < end_key; first_key += kKeys) {
    __syncthreads(); // all have read the values before
    load_tile<kKeys, D>(keys, k, p.key.row_stride, first_key, s.key_length, p.head_size);
    __syncthreads();
    float scores[RT][CT];
    multiply_tiles<D>(scores, queries, keys, place);
#pragma unroll
    for (int r = 0; r < RT; ++r) {
      float most = greatest[r];
#pragma unroll
      for (int j = 0; j < CT; ++j) {
        scores[r][j] = score(p, s, scores[r][j], batch, head, own_row + r, first_key + place.x + 16 * j);
        most = Max()(most, scores[r][j]);
      }
      most = over_lanes(most, Max());
      const float base = most == -INFINITY ? 0 : most; // a row of which nothing counts yet
      const float shrink = ::exp2f(greatest[r] - base);
      greatest[r] = most;
      sum[r] *= shrink;
#pragma unroll
      for (int j = 0; j < DT; ++j) {
        out[r][j] *= shrink;
      }
#pragma unroll
      for (int j = 0; j < CT; ++j) {
        float weight = ::exp2f(scores[r][j] - base);
        sum[r] += weight;
        if (p.dropout > 0) {
          weight *= dropout(pair, own_row + r, first_key + place.x + 16 * j);
        }
        weights[(place.y * RT + r) * padded(kKeys) + place.x + 16 * j] = weight;
      }
    }
    __syncthreads(); // all have read the keys, and written the weights
    load_tile<kKeys, D>(keys, v, p.value.row_stride, first_key, s.key_length, p.value_size);
    __syncthreads();
    add_weighted<D, kKeys>(out, weights, keys, place);
  }

#pragma unroll
  for (int r = 0; r < RT; ++r) {
    const float total = over_lanes(sum[r], Add());
    const float factor = total > 0 ? 1 / total : 0;
#pragma unroll
    for (int j = 0; j < DT; ++j) {
      out[r][j] *= factor;
    }
    if (p.logsumexp != nullptr && place.x == 0 && own_row + r < s.query_length) {
      // Infinite where nothing counts: then backward finds weights of zero.
      p.logsumexp[sums_of(p, s, batch, head) + own_row + r] =
          total > 0 ? greatest[r] / kLog2E + ::logf(total) : INFINITY;
    }
  }
  store_tile(
      out, sequence_of<float>(arguments.out, batch, head, s.query_start), arguments.out.row_stride, first_row,
      s.query_length, p.value_size, place);
}

template <int D, int R>
void launch_float_forward(const AttentionForward& a) {
  const AttentionProblem& p = a.problem;
  const int blocks = (p.query_length + R - 1) / R * p.heads * p.batch;
  float_forward_kernel<D, R><<<static_cast<unsigned>(blocks), kThreads, 0, p.stream>>>(a);
  C10_CUDA_KERNEL_LAUNCH_CHECK();
}

} // namespace
} // namespace attention

void launch_float_attention_forward(const AttentionForward& a) {
  const bool narrow = a.problem.head_size <= 64 && a.problem.value_size <= 64;
  narrow ? attention::launch_float_forward<64, 64>(a) : attention::launch_float_forward<128, 32>(a);
}

} // namespace at::native::cuda
