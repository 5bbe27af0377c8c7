#include <aten/native/cuda/index_walk.h>

#include <aten/Context.h>
#include <aten/Functions.h>
#include <c10/cuda/CUDAStream.h>

#include <algorithm>
#include <tuple>

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

namespace {

/// The places that a walk writes to, sorted stably, and the elements in that order.
std::tuple<Tensor, Tensor> targets_in_order(const IndexWalk& walk, const TensorBase& index) {
  const Tensor targets = at::empty({walk.n}, Tensor(index).options());
  launch_targets(walk, targets.mutable_data_ptr<int64_t>());
  return targets.sort(/*stable=*/true, /*dim=*/0, /*descending=*/false);
}

} // namespace

void scatter_to(const Walk& w, const TensorBase& index, const TensorBase& out, const TensorBase& plain) {
  const IndexWalk walk = walk_of(w, index);
  if (!at::globalContext().deterministicAlgorithms()) {
    return launch_scatter(walk, out.itemsize(), out.mutable_data_ptr(), plain.const_data_ptr());
  }
  const auto [targets, order] = targets_in_order(walk, index);
  launch_ordered_scatter(
      walk, targets.const_data_ptr<int64_t>(), order.const_data_ptr<int64_t>(), out.itemsize(), out.mutable_data_ptr(),
      plain.const_data_ptr());
}

void scatter_op_to(const Walk& w, const TensorBase& index, ScatterOp op, const TensorBase& out, const TensorBase& plain) {
  const IndexWalk walk = walk_of(w, index);
  const ScalarType dtype = out.scalar_type();
  // Other results do not depend on the order.
  const bool rounds = (op == ScatterOp::Add || op == ScatterOp::Multiply) &&
      (c10::isFloatingType(dtype) || c10::isComplexType(dtype));
  if (!rounds || !at::globalContext().deterministicAlgorithms()) {
    return launch_scatter_op(walk, op, dtype, out.mutable_data_ptr(), plain.const_data_ptr());
  }
  const auto [targets, order] = targets_in_order(walk, index);
  launch_ordered_scatter_op(
      walk, targets.const_data_ptr<int64_t>(), order.const_data_ptr<int64_t>(), op, dtype, out.mutable_data_ptr(),
      plain.const_data_ptr());
}

} // namespace at::native::cuda
