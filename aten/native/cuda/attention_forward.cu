// Attention in one pass over the keys: a block has 64 queries and keeps, for each, the greatest score so far, the sum of
// weights, and the weighted sum of values, all of which are scaled down when a greater score comes (Milakov and Gimelshein,
// 2018; Dao et al., 2022).
#include <aten/native/cuda/attention.cuh>

#include <aten/cuda/PhiloxUtils.cuh>
#include <c10/cuda/CUDAException.h>

#include <tuple>

namespace at::native::cuda {

namespace attention {
namespace {

inline constexpr int kKeys = 64;

template <class T, int D>
__global__ void __launch_bounds__(kThreads) forward_kernel(const AttentionForward arguments) {
  const AttentionProblem& p = arguments.problem;
  __shared__ alignas(16) std::uint16_t key_memory[kKeys * D];
  __shared__ alignas(16) std::uint16_t value_memory[kKeys * D];
  const Tile<D> keys{key_memory}, values{value_memory};

  const int tiles = (p.query_length + kRows - 1) / kRows;
  // The last queries have most keys where attention is causal: they begin first.
  const int tile = tiles - 1 - static_cast<int>(blockIdx.x) % tiles, pair = static_cast<int>(blockIdx.x) / tiles;
  const int head = pair % p.heads, batch = pair / p.heads, key_head = head / (p.heads / p.key_heads);
  const std::uint16_t* const k = head_of(p.key, batch, key_head);
  const std::uint16_t* const v = head_of(p.value, batch, key_head);
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int first_row = tile * kRows, warp_row = first_row + warp * 16;

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

  // Queries stay in registers.
  keys.template load<kRows>(head_of(p.query, batch, head), p.query.row_stride, first_row, p.query_length, p.head_size);
  copies_done();
  __syncthreads();
  std::uint32_t query[D / 16][4];
#pragma unroll
  for (int i = 0; i < D / 16; ++i) {
    keys.as_a(query[i], warp * 16, i);
  }
  __syncthreads();

  float out[D / 8][4];
  clear(out);
  float greatest[2] = {-INFINITY, -INFINITY}, sum[2] = {0, 0};
  const int last_key = p.causal && first_row + kRows < p.key_length ? first_row + kRows : p.key_length;
  keys.template load<kKeys>(k, p.key.row_stride, 0, p.key_length, p.head_size);
  for (int first_key = 0; first_key < last_key; first_key += kKeys) {
    copies_done();
    __syncthreads();
    values.template load<kKeys>(v, p.value.row_stride, first_key, p.key_length, p.value_size); // meanwhile
    float scores[kKeys / 8][4];
    clear(scores);
    multiply_transposed<T, D, kKeys>(
        scores,
        [&](std::uint32_t(&a)[4], int i) {
          a[0] = query[i][0], a[1] = query[i][1], a[2] = query[i][2], a[3] = query[i][3];
        },
        keys);

#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int row = warp_row + lane / 4 + 8 * half;
      float most = greatest[half];
#pragma unroll
      for (int n = 0; n < kKeys / 8; ++n) {
#pragma unroll
        for (int i = 2 * half; i < 2 * half + 2; ++i) {
          scores[n][i] = score<T>(p, scores[n][i], batch, head, row, first_key + 8 * n + 2 * (lane % 4) + i % 2);
          most = Max()(most, scores[n][i]);
        }
      }
      most = over_row(most, Max());
      const float base = most == -INFINITY ? 0 : most; // a row of which nothing counts yet
      const float shrink = ::exp2f(greatest[half] - base);
      greatest[half] = most;
      sum[half] *= shrink;
#pragma unroll
      for (int n = 0; n < D / 8; ++n) {
        out[n][2 * half] *= shrink;
        out[n][2 * half + 1] *= shrink;
      }
#pragma unroll
      for (int n = 0; n < kKeys / 8; ++n) {
#pragma unroll
        for (int i = 2 * half; i < 2 * half + 2; ++i) {
          float weight = ::exp2f(scores[n][i] - base);
          sum[half] += weight;
          if (p.dropout > 0) {
            weight *= dropout(std::int64_t{pair} * p.query_length + row, first_key + 8 * n + 2 * (lane % 4) + i % 2);
          }
          scores[n][i] = weight;
        }
      }
    }
    copies_done();
    __syncthreads();
    if (first_key + kKeys < last_key) {
      keys.template load<kKeys>(k, p.key.row_stride, first_key + kKeys, p.key_length, p.head_size); // meanwhile
    }
    multiply_weights<T, D, kKeys>(out, scores, values);
  }

#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const float total = over_row(sum[half], Add());
    const float factor = total > 0 ? 1 / total : 0;
#pragma unroll
    for (int n = 0; n < D / 8; ++n) {
      out[n][2 * half] *= factor;
      out[n][2 * half + 1] *= factor;
    }
    const int row = warp_row + lane / 4 + 8 * half;
    if (p.logsumexp != nullptr && lane % 4 == 0 && row < p.query_length) {
      // Infinite where nothing counts: then backward finds weights of zero.
      p.logsumexp[std::int64_t{pair} * p.query_length + row] = total > 0 ? greatest[half] / kLog2E + ::logf(total) : INFINITY;
    }
  }
  store<T>(out, arguments.out, batch * arguments.out.batch_stride + head * arguments.out.head_stride, warp_row, p.query_length, p.value_size);
}

template <class T, int D>
void launch_forward(const AttentionForward& a) {
  const AttentionProblem& p = a.problem;
  const int blocks = (p.query_length + kRows - 1) / kRows * p.heads * p.batch;
  forward_kernel<T, D><<<static_cast<unsigned>(blocks), kThreads, 0, p.stream>>>(a);
  C10_CUDA_KERNEL_LAUNCH_CHECK();
}

template <class T>
void launch_forward_of(const AttentionForward& a) {
  const bool narrow = a.problem.head_size <= 64 && a.problem.value_size <= 64;
  narrow ? launch_forward<T, 64>(a) : launch_forward<T, 128>(a);
}

} // namespace
} // namespace attention

void launch_attention_forward(const AttentionForward& a) {
  a.problem.dtype == c10::ScalarType::Half ? attention::launch_forward_of<c10::Half>(a)
                                           : attention::launch_forward_of<c10::BFloat16>(a);
}

} // namespace at::native::cuda
