// Sorting one long row on several threads.
#pragma once

#include <aten/native/cpu/generic/sort_keys.h>
#include <aten/parallel/Parallel.h>

#include <algorithm>
#include <cstdint>
#include <utility>

namespace at::native::sorting {

/// Elements of a row from which several threads sort it.
inline constexpr int64_t kLongRow = 1 << 17;

/// Calls emit(index, element) for indices [begin, end) of two sorted runs merged; of equal elements those of the first
/// come first.
template <class E, class Emit>
void merge_part(const E* first, int64_t n, const E* second, int64_t m, int64_t begin, int64_t end, const Emit& emit) {
  // How many of the first run lie before index `begin`: the least i whose element comes after those of the second left
  // of it.
  int64_t low = std::max<int64_t>(0, begin - m), high = std::min(begin, n);
  while (low < high) {
    const int64_t i = low + (high - low) / 2;
    if (second[begin - i - 1] < first[i]) {
      high = i;
    } else {
      low = i + 1;
    }
  }
  const E *a = first + low, *b = second + (begin - low);
  const E *a_end = first + n, *b_end = second + m;
  for (; begin < end && a != a_end && b != b_end; ++begin) {
    const bool takes_second = *b < *a;
    emit(begin, takes_second ? *b : *a);
    b += takes_second;
    a += !takes_second;
  }
  for (const E* rest = a != a_end ? a : b; begin < end; ++begin) {
    emit(begin, *rest++);
  }
}

/// Sorts chunks on all threads by sort(entries, count, scratch), then merges neighbours; the last merge calls
/// emit(index, entry). Worth it for one long row only.
template <class E, class Sort, class Emit>
void sort_long_row(E* entries, int64_t count, E* scratch, int64_t chunks, const Sort& sort, const Emit& emit) {
  const int64_t chunk = (count + chunks - 1) / chunks;
  at::parallel_for(0, chunks, 1, [&](int64_t begin, int64_t end) {
    for (int64_t c = begin; c < end; ++c) {
      const int64_t first = std::min(count, c * chunk);
      const int64_t size = std::min(count, first + chunk) - first;
      if (size > 0) {
        sort(entries + first, size, scratch + first);
      }
    }
  });
  auto* from = entries;
  auto* to = scratch;
  for (int64_t width = chunk; width < count; width *= 2) {
    // All threads share a merge where there are fewer of them.
    const int64_t pairs = (count + 2 * width - 1) / (2 * width), parts = std::max<int64_t>(1, chunks / pairs);
    at::parallel_for(0, pairs * parts, 1, [&](int64_t begin, int64_t end) {
      for (int64_t task = begin; task < end; ++task) {
        const int64_t first = task / parts * 2 * width, part = task % parts;
        const int64_t middle = std::min(count, first + width);
        const int64_t last = std::min(count, first + 2 * width);
        const int64_t all = last - first, part_begin = all * part / parts, part_end = all * (part + 1) / parts;
        const auto merge = [&](const auto& take) {
          merge_part(from + first, middle - first, from + middle, last - middle, part_begin, part_end, take);
        };
        if (pairs == 1) {
          merge(emit);
        } else {
          merge([out = to + first](int64_t i, const E& entry) { out[i] = entry; });
        }
      }
    });
    std::swap(from, to);
  }
}

} // namespace at::native::sorting
