#include <aten/native/cuda/pad_plan.h>

#include <algorithm>
#include <cstring>

namespace at::native::cuda {

namespace {

const void* padding_at(const void* data, std::int64_t bytes) {
  return static_cast<const char*>(data) + bytes;
}
void* padding_at(void* data, std::int64_t bytes) {
  return static_cast<char*>(data) + bytes;
}

std::int64_t padded_elements(const PaddedDims& dims) {
  std::int64_t n = 1;
  for (const PaddedDim& d : dims) {
    n *= d.size;
  }
  return n;
}

} // namespace

void simplify(PaddedDims& dims) {
  std::stable_sort(dims.begin(), dims.end(), [](const PaddedDim& a, const PaddedDim& b) {
    return a.padded_stride > b.padded_stride;
  });
  std::size_t kept = 0;
  for (const PaddedDim& d : dims) {
    const bool whole = d.before == 0 && d.inside == d.size;
    if (whole && d.size == 1) {
      continue;
    }
    PaddedDim* const outer = kept == 0 ? nullptr : &dims[kept - 1];
    if (outer != nullptr && whole && outer->stride == d.stride * d.size) {
      *outer = {outer->size * d.size, outer->before * d.size, outer->inside * d.size, d.stride, d.padded_stride};
    } else {
      dims[kept++] = d;
    }
  }
  dims.resize(kept);
}

void widen_to_words(PaddedDims& dims, PadValue& value, const void* inner, const void* padded) {
  if (dims.empty() || dims.back().stride != 1) {
    return;
  }
  // All that must be a multiple of the elements in a word; the lowest bit set in any of them tells how many.
  const PaddedDim& last = dims.back();
  const auto addresses = reinterpret_cast<std::uintptr_t>(inner) | reinterpret_cast<std::uintptr_t>(padded);
  std::uint64_t numbers = static_cast<std::uint64_t>(last.size | last.before | last.inside) | (addresses / value.size);
  for (std::size_t d = 0; d + 1 < dims.size(); ++d) {
    numbers |= static_cast<std::uint64_t>(dims[d].stride);
  }
  for (; value.size < sizeof(value.bytes) && numbers % 2 == 0; numbers /= 2) {
    std::memcpy(value.bytes + value.size, value.bytes, value.size);
    value.size *= 2;
    dims.back().size /= 2;
    dims.back().before /= 2;
    dims.back().inside /= 2;
    for (std::size_t d = 0; d + 1 < dims.size(); ++d) {
      dims[d].stride /= 2;
    }
  }
}

void each_part(
    const PaddedDims& dims,
    std::size_t size,
    const void* inner,
    void* padded,
    c10::function_ref<void(ConstantPadding&, const void*, void*)> use,
    const PadReach& reach) {
  const std::int64_t n = padded_elements(dims);
  if (n <= reach.elements && dims.size() <= reach.dims) {
    ConstantPadding p;
    p.n = static_cast<std::uint32_t>(n);
    p.dims = static_cast<int>(dims.size());
    for (std::size_t d = 0; d < dims.size(); ++d) {
      const PaddedDim& from = dims[dims.size() - 1 - d];
      p.dim[d] = {FastDivider(static_cast<std::uint32_t>(from.size)), from.before, from.inside, from.stride};
    }
    return use(p, inner, padded);
  }
  const auto bytes = static_cast<std::int64_t>(size);
  const PaddedDim slowest = dims.front();
  if (slowest.size == 1) {
    PaddedDims faster(dims.begin() + 1, dims.end());
    const bool inside = slowest.before <= 0 && -slowest.before < slowest.inside;
    for (PaddedDim& d : faster) {
      d.inside = inside ? d.inside : 0;
    }
    return each_part(
        faster, size, inside ? padding_at(inner, -slowest.before * slowest.stride * bytes) : inner, padded, use, reach);
  }
  PaddedDims half = dims;
  const std::int64_t first = slowest.size / 2;
  half.front().size = first;
  each_part(half, size, inner, padded, use, reach);
  half.front().size = slowest.size - first;
  half.front().before -= first;
  each_part(half, size, inner, padding_at(padded, first * (n / slowest.size) * bytes), use, reach);
}

} // namespace at::native::cuda
