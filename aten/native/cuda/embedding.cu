// Rows of an embedding's table that indices name: a block for each index. Of equal ones the first one's block does the
// work.
#include <aten/native/cuda/embedding.h>

#include <aten/native/cuda/dtype_cases.cuh>
#include <aten/native/cuda/index_check.cuh>
#include <aten/native/cuda/memory_access.cuh>
#include <aten/native/cuda/thread_group.cuh>
#include <c10/cuda/CUDAException.h>

#include <limits>

namespace at::native::cuda {

namespace {

constexpr int kThreads = 256, kWarps = kThreads / 32;

/// Is there an equal index before number k? All threads of the block get the answer.
__device__ bool has_earlier(const RenormRows& p, std::int64_t k) {
  const std::int64_t row = p.indices[k];
  if (p.positions != nullptr) {
    return k > 0 && p.indices[k - 1] == row;
  }
  int earlier = 0;
  for (std::int64_t j = threadIdx.x; j < k; j += kThreads) {
    earlier += p.indices[j] == row ? 1 : 0;
  }
  return ThreadGroup</*WholeBlock=*/true>::reduce(earlier, Add()) != 0;
}

/// The greater or the smaller of two numbers, or NaN if one is.
template <bool Greater>
struct Farther {
  template <class R>
  __device__ R operator()(R a, R b) const {
    return a != a || (Greater ? a > b : a < b) ? a : b;
  }
};

/// The norm of `width` numbers; all threads of the block get it.
template <class T>
__device__ opmath_type<T> norm_of(const T* row, std::int64_t width, std::int64_t stride, double type) {
  using R = opmath_type<T>;
  using Block = ThreadGroup</*WholeBlock=*/true>;
  const double infinity = std::numeric_limits<double>::infinity();
  const R p = static_cast<R>(type);
  const bool greatest = type == infinity, least = type == -infinity;
  R value = least ? static_cast<R>(infinity) : R(0);
  for (std::int64_t i = threadIdx.x; i < width; i += kThreads) {
    const R x = ::fabs(widen(row[i * stride]));
    if (greatest) {
      value = Farther<true>()(value, x);
    } else if (least) {
      value = Farther<false>()(value, x);
    } else {
      value += type == 2 ? x * x : type == 1 ? x : type == 0 ? R(x != R(0)) : ::pow(x, p);
    }
  }
  if (greatest) {
    return Block::reduce(value, Farther<true>());
  }
  if (least) {
    return Block::reduce(value, Farther<false>());
  }
  value = Block::reduce(value, Add());
  return type == 2 ? ::sqrt(value) : type == 1 || type == 0 ? value : ::pow(value, R(1) / p);
}

template <class T>
__global__ void __launch_bounds__(kThreads) renorm_rows(RenormRows p, T* table) {
  using R = opmath_type<T>;
  for (std::int64_t k = blockIdx.x; k < p.n; k += gridDim.x) {
    std::int64_t index = p.indices[k];
    if (has_earlier(p, k) || !check_index(p.check, index, p.positions != nullptr ? p.positions[k] : k)) {
      continue;
    }
    T* const row = table + index * p.row_stride;
    const R norm = norm_of(row, p.width, p.column_stride, p.norm_type);
    if (norm > static_cast<R>(p.max_norm)) {
      const R scale = static_cast<R>(p.max_norm / (static_cast<double>(norm) + 1e-7));
      for (std::int64_t i = threadIdx.x; i < p.width; i += kThreads) {
        row[i * p.column_stride] = narrow<T>(widen(row[i * p.column_stride]) * scale);
      }
    }
  }
}

constexpr int kColumns = 4; // of a thread, a block apart

template <class T>
__global__ void __launch_bounds__(kThreads) sum_rows(SumRows p, const T* grads, T* sums) {
  using R = opmath_type<T>;
  __shared__ unsigned equal[kWarps]; // a bit for each index of a piece
  const std::int64_t k = blockIdx.x;
  std::int64_t row = p.indices[k];
  if (row == p.skip || !check_index(p.check, row, k)) {
    return;
  }
  const std::int64_t first_column = static_cast<std::int64_t>(blockIdx.y) * (kThreads * kColumns) + threadIdx.x;
  R sum[kColumns] = {};
  int count = 0;
  for (std::int64_t start = 0; start < p.n; start += kThreads) {
    const std::int64_t own = start + threadIdx.x;
    unsigned lanes = own < p.n && p.indices[own] == row ? 1u << (threadIdx.x % 32) : 0u;
#pragma unroll
    for (int mask = 16; mask > 0; mask /= 2) {
      lanes |= exchange(lanes, mask);
    }
    __syncthreads(); // all have read the bits of the last piece
    if (threadIdx.x % 32 == 0) {
      equal[threadIdx.x / 32] = lanes;
    }
    __syncthreads();
    for (int warp = 0; warp < kWarps; ++warp) {
      std::int64_t j = start + 32 * warp;
      for (unsigned left = equal[warp]; left != 0; left /= 2, ++j) {
        if (left % 2 == 0) {
          continue;
        }
        if (j < k) {
          return; // its block does the work
        }
        ++count;
#pragma unroll
        for (int c = 0; c < kColumns; ++c) {
          const std::int64_t column = first_column + c * kThreads;
          sum[c] += column < p.width ? widen(grads[j * p.width + column]) : R(0);
        }
      }
    }
  }
#pragma unroll
  for (int c = 0; c < kColumns; ++c) {
    const std::int64_t column = first_column + c * kThreads;
    if (column < p.width) {
      sums[row * p.row_stride + column] = narrow<T>(p.mean ? sum[c] / static_cast<R>(count) : sum[c]);
    }
  }
}

} // namespace

void launch_renorm_rows(const RenormRows& p) {
  constexpr std::int64_t kMostBlocks = 1 << 16;
  FloatingTypes::call(p.dtype, [&](auto type) {
    using T = decltype(type);
    const auto blocks = static_cast<unsigned>(p.n < kMostBlocks ? p.n : kMostBlocks);
    renorm_rows<T><<<blocks, kThreads, 0, p.stream>>>(p, static_cast<T*>(p.table));
    C10_CUDA_KERNEL_LAUNCH_CHECK();
  });
}

void launch_sum_rows(const SumRows& p) {
  FloatingTypes::call(p.dtype, [&](auto type) {
    using T = decltype(type);
    const dim3 blocks(static_cast<unsigned>(p.n), blocks_of(p.width, kThreads * kColumns));
    sum_rows<T><<<blocks, kThreads, 0, p.stream>>>(p, static_cast<const T*>(p.grads), static_cast<T*>(p.sums));
    C10_CUDA_KERNEL_LAUNCH_CHECK();
  });
}

} // namespace at::native::cuda
