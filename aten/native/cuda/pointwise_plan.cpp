#include <aten/native/cuda/pointwise_plan.h>

#include <aten/iterator/TensorIterator.h>

#include <algorithm>
#include <cstring>

namespace at::native::cuda {

namespace {

constexpr std::int64_t kMaxElements = INT32_MAX;
constexpr std::uintptr_t kAlignment = 16;
// Of one dense launch: byte offsets of the largest elements, 16 bytes, stay below 2^31.
constexpr std::int64_t kDenseElements = std::int64_t{1} << 27;

// The iteration of any size and number of dimensions, before it is cut.
struct Walk {
  DimVector sizes;
  SmallVector<int64_t, 6> strides[PointwisePlan::kMaxOperands];
  std::int64_t item_size[PointwisePlan::kMaxOperands];
};

bool is_aligned(const void* data) {
  return reinterpret_cast<std::uintptr_t>(data) % kAlignment == 0;
}

// Furthest byte of an operand from its first.
std::int64_t extent(const Walk& walk, int operand) {
  std::int64_t reach = 0;
  for (std::size_t d = 0; d < walk.sizes.size(); ++d) {
    reach += (walk.sizes[d] - 1) * walk.strides[operand][d];
  }
  return reach;
}

std::int64_t count(const Walk& walk) {
  std::int64_t n = 1;
  for (const std::int64_t size : walk.sizes) {
    n *= size;
  }
  return n;
}

bool fits_32_bits(const Walk& walk, int operands) {
  if (count(walk) > kMaxElements) {
    return false;
  }
  for (int i = 0; i < operands; ++i) {
    if (extent(walk, i) > kMaxElements) {
      return false;
    }
  }
  return true;
}

// The dimension with the largest reach in memory, or the longest when all operands repeat.
std::size_t dim_to_split(const Walk& walk, int operands) {
  std::size_t best = 0;
  std::int64_t largest = -1;
  for (std::size_t d = 0; d < walk.sizes.size(); ++d) {
    std::int64_t reach = walk.sizes[d] - 1;
    for (int i = 0; i < operands; ++i) {
      reach = std::max(reach, (walk.sizes[d] - 1) * walk.strides[i][d]);
    }
    if (walk.sizes[d] > 1 && reach > largest) {
      largest = reach;
      best = d;
    }
  }
  return best;
}

// Sets `dense` and `repeated` of a plan with `walk`'s dimensions: for rows or columns that are broadcast, slices of
// rows and the like.
void find_runs(const Walk& walk, PointwisePlan& plan) {
  plan.repeated = 0;
  plan.dense =
      plan.dims > 0 && plan.dims <= PointwisePlan::kMaxDenseDims && plan.sizes[0] % PointwisePlan::kRunItems == 0;
  for (int i = 0; i < plan.operands && plan.dense; ++i) {
    if (plan.is_constant(i)) {
      continue;
    }
    if (i > 0 && plan.strides[0][i] == 0) {
      plan.repeated |= 1u << i;
      continue;
    }
    plan.dense = plan.strides[0][i] == walk.item_size[i] && is_aligned(plan.data[i]);
    for (int d = 1; d < plan.dims; ++d) {
      plan.dense = plan.dense && plan.strides[d][i] % static_cast<std::int64_t>(kAlignment) == 0;
    }
  }
}

void emit(const Walk& walk, PointwisePlan plan, c10::function_ref<void(PointwisePlan&)> launch) {
  if (walk.sizes.size() > kMaxDims) {
    Walk inner = walk;
    const std::int64_t n = inner.sizes.back();
    inner.sizes.pop_back();
    for (std::int64_t k = 0; k < n; ++k) {
      PointwisePlan part = plan;
      for (int i = 0; i < plan.operands; ++i) {
        part.data[i] += k * walk.strides[i][inner.sizes.size()];
      }
      emit(inner, part, launch);
    }
    return;
  }
  if (!fits_32_bits(walk, plan.operands)) {
    const std::size_t dim = dim_to_split(walk, plan.operands);
    Walk half = walk;
    half.sizes[dim] = walk.sizes[dim] / 2;
    emit(half, plan, launch);
    for (int i = 0; i < plan.operands; ++i) {
      plan.data[i] += half.sizes[dim] * walk.strides[i][dim];
    }
    half.sizes[dim] = walk.sizes[dim] - half.sizes[dim];
    emit(half, plan, launch);
    return;
  }
  plan.numel = count(walk);
  plan.dims = static_cast<int>(walk.sizes.size());
  for (int d = 0; d < plan.dims; ++d) {
    plan.sizes[d] = walk.sizes[d];
    for (int i = 0; i < plan.operands; ++i) {
      plan.strides[d][i] = walk.strides[i][d];
    }
  }
  find_runs(walk, plan);
  launch(plan);
}

void emit_dense(const Walk& walk, PointwisePlan plan, c10::function_ref<void(PointwisePlan&)> launch) {
  plan.dims = 1;
  for (int i = 0; i < plan.operands; ++i) {
    plan.strides[0][i] = plan.is_constant(i) || ((plan.repeated >> i) & 1u) != 0 ? 0 : walk.item_size[i];
  }
  for (std::int64_t rest = plan.numel; rest > 0; rest -= plan.numel) {
    plan.numel = plan.sizes[0] = std::min(rest, kDenseElements);
    launch(plan);
    for (int i = 0; i < plan.operands; ++i) {
      plan.data[i] += plan.numel * plan.strides[0][i];
    }
  }
}

void plan_fast(
    const PointwiseCall& fast, const TensorIteratorBase& iter, bool reduced, PointwisePlan& plan, Walk& walk) {
  plan.operands = fast.count;
  walk.sizes.assign(1, plan.numel);
  for (int i = 0; i < fast.count; ++i) {
    plan.data[i] = static_cast<char*>(fast.data[i]);
    plan.dtypes[i] = iter.own_dtype(i);
    walk.item_size[i] = static_cast<std::int64_t>(c10::elementSize(plan.dtypes[i]));
    const bool scalar = (fast.scalars >> i) & 1u;
    walk.strides[i].assign(1, scalar ? 0 : walk.item_size[i]);
    if (scalar) {
      plan.constants |= 1u << i;
      std::memcpy(plan.constant[i].value, fast.data[i], 16);
      plan.constant[i].wide = reduced ? static_cast<float>(fast.source[i].scalar->toDouble()) : 0.0f;
    }
  }
}

// The most frequent calls: tensors of one shape, dense and aligned, in one launch. False: nothing has happened.
bool plan_plain(const PointwiseCall& fast, TensorIteratorBase& iter, c10::function_ref<void(PointwisePlan&)> launch) {
  const std::int64_t numel = iter.numel();
  if (fast.repeated != fast.scalars || numel == 0 || numel > kDenseElements) {
    return false;
  }
  PointwisePlan plan;
  plan.dtype = iter.common_dtype();
  plan.operands = fast.count;
  plan.constants = fast.scalars;
  plan.repeated = 0;
  plan.dense = true;
  plan.dims = 1;
  plan.numel = plan.sizes[0] = numel;
  plan.stream = nullptr;
  const bool same = fast.input_size != 0;
  for (int i = 0; i < fast.count; ++i) {
    plan.data[i] = static_cast<char*>(fast.data[i]);
    plan.dtypes[i] = same && i > 0 ? plan.dtype : iter.own_dtype(i);
    plan.strides[0][i] = i == 0 ? fast.output_size
        : same                  ? fast.input_size
                                : static_cast<std::int64_t>(c10::elementSize(plan.dtypes[i]));
    if (plan.is_constant(i)) {
      plan.strides[0][i] = 0;
      std::memcpy(plan.constant[i].value, fast.data[i], sizeof(plan.constant[i].value));
      const bool reduced = c10::isReducedFloatingType(plan.dtype);
      plan.constant[i].wide = reduced ? static_cast<float>(fast.source[i].scalar->toDouble()) : 0.0f;
    } else if (!is_aligned(fast.data[i])) {
      return false;
    }
  }
  launch(plan);
  return true;
}

void plan_general(TensorIteratorBase& iter, bool reduced, PointwisePlan& plan, Walk& walk) {
  plan.operands = iter.ntensors();
  walk.sizes.assign(iter.shape().begin(), iter.shape().end());
  for (int i = 0; i < plan.operands; ++i) {
    plan.data[i] = static_cast<char*>(iter.data_ptr(i));
    plan.dtypes[i] = iter.dtype(i);
    walk.item_size[i] = iter.element_size(i);
    walk.strides[i].assign(iter.strides(i).begin(), iter.strides(i).end());
    // On the CPU itself, where plans are tested, other scalars are tensors like any.
    if (i > 0 && (iter.operand(i).is_scalar() || (iter.is_cpu_scalar(i) && !iter.common_device().is_cpu()))) {
      plan.constants |= 1u << i;
      std::memcpy(plan.constant[i].value, iter.data_ptr(i), iter.element_size(i));
      plan.constant[i].wide = !reduced  ? 0.0f
          : iter.operand(i).is_scalar() ? iter.original_scalar_value<float>(i)
                                        : iter.scalar_value<float>(i);
      walk.strides[i].assign(walk.sizes.size(), 0);
    }
  }
}

} // namespace

void plan_pointwise(TensorIteratorBase& iter, c10::function_ref<void(PointwisePlan&)> launch) {
  if (const PointwiseCall* fast = iter.fast_operands(); fast != nullptr && plan_plain(*fast, iter, launch)) {
    return;
  }
  PointwisePlan plan;
  plan.numel = iter.numel();
  if (plan.numel == 0) {
    return;
  }
  TORCH_INTERNAL_ASSERT(iter.noutputs() == 1 && iter.ntensors() <= PointwisePlan::kMaxOperands);
  plan.dtype = iter.common_dtype();
  plan.constants = plan.repeated = 0;
  plan.stream = nullptr;
  const bool reduced = c10::isReducedFloatingType(plan.dtype);
  Walk walk;
  // Calls of the fast path of tensors of one shape; values and rows that are repeated are for CPU kernels.
  if (const PointwiseCall* fast = iter.fast_operands(); fast != nullptr && fast->repeated == fast->scalars) {
    plan_fast(*fast, iter, reduced, plan, walk);
  } else {
    plan_general(iter, reduced, plan, walk);
  }

  plan.dense = walk.sizes.size() <= 1;
  for (int i = 0; i < plan.operands && plan.dense; ++i) {
    const std::int64_t stride = walk.sizes.empty() ? walk.item_size[i] : walk.strides[i][0];
    if (i > 0 && stride == 0 && !plan.is_constant(i)) {
      plan.repeated |= 1u << i;
    } else if (!plan.is_constant(i)) {
      plan.dense = is_aligned(plan.data[i]) && (stride == walk.item_size[i] || plan.numel == 1);
    }
  }
  if (plan.dense) {
    emit_dense(walk, plan, launch);
    return;
  }
  emit(walk, plan, launch);
}

} // namespace at::native::cuda
