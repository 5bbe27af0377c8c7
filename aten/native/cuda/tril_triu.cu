// tril, triu and the lists of their indices.
#include <aten/native/cuda/tril_triu.h>

#include <aten/native/cuda/dtype_cases.cuh>
#include <aten/native/cuda/memory_access.cuh>
#include <c10/cuda/CUDAException.h>

namespace at::native::cuda {

namespace {

constexpr int kThreads = 256;

template <class W, int Group>
__global__ void __launch_bounds__(kThreads) triangle_elements(Triangle t) {
  using Run = Aligned<W, Group>;
  const std::uint32_t index = blockIdx.x * kThreads + threadIdx.x;
  if (index >= t.positions) {
    return;
  }
  const std::uint32_t line = t.places.size[0].divide(index);
  const std::int64_t first = static_cast<std::int64_t>(index - line * t.places.size[0].divisor) * Group;
  const std::int64_t edge = static_cast<std::int64_t>(line % t.rows) + t.diagonal;
  const auto keeps = [&](std::int64_t col) { return t.lower ? col <= edge : col >= edge; };
  const bool keeps_first = keeps(first), keeps_last = keeps(first + Group - 1);
  const auto place = t.places.get(index);
  Run* const to = reinterpret_cast<Run*>(t.out + place.of[0]);
  if (!keeps_first && !keeps_last) {
    *to = Run{};
  } else if (t.out != t.self) {
    Run run = *reinterpret_cast<const Run*>(t.self + place.of[1]);
#pragma unroll
    for (int k = 0; k < Group; ++k) {
      run.values[k] = keeps(first + k) ? run.values[k] : W();
    }
    *to = run;
  } else {
    // What is kept is not written: elements may share memory, and then zero wins.
#pragma unroll
    for (int k = 0; k < Group; ++k) {
      if (!keeps(first + k)) {
        to->values[k] = W();
      }
    }
  }
}

template <class W, int Group>
void launch(const Triangle& t, cudaStream_t stream) {
  triangle_elements<W, Group><<<blocks_of(t.positions, kThreads), kThreads, 0, stream>>>(t);
  C10_CUDA_KERNEL_LAUNCH_CHECK();
}

template <class T>
__global__ void __launch_bounds__(kThreads) list_indices(TriangleIndices t, T* out) {
  const std::int64_t place = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (place < t.count) {
    const std::int64_t row = t.row_of(place);
    const std::int64_t col = t.first_col(row) + static_cast<std::int64_t>(place - t.before(row));
    out[place] = c10::convert<T>(row);
    out[t.count + place] = c10::convert<T>(col);
  }
}

} // namespace

void launch_triangle_indices(const TriangleIndices& triangle, c10::ScalarType dtype, void* out, cudaStream_t stream) {
  RealTypes::call(dtype, [&](auto type) {
    using T = decltype(type);
    list_indices<T><<<blocks_of(triangle.count, kThreads), kThreads, 0, stream>>>(triangle, static_cast<T*>(out));
    C10_CUDA_KERNEL_LAUNCH_CHECK();
  });
}

void launch_triangle(const Triangle& t, cudaStream_t stream) {
  with_word(t.element_size, [&](auto word) {
    using W = decltype(word);
    t.group == 1 ? launch<W, 1>(t, stream) : launch<W, 16 / sizeof(W)>(t, stream);
  });
}

} // namespace at::native::cuda
