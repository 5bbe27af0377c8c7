// Products of packed weights with activations of 8 bits: exact sums of integers in each group, scaled in float.
#include <aten/native/cpu/packed_lines.h>
#include <aten/native/cpu/packed_quads.h>
#include <aten/quantized/packed_view.h>

#include <limits>

namespace at::native {
inline namespace CPU_CAPABILITY {
namespace {
namespace packed_int {

using namespace packed;

constexpr int64_t kAhead = 2048;

/// Calls f with the fastest way to multiply.
template <class F>
void with_quads(const F& f) {
#if defined(__AVX512F__)
  static const bool has_vnni = __builtin_cpu_supports("avx512vnni");
  if (has_vnni) {
    return f(VnniQuads());
  }
#endif
  f(WideQuads());
}

/// Largest magnitude of `n` numbers, or infinity if one is not finite.
float magnitude(const float* x, int64_t n) {
  using Bits = vec::Vec<int32_t, kLanes>;
  const auto larger = [](Bits a, Bits b) { return vec::select(a > b, a, b); };
  Bits most(0);
  const Bits without_sign(std::numeric_limits<int32_t>::max());
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    most = larger(most, vec::bit_cast<int32_t>(VecFloat::load(x + i)) & without_sign);
  }
  most = larger(most, vec::bit_cast<int32_t>(VecFloat::load(x + i, int(n - i))) & without_sign);
  int32_t bits = 0;
  for (int lane = 0; lane < kLanes; ++lane) {
    bits = std::max(bits, most[lane]);
  }
  float result;
  std::memcpy(&result, &bits, sizeof result);
  return result <= std::numeric_limits<float>::max() ? result : std::numeric_limits<float>::infinity();
}

/// Codes of `n` numbers times `factor`, and their sum.
template <class Code>
int32_t round_to_codes(const float* x, int64_t n, float factor, Code* to) {
  using Ints = vec::Vec<int32_t, kLanes>;
  Ints sums(0);
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    const Ints codes = vec::convert<int32_t>(vec::rint(VecFloat::load(x + i) * VecFloat(factor)));
    sums += codes;
    vec::convert<Code>(codes).store(to + i);
  }
  int32_t sum = 0;
  for (int lane = 0; lane < kLanes; ++lane) {
    sum += sums[lane];
  }
  for (; i < n; ++i) {
    to[i] = static_cast<Code>(__builtin_rintf(x[i] * factor));
    sum += to[i];
  }
  return sum;
}

template <class Code>
void quantize_row(const PackedView& w, const float* x, Code* codes, float* scales, int32_t* sums) {
  for (int64_t g = 0; g < w.groups; ++g) {
    const int64_t begin = g * w.group, n = std::min(w.padded_inputs(), begin + w.group) - begin;
    const float most = magnitude(x + begin, n);
    // What is not finite has no codes; the scale passes it on to the results.
    const bool finite = most <= std::numeric_limits<float>::max();
    const float factor = finite && most >= 127 * std::numeric_limits<float>::min() ? 127.0f / most : 0.0f;
    scales[g] = finite ? most / 127.0f : std::numeric_limits<float>::quiet_NaN();
    if (factor == 0.0f) {
      std::fill(codes + begin, codes + begin + n, Code(0));
      sums[g] = 0;
    } else {
      sums[g] = round_to_codes(x + begin, n, factor, codes + begin);
    }
  }
}

/// Sums of one group for M rows, over `lines` lines, plus `shifts` for the outputs, in float: kRegisters for each row.
template <class Q, int Bits, int M>
VEC_INLINE void group_sums(
    const uint8_t* line,
    int64_t lines,
    const typename Q::Code* x,
    int64_t x_row,
    const int32_t* starts,
    const int32_t* shifts,
    VecFloat* results) {
  constexpr int kQuads = 8 / Bits; // of a line
  // Chains: one addition waits for the one before.
  constexpr int kChains = M == 1 ? 4 : M == 2 ? 2 : 1;
  constexpr int kLines = std::max(1, kChains / kQuads);
  constexpr int64_t kInputs = kLineInputs<Bits>;
  typename Q::Sums sums[kChains * M];
  unrolled<kChains * M>([&](auto i) __attribute__((always_inline)) { sums[i].set(i < M ? starts[i % M] : 0); });
  const auto add_line = [&](int64_t i, auto first) __attribute__((always_inline)) {
    typename Q::Quad quads[kQuads];
    Q::load(line + i * kLineBytes, std::integral_constant<int, Bits>(), quads);
    unrolled<kQuads * M>([&](auto j) __attribute__((always_inline)) {
      constexpr int q = j / M, m = j % M;
      sums[(first + q) % kChains * M + m].add(quads[q], x + m * x_row + i * kInputs + 4 * q);
    });
  };
  int64_t i = 0;
  for (; i + kLines <= lines; i += kLines) {
    unrolled<kLines>([&](auto l) __attribute__((always_inline)) {
      __builtin_prefetch(line + (i + l) * kLineBytes + kAhead);
      add_line(i + l, std::integral_constant<int, l * kQuads>());
    });
  }
  if constexpr (kLines > 1) {
    for (; i < lines; ++i) {
      add_line(i, std::integral_constant<int, 0>());
    }
  }
  unrolled<M>([&](auto m) __attribute__((always_inline)) {
    unrolled<kChains - 1>([&](auto c) __attribute__((always_inline)) { sums[m].add(sums[(c + 1) * M + m]); });
    sums[m].totals(shifts, results + m * kRegisters);
  });
}

/// The results of a panel for M rows from row `first` on.
template <class Q, int Bits, int M>
void panel_rows(const PackedView& w, int64_t panel, const QuantizedRows& x, int64_t first, const PackedResult& out) {
  using Code = typename Q::Code;
  constexpr uint32_t kZero = 1 << (Bits - 1); // that lines add to codes
  const GroupFactors scales{w.scales, w.wide_scales}, offsets{w.offsets, w.wide_scales};
  const int64_t inputs = w.padded_inputs();
  const Code* codes = static_cast<const Code*>(x.codes) + first * x.code_stride;
  const uint8_t* line = w.lines + panel * w.panel_bytes();
  static constexpr int32_t kNoShifts[kPanelOutputs] = {};
  const int32_t* shifts = out.shifts != nullptr ? out.shifts + panel * kPanelOutputs : kNoShifts;
  VecFloat totals[M][kRegisters], numbers[M][kRegisters];
  for (int m = 0; m < M; ++m) {
    for (int r = 0; r < kRegisters; ++r) {
      totals[m][r] = VecFloat(0.0f);
    }
  }
  for (int64_t g = 0; g < w.groups; ++g) {
    const int64_t begin = g * w.group, lines = (std::min(inputs, begin + w.group) - begin) / kLineInputs<Bits>;
    int32_t starts[M];
    for (int m = 0; m < M; ++m) {
      starts[m] = static_cast<int32_t>(0 - kZero * static_cast<uint32_t>(x.sums[(first + m) * w.groups + g]));
    }
    group_sums<Q, Bits, M>(line, lines, codes + begin, x.code_stride, starts, shifts, numbers[0]);
    line += lines * kLineBytes;
    for (int r = 0; r < kRegisters; ++r) {
      const VecFloat scale = scales.load(panel * w.groups + g, r);
      for (int m = 0; m < M; ++m) {
        totals[m][r] += numbers[m][r] * (scale * VecFloat(x.scales[(first + m) * w.groups + g]));
      }
      if (w.offsets != nullptr) {
        const VecFloat offset = offsets.load(panel * w.groups + g, r);
        for (int m = 0; m < M; ++m) {
          const int64_t at = (first + m) * w.groups + g;
          totals[m][r] += offset * VecFloat(x.scales[at] * static_cast<float>(x.sums[at]));
        }
      }
    }
  }
  for (int m = 0; m < M; ++m) {
    store_outputs(w, panel, totals[m], out, first + m);
  }
}

template <class Q, int Bits, int M>
void all_rows(
    const PackedView& w, int64_t panel, const QuantizedRows& x, int64_t first, int64_t end, const PackedResult& out) {
  if constexpr (M <= Q::kMostRows) {
    for (; first + M <= end; first += M) {
      panel_rows<Q, Bits, M>(w, panel, x, first, out);
    }
  }
  if constexpr (M > 1) {
    all_rows<Q, Bits, M / 2>(w, panel, x, first, end, out);
  }
}

} // namespace packed_int
} // namespace

void packed_quantize_rows(
    const PackedView& w, const float* x, int64_t x_row, int64_t begin, int64_t end, const QuantizedRows& to) {
  using namespace packed_int;
  with_quads([&]<class Q>(Q) {
    using Code = typename Q::Code;
    for (int64_t m = begin; m < end; ++m) {
      quantize_row(
          w, x + m * x_row, static_cast<Code*>(to.codes) + m * to.code_stride, to.scales + m * w.groups,
          to.sums + m * w.groups);
    }
  });
}

void packed_offset_rows(
    const PackedView& w, const uint8_t* x, int64_t x_row, int64_t begin, int64_t end, const QuantizedRows& to) {
  using namespace packed_int;
  with_quads([&]<class Q>(Q) {
    using Code = typename Q::Code;
    for (int64_t m = begin; m < end; ++m) {
      const uint8_t* from = x + m * x_row;
      Code* codes = static_cast<Code*>(to.codes) + m * to.code_stride;
      int32_t sum = 0;
      for (int64_t k = 0; k < w.inputs; ++k) {
        codes[k] = static_cast<Code>(from[k] - 128);
        sum += codes[k];
      }
      std::fill(codes + w.inputs, codes + w.padded_inputs(), Code(0));
      to.sums[m] = sum;
      to.scales[m] = 1.0f;
    }
  });
}

void packed_int_product(
    const PackedView& w,
    const QuantizedRows& x,
    int64_t first_row,
    int64_t end_row,
    int64_t begin,
    int64_t end,
    const PackedResult& out) {
  using namespace packed_int;
  with_quads([&]<class Q>(Q) {
    for (int64_t panel = begin; panel < end; ++panel) {
      if (w.bits == 8) {
        all_rows<Q, 8, 8>(w, panel, x, first_row, end_row, out);
      } else {
        all_rows<Q, 4, 8>(w, panel, x, first_row, end_row, out);
      }
    }
  });
}

} // namespace CPU_CAPABILITY
} // namespace at::native
