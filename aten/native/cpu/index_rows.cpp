// The vectorised steps of indexing, see aten/native/support/index_rows.h.
#include <aten/native/support/index_rows.h>

#include <aten/core/dtype_dispatch.h>
#include <aten/native/support/index_support.h>
#include <aten/native/vec/Vec.h>
#include <c10/util/complex.h>

#include <type_traits>

namespace at::native {
inline namespace CPU_CAPABILITY {

namespace {

template <class T>
void add_row(void* to_row, const void* from_row, std::int64_t n, const void*) {
  T* to = static_cast<T*>(to_row);
  const T* from = static_cast<const T*>(from_row);
  std::int64_t i = 0;
  if constexpr (std::is_same_v<T, c10::Half> || std::is_same_v<T, c10::BFloat16>) {
    // Compilers do not vectorise these conversions.
    using V = vec::VecFloat;
    for (; i + V::size() <= n; i += V::size()) {
      vec::store_float(vec::load_float(to + i) + vec::load_float(from + i), to + i);
    }
  }
  for (; i < n; ++i) {
    to[i] = static_cast<T>(to[i] + from[i]);
  }
}

template <class T>
void add_scaled_row(void* to_row, const void* from_row, std::int64_t n, const void* factor_of_rows) {
  T* to = static_cast<T*>(to_row);
  const T* from = static_cast<const T*>(from_row);
  const T factor = *static_cast<const T*>(factor_of_rows);
  for (std::int64_t i = 0; i < n; ++i) {
    to[i] = static_cast<T>(to[i] + static_cast<T>(from[i] * factor));
  }
}

} // namespace

AddRow* find_add_row(c10::ScalarType dtype, bool scaled) {
  return dispatch("index_add", dtype, kAll | kUnsigned | kComplexHalves, [scaled]<class T>() -> AddRow* {
    return scaled ? add_scaled_row<T> : add_row<T>;
  });
}

bool find_index_outside(const std::int64_t* values, std::int64_t n, std::int64_t bound) {
  // The highest bit of either number tells, and or keeps it. Unsigned, because the difference may wrap.
  std::uint64_t joined = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const auto value = static_cast<std::uint64_t>(values[i]);
    joined |= value | (static_cast<std::uint64_t>(bound) - 1 - value);
  }
  return static_cast<std::int64_t>(joined) < 0;
}

void copy_lines(void* to_bytes, const void* from_bytes, std::int64_t bytes) {
  using V = vec::Vec<std::int8_t>;
  constexpr std::int64_t kLine = 64, kStep = 4 * kLine, kReadAhead = 2048, kWriteAhead = 1024;
  auto* to = static_cast<std::int8_t*>(to_bytes);
  auto* from = static_cast<const std::int8_t*>(from_bytes);
  std::int64_t i = 0;
  for (; i + kStep <= bytes; i += kStep) {
    for (std::int64_t at = i; at < i + kStep; at += kLine) {
      __builtin_prefetch(from + at + kReadAhead);
      __builtin_prefetch(to + at + kWriteAhead, /*rw=*/1);
    }
    for (std::int64_t at = i; at < i + kStep; at += V::size()) {
      V::load(from + at).store(to + at);
    }
  }
  std::memcpy(to + i, from + i, static_cast<std::size_t>(bytes - i));
}

void reverse_row(std::int64_t size, const void* from, std::int64_t n, void* to) {
  by_element_size(static_cast<std::size_t>(size), [=](auto word) {
    using T = decltype(word);
    const T* __restrict const in = static_cast<const T*>(from);
    T* __restrict const out = static_cast<T*>(to);
#pragma omp simd
    for (std::int64_t i = 0; i < n; ++i) out[i] = in[n - 1 - i];
  });
}

void pick_row(std::int64_t size, const void* from, const std::int64_t* index, std::int64_t n, void* to) {
  by_element_size(static_cast<std::size_t>(size), [=](auto word) {
    using T = decltype(word);
    const T* __restrict const in = static_cast<const T*>(from);
    T* __restrict const out = static_cast<T*>(to);
#pragma omp simd
    for (std::int64_t i = 0; i < n; ++i) out[i] = in[index[i]];
  });
}

void repeat_lines(std::int64_t size, void* to_bytes, const void* element, std::int64_t n) {
  constexpr std::int64_t kLine = 64;
  by_element_size(static_cast<std::size_t>(size), [=](auto word) {
    // A line of the element, stored by the vectors that kernels load: narrower stores have to reach the cache first.
    using V = vec::Vec<std::int8_t>;
    alignas(kLine) decltype(word) line[kLine / sizeof(word)];
    std::memcpy(&word, element, sizeof(word));
    std::fill_n(line, kLine / sizeof(word), word);
    const V lanes = V::load(reinterpret_cast<const std::int8_t*>(line));
    auto* to = static_cast<std::int8_t*>(to_bytes);
    for (std::int64_t at = 0; at < n * size; at += kLine) {
      for (std::int64_t part = 0; part < kLine; part += V::size()) {
        lanes.store(to + at + part);
      }
    }
  });
}

} // namespace CPU_CAPABILITY
} // namespace at::native
