#include <ATen/ATen.h>
#include <ATen/cuda/CUDAContext.h>
#include <ATen/cuda/CUDAEvent.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <torch/library.h>

#include <cub/cub.cuh>
#include <thrust/device_ptr.h>
#include <thrust/sequence.h>

namespace fused_norm {

namespace {

/// A block of one warp for each row.
template <int Threads>
__global__ void lengths_kernel(const float* x, int columns, float* lengths) {
  using Reduce = cub::BlockReduce<float, Threads>;
  __shared__ typename Reduce::TempStorage storage;
  extern __shared__ float row[];
  float squares = 0;
  for (int i = threadIdx.x; i < columns; i += Threads) {
    row[i] = x[blockIdx.x * static_cast<int64_t>(columns) + i];
    squares += row[i] * row[i];
  }
  const float total = Reduce(storage).Sum(squares);
  if (threadIdx.x == 0) {
    lengths[blockIdx.x] = sqrtf(total);
  }
}

} // namespace

/// The order of the rows by their length, shortest first.
// On a stream of its own, which waits for the current one, and which the current one waits for.
at::Tensor order_of_rows(const at::Tensor& x) {
  TORCH_CHECK(
      x.is_cuda() && x.dim() == 2, "order_of_rows: x must be a matrix on a GPU, got ", x.sizes(), " on ", x.device());
  const c10::cuda::CUDAGuard guard(x.device());
  const at::Tensor in = x.to(at::kFloat).contiguous();
  const int rows = static_cast<int>(in.size(0)), columns = static_cast<int>(in.size(1));
  at::Tensor lengths = at::empty({rows}, in.options()), sorted = at::empty_like(lengths);
  at::Tensor numbers = at::empty({rows}, in.options().dtype(at::kLong)), order = at::empty_like(numbers);
  const at::cuda::CUDAStream current = at::cuda::getCurrentCUDAStream();
  at::cuda::CUDAEvent ready(cudaEventDisableTiming), done;
  ready.record(current);
  {
    const at::cuda::CUDAStreamGuard on_other(at::cuda::getStreamFromPool(/*isHighPriority=*/true));
    const auto stream = at::cuda::getCurrentCUDAStream();
    ready.block(stream);
    lengths_kernel<64><<<rows, 64, columns * sizeof(float), stream>>>(
        in.const_data_ptr<float>(), columns, lengths.mutable_data_ptr<float>());
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    auto* first = numbers.mutable_data_ptr<int64_t>();
    thrust::sequence(
        thrust::cuda::par.on(stream), thrust::device_pointer_cast(first), thrust::device_pointer_cast(first + rows));
    size_t bytes = 0;
    AT_CUDA_CHECK(cub::DeviceRadixSort::SortPairs(
        nullptr, bytes, lengths.const_data_ptr<float>(), sorted.mutable_data_ptr<float>(), first,
        order.mutable_data_ptr<int64_t>(), rows, 0, 32, stream.stream()));
    auto* memory = c10::cuda::CUDACachingAllocator::raw_alloc_with_stream(bytes, stream);
    AT_CUDA_CHECK(cub::DeviceRadixSort::SortPairs(
        memory, bytes, lengths.const_data_ptr<float>(), sorted.mutable_data_ptr<float>(), first,
        order.mutable_data_ptr<int64_t>(), rows, 0, 32, stream));
    c10::cuda::CUDACachingAllocator::raw_delete(memory);
    for (const at::Tensor& t : {in, lengths, sorted, numbers, order}) {
      t.record_stream(stream);
    }
    done.record(stream);
  }
  done.block(current);
  return order;
}

TORCH_LIBRARY_FRAGMENT(fused_norm, m) {
  m.def("order_of_rows", order_of_rows);
}

} // namespace fused_norm
