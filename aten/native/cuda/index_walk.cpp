#include <aten/native/cuda/index_walk.h>

#include <c10/cuda/CUDAStream.h>

#include <algorithm>

namespace at::native::cuda {

IndexWalk walk_of(const Walk& w, const TensorBase& index) {
  const int dims = static_cast<int>(w.sizes.size());
  int64_t n = 1, reach[3] = {0, 0, 0};
  for (int d = 0; d < dims; ++d) {
    n *= w.sizes[d];
    reach[0] += (w.sizes[d] - 1) * w.plain[d];
    reach[1] += (w.sizes[d] - 1) * w.indexed[d];
    reach[2] += (w.sizes[d] - 1) * w.index_strides[d];
  }
  TORCH_CHECK(
      dims <= kMaxDims && n <= INT32_MAX && *std::max_element(reach, reach + 3) <= int64_t{UINT32_MAX}, w.op,
      ": on CUDA up to ", kMaxDims, " dimensions and 2^31 - 1 elements are supported, got sizes ", IntArrayRef(w.sizes));
  IndexWalk walk;
  walk.n = static_cast<std::uint32_t>(n);
  const DimVector fastest_first(w.sizes.rbegin(), w.sizes.rend());
  walk.places = OffsetCalculator<3>(dims, fastest_first, [&](int d, int operand) {
    const DimVector& strides = operand == 0 ? w.plain : operand == 1 ? w.indexed : w.index_strides;
    return strides[dims - 1 - d];
  });
  walk.index = index.const_data_ptr<int64_t>();
  walk.step = w.step;
  walk.check = {index_error_slot(), w.op, w.size};
  walk.wrap = w.wrap;
  walk.skip = w.skip;
  walk.stream = c10::cuda::getCurrentCUDAStream();
  return walk;
}

} // namespace at::native::cuda
