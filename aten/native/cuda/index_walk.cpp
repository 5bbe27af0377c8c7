#include <aten/native/cuda/index_walk.h>

#include <aten/Context.h>
#include <aten/Functions.h>
#include <c10/cuda/CUDAStream.h>

#include <algorithm>
#include <tuple>
#include <vector>

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
  walk.check = {index_error_slot(), w.op, "index", w.size, w.dim};
  walk.wrap = w.wrap;
  walk.skip = w.skip;
  walk.stream = c10::cuda::getCurrentCUDAStream();
  return walk;
}

namespace {

/// The part of a walk over these dimensions.
Walk part_of(const Walk& w, const std::vector<int>& dims) {
  Walk part{w.op, {}, {}, {}, {}, w.size, w.step, w.wrap, w.skip, w.dim};
  for (const int d : dims) {
    part.sizes.push_back(w.sizes[d]);
    part.plain.push_back(w.plain[d]);
    part.indexed.push_back(w.indexed[d]);
    part.index_strides.push_back(w.index_strides[d]);
  }
  return part;
}

/// Whole slices that go where their index says are told apart from the positions of the indices, where the strides allow it: there
/// are fewer of those to sort.
OrderedWalk ordered_walk_of(const Walk& w, const TensorBase& index) {
  std::vector<int> positions, slice;
  bool apart = true;
  for (int d = 0; d < static_cast<int>(w.sizes.size()); ++d) {
    const bool in_slice = w.indexed[d] != 0 && w.sizes[d] > 1;
    (in_slice ? slice : positions).push_back(d);
    apart = apart && !(in_slice && w.index_strides[d] != 0);
  }
  if (!apart) {
    slice.clear();
  }
  OrderedWalk ordered{walk_of(apart ? part_of(w, positions) : w, index), {}, 1};
  const DimVector sizes = part_of(w, slice).sizes, fastest_first(sizes.rbegin(), sizes.rend());
  ordered.slice = OffsetCalculator<2>(static_cast<int>(slice.size()), fastest_first, [&](int k, int operand) {
    const int d = slice[slice.size() - 1 - static_cast<size_t>(k)];
    return operand == 0 ? w.plain[d] : w.indexed[d];
  });
  for (const int64_t size : sizes) {
    ordered.slice_size *= static_cast<std::uint32_t>(size);
  }
  return ordered;
}

/// The places that the positions lead to, sorted stably, and the positions in that order.
std::tuple<Tensor, Tensor> targets_in_order(const IndexWalk& positions, const TensorBase& index) {
  const Tensor targets = at::empty({positions.n}, Tensor(index).options());
  launch_targets(positions, targets.mutable_data_ptr<int64_t>());
  return targets.sort(/*stable=*/true, /*dim=*/0, /*descending=*/false);
}

} // namespace

void scatter_to(const Walk& w, const TensorBase& index, const TensorBase& out, const TensorBase& plain) {
  const IndexWalk walk = walk_of(w, index);
  if (!at::globalContext().deterministicAlgorithms()) {
    return launch_scatter(walk, out.itemsize(), out.mutable_data_ptr(), plain.const_data_ptr());
  }
  const OrderedWalk ordered = ordered_walk_of(w, index);
  const auto [targets, order] = targets_in_order(ordered.positions, index);
  launch_ordered_scatter(
      ordered, targets.const_data_ptr<int64_t>(), order.const_data_ptr<int64_t>(), out.itemsize(), out.mutable_data_ptr(),
      plain.const_data_ptr());
}

void scatter_op_to(
    const Walk& w, const TensorBase& index, ScatterOp op, const TensorBase& out, const TensorBase& plain, Order wanted) {
  const IndexWalk walk = walk_of(w, index);
  const ScalarType dtype = out.scalar_type();
  // Other results do not depend on the order.
  const bool rounds = (op == ScatterOp::Add || op == ScatterOp::Multiply) &&
      (c10::isFloatingType(dtype) || c10::isComplexType(dtype));
  if (!rounds || (wanted == Order::OfThreads && !at::globalContext().deterministicAlgorithms())) {
    return launch_scatter_op(walk, op, dtype, out.mutable_data_ptr(), plain.const_data_ptr());
  }
  const OrderedWalk ordered = ordered_walk_of(w, index);
  const auto [targets, order] = targets_in_order(ordered.positions, index);
  launch_ordered_scatter_op(
      ordered, targets.const_data_ptr<int64_t>(), order.const_data_ptr<int64_t>(), op, dtype, out.mutable_data_ptr(),
      plain.const_data_ptr());
}

} // namespace at::native::cuda
