// Attention in float, in one pass over the keys as attention_forward.cu has it, by ordinary multiplications: nothing is rounded
// to less than float.
#include <aten/native/cuda/attention_float.cuh>

#include <aten/cuda/PhiloxUtils.cuh>
#include <c10/cuda/CUDAException.h>

#include <tuple>

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
  const float* const k = float_head_of(p.key, batch, key_head);
  const float* const v = float_head_of(p.value, batch, key_head);
  const Place place;
  const int first_row = tile * R, own_row = first_row + place.y * RT;

  std::uint64_t seed = 0, offset = 0;
  if (p.dropout > 0) {
    const auto unpacked = at::cuda::philox::unpack(arguments.philox);
    seed = std::get<0>(unpacked);
    offset = std::get<1>(unpacked);
    if (blockIdx.x == 0 && threadIdx.x == 0) {
      *arguments.seed = static_cast<std::int64_t>(seed);
      *arguments.offset = static_cast<std::int64_t>(offset);
    }
  }
  const Dropout dropout(p.dropout, seed, offset, p.key_length);

  load_tile<R, D>(queries, float_head_of(p.query, batch, head), p.query.row_stride, first_row, p.query_length, p.head_size);
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
  const int last_key = p.causal && first_row + R < p.key_length ? first_row + R : p.key_length;
  for (int first_key = 0; first_key < last_key; first_key += kKeys) {
    __syncthreads(); // all have read the values before
    load_tile<kKeys, D>(keys, k, p.key.row_stride, first_key, p.key_length, p.head_size);
    __syncthreads();
    float scores[RT][CT];
    multiply_tiles<D>(scores, queries, keys, place);
#pragma unroll
    for (int r = 0; r < RT; ++r) {
      float most = greatest[r];
#pragma unroll
      for (int j = 0; j < CT; ++j) {
        scores[r][j] = score<float>(p, scores[r][j], batch, head, own_row + r, first_key + place.x + 16 * j);
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
          weight *= dropout(std::int64_t{pair} * p.query_length + own_row + r, first_key + place.x + 16 * j);
        }
        weights[(place.y * RT + r) * padded(kKeys) + place.x + 16 * j] = weight;
      }
    }
    __syncthreads(); // all have read the keys, and written the weights
    load_tile<kKeys, D>(keys, v, p.value.row_stride, first_key, p.key_length, p.value_size);
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
    if (p.logsumexp != nullptr && place.x == 0 && own_row + r < p.query_length) {
      // Infinite where nothing counts: then backward finds weights of zero.
      p.logsumexp[std::int64_t{pair} * p.query_length + own_row + r] = total > 0 ? greatest[r] / kLog2E + ::logf(total) : INFINITY;
    }
  }
  store_tile(out, arguments.out, batch, head, first_row, p.query_length, p.value_size, place);
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
