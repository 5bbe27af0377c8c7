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
// Elements that a thread should have before its output is shared with another block, and how many reads.
constexpr std::uint32_t kElementsPerThread = 16, kReadsPerThread = 4;

bool fits_launch(const Dims& dims, int64_t most) {
  int64_t reach_in = 0, reach_out = 0;
  for (const Dim& dim : dims) {
    reach_in += (dim.size - 1) * dim.in;
    reach_out += (dim.size - 1) * dim.out;
  }
  return count(dims) <= most && std::max(reach_in, reach_out) <= int64_t{UINT32_MAX};
}

/// Two halves of the dimension that steps furthest; that of the second begins at `start` there.
struct Halves {
  Dims low, high;
  int64_t start, in, out, index;
};
Halves halves_of(const Dims& dims) {
  size_t d = dims.size() - 1;
  while (dims[d].size == 1) {
    --d;
  }
  Halves halves{dims, dims, dims[d].size / 2, 0, 0, 0};
  if (halves.start >= 64) {
    halves.start -= halves.start % 64; // what begins aligned goes on so
  }
  halves.low[d].size = halves.start;
  halves.high[d].size -= halves.start;
  halves.in = halves.start * dims[d].in;
  halves.out = halves.start * dims[d].out;
  halves.index = halves.start;
  for (size_t faster = 0; faster < d; ++faster) {
    halves.index *= dims[faster].size;
  }
  return halves;
}

/// Appends the plans for these dimensions; `plan` says where they begin.
void add_plans(const Dims& kept, const Dims& reduced, int64_t most, ReducePlan plan, ReducePlans& plans) {
  if (!fits_launch(kept, most) || !fits_launch(reduced, most)) {
    const bool outputs = !fits_launch(kept, most);
    const Halves halves = halves_of(outputs ? kept : reduced);
    add_plans(outputs ? halves.low : kept, outputs ? reduced : halves.low, most, plan, plans);
    plan.in_first += halves.in;
    plan.out_first += halves.out;
    plan.index_first += outputs ? 0 : halves.index;
    add_plans(outputs ? halves.high : kept, outputs ? reduced : halves.high, most, plan, plans);
    return;
  }
  plan.outputs = static_cast<std::uint32_t>(count(kept));
  plan.length = static_cast<std::uint32_t>(count(reduced));
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
  plans.push_back(plan);
}

} // namespace

ReducePlans plan_reduction(
    IntArrayRef sizes,
    IntArrayRef strides,
    const std::bitset<64>& mask,
    IntArrayRef out_strides,
    bool in_order,
    int64_t most) {
  Dims kept, reduced;
  for (size_t d = sizes.size(); d-- > 0;) {
    if (sizes[d] != 1) {
      (mask[d] ? reduced : kept).push_back({sizes[d], strides[d], mask[d] ? 0 : out_strides[d]});
    }
  }
  sort_by_stride(kept);
  if (!in_order) {
    sort_by_stride(reduced);
  }
  merge(kept);
  merge(reduced);
  TORCH_CHECK(
      kept.size() <= kMaxDims && reduced.size() <= kMaxDims, "reductions on CUDA are supported for up to ", kMaxDims,
      " kept and reduced dimensions; got sizes ", sizes, " and strides ", strides);
  int64_t nearest = INT64_MAX;
  for (const Dim& dim : reduced) {
    nearest = std::min(nearest, dim.in);
  }
  ReducePlan plan;
  plan.along_rows = kept.empty() || (!reduced.empty() && nearest <= kept[0].in);
  ReducePlans plans;
  add_plans(kept, reduced, most, plan, plans);
  return plans;
}

ReducePlans plan_reduction(
    const TensorBase& self, const std::bitset<64>& mask, const TensorBase& out, bool in_order, int64_t most) {
  const int64_t ndim = self.dim();
  const bool keepdim = out.dim() == ndim;
  c10::SmallVector<int64_t, 6> out_strides(ndim, 0);
  for (int64_t d = 0, o = 0; d < ndim; ++d) {
    if (!mask[d]) {
      out_strides[d] = out.stride(o);
    }
    o += keepdim || !mask[d] ? 1 : 0;
  }
  return plan_reduction(self.sizes(), self.strides(), mask, out_strides, in_order, most);
}

namespace {

/// Do outputs lie side by side in groups of `width`, at the same index in all rows?
bool is_column_major(const ReducePlan& plan, std::uint32_t width) {
  bool lies = plan.kept.dims > 0 && plan.kept.strides[0][0] == 1 && plan.kept.size[0].divisor % width == 0;
  for (int d = 1; d < plan.kept.dims; ++d) {
    lies = lies && plan.kept.strides[d][0] % width == 0;
  }
  for (int d = 0; d < plan.reduced.dims; ++d) {
    lies = lies && plan.reduced.strides[d][0] % width == 0;
  }
  return lies;
}

/// Do the elements of each output lie side by side in groups of `width`? Those of one dimension may have some more at
/// the end.
bool is_row_major(const ReducePlan& plan, std::uint32_t width) {
  const auto& reduced = plan.reduced;
  bool lies = reduced.dims > 0 && reduced.strides[0][0] == 1 &&
      (reduced.dims == 1 ? plan.length >= width : reduced.size[0].divisor % width == 0);
  for (int d = 1; d < reduced.dims; ++d) {
    lies = lies && reduced.strides[d][0] % width == 0;
  }
  for (int d = 0; d < plan.kept.dims; ++d) {
    lies = lies && plan.kept.strides[d][0] % width == 0;
  }
  return lies;
}

} // namespace

void read_vectors(ReducePlan& plan, const void* data, std::size_t itemsize) {
  const auto width = plan.along_rows ? static_cast<std::uint32_t>(16 / itemsize) : std::uint32_t{kOutputsAtOnce};
  const bool aligned = (reinterpret_cast<std::uintptr_t>(data) + plan.in_first * itemsize) % (width * itemsize) == 0;
  if (!aligned || !(plan.along_rows ? is_row_major(plan, width) : is_column_major(plan, width))) {
    return;
  }
  plan.width = width;
  if (plan.along_rows) {
    plan.reduced.size[0] = FastDivider(plan.reduced.size[0].divisor / width);
    plan.reduced.strides[0][0] = width;
  }
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
  const std::uint32_t per_thread =
      plan.along_rows ? kElementsPerThread : std::max(kElementsPerThread / plan.width, kReadsPerThread);
  launch.blocks = (plan.outputs + outputs_per_block - 1) / outputs_per_block;
  const std::uint32_t wanted = static_cast<std::uint32_t>(multiprocessors) * 8;
  const std::uint32_t most = plan.length / (lanes * per_thread);
  launch.splits =
      std::clamp<std::uint32_t>(launch.blocks >= wanted ? 1 : wanted / launch.blocks, 1, std::max(most, 1u));
  return launch;
}

} // namespace at::native::cuda
