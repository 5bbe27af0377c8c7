// Resizing images of bytes.
//
// Their weights are whole numbers of 16 bits, as many bits behind the point as the greatest of them leaves, and what
// comes of the width is rounded to bytes before the height is resized: so PyTorch gives the same bytes on all
// processors. Included by upsample.cpp only.
#pragma once

#include <aten/core/Tensor.h>
#include <aten/core/TensorSpec.h>
#include <aten/native/cpu/upsample_taps.h>
#include <aten/parallel/Parallel.h>
#include <c10/macros/Macros.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace at::native {
inline namespace CPU_CAPABILITY {
namespace {

/// Bytes that are worth a thread.
constexpr int64_t kByteGrain = 16384;

/// Taps of bytes: whole weights of elements side by side.
struct ByteTaps {
  int64_t in, out, width = 1;
  std::vector<int64_t> first; // element o of the result takes `width` elements from first[o] on
  std::vector<int32_t> weight; // out x width
  int bits = 0; // behind the point

  explicit ByteTaps(Taps<double> taps) : in(taps.in), out(taps.out), first(taps.out) {
    double greatest = 0;
    for (int64_t o = 0; o < out; ++o) {
      greatest = std::max(greatest, join_repeated(taps, o));
      width = std::max(width, taps.count[o]);
    }
    constexpr double kLimit = 1 << 15;
    while (bits < 22 && std::floor(0.5 + std::ldexp(greatest, bits + 1)) < kLimit) {
      ++bits;
    }
    weight.assign(out * width, 0);
    for (int64_t o = 0; o < out; ++o) {
      const int64_t begin = taps.count[o] > 0 ? taps.index[o * taps.width] : 0;
      first[o] = std::min(begin, in - width);
      for (int64_t k = 0; k < taps.count[o]; ++k) {
        const double scaled = std::ldexp(taps.weight[o * taps.width + k], bits);
        weight[o * width + begin - first[o] + k] = static_cast<int32_t>(scaled < 0 ? scaled - 0.5 : scaled + 0.5);
      }
    }
  }

  int32_t half() const {
    return bits > 0 ? 1 << (bits - 1) : 0;
  }

 private:
  /// Beyond an edge taps stand for the outermost element, and there they count as one. The greatest weight.
  static double join_repeated(Taps<double>& taps, int64_t o) {
    int64_t* at = taps.index.data() + o * taps.width;
    double* w = taps.weight.data() + o * taps.width;
    int64_t kept = 0;
    for (int64_t k = 0; k < taps.count[o]; ++k) {
      if (kept > 0 && at[kept - 1] == at[k]) {
        w[kept - 1] += w[k];
      } else {
        at[kept] = at[k];
        w[kept++] = w[k];
      }
    }
    taps.count[o] = kept;
    return kept == 0 ? 0 : *std::max_element(w, w + kept);
  }
};

/// One element of the result, `inner` bytes, of `taps` elements. Numbers that are 0 here are known at run time only.
template <int Width, int Inner>
C10_ALWAYS_INLINE void weigh_bytes(
    const uint8_t* __restrict from,
    const int32_t* __restrict weight,
    int64_t taps,
    int64_t count,
    int32_t half,
    int bits,
    int32_t* __restrict sum,
    uint8_t* __restrict to) {
  const int64_t width = Width > 0 ? Width : taps, inner = Inner > 0 ? Inner : count;
  if constexpr (Width == 0 && Inner == 0) {
    std::fill_n(sum, inner, half);
    for (int64_t k = 0; k < width; ++k, from += inner) {
      for (int64_t i = 0; i < inner; ++i) {
        sum[i] += weight[k] * from[i];
      }
    }
    for (int64_t i = 0; i < inner; ++i) {
      to[i] = static_cast<uint8_t>(std::clamp(sum[i] >> bits, 0, 255));
    }
  } else {
    for (int64_t i = 0; i < inner; ++i) {
      int32_t one = half;
      for (int64_t k = 0; k < width; ++k) {
        one += weight[k] * from[k * inner + i];
      }
      to[i] = static_cast<uint8_t>(std::clamp(one >> bits, 0, 255));
    }
  }
}

#if defined(__AVX2__)
/// Lines of single bytes, eight elements of the result at a time: each reads its two to four neighbouring bytes as one
/// word.
struct GatheredBytes {
  std::vector<int32_t> first, low, high; // of each element: where its word begins, and its weights in pairs of 16 bits
  int64_t count = 0; // elements of a line whose words end within it, in whole eights
  __m256i half;
  __m128i bits;

  explicit GatheredBytes(const ByteTaps& taps)
      : half(_mm256_set1_epi32(taps.half())), bits(_mm_cvtsi32_si128(taps.bits)) {
    while (count < taps.out && taps.first[count] + 4 <= taps.in) {
      ++count;
    }
    count -= count % 8;
    for (int64_t o = 0; o < count; ++o) {
      const auto weight = [&](int64_t k) {
        return k < taps.width ? static_cast<uint32_t>(taps.weight[o * taps.width + k]) & 0xffff : 0;
      };
      first.push_back(static_cast<int32_t>(taps.first[o]));
      low.push_back(static_cast<int32_t>(weight(0) | weight(1) << 16));
      high.push_back(static_cast<int32_t>(weight(2) | weight(3) << 16));
    }
  }

  static bool takes(const ByteTaps& taps, int64_t inner) {
    return inner == 1 && taps.width >= 2 && taps.width <= 4 && taps.in < INT32_MAX;
  }

  /// Elements o to o + 7.
  void resize(const uint8_t* from, int64_t o, uint8_t* to) const {
    const auto eight = [o](const std::vector<int32_t>& list) {
      return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(list.data() + o));
    };
    const __m256i words = _mm256_i32gather_epi32(reinterpret_cast<const int*>(from), eight(first), 1);
    // The bytes of a word with zeros between them.
    const __m256i even = _mm256_setr_epi8(
        0, -1, 1, -1, 4, -1, 5, -1, 8, -1, 9, -1, 12, -1, 13, -1, 0, -1, 1, -1, 4, -1, 5, -1, 8, -1, 9, -1, 12, -1, 13,
        -1);
    const __m256i odd = _mm256_setr_epi8(
        2, -1, 3, -1, 6, -1, 7, -1, 10, -1, 11, -1, 14, -1, 15, -1, 2, -1, 3, -1, 6, -1, 7, -1, 10, -1, 11, -1, 14, -1,
        15, -1);
    const __m256i sums = _mm256_add_epi32(
        half,
        _mm256_add_epi32(
            _mm256_madd_epi16(_mm256_shuffle_epi8(words, even), eight(low)),
            _mm256_madd_epi16(_mm256_shuffle_epi8(words, odd), eight(high))));
    const __m256i shifted = _mm256_sra_epi32(sums, bits);
    const __m128i shorts = _mm_packs_epi32(_mm256_castsi256_si128(shifted), _mm256_extracti128_si256(shifted, 1));
    _mm_storel_epi64(reinterpret_cast<__m128i*>(to), _mm_packus_epi16(shorts, shorts));
  }
};

void resize_gathered_lines(const uint8_t* x, uint8_t* y, int64_t lines, const ByteTaps& taps) {
  const GatheredBytes gathered(taps);
  at::parallel_for(0, lines, std::max<int64_t>(1, kByteGrain / taps.out), [&](int64_t begin, int64_t end) {
    for (int64_t line = begin; line < end; ++line) {
      const uint8_t* from = x + line * taps.in;
      uint8_t* to = y + line * taps.out;
      for (int64_t o = 0; o < gathered.count; o += 8) {
        gathered.resize(from, o, to + o);
      }
      for (int64_t o = gathered.count; o < taps.out; ++o) {
        weigh_bytes<0, 1>(
            from + taps.first[o], taps.weight.data() + o * taps.width, taps.width, 1, taps.half(), taps.bits, nullptr,
            to + o);
      }
    }
  });
}

/// The weights of each element of the result as numbers of 16 bits, with zeros up to a multiple of `Step` of them.
template <int Step>
struct ShortWeights {
  int64_t width; // with the zeros
  std::vector<int16_t> weight;

  explicit ShortWeights(const ByteTaps& taps)
      : width((taps.width + Step - 1) / Step * Step), weight(taps.out * width, 0) {
    for (int64_t o = 0; o < taps.out; ++o) {
      std::copy_n(taps.weight.begin() + o * taps.width, taps.width, weight.begin() + o * width);
    }
  }

  const int16_t* of(int64_t o) const {
    return weight.data() + o * width;
  }
  /// Two of them, for products of pairs.
  static int32_t pair(const int16_t* at) {
    int32_t both;
    std::memcpy(&both, at, sizeof(both));
    return both;
  }
};

/// Pixels of 3 or 4 bytes: two neighbours are read as one word of 8 bytes.
template <int Channels>
void resize_pixels(const uint8_t* x, uint8_t* y, int64_t lines, const ByteTaps& taps) {
  const ShortWeights<2> weights(taps);
  const uint8_t* const end = x + lines * taps.in * Channels;
  const __m128i half = _mm_set1_epi32(taps.half()), bits = _mm_cvtsi32_si128(taps.bits);
  // The bytes of a channel of both, as pairs of 16 bits.
  const __m128i pairs = Channels == 3 ? _mm_setr_epi8(0, -1, 3, -1, 1, -1, 4, -1, 2, -1, 5, -1, -1, -1, -1, -1)
                                      : _mm_setr_epi8(0, -1, 4, -1, 1, -1, 5, -1, 2, -1, 6, -1, 3, -1, 7, -1);
  at::parallel_for(
      0, lines, std::max<int64_t>(1, kByteGrain / (Channels * taps.out)), [&](int64_t first_line, int64_t last_line) {
        for (int64_t line = first_line; line < last_line; ++line) {
          uint8_t* const to = y + line * taps.out * Channels;
          for (int64_t o = 0; o < taps.out; ++o) {
            const uint8_t* from = x + (line * taps.in + taps.first[o]) * Channels;
            // Four bytes are written, and eight read: not at the end.
            if (o + 1 == taps.out || end - from < (weights.width - 2) * Channels + 8) {
              weigh_bytes<0, Channels>(
                  from, taps.weight.data() + o * taps.width, taps.width, Channels, taps.half(), taps.bits, nullptr,
                  to + o * Channels);
              continue;
            }
            const int16_t* const weight = weights.of(o);
            __m128i sum = half;
            for (int64_t k = 0; k < weights.width; k += 2, from += 2 * Channels) {
              const __m128i both = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(from));
              sum = _mm_add_epi32(
                  sum, _mm_madd_epi16(_mm_shuffle_epi8(both, pairs), _mm_set1_epi32(weights.pair(weight + k))));
            }
            const __m128i shorts = _mm_packs_epi32(_mm_sra_epi32(sum, bits), sum);
            const int32_t four = _mm_cvtsi128_si32(_mm_packus_epi16(shorts, shorts));
            std::memcpy(to + o * Channels, &four, sizeof(four));
          }
        }
      });
}

/// Lines of single bytes, each of the result of many neighbours.
void resize_by_long_taps(const uint8_t* x, uint8_t* y, int64_t lines, const ByteTaps& taps) {
  const ShortWeights<16> weights(taps);
  const uint8_t* const end = x + lines * taps.in;
  at::parallel_for(0, lines, std::max<int64_t>(1, kByteGrain / taps.out), [&](int64_t first_line, int64_t last_line) {
    for (int64_t line = first_line; line < last_line; ++line) {
      for (int64_t o = 0; o < taps.out; ++o) {
        const uint8_t* const from = x + line * taps.in + taps.first[o];
        uint8_t* const to = y + line * taps.out + o;
        if (end - from < weights.width) {
          weigh_bytes<0, 1>(
              from, taps.weight.data() + o * taps.width, taps.width, 1, taps.half(), taps.bits, nullptr, to);
          continue;
        }
        const int16_t* const weight = weights.of(o);
        __m256i sum = _mm256_setzero_si256();
        for (int64_t k = 0; k < weights.width; k += 16) {
          const __m256i bytes = _mm256_cvtepu8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from + k)));
          sum = _mm256_add_epi32(
              sum, _mm256_madd_epi16(bytes, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(weight + k))));
        }
        __m128i four = _mm_add_epi32(_mm256_castsi256_si128(sum), _mm256_extracti128_si256(sum, 1));
        four = _mm_add_epi32(four, _mm_shuffle_epi32(four, 0x4e));
        four = _mm_add_epi32(four, _mm_shuffle_epi32(four, 0xb1));
        *to = static_cast<uint8_t>(std::clamp((_mm_cvtsi128_si32(four) + taps.half()) >> taps.bits, 0, 255));
      }
    }
  });
}

constexpr int64_t kByteColumns = 16;

/// Lines whose elements are rows of at least kByteColumns bytes: so many columns at a time.
void resize_byte_rows(const uint8_t* x, uint8_t* y, int64_t lines, int64_t inner, const ByteTaps& taps) {
  const ShortWeights<2> weights(taps);
  const __m256i half = _mm256_set1_epi32(taps.half());
  const __m128i bits = _mm_cvtsi32_si128(taps.bits);
  at::parallel_for(
      0, lines * taps.out, std::max<int64_t>(1, kByteGrain / (4 * inner)), [&](int64_t begin, int64_t end) {
        for (int64_t at = begin; at < end; ++at) {
          const int64_t o = at % taps.out;
          const uint8_t* const from = x + (at / taps.out * taps.in + taps.first[o]) * inner;
          const int16_t* const weight = weights.of(o);
          uint8_t* const to = y + at * inner;
          const auto columns = [&](int64_t i) {
            const auto row = [&](int64_t k) {
              return _mm256_cvtepu8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from + k * inner + i)));
            };
            __m256i low = half, high = half;
            for (int64_t k = 0; k < taps.width; k += 2) {
              const __m256i a = row(k), b = k + 1 < taps.width ? row(k + 1) : _mm256_setzero_si256();
              const __m256i both = _mm256_set1_epi32(weights.pair(weight + k));
              low = _mm256_add_epi32(low, _mm256_madd_epi16(_mm256_unpacklo_epi16(a, b), both));
              high = _mm256_add_epi32(high, _mm256_madd_epi16(_mm256_unpackhi_epi16(a, b), both));
            }
            const __m256i shorts = _mm256_packs_epi32(_mm256_sra_epi32(low, bits), _mm256_sra_epi32(high, bits));
            const __m256i bytes = _mm256_permute4x64_epi64(_mm256_packus_epi16(shorts, shorts), 0x08);
            _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i), _mm256_castsi256_si128(bytes));
          };
          int64_t i = 0;
          for (; i + kByteColumns <= inner; i += kByteColumns) {
            columns(i);
          }
          if (i < inner) {
            columns(inner - kByteColumns);
          }
        }
      });
}
#endif

/// Lines [in, inner] of bytes become [out, inner].
template <int Width, int Inner>
void resize_byte_lines(const uint8_t* x, uint8_t* y, int64_t lines, int64_t inner, const ByteTaps& taps) {
  at::parallel_for(
      0, lines * taps.out, std::max<int64_t>(1, kByteGrain / (4 * inner)), [&](int64_t begin, int64_t end) {
        std::vector<int32_t> sum(inner);
        const int64_t* __restrict first = taps.first.data();
        const int32_t* __restrict weight = taps.weight.data();
        const int64_t width = taps.width;
        const int32_t half = taps.half();
        const int bits = taps.bits;
        for (int64_t at = begin; at < end;) {
          const uint8_t* from = x + at / taps.out * taps.in * inner;
          const int64_t o = at % taps.out, last = std::min(taps.out, o + end - at);
          uint8_t* __restrict to = y + at * inner;
          for (int64_t i = o; i < last; ++i) {
            weigh_bytes<Width, Inner>(
                from + first[i] * inner, weight + i * width, width, inner, half, bits, sum.data(),
                to + (i - o) * inner);
          }
          at += last - o;
        }
      });
}

template <int Width>
void resize_byte_lines(const uint8_t* x, uint8_t* y, int64_t lines, int64_t inner, const ByteTaps& taps) {
  if (inner == 1) {
    return resize_byte_lines<Width, 1>(x, y, lines, inner, taps);
  }
  if (inner == 3) {
    return resize_byte_lines<Width, 3>(x, y, lines, inner, taps);
  }
  resize_byte_lines<Width, 0>(x, y, lines, inner, taps);
}

void resize_byte_lines(const uint8_t* x, uint8_t* y, int64_t lines, int64_t inner, const ByteTaps& taps) {
#if defined(__AVX2__)
  if (GatheredBytes::takes(taps, inner)) {
    return resize_gathered_lines(x, y, lines, taps);
  }
  if (inner == 1 && taps.width > 4) {
    return resize_by_long_taps(x, y, lines, taps);
  }
  if (inner == 3) {
    return resize_pixels<3>(x, y, lines, taps);
  }
  if (inner == 4) {
    return resize_pixels<4>(x, y, lines, taps);
  }
  if (inner >= kByteColumns) {
    return resize_byte_rows(x, y, lines, inner, taps);
  }
#endif
  if (taps.width == 2) {
    return resize_byte_lines<2>(x, y, lines, inner, taps);
  }
  if (taps.width == 3) {
    return resize_byte_lines<3>(x, y, lines, inner, taps);
  }
  if (taps.width == 4) {
    return resize_byte_lines<4>(x, y, lines, inner, taps);
  }
  resize_byte_lines<0>(x, y, lines, inner, taps);
}

void resize_bytes(const uint8_t* x, uint8_t* y, const Resize<double>& r, bool channels_last) {
  const int64_t inner = channels_last ? r.channels : 1, planes = channels_last ? r.batch : r.batch * r.channels;
  const int64_t rows = planes * r.dim[1].in, row = r.dim[2].out * inner;
  // A dimension that keeps its size is left as it is, whatever the scale says.
  const bool same_width = r.dim[2].in == r.dim[2].out, same_height = r.dim[1].in == r.dim[1].out;
  if (same_width && same_height) {
    std::copy_n(x, rows * row, y);
  } else if (same_height) {
    resize_byte_lines(x, y, rows, inner, ByteTaps(r.dim[2]));
  } else if (same_width) {
    resize_byte_lines(x, y, planes, row, ByteTaps(r.dim[1]));
  } else {
    const Tensor between = at::empty_contiguous({rows * row}, c10::ScalarType::Byte, c10::Device(c10::DeviceType::CPU));
    resize_byte_lines(x, between.mutable_data_ptr<uint8_t>(), rows, inner, ByteTaps(r.dim[2]));
    resize_byte_lines(between.const_data_ptr<uint8_t>(), y, planes, row, ByteTaps(r.dim[1]));
  }
}

} // namespace
} // namespace CPU_CAPABILITY
} // namespace at::native
