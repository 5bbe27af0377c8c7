// Products of packed weights with activations in float: weights become numbers in registers or in the first cache.
#include <aten/native/cpu/gemm_pack.h>
#include <aten/native/cpu/packed_lines.h>
#include <aten/quantized/packed_view.h>

namespace at::native {
inline namespace CPU_CAPABILITY {
namespace {
namespace packed_float {

using namespace packed;

/// Bytes that a row asks for ahead: processors prefetch within a page only.
constexpr int64_t kAhead = 2048;
/// Rows that share the work of widening a panel: what level v2 gains is not worth its code.
constexpr int kSharedRows = kRegisters == 4 ? 1 : 4;

/// Adds the sums of a panel with M rows, `x_row` apart, to M times kRegisters totals. Inputs of a line have sums of
/// their own, as far as registers go, since one chain of multiply-adds would wait for itself.
template <int Bits, int M>
void panel_rows(
    const PackedView& w, int64_t panel, const float* x, int64_t x_row, const float* group_sums, VecFloat* totals) {
  constexpr int S = kLineInputs<Bits>, R = kRegisters;
  constexpr int C = std::clamp(8 / (R * M), 1, S);
  const uint8_t* line = w.lines + panel * w.panel_bytes();
  const GroupFactors scales{w.scales, w.wide_scales}, offsets{w.offsets, w.wide_scales};
  const int64_t inputs = w.padded_inputs();
  for (int64_t g = 0; g < w.groups; ++g) {
    const int64_t end = std::min(inputs, (g + 1) * w.group), at = panel * w.groups + g;
    VecFloat sums[C * M * R];
    unrolled<C * M * R>([&](auto i) __attribute__((always_inline)) { sums[i] = VecFloat(0.0f); });
    for (int64_t k = g * w.group; k < end; k += S, line += kLineBytes) {
      __builtin_prefetch(line + kAhead);
      unrolled<R>([&](auto r) __attribute__((always_inline)) {
        const Words words = load_words<Bits>(line, r);
        unrolled<S>([&](auto j) __attribute__((always_inline)) {
          const VecFloat code = code_of<Bits>(words, j);
          unrolled<M>([&](auto m) __attribute__((always_inline)) {
            sums[(j % C * M + m) * R + r] += code * VecFloat(x[m * x_row + k + j]);
          });
        });
      });
    }
    unrolled<M * R>([&](auto i) __attribute__((always_inline)) {
      VecFloat sum = sums[i];
      unrolled<C - 1>([&](auto c) __attribute__((always_inline)) { sum += sums[(c + 1) * M * R + i]; });
      if (w.scales != nullptr) {
        sum *= scales.load(at, i % R);
      }
      totals[i] += sum;
      if (w.offsets != nullptr) {
        totals[i] += offsets.load(at, i % R) * VecFloat(group_sums[i / R * w.groups + g]);
      }
    });
  }
}

/// The results of rows [0, M), then those of half as many, and so on, until `rows` are done.
template <int Bits, int M>
void few_rows(
    const PackedView& w,
    int64_t panel,
    const float* x,
    int64_t x_row,
    const float* group_sums,
    int64_t first,
    int64_t rows,
    const PackedResult& out) {
  for (; first + M <= rows; first += M) {
    VecFloat totals[M * kRegisters];
    std::fill(totals, totals + M * kRegisters, VecFloat(0.0f));
    panel_rows<Bits, M>(w, panel, x + first * x_row, x_row, group_sums + first * w.groups, totals);
    for (int m = 0; m < M; ++m) {
      store_outputs(w, panel, totals + m * kRegisters, out, first + m);
    }
  }
  if constexpr (M > 1) {
    few_rows<Bits, M / 2>(w, panel, x, x_row, group_sums, first, rows, out);
  }
}

/// Sums of x over the inputs of each group.
void sum_groups(const PackedView& w, const float* x, float* sums) {
  for (int64_t g = 0; g < w.groups; ++g) {
    const int64_t first = g * w.group, last = std::min(w.padded_inputs(), first + w.group);
    VecFloat sum(0.0f);
    int64_t k = first;
    for (; k + kLanes <= last; k += kLanes) {
      sum += VecFloat::load(x + k);
    }
    sum += VecFloat::load(x + k, int(last - k));
    sums[g] = vec::reduce_add(sum);
  }
}

/// Inputs [begin, end) of a panel as numbers, `row` apart; whole lines.
template <int Bits>
void panel_numbers(const PackedView& w, int64_t panel, int64_t begin, int64_t end, float* to, int64_t row) {
  constexpr int S = kLineInputs<Bits>;
  const uint8_t* line = w.lines + panel * w.panel_bytes() + begin / S * kLineBytes;
  const int64_t ahead = (end - begin) / S * kLineBytes; // what is asked for next
  const GroupFactors scales{w.scales, w.wide_scales}, offsets{w.offsets, w.wide_scales};
  for (int64_t k = begin; k < end;) {
    const int64_t g = k / w.group, group_end = std::min(end, (g + 1) * w.group);
    VecFloat scale[kRegisters], offset[kRegisters];
    for (int r = 0; r < kRegisters; ++r) {
      scale[r] = w.scales != nullptr ? scales.load(panel * w.groups + g, r) : VecFloat(1.0f);
      offset[r] = w.offsets != nullptr ? offsets.load(panel * w.groups + g, r) : VecFloat(0.0f);
    }
    for (; k < group_end; k += S, line += kLineBytes, to += S * row) {
      __builtin_prefetch(line + ahead);
#pragma GCC unroll 4
      for (int r = 0; r < kRegisters; ++r) {
        const Words words = load_words<Bits>(line, r);
#pragma GCC unroll 8
        for (int j = 0; j < S; ++j) {
          (code_of<Bits>(words, j) * scale[r] + offset[r]).store(to + j * row + r * kLanes);
        }
      }
    }
  }
}

template <class F>
void with_bits(int bits, const F& f) {
  if (bits == 16) {
    f(std::integral_constant<int, 16>());
  } else if (bits == 8) {
    f(std::integral_constant<int, 8>());
  } else {
    f(std::integral_constant<int, 4>());
  }
}

} // namespace packed_float
} // namespace

void packed_few_rows_product(
    const PackedView& w,
    const float* x,
    int64_t x_row,
    int64_t rows,
    int64_t begin,
    int64_t end,
    const PackedResult& out) {
  using namespace packed_float;
  gemm_detail::Scratch scratch(w.offsets == nullptr ? 0 : rows * w.groups * int64_t(sizeof(float)));
  float* group_sums = scratch.as<float>();
  for (int64_t m = 0; m < rows && w.offsets != nullptr; ++m) {
    sum_groups(w, x + m * x_row, group_sums + m * w.groups);
  }
  with_bits(w.bits, [&]<int Bits>(std::integral_constant<int, Bits>) {
    for (int64_t panel = begin; panel < end; ++panel) {
      few_rows<Bits, kSharedRows>(w, panel, x, x_row, group_sums, 0, rows, out);
    }
  });
}

void packed_rows_product(
    const PackedView& w,
    const float* x,
    int64_t x_row,
    int64_t rows,
    int64_t begin,
    int64_t end,
    const PackedResult& out) {
  using namespace packed_float;
  constexpr int64_t kWidth = kTaskPanels * kPanelOutputs, kDepth = 128, kRows = 128;
  alignas(64) float numbers[kDepth * kWidth], sums[kRows * kWidth];
  const int64_t vectors = (end - begin) * kRegisters;
  for (int64_t m0 = 0; m0 < rows; m0 += kRows) {
    const int64_t m1 = std::min(rows, m0 + kRows);
    for (int64_t k = 0; k < w.padded_inputs(); k += kDepth) {
      const int64_t depth = std::min(kDepth, w.padded_inputs() - k);
      with_bits(w.bits, [&]<int Bits>(std::integral_constant<int, Bits>) {
        for (int64_t panel = begin; panel < end; ++panel) {
          panel_numbers<Bits>(w, panel, k, k + depth, numbers + (panel - begin) * kPanelOutputs, kWidth);
        }
      });
      gemm_detail::TileOperands<float> op{};
      op.a_row = x_row;
      op.a_col = 1;
      op.b_row = kWidth;
      for (int64_t m = m0; m < m1;) {
        const int height = gemm_detail::tile_height<1>(m1 - m);
        op.a = x + m * x_row + k;
        for (int64_t v = 0; v < vectors; v += 3) {
          op.b = numbers + v * kLanes;
          gemm_detail::run_tile<float, 1>(
              height, int(std::min<int64_t>(3, vectors - v)), depth, op, sums + (m - m0) * kWidth + v * kLanes, kWidth,
              k != 0);
        }
        m += height;
      }
    }
    for (int64_t m = m0; m < m1; ++m) {
      for (int64_t panel = begin; panel < end; ++panel) {
        VecFloat row[kRegisters];
        for (int r = 0; r < kRegisters; ++r) {
          row[r] = VecFloat::load(sums + (m - m0) * kWidth + (panel - begin) * kPanelOutputs + r * kLanes);
        }
        store_outputs(w, panel, row, out, m);
      }
    }
  }
}

void packed_numbers(const PackedView& w, int64_t panel, float* to) {
  using namespace packed_float;
  with_bits(w.bits, [&]<int Bits>(std::integral_constant<int, Bits>) {
    panel_numbers<Bits>(w, panel, 0, w.padded_inputs(), to, kPanelOutputs);
  });
}

} // namespace CPU_CAPABILITY
} // namespace at::native
