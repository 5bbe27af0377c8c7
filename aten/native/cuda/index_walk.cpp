#include <aten/native/cuda/index_walk.h>

#include <aten/Functions.h>
#include <aten/core/Context.h>
#include <c10/cuda/CUDAStream.h>

#include <algorithm>
#include <cstring>
#include <tuple>

namespace at::native::cuda {

namespace {

/// From the number of an element to its places; `stride(dim, operand)` of the walk's dimensions. Those of size 1 are
/// left out.
template <int Operands, class Stride>
OffsetCalculator<Operands> places_of(const DimVector& sizes, Stride stride) {
  DimVector dims, fastest_first;
  for (int64_t d = static_cast<int64_t>(sizes.size()) - 1; d >= 0; --d) {
    if (sizes[d] != 1) {
      dims.push_back(d);
      fastest_first.push_back(sizes[d]);
    }
  }
  return OffsetCalculator<Operands>(
      static_cast<int>(dims.size()), fastest_first, [&](int k, int operand) { return stride(dims[k], operand); });
}

IndexWalk launch_of(const WalkPart& part, const TensorBase& index) {
  const Walk& w = part.walk;
  IndexWalk walk;
  walk.n = static_cast<std::uint32_t>(elements_of(w));
  walk.places = places_of<3>(w.sizes, [&](int64_t d, int operand) {
    return operand == 0 ? w.plain[d] : operand == 1 ? w.indexed[d] : w.index_strides[d];
  });
  walk.index = index.const_data_ptr<int64_t>() + part.index;
  walk.first = part.index;
  walk.step = w.step;
  walk.check = {index_error_slot(), w.op, w.argument, w.size, w.dim};
  walk.wrap = w.wrap;
  walk.skip = w.skip;
  walk.stream = c10::cuda::getCurrentCUDAStream();
  return walk;
}

JointWalk joint_launch_of(const WalkPart& part, const TensorBase& index) {
  const Walk& w = part.walk;
  JointWalk walk;
  walk.n = static_cast<std::uint32_t>(elements_of(w));
  walk.count = 1 + static_cast<int>(w.others.size());
  walk.places = places_of<2 + kMostIndices>(w.sizes, [&](int64_t d, int operand) -> int64_t {
    if (operand < 3) {
      return operand == 0 ? w.plain[d] : operand == 1 ? w.indexed[d] : w.index_strides[d];
    }
    return operand - 3 < walk.count - 1 ? w.others[operand - 3].strides[d] : 0;
  });
  walk.index[0] = {index.const_data_ptr<int64_t>() + part.index, part.index, w.step, w.size, w.dim};
  for (int i = 1; i < walk.count; ++i) {
    const Walk::Other& other = w.others[i - 1];
    walk.index[i] = {other.data + other.first, other.first, other.step, other.size, other.dim};
  }
  walk.slot = index_error_slot();
  walk.op = w.op;
  walk.argument = w.argument;
  walk.stream = c10::cuda::getCurrentCUDAStream();
  return walk;
}

/// launch(walk) for a part with one index or several.
template <class Launch>
void launch_part(const WalkPart& part, const TensorBase& index, Launch launch) {
  part.walk.others.empty() ? launch(launch_of(part, index)) : launch(joint_launch_of(part, index));
}

/// Of element `offset`, for elements of `size` bytes.
const void* address(const void* data, int64_t offset, std::size_t size) {
  return static_cast<const char*>(data) + offset * static_cast<int64_t>(size);
}
void* address(void* data, int64_t offset, std::size_t size) {
  return static_cast<char*>(data) + offset * static_cast<int64_t>(size);
}

/// Whole slices that go where their index says are told apart from the positions of the indices, where the strides
/// allow it: there are fewer of those to sort.
OrderedWalk ordered_launch_of(const WalkPart& part, const TensorBase& index) {
  const Walk& w = part.walk;
  const auto in_slice = [&](size_t d) { return w.indexed[d] != 0 && w.sizes[d] > 1; };
  bool apart = true;
  for (size_t d = 0; d < w.sizes.size(); ++d) {
    apart = apart && !(in_slice(d) && w.index_strides[d] != 0);
  }
  WalkPart positions = part;
  DimVector slice(w.sizes.size(), 1); // sizes
  int64_t slice_size = 1;
  for (size_t d = 0; apart && d < w.sizes.size(); ++d) {
    if (in_slice(d)) {
      positions.walk.sizes[d] = 1;
      slice[d] = w.sizes[d];
      slice_size *= w.sizes[d];
    }
  }
  return {
      launch_of(positions, index),
      places_of<2>(slice, [&](int64_t d, int operand) { return operand == 0 ? w.plain[d] : w.indexed[d]; }),
      static_cast<std::uint32_t>(slice_size)};
}

/// launch(walk, targets, order) with the indices that the positions lead to, sorted stably, and the positions in that
/// order.
template <class Launch>
void launch_in_order(const WalkPart& part, const TensorBase& index, Launch launch) {
  const OrderedWalk walk = ordered_launch_of(part, index);
  const Tensor unsorted = at::empty({walk.positions.n}, Tensor(index).options());
  launch_targets(walk.positions, unsorted.mutable_data_ptr<int64_t>());
  const auto [targets, order] = unsorted.sort(/*stable=*/true, /*dim=*/0, /*descending=*/false);
  launch(walk, targets.const_data_ptr<int64_t>(), order.const_data_ptr<int64_t>());
}

} // namespace

void gather_to(
    const Walk& w,
    const TensorBase& index,
    const TensorBase& plain,
    const TensorBase& indexed,
    const LaunchReach& reach) {
  void* const to = plain.mutable_data_ptr();
  const void* const from = indexed.const_data_ptr();
  Walk walk = simplified(w, WalkOrder::Any);
  const std::size_t size = widen_to_words(walk, plain.itemsize(), to, from);
  each_part(walk, WalkOrder::Any, reach, [&](const WalkPart& part) {
    launch_part(part, index, [&](const auto& launched) {
      launch_gather(launched, size, address(to, part.plain, size), address(from, part.indexed, size));
    });
  });
}

void scatter_to(
    const Walk& w,
    const TensorBase& index,
    const TensorBase& indexed,
    const TensorBase& plain,
    const LaunchReach& reach) {
  void* const to = indexed.mutable_data_ptr();
  const void* const from = plain.const_data_ptr();
  const bool one_value = std::count(w.plain.begin(), w.plain.end(), 0) == static_cast<std::ptrdiff_t>(w.plain.size());
  const bool in_order = !one_value && at::globalContext().deterministicAlgorithms();
  const WalkOrder order = in_order ? WalkOrder::OfElements : WalkOrder::Any;
  Walk walk = simplified(w, order);
  const std::size_t size = widen_to_words(walk, indexed.itemsize(), from, to);
  each_part(walk, order, reach, [&](const WalkPart& part) {
    void* const target = address(to, part.indexed, size);
    const void* const source = address(from, part.plain, size);
    if (!in_order) {
      return launch_part(part, index, [&](const auto& launched) { launch_scatter(launched, size, target, source); });
    }
    launch_in_order(part, index, [&](const OrderedWalk& ordered, const int64_t* targets, const int64_t* places) {
      launch_ordered_scatter(ordered, targets, places, size, target, source);
    });
  });
}

void scatter_value_to(
    const Walk& w, const TensorBase& index, const TensorBase& indexed, const void* value, const LaunchReach& reach) {
  constexpr std::size_t kMostBytes = 16;
  void* const to = indexed.mutable_data_ptr();
  Walk walk = simplified(filling(w), WalkOrder::Any);
  const std::size_t itemsize = indexed.itemsize(), size = widen_to_words(walk, itemsize, to, to);
  alignas(kMostBytes) char word[kMostBytes];
  for (std::size_t at = 0; at < size; at += itemsize) {
    std::memcpy(word + at, value, itemsize);
  }
  each_part(walk, WalkOrder::Any, reach, [&](const WalkPart& part) {
    launch_scatter_value(launch_of(part, index), size, address(to, part.indexed, size), word);
  });
}

bool goes_in_order(ScatterOp op, c10::ScalarType dtype, Order wanted) {
  // Other results do not depend on the order.
  const bool rounds =
      (op == ScatterOp::Add || op == ScatterOp::Multiply) && (c10::isFloatingType(dtype) || c10::isComplexType(dtype));
  return rounds && (wanted == Order::OfElements || at::globalContext().deterministicAlgorithms());
}

void scatter_op_to(
    const Walk& w,
    const TensorBase& index,
    ScatterOp op,
    const TensorBase& indexed,
    const TensorBase& plain,
    Order wanted,
    const LaunchReach& reach,
    const void* alpha) {
  const ScalarType dtype = indexed.scalar_type();
  const std::size_t size = indexed.itemsize();
  const bool in_order = goes_in_order(op, dtype, wanted);
  const WalkOrder order = in_order ? WalkOrder::OfElements : WalkOrder::Any;
  each_part(simplified(w, order), order, reach, [&](const WalkPart& part) {
    void* const target = address(indexed.mutable_data_ptr(), part.indexed, size);
    const void* const source = address(plain.const_data_ptr(), part.plain, size);
    if (!in_order) {
      return launch_scatter_op(launch_of(part, index), op, dtype, target, source, alpha);
    }
    launch_in_order(part, index, [&](const OrderedWalk& ordered, const int64_t* targets, const int64_t* places) {
      launch_ordered_scatter_op(ordered, targets, places, op, dtype, target, source);
    });
  });
}

void add_index_offsets(
    const TensorBase& index,
    int64_t step,
    const IndexCheck& check,
    const TensorBase& offsets,
    const LaunchReach& reach) {
  const auto strides_of = [](const TensorBase& t) { return DimVector(t.strides().begin(), t.strides().end()); };
  const DimVector sizes(index.sizes().begin(), index.sizes().end());
  const Walk walk{check.op,   sizes, strides_of(offsets), DimVector(sizes.size(), 0), strides_of(index),
                  check.size, step};
  each_part(simplified(walk, WalkOrder::Any), WalkOrder::Any, reach, [&](const WalkPart& part) {
    const Walk& w = part.walk;
    launch_index_offsets(
        {static_cast<std::uint32_t>(elements_of(w)),
         places_of<2>(w.sizes, [&](int64_t d, int operand) { return operand == 0 ? w.index_strides[d] : w.plain[d]; }),
         index.const_data_ptr<int64_t>() + part.index, part.index, step,
         offsets.mutable_data_ptr<int64_t>() + part.plain, check, c10::cuda::getCurrentCUDAStream()});
  });
}

} // namespace at::native::cuda
