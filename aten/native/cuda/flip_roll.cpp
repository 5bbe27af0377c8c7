// flip and roll: the host side of flip_roll.cu.
#include <aten/core/Tensor.h>
#include <aten/core/TensorSpec.h>
#include <aten/native/cuda/flip_roll.h>
#include <c10/core/WrapDimMinimal.h>
#include <c10/cuda/CUDAStream.h>
#include <c10/util/SmallVector.h>

#include <algorithm>

namespace at::native {

namespace cuda {

namespace {

/// A dimension of both tensors; see FlipRollDim.
struct MovedDim {
  int64_t size, first, around;
  bool back;
  int64_t from_stride, to_stride;

  bool is_plain() const {
    return !back && first == 0 && around == size;
  }
  void begin_at(int64_t c) {
    first += back ? -c : c;
    first -= first < around ? 0 : around;
  }
};
using MovedDims = c10::SmallVector<MovedDim, 6>; // slowest first

/// Dimensions as they are, to be reversed or shifted.
MovedDims plain_dims(const TensorBase& self, const TensorBase& out) {
  MovedDims moved;
  for (int64_t d = 0; d < self.dim(); ++d) {
    moved.push_back({self.size(d), 0, self.size(d), false, self.stride(d), out.stride(d)});
  }
  return moved;
}

void simplify_dims(MovedDims& moved) {
  std::stable_sort(
      moved.begin(), moved.end(), [](const MovedDim& a, const MovedDim& b) { return a.to_stride > b.to_stride; });
  size_t kept = 0;
  for (const MovedDim& t : moved) {
    MovedDim* const outer = kept == 0 ? nullptr : &moved[kept - 1];
    if (t.size == 1) {
      continue;
    }
    if (outer != nullptr && outer->is_plain() && t.is_plain() && outer->from_stride == t.size * t.from_stride &&
        outer->to_stride == t.size * t.to_stride) {
      *outer = {outer->size * t.size, 0, outer->size * t.size, false, t.from_stride, t.to_stride};
    } else {
      moved[kept++] = t;
    }
  }
  moved.resize(kept);
}

/// Makes words of up to 16 bytes of rows that stay as they are, where all is aligned; returns their size.
std::size_t widen_dims(MovedDims& moved, std::size_t itemsize, const void* from, const void* to) {
  constexpr std::size_t kWord = 16;
  if (moved.empty() || !moved.back().is_plain() || moved.back().from_stride != 1 || moved.back().to_stride != 1) {
    return itemsize;
  }
  const auto addresses = reinterpret_cast<std::uintptr_t>(from) | reinterpret_cast<std::uintptr_t>(to);
  std::uint64_t numbers = static_cast<std::uint64_t>(moved.back().size) | (addresses / itemsize);
  const size_t last = moved.size() - 1;
  for (size_t d = 0; d < last; ++d) {
    numbers |= static_cast<std::uint64_t>(moved[d].from_stride | moved[d].to_stride);
  }
  std::size_t word = itemsize;
  for (; word < kWord && numbers % 2 == 0; numbers /= 2) {
    word *= 2;
    moved[last].size /= 2;
    moved[last].around /= 2;
    for (size_t d = 0; d < last; ++d) {
      moved[d].from_stride /= 2;
      moved[d].to_stride /= 2;
    }
  }
  return word;
}

/// In as many launches as it takes: the slowest dimension is halved, and where it is one place it is none.
void launch_in_parts(const MovedDims& moved, std::size_t size, const char* from, char* to) {
  int64_t n = 1;
  for (const MovedDim& t : moved) {
    n *= t.size;
  }
  if (n <= INT32_MAX && moved.size() <= kMaxDims) {
    FlipRoll p;
    p.n = static_cast<std::uint32_t>(n);
    p.dims = static_cast<int>(moved.size());
    for (size_t d = 0; d < moved.size(); ++d) {
      const MovedDim& t = moved[moved.size() - 1 - d];
      p.dim[d] = {
          FastDivider(static_cast<std::uint32_t>(t.size)), t.first, t.around, t.back, t.from_stride, t.to_stride};
    }
    p.stream = c10::cuda::getCurrentCUDAStream();
    return launch_flip_roll(p, size, from, to);
  }
  const auto bytes = static_cast<int64_t>(size);
  const MovedDim slowest = moved.front();
  if (slowest.size == 1) {
    return launch_in_parts(
        MovedDims(moved.begin() + 1, moved.end()), size, from + slowest.first * slowest.from_stride * bytes, to);
  }
  MovedDims half = moved;
  const int64_t front = slowest.size / 2;
  half.front().size = front;
  launch_in_parts(half, size, from, to);
  half.front().size = slowest.size - front;
  half.front().begin_at(front);
  launch_in_parts(half, size, from, to + front * slowest.to_stride * bytes);
}

void flip_or_roll(MovedDims moved, const TensorBase& self, const TensorBase& out) {
  const auto* const from = static_cast<const char*>(self.const_data_ptr());
  auto* const to = static_cast<char*>(out.mutable_data_ptr());
  simplify_dims(moved);
  const std::size_t size = widen_dims(moved, self.itemsize(), from, to);
  launch_in_parts(moved, size, from, to);
}

} // namespace

void flip_kernel(const TensorBase& self, IntArrayRef dims, const TensorBase& out) {
  if (self.numel() == 0) {
    return;
  }
  MovedDims moved = plain_dims(self, out);
  for (const int64_t d : self.dim() == 0 ? IntArrayRef() : dims) {
    MovedDim& t = moved[c10::maybe_wrap_dim(d, self.dim())];
    t.first = t.size - 1;
    t.back = true;
  }
  flip_or_roll(std::move(moved), self, out);
}

} // namespace cuda

Tensor roll_cuda(const Tensor& self, IntArrayRef shifts, IntArrayRef dims) {
  TORCH_CHECK(!shifts.empty(), "`shifts` required");
  if (dims.empty() && shifts.size() == 1) {
    return roll_cuda(self.contiguous().view(-1), shifts, {0}).view(self.sizes());
  }
  TORCH_CHECK(
      shifts.size() == dims.size(), "shifts and dimensions must align. shifts: ", shifts.size(),
      ", dims:", dims.size());
  if (self.numel() == 0) {
    return self.clone(at::MemoryFormat::Preserve);
  }
  TensorSpec spec = TensorSpec::like(self, self.sizes());
  spec.memory_format = self.suggest_memory_format();
  cuda::MovedDims moved = cuda::plain_dims(self, self);
  for (size_t i = 0; i < dims.size(); ++i) {
    TORCH_CHECK_INDEX(self.dim() > 0, "Dimension specified as ", dims[i], " but tensor has no dimensions (in roll)");
    cuda::MovedDim& t = moved[c10::maybe_wrap_dim(dims[i], self.dim())];
    const int64_t by = shifts[i] % t.size;
    t.first = ((t.first - by) % t.size + t.size) % t.size;
    // What is not rolled at all is copied by rows, as on the CPU.
    spec.memory_format = by == 0 ? at::MemoryFormat::Contiguous : spec.memory_format;
  }
  const Tensor result = at::empty_spec(spec);
  for (int64_t d = 0; d < self.dim(); ++d) {
    moved[d].to_stride = result.stride(d);
  }
  cuda::flip_or_roll(std::move(moved), self, result);
  return result;
}

} // namespace at::native
