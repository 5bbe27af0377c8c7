#include <aten/native/cuda/index_plan.h>

#include <aten/native/cuda/OffsetCalculator.h>

#include <algorithm>
#include <functional>
#include <numeric>

namespace at::native::cuda {

namespace {

/// From the first element to the last.
int64_t extent(const DimVector& sizes, const DimVector& strides) {
  int64_t sum = 0;
  for (size_t d = 0; d < sizes.size(); ++d) {
    sum += (sizes[d] - 1) * strides[d];
  }
  return sum;
}

void append_dim(Walk& to, const Walk& w, size_t d) {
  to.sizes.push_back(w.sizes[d]);
  to.plain.push_back(w.plain[d]);
  to.indexed.push_back(w.indexed[d]);
  to.index_strides.push_back(w.index_strides[d]);
  for (size_t i = 0; i < w.others.size(); ++i) {
    to.others[i].strides.push_back(w.others[i].strides[d]);
  }
}

/// Whether dimension `outer` goes on where the last one of `to`, if that were slower, ends: both are one run in all
/// operands.
bool is_one_run(const Walk& outer, const Walk& w, size_t inner) {
  const int64_t size = w.sizes[inner];
  for (size_t i = 0; i < w.others.size(); ++i) {
    if (outer.others[i].strides.back() != size * w.others[i].strides[inner]) {
      return false;
    }
  }
  return outer.plain.back() == size * w.plain[inner] && outer.indexed.back() == size * w.indexed[inner] &&
      outer.index_strides.back() == size * w.index_strides[inner];
}

/// The dimension to halve, or -1 where one launch reaches all.
///
/// Elements that meet at one place differ only in dimensions along which `indexed` does not move. Where their order
/// counts, the slowest of these is halved before the others; the rest may be cut anywhere.
int dim_to_halve(const Walk& w, WalkOrder order, const LaunchReach& reach) {
  const auto rank = w.sizes.size() - static_cast<size_t>(std::count(w.sizes.begin(), w.sizes.end(), 1));
  const bool many = elements_of(w) > reach.elements || rank > static_cast<size_t>(kMaxDims);
  c10::SmallVector<const DimVector*, 8> far; // strides of the operands that reach too far
  const auto look_at = [&](const DimVector& strides) {
    if (extent(w.sizes, strides) > reach.offset) {
      far.push_back(&strides);
    }
  };
  look_at(w.plain);
  look_at(w.indexed);
  look_at(w.index_strides);
  for (const Walk::Other& other : w.others) {
    look_at(other.strides);
  }
  if (!many && far.empty()) {
    return -1;
  }
  int chosen = -1;
  int64_t longest = -1;
  bool meets = false;
  for (size_t d = 0; d < w.sizes.size(); ++d) {
    if (w.sizes[d] == 1 || (order == WalkOrder::OfElements && w.indexed[d] == 0 && meets)) {
      continue;
    }
    meets = meets || w.indexed[d] == 0;
    int64_t length = 0;
    for (const DimVector* strides : far) {
      length = std::max(length, (w.sizes[d] - 1) * (*strides)[d]);
    }
    if (length > longest) { // the slowest where only the number of elements counts
      chosen = static_cast<int>(d);
      longest = length;
    }
  }
  return chosen;
}

void cut_walk(
    const WalkPart& part, WalkOrder order, const LaunchReach& reach, c10::function_ref<void(const WalkPart&)> use) {
  const int d = dim_to_halve(part.walk, order, reach);
  if (d < 0) {
    return use(part);
  }
  const int64_t size = part.walk.sizes[d], first = size / 2;
  WalkPart half = part;
  half.walk.sizes[d] = first;
  cut_walk(half, order, reach, use);
  half.walk.sizes[d] = size - first;
  half.plain += first * part.walk.plain[d];
  half.indexed += first * part.walk.indexed[d];
  half.index += first * part.walk.index_strides[d];
  for (Walk::Other& other : half.walk.others) {
    other.first += first * other.strides[d];
  }
  cut_walk(half, order, reach, use);
}

} // namespace

int64_t elements_of(const Walk& w) {
  return std::accumulate(w.sizes.begin(), w.sizes.end(), int64_t{1}, std::multiplies<>());
}

Walk simplified(const Walk& w, WalkOrder order) {
  c10::SmallVector<size_t, 8> dims;
  for (size_t d = 0; d < w.sizes.size(); ++d) {
    if (w.sizes[d] != 1) {
      dims.push_back(d);
    }
  }
  if (order == WalkOrder::Any) {
    std::stable_sort(dims.begin(), dims.end(), [&](size_t a, size_t b) { return w.plain[a] > w.plain[b]; });
  }
  Walk result{w.op, {}, {}, {}, {}, w.size, w.step, w.wrap, w.skip, w.dim, w.argument};
  for (const Walk::Other& other : w.others) {
    result.others.push_back({other.data, {}, other.size, other.step, other.dim, other.first});
  }
  for (const size_t d : dims) {
    if (!result.sizes.empty() && is_one_run(result, w, d)) {
      result.sizes.back() *= w.sizes[d];
      result.plain.back() = w.plain[d];
      result.indexed.back() = w.indexed[d];
      result.index_strides.back() = w.index_strides[d];
    } else {
      append_dim(result, w, d);
    }
  }
  return result;
}

std::size_t widen_to_words(Walk& w, std::size_t itemsize, const void* plain, const void* indexed) {
  constexpr std::size_t kWord = 16;
  if (w.sizes.empty() || w.plain.back() != 1 || w.indexed.back() != 1 || w.index_strides.back() != 0) {
    return itemsize;
  }
  // All that must be a multiple of the elements in a word; the lowest bit set in any of them tells how many.
  const auto addresses = reinterpret_cast<std::uintptr_t>(plain) | reinterpret_cast<std::uintptr_t>(indexed);
  std::uint64_t numbers =
      static_cast<std::uint64_t>(w.sizes.back()) | static_cast<std::uint64_t>(w.step) | (addresses / itemsize);
  for (const Walk::Other& other : w.others) {
    if (other.strides.back() != 0) {
      return itemsize;
    }
    numbers |= static_cast<std::uint64_t>(other.step);
  }
  const size_t last = w.sizes.size() - 1;
  for (size_t d = 0; d < last; ++d) {
    numbers |= static_cast<std::uint64_t>(w.plain[d]) | static_cast<std::uint64_t>(w.indexed[d]);
  }
  std::size_t word = itemsize;
  int64_t elements = 1;
  while (word < kWord && numbers % 2 == 0) {
    numbers /= 2;
    word *= 2;
    elements *= 2;
  }
  w.sizes.back() /= elements;
  w.step /= elements;
  for (Walk::Other& other : w.others) {
    other.step /= elements;
  }
  for (size_t d = 0; d < last; ++d) {
    w.plain[d] /= elements;
    w.indexed[d] /= elements;
  }
  return word;
}

Walk filling(const Walk& w) {
  Walk result = w;
  result.plain = w.indexed;
  return result;
}

void each_part(const Walk& w, WalkOrder order, const LaunchReach& reach, c10::function_ref<void(const WalkPart&)> use) {
  if (elements_of(w) != 0) {
    cut_walk({w}, order, reach, use);
  }
}

} // namespace at::native::cuda
