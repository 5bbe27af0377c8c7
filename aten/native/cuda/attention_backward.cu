// Gradients of attention from the weights computed anew: w = exp(score - logsumexp). With delta = sum of grad_out * out,
//   grad_value = w' grad_out,   slope = w * (grad_out value' - delta),   grad_query = slope key,   grad_key = slope' query.
// One kernel serves both sides: rows are queries and columns keys for grad_query, and the other way round for the gradients
// of keys and values. So each sum is made by one block, in one order.
#include <aten/native/cuda/attention.cuh>

#include <c10/cuda/CUDAException.h>

namespace at::native::cuda {

namespace attention {
namespace {

template <class T>
__global__ void __launch_bounds__(kThreads) delta_kernel(const AttentionBackward a) {
  const AttentionProblem& p = a.problem;
  const std::int64_t i = Team<false>::row();
  if (i >= static_cast<std::int64_t>(p.batch * p.heads) * p.query_length) {
    return;
  }
  const int pair = static_cast<int>(i / p.query_length);
  const std::int64_t row = i % p.query_length;
  const std::uint16_t* const g = head_of(a.grad_out, pair / p.heads, pair % p.heads) + row * a.grad_out.row_stride;
  const std::uint16_t* const o = head_of(a.out, pair / p.heads, pair % p.heads) + row * a.out.row_stride;
  float sum = 0;
  for (int j = Team<false>::rank(); j < p.value_size; j += 32) {
    sum += widen(T(g[j], T::from_bits())) * widen(T(o[j], T::from_bits()));
  }
  sum = Team<false>::reduce(sum, Add());
  if (Team<false>::rank() == 0) {
    a.delta[i] = sum;
  }
}

template <class T, int D, bool RowsAreKeys>
__global__ void __launch_bounds__(kThreads) backward_kernel(const AttentionBackward a) {
  constexpr int kColumns = D == 64 ? 64 : 32; // what shared memory has room for
  const AttentionProblem& p = a.problem;
  __shared__ alignas(16) std::uint16_t memory[2 * (kRows + kColumns) * D];
  // Queries or keys, with what their weights are multiplied by: grad_out or values.
  const Tile<D> rows1{memory}, rows2{memory + kRows * D};
  const Tile<D> columns1{memory + 2 * kRows * D}, columns2{memory + (2 * kRows + kColumns) * D};

  const int row_count = RowsAreKeys ? p.key_length : p.query_length;
  const int column_count = RowsAreKeys ? p.query_length : p.key_length;
  const int row_heads = RowsAreKeys ? p.key_heads : p.heads, group = p.heads / p.key_heads;
  const int tiles = (row_count + kRows - 1) / kRows;
  const int first_row = static_cast<int>(blockIdx.x) % tiles * kRows, pair = static_cast<int>(blockIdx.x) / tiles;
  const int row_head = pair % row_heads, batch = pair / row_heads;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int warp_row = first_row + warp * 16;

  const AttentionOperand& row1 = RowsAreKeys ? p.key : p.query;
  const AttentionOperand& row2 = RowsAreKeys ? p.value : a.grad_out;
  const AttentionOperand& column1 = RowsAreKeys ? p.query : p.key;
  const AttentionOperand& column2 = RowsAreKeys ? a.grad_out : p.value;
  rows1.template load<kRows>(head_of(row1, batch, row_head), row1.row_stride, first_row, row_count, p.head_size);
  rows2.template load<kRows>(head_of(row2, batch, row_head), row2.row_stride, first_row, row_count, p.value_size);
  const bool drops = p.dropout > 0;
  const Dropout dropout(
      p.dropout, drops ? static_cast<std::uint64_t>(*a.seed) : 0, drops ? static_cast<std::uint64_t>(*a.offset) : 0, p.key_length);

  float grad1[D / 8][4];
  float grad2[RowsAreKeys ? D / 8 : 1][4];
  clear(grad1);
  clear(grad2);
  int begin = 0, end = column_count;
  if (p.causal) {
    // Queries before the keys, and keys behind the queries, do not count.
    begin = RowsAreKeys ? first_row / kColumns * kColumns : 0;
    end = !RowsAreKeys && first_row + kRows < end ? first_row + kRows : end;
  }
  for (int member = 0; member < (RowsAreKeys ? group : 1); ++member) {
    const int head = RowsAreKeys ? row_head * group + member : row_head;
    const int column_head = RowsAreKeys ? head : head / group;
    const std::int64_t statistics = static_cast<std::int64_t>(batch * p.heads + head) * p.query_length;
    for (int first_column = begin; first_column < end; first_column += kColumns) {
      __syncthreads(); // all have read the columns before
      columns1.template load<kColumns>(
          head_of(column1, batch, column_head), column1.row_stride, first_column, column_count, p.head_size);
      columns2.template load<kColumns>(
          head_of(column2, batch, column_head), column2.row_stride, first_column, column_count, p.value_size);
      copies_done();
      __syncthreads();
      float weights[kColumns / 8][4], slopes[kColumns / 8][4];
      clear(weights);
      clear(slopes);
      multiply_transposed<T, D, kColumns>(
          weights, [&](std::uint32_t(&words)[4], int k) { rows1.as_a(words, warp * 16, k); }, columns1);
      multiply_transposed<T, D, kColumns>(
          slopes, [&](std::uint32_t(&words)[4], int k) { rows2.as_a(words, warp * 16, k); }, columns2);
#pragma unroll
      for (int n = 0; n < kColumns / 8; ++n) {
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          const int row = warp_row + lane / 4 + 8 * (i / 2);
          const int column = first_column + 8 * n + 2 * (lane % 4) + i % 2;
          const int query = RowsAreKeys ? column : row, key = RowsAreKeys ? row : column;
          const float s = score<T>(p, weights[n][i], batch, head, query, key);
          float weight = 0, slope = 0;
          if (s != -INFINITY) {
            const float kept = drops ? dropout(statistics + query, key) : 1.f;
            weight = ::exp2f(s - p.logsumexp[statistics + query] * kLog2E);
            slope = weight * (slopes[n][i] * kept - a.delta[statistics + query]) * p.scale;
            weight *= kept;
          }
          weights[n][i] = weight;
          slopes[n][i] = slope;
        }
      }
      multiply_weights<T, D, kColumns>(grad1, slopes, columns1);
      if constexpr (RowsAreKeys) {
        multiply_weights<T, D, kColumns>(grad2, weights, columns2);
      }
    }
  }
  const AttentionOperand& to = RowsAreKeys ? a.grad_key : a.grad_query;
  store<T>(grad1, to, batch * to.batch_stride + row_head * to.head_stride, warp_row, row_count, p.head_size);
  if constexpr (RowsAreKeys) {
    const AttentionOperand& v = a.grad_value;
    store<T>(grad2, v, batch * v.batch_stride + row_head * v.head_stride, warp_row, row_count, p.value_size);
  }
}

template <class T, int D>
void launch_backward(const AttentionBackward& a) {
  const AttentionProblem& p = a.problem;
  const auto blocks = [&](int rows, int heads) {
    return static_cast<unsigned>((rows + kRows - 1) / kRows * heads * p.batch);
  };
  const auto delta_blocks = static_cast<unsigned>((static_cast<std::int64_t>(p.batch * p.heads) * p.query_length + 3) / 4);
  delta_kernel<T><<<delta_blocks, kThreads, 0, p.stream>>>(a);
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  const unsigned key_blocks = blocks(p.key_length, p.key_heads), query_blocks = blocks(p.query_length, p.heads);
  backward_kernel<T, D, true><<<key_blocks, kThreads, 0, p.stream>>>(a);
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  backward_kernel<T, D, false><<<query_blocks, kThreads, 0, p.stream>>>(a);
  C10_CUDA_KERNEL_LAUNCH_CHECK();
}

template <class T>
void launch_backward_of(const AttentionBackward& a) {
  const bool narrow = a.problem.head_size <= 64 && a.problem.value_size <= 64;
  narrow ? launch_backward<T, 64>(a) : launch_backward<T, 128>(a);
}

} // namespace
} // namespace attention

void launch_attention_backward(const AttentionBackward& a) {
  a.problem.dtype == c10::ScalarType::Half ? attention::launch_backward_of<c10::Half>(a)
                                           : attention::launch_backward_of<c10::BFloat16>(a);
}

} // namespace at::native::cuda
