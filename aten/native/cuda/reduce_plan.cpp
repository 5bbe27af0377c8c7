#include <aten/native/cuda/reduce_plan.h>

#include <aten/core/TensorBase.h>
#include <c10/util/SmallVector.h>

#include <algorithm>

namespace at::native::cuda {

namespace {

struct Dim {
  int64_t size, in, out;
};
using Dims = c10::SmallVector<Dim, 6>;

// Fastest first; merges neighbours that are one run in input and output.
void merge(Dims& dims) {
  size_t last = 0;
  for (size_t i = 1; i < dims.size(); ++i) {
    Dim& inner = dims[last];
    if (dims[i].in == inner.in * inner.size && dims[i].out == inner.out * inner.size) {
      inner.size *= dims[i].size;
    } else {
      dims[++last] = dims[i];
    }
  }
  if (!dims.empty()) {
    dims.resize(last + 1);
  }
}

void sort_by_stride(Dims& dims) {
  std::stable_sort(dims.begin(), dims.end(), [](const Dim& a, const Dim& b) { return a.in < b.in; });
}

int64_t count(const Dims& dims) {
  int64_t n = 1;
  for (const Dim& dim : dims) {
    n *= dim.size;
  }
  return n;
}

std::uint32_t power_of_two_above(std::uint32_t n, std::uint32_t most) {
  std::uint32_t result = 1;
  while (result < n && result < most) {
    result *= 2;
  }
  return result;
}

constexpr std::uint32_t kThreads = 256;
// Elements that a thread should have before its output is shared with another block.
constexpr std::uint32_t kElementsPerThread = 16;

} // namespace

ReducePlan plan_reduction(
    IntArrayRef sizes, IntArrayRef strides, const std::bitset<64>& mask, IntArrayRef out_strides, bool in_order) {
  Dims kept, reduced;
  int64_t reach_in = 0, reach_out = 0;
  for (size_t d = sizes.size(); d-- > 0;) {
    if (sizes[d] == 1) {
      continue;
    }
    (mask[d] ? reduced : kept).push_back({sizes[d], strides[d], mask[d] ? 0 : out_strides[d]});
    reach_in += (sizes[d] - 1) * strides[d];
    reach_out += mask[d] ? 0 : (sizes[d] - 1) * out_strides[d];
  }
  sort_by_stride(kept);
  if (!in_order) {
    sort_by_stride(reduced);
  }
  merge(kept);
  merge(reduced);
  TORCH_CHECK(
      kept.size() <= kMaxDims && reduced.size() <= kMaxDims && count(kept) <= INT32_MAX && count(reduced) <= INT32_MAX &&
          std::max(reach_in, reach_out) <= int64_t{UINT32_MAX},
      "reductions on CUDA are supported for up to ", kMaxDims, " kept and reduced dimensions and 2^31 - 1 elements; got sizes ",
      sizes, " and strides ", strides);
  ReducePlan plan;
  plan.outputs = static_cast<std::uint32_t>(count(kept));
  plan.length = static_cast<std::uint32_t>(count(reduced));
  int64_t nearest = INT64_MAX;
  for (const Dim& dim : reduced) {
    nearest = std::min(nearest, dim.in);
  }
  plan.along_rows = kept.empty() || (!reduced.empty() && nearest <= kept[0].in);
  const auto sizes_of = [](const Dims& dims) {
    c10::SmallVector<int64_t, 6> result;
    for (const Dim& dim : dims) {
      result.push_back(dim.size);
    }
    return result;
  };
  plan.kept = OffsetCalculator<2>(static_cast<int>(kept.size()), sizes_of(kept), [&](int d, int operand) {
    return operand == 0 ? kept[d].in : kept[d].out;
  });
  plan.reduced = OffsetCalculator<1>(
      static_cast<int>(reduced.size()), sizes_of(reduced), [&](int d, int) { return reduced[d].in; });
  return plan;
}

ReducePlan plan_reduction(const TensorBase& self, const std::bitset<64>& mask, const TensorBase& out, bool in_order) {
  const int64_t ndim = self.dim();
  const bool keepdim = out.dim() == ndim;
  c10::SmallVector<int64_t, 6> out_strides(ndim, 0);
  for (int64_t d = 0, o = 0; d < ndim; ++d) {
    if (!mask[d]) {
      out_strides[d] = out.stride(o);
    }
    o += keepdim || !mask[d] ? 1 : 0;
  }
  return plan_reduction(self.sizes(), self.strides(), mask, out_strides, in_order);
}

namespace {

/// Whether outputs lie side by side in groups of `width`, at the same place in all rows.
bool lies_in_columns(const ReducePlan& plan, const void* data, std::uint32_t width) {
  if (plan.kept.dims == 0 || plan.kept.strides[0][0] != 1 || plan.kept.size[0].divisor % width != 0 ||
      reinterpret_cast<std::uintptr_t>(data) % (2 * width) != 0) {
    return false;
  }
  bool aligned = true;
  for (int d = 1; d < plan.kept.dims; ++d) {
    aligned = aligned && plan.kept.strides[d][0] % width == 0;
  }
  for (int d = 0; d < plan.reduced.dims; ++d) {
    aligned = aligned && plan.reduced.strides[d][0] % width == 0;
  }
  return aligned;
}

} // namespace

std::uint32_t reading_width(const ReducePlan& plan, const void* data, std::size_t itemsize) {
  if (!plan.along_rows) {
    return itemsize == 2 && lies_in_columns(plan, data, kOutputsAtOnce) ? kOutputsAtOnce : 1;
  }
  const auto width = static_cast<std::uint32_t>(16 / itemsize);
  bool wide = plan.reduced.dims == 1 && plan.reduced.strides[0][0] == 1 && plan.length >= width &&
      reinterpret_cast<std::uintptr_t>(data) % 16 == 0;
  for (int d = 0; d < plan.kept.dims; ++d) {
    wide = wide && plan.kept.strides[d][0] % width == 0;
  }
  return wide ? width : 1;
}

ReduceLaunch launch_of(const ReducePlan& plan, int multiprocessors) {
  ReduceLaunch launch;
  if (plan.along_rows) {
    launch.x = power_of_two_above((plan.length + plan.width - 1) / plan.width, kThreads);
    launch.y = kThreads / launch.x;
  } else {
    launch.x = power_of_two_above(plan.outputs / plan.width, 32);
    launch.y = std::min(kThreads / launch.x, power_of_two_above(plan.length, kThreads));
  }
  const std::uint32_t outputs_per_block = plan.along_rows ? launch.y : launch.x * plan.width;
  const std::uint32_t lanes = plan.along_rows ? launch.x : launch.y;
  launch.blocks = (plan.outputs + outputs_per_block - 1) / outputs_per_block;
  const std::uint32_t wanted = static_cast<std::uint32_t>(multiprocessors) * 8;
  const std::uint32_t most = plan.length / (lanes * kElementsPerThread);
  launch.splits = std::clamp<std::uint32_t>(launch.blocks >= wanted ? 1 : wanted / launch.blocks, 1, std::max(most, 1u));
  return launch;
}

} // namespace at::native::cuda
