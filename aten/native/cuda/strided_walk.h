// A walk over operands of one shape by strides, cut into launches whose offsets fit 32 bits.
#pragma once

#include <aten/native/cuda/OffsetCalculator.h>
#include <c10/util/DimVector.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace at::native::cuda {

/// One position of the walk is an element, or a short vector of them. Operand 0 is what is written.
template <int Operands>
struct StridedWalk {
  DimVector sizes; // fastest last
  std::array<DimVector, Operands> strides; // in bytes
  std::array<char*, Operands> data; // of the first position

  std::int64_t positions() const {
    std::int64_t n = 1;
    for (const std::int64_t size : sizes) {
      n *= size;
    }
    return n;
  }
};

/// What one launch needs: where positions are, as offsets from `data`.
template <int Operands>
struct StridedLaunch {
  std::uint32_t positions;
  std::array<char*, Operands> data;
  OffsetCalculator<Operands> places;
};

namespace strided_walk_detail {

/// Dimensions ordered by the steps of operand 0, and merged where all operands go on in equal steps.
template <int Operands>
StridedWalk<Operands> simplified(const StridedWalk<Operands>& walk) {
  DimVector order;
  for (std::size_t d = 0; d < walk.sizes.size(); ++d) {
    if (walk.sizes[d] != 1) {
      order.push_back(static_cast<std::int64_t>(d));
    }
  }
  std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
    return walk.strides[0][a] > walk.strides[0][b];
  });
  StridedWalk<Operands> result;
  result.data = walk.data;
  for (const std::int64_t d : order) {
    bool joins = !result.sizes.empty();
    for (int i = 0; i < Operands && joins; ++i) {
      joins = result.strides[i].back() == walk.strides[i][d] * walk.sizes[d];
    }
    if (joins) {
      result.sizes.back() *= walk.sizes[d];
    } else {
      result.sizes.push_back(walk.sizes[d]);
    }
    for (int i = 0; i < Operands; ++i) {
      joins ? void(result.strides[i].back() = walk.strides[i][d]) : result.strides[i].push_back(walk.strides[i][d]);
    }
  }
  return result;
}

/// Bytes between the first and the last position.
template <int Operands>
std::int64_t reach(const StridedWalk<Operands>& walk, int operand) {
  std::int64_t bytes = 0;
  for (std::size_t d = 0; d < walk.sizes.size(); ++d) {
    bytes += (walk.sizes[d] - 1) * walk.strides[operand][d];
  }
  return bytes;
}

/// The dimension in which an operand goes farthest; of operands that stand still, the longest.
template <int Operands>
std::size_t farthest(const StridedWalk<Operands>& walk) {
  std::size_t best = 0;
  std::int64_t most = -1;
  for (std::size_t d = 0; d < walk.sizes.size(); ++d) {
    std::int64_t bytes = walk.sizes[d];
    for (int i = 0; i < Operands; ++i) {
      bytes = std::max(bytes, (walk.sizes[d] - 1) * walk.strides[i][d]);
    }
    if (bytes > most) {
      most = bytes;
      best = d;
    }
  }
  return best;
}

/// The part of `walk` from `begin` to `end` of dimension d, which is left out if that is one position.
template <int Operands>
StridedWalk<Operands> part_of(StridedWalk<Operands> walk, std::size_t d, std::int64_t begin, std::int64_t end) {
  walk.sizes[d] = end - begin;
  for (int i = 0; i < Operands; ++i) {
    walk.data[i] += begin * walk.strides[i][d];
  }
  if (walk.sizes[d] == 1) {
    walk.sizes.erase(walk.sizes.begin() + static_cast<std::ptrdiff_t>(d));
    for (DimVector& strides : walk.strides) {
      strides.erase(strides.begin() + static_cast<std::ptrdiff_t>(d));
    }
  }
  return walk;
}

template <int Operands, class Launch>
void emit(const StridedWalk<Operands>& walk, std::int64_t limit, Launch& launch) {
  const bool too_many_dims = walk.sizes.size() > static_cast<std::size_t>(kMaxDims);
  bool fits = walk.positions() <= limit && !too_many_dims;
  for (int i = 0; i < Operands; ++i) {
    fits = fits && reach(walk, i) <= limit;
  }
  if (!fits) {
    const std::size_t d = too_many_dims ? 0 : farthest(walk);
    const std::int64_t size = walk.sizes[d];
    emit(part_of(walk, d, 0, size / 2), limit, launch);
    emit(part_of(walk, d, size / 2, size), limit, launch);
    return;
  }
  StridedLaunch<Operands> part;
  part.positions = static_cast<std::uint32_t>(walk.positions());
  const int dims = static_cast<int>(walk.sizes.size());
  part.data = walk.data;
  DimVector fastest_first(walk.sizes.rbegin(), walk.sizes.rend());
  part.places =
      OffsetCalculator<Operands>(dims, fastest_first, [&](int d, int i) { return walk.strides[i][dims - 1 - d]; });
  launch(part);
}

} // namespace strided_walk_detail

/// launch(part) for each StridedLaunch of a walk of at least one position. `limit`: the most positions, and bytes that
/// an operand may reach, of one launch.
template <int Operands, class Launch>
void each_launch(const StridedWalk<Operands>& walk, Launch launch, std::int64_t limit = INT32_MAX) {
  strided_walk_detail::emit(strided_walk_detail::simplified(walk), limit, launch);
}

} // namespace at::native::cuda
