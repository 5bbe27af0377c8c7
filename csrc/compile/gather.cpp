#include <csrc/compile/gather.h>

#include <aten/native/support/index_support.h>
#include <c10/util/DimVector.h>

#include <algorithm>
#include <cstring>

namespace torch::fused {

namespace {

template <class W>
W read_word(const char* from) {
  W word;
  std::memcpy(&word, from, sizeof(word));
  return word;
}

/// By copies of ever longer parts, which compilers make vectors of at any level of optimization.
template <class W>
void fill_words(W word, int64_t n, W* to) {
  constexpr int64_t kFirst = 16;
  const int64_t first = std::min(n, kFirst);
  for (int64_t i = 0; i < first; ++i) {
    to[i] = word;
  }
  for (int64_t done = first; done < n; done *= 2) {
    std::memcpy(to + done, to, static_cast<size_t>(std::min(done, n - done)) * sizeof(W));
  }
}

/// n elements `stride` apart.
template <class W>
void take_run(const W* from, int64_t stride, int64_t n, W* to) {
  if (stride == 1) {
    std::memcpy(to, from, n * sizeof(W));
  } else if (stride == 0) {
    fill_words(*from, n, to);
  } else {
    for (int64_t i = 0; i < n; ++i) {
      to[i] = from[i * stride];
    }
  }
}

template <class W>
void gather_words(const Access& access, const W* base, int64_t start, int64_t n, W* to) {
  const auto& ranges = access.ranges;
  const W* from = base + access.offset;
  if (ranges.empty()) {
    return fill_words(*from, n, to);
  }
  c10::DimVector index(ranges.size());
  int64_t rest = start;
  for (size_t d = ranges.size(); d-- > 0;) {
    index[d] = d == 0 ? rest : rest % ranges[d].size;
    rest /= ranges[d].size;
    from += index[d] * ranges[d].stride;
  }
  const Range inner = ranges.back();
  while (n > 0) {
    const int64_t run = std::min(n, inner.size - index[ranges.size() - 1]);
    take_run(from, inner.stride, run, to);
    to += run;
    n -= run;
    if (n == 0) {
      break;
    }
    // The first element of the next run.
    size_t d = ranges.size() - 1;
    from -= index[d] * inner.stride;
    index[d] = 0;
    while (d-- > 0) {
      from += ranges[d].stride;
      if (++index[d] < ranges[d].size || d == 0) {
        break;
      }
      from -= ranges[d].size * ranges[d].stride;
      index[d] = 0;
    }
  }
}

} // namespace

void gather(const Access& access, int64_t size, const char* base, int64_t start, int64_t n, char* to) {
  at::native::by_element_size(size, [&](auto word) {
    using W = decltype(word);
    gather_words(access, reinterpret_cast<const W*>(base), start, n, reinterpret_cast<W*>(to));
  });
}

void fill(int64_t size, const char* element, int64_t n, char* to) {
  at::native::by_element_size(size, [&](auto word) {
    using W = decltype(word);
    fill_words(read_word<W>(element), n, reinterpret_cast<W*>(to));
  });
}

void repeat_each(int64_t size, const char* from, int64_t n, int64_t times, char* to) {
  at::native::by_element_size(size, [&](auto word) {
    using W = decltype(word);
    W* out = reinterpret_cast<W*>(to);
    for (int64_t i = 0; i < n; ++i, out += times) {
      fill_words(read_word<W>(from + i * sizeof(W)), times, out);
    }
  });
}

} // namespace torch::fused
