// Gradients of attention in float, from the weights computed anew: the formulas and the order of sums are those of
// attention_backward.cu.
#include <aten/native/cuda/attention_float.cuh>

#include <c10/cuda/CUDAException.h>

namespace at::native::cuda {

namespace attention {
namespace {

__global__ void __launch_bounds__(kThreads) float_delta_kernel(const AttentionBackward a) {
  const AttentionProblem& p = a.problem;
  const std::int64_t i = ThreadGroup<false>::row();
  const int pair = static_cast<int>(i / p.query_length), row = static_cast<int>(i % p.query_length);
  const int batch = pair / p.heads, head = pair % p.heads;
  if (batch >= p.batch) {
    return;
  }
  const Sequences s(p, batch);
  if (row >= s.query_length) {
    return;
  }
  const auto* const g = sequence_of<const float>(a.grad_out, batch, head, s.query_start + row);
  const auto* const o = sequence_of<const float>(a.out, batch, head, s.query_start + row);
  float sum = 0;
  for (int j = ThreadGroup<false>::rank(); j < p.value_size; j += 32) {
    sum += g[j] * o[j];
  }
  sum = ThreadGroup<false>::reduce(sum, Add());
  if (ThreadGroup<false>::rank() == 0) {
    a.delta[sums_of(p, s, batch, head) + row] = sum;
  }
}

/// S rows and S columns a step. Heads have up to D elements.
template <int D, int S, bool RowsAreKeys>
__global__ void __launch_bounds__(kThreads) float_backward_kernel(const AttentionBackward a) {
  constexpr int RT = S / 8, CT = S / 16, DT = D / 16;
  const AttentionProblem& p = a.problem;
  // Queries or keys, with what their weights are multiplied by: grad_out or values.
  __shared__ alignas(16) float rows1[S * padded(D)];
  __shared__ alignas(16) float rows2[S * padded(D)];
  __shared__ alignas(16) float columns1[S * padded(D)];
  __shared__ alignas(16) float columns2[S * padded(D)];
  __shared__ alignas(16) float slopes[S * padded(S)];
  __shared__ alignas(16) float weights[S * padded(S)];

  const int row_heads = RowsAreKeys ? p.key_heads : p.heads, group = p.heads / p.key_heads;
  const int tiles = ((RowsAreKeys ? p.key_length : p.query_length) + S - 1) / S;
  const int first_row = static_cast<int>(blockIdx.x) % tiles * S, pair = static_cast<int>(blockIdx.x) / tiles;
  const int row_head = pair % row_heads, batch = pair / row_heads;
  const Place place;
  const Sequences s(p, batch);
  const int row_count = RowsAreKeys ? s.key_length : s.query_length,
            column_count = RowsAreKeys ? s.query_length : s.key_length;
  const std::int64_t row_start = RowsAreKeys ? s.key_start : s.query_start,
                     column_start = RowsAreKeys ? s.query_start : s.key_start;
  if (first_row >= row_count) {
    return;
  }

  const AttentionOperand& row1 = RowsAreKeys ? p.key : p.query;
  const AttentionOperand& row2 = RowsAreKeys ? p.value : a.grad_out;
  const AttentionOperand& column1 = RowsAreKeys ? p.query : p.key;
  const AttentionOperand& column2 = RowsAreKeys ? a.grad_out : p.value;
  load_tile<S, D>(
      rows1, sequence_of<const float>(row1, batch, row_head, row_start), row1.row_stride, first_row, row_count,
      p.head_size);
  load_tile<S, D>(
      rows2, sequence_of<const float>(row2, batch, row_head, row_start), row2.row_stride, first_row, row_count,
      p.value_size);
  const bool drops = p.dropout > 0;
  const Dropout dropout = repeated_dropout(a);

  float grad1[RT][DT], grad2[RT][DT];
#pragma unroll
  for (int r = 0; r < RT; ++r) {
#pragma unroll
    for (int j = 0; j < DT; ++j) {
      grad1[r][j] = grad2[r][j] = 0;
    }
  }
  // Columns that none of these rows sees, or is seen by, do not count.
  const int last_row = first_row + S < row_count ? first_row + S - 1 : row_count - 1;
  const int begin = (RowsAreKeys ? s.first_query(first_row) : s.first_key(first_row)) / S * S;
  const int end = RowsAreKeys ? s.end_query(last_row) : s.end_key(last_row);
  for (int member = 0; member < (RowsAreKeys ? group : 1); ++member) {
    const int head = RowsAreKeys ? row_head * group + member : row_head;
    const int column_head = RowsAreKeys ? head : head / group;
    const std::int64_t sums = sums_of(p, s, batch, head);
    for (int first_column = begin; first_column < end; first_column += S) {
      __syncthreads(); // all have read the columns before
      load_tile<S, D>(
          columns1, sequence_of<const float>(column1, batch, column_head, column_start), column1.row_stride,
          first_column, column_count, p.head_size);
      load_tile<S, D>(
          columns2, sequence_of<const float>(column2, batch, column_head, column_start), column2.row_stride,
          first_column, column_count, p.value_size);
      __syncthreads();
      float products1[RT][CT], products2[RT][CT];
      multiply_tiles<D>(products1, rows1, columns1, place);
      multiply_tiles<D>(products2, rows2, columns2, place);
#pragma unroll
      for (int r = 0; r < RT; ++r) {
#pragma unroll
        for (int j = 0; j < CT; ++j) {
          const int row = first_row + place.y * RT + r, column = first_column + place.x + 16 * j;
          const int query = RowsAreKeys ? column : row, key = RowsAreKeys ? row : column;
          const float x = score(p, s, products1[r][j], batch, head, query, key);
          float weight = 0, slope = 0;
          if (x != -INFINITY) {
            const float kept = drops ? dropout(batch * p.heads + head, query, key) : 1.f;
            weight = ::exp2f(x - p.logsumexp[sums + query] * kLog2E);
            slope = weight * (products2[r][j] * kept - a.delta[sums + query]);
            weight *= kept;
          }
          if (!RowsAreKeys && a.grad_scores.data != nullptr && query < s.query_length && key < s.key_length) {
            sequence_of<float>(a.grad_scores, batch, head, query)[key] = slope;
          }
          const int at = (place.y * RT + r) * padded(S) + place.x + 16 * j;
          slopes[at] = slope * p.scale;
          if constexpr (RowsAreKeys) {
            weights[at] = weight;
          }
        }
      }
      __syncthreads();
      add_weighted<D, S>(grad1, slopes, columns1, place);
      if constexpr (RowsAreKeys) {
        add_weighted<D, S>(grad2, weights, columns2, place);
      }
    }
  }
  const AttentionOperand& to = RowsAreKeys ? a.grad_key : a.grad_query;
  store_tile(
      grad1, sequence_of<float>(to, batch, row_head, row_start), to.row_stride, first_row, row_count, p.head_size,
      place);
  if constexpr (RowsAreKeys) {
    store_tile(
        grad2, sequence_of<float>(a.grad_value, batch, row_head, row_start), a.grad_value.row_stride, first_row,
        row_count, p.value_size, place);
  }
}

template <int D, int S>
void launch_float_backward(const AttentionBackward& a) {
  const AttentionProblem& p = a.problem;
  const auto blocks = [&](int rows, int heads) { return static_cast<unsigned>((rows + S - 1) / S * heads * p.batch); };
  const auto delta_blocks =
      static_cast<unsigned>((static_cast<std::int64_t>(p.batch * p.heads) * p.query_length + 3) / 4);
  float_delta_kernel<<<delta_blocks, kThreads, 0, p.stream>>>(a);
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  const unsigned key_blocks = blocks(p.key_length, p.key_heads), query_blocks = blocks(p.query_length, p.heads);
  float_backward_kernel<D, S, true><<<key_blocks, kThreads, 0, p.stream>>>(a);
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  float_backward_kernel<D, S, false><<<query_blocks, kThreads, 0, p.stream>>>(a);
  C10_CUDA_KERNEL_LAUNCH_CHECK();
}

} // namespace
} // namespace attention

void launch_float_attention_backward(const AttentionBackward& a) {
  const bool narrow = a.problem.head_size <= 64 && a.problem.value_size <= 64;
  narrow ? attention::launch_float_backward<64, 32>(a) : attention::launch_float_backward<128, 16>(a);
}

} // namespace at::native::cuda
