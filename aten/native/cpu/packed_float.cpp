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

/// The sums of a panel with one row. Each input of a line has sums of its own, as far as registers go, since one chain
/// of multiply-adds would wait for itself.
template <int Bits>
void panel_row(const PackedView& w, int64_t panel, const float* x, const float* group_sums, VecFloat* totals) {
  constexpr int S = kLineInputs<Bits>;
  constexpr int C = std::min(S, 8 / kRegisters);
  const uint8_t* line = w.lines + panel * w.panel_bytes();
  const GroupFactors scales{w.scales, w.wide_scales}, offsets{w.offsets, w.wide_scales};
  const int64_t inputs = w.padded_inputs();
  for (int r = 0; r < kRegisters; ++r) {
    totals[r] = VecFloat(0.0f);
  }
  for (int64_t g = 0; g < w.groups; ++g) {
    const int64_t end = std::min(inputs, (g + 1) * w.group);
    VecFloat sums[C][kRegisters];
    for (int c = 0; c < C; ++c) {
      for (int r = 0; r < kRegisters; ++r) {
        sums[c][r] = VecFloat(0.0f);
      }
    }
    for (int64_t k = g * w.group; k < end; k += S, line += kLineBytes) {
      __builtin_prefetch(line + kAhead);
#pragma GCC unroll 4
      for (int r = 0; r < kRegisters; ++r) {
        const Words words = load_words<Bits>(line, r);
#pragma GCC unroll 8
        for (int j = 0; j < S; ++j) {
          sums[j % C][r] += code_of<Bits>(words, j) * VecFloat(x[k + j]);
        }
      }
    }
    for (int r = 0; r < kRegisters; ++r) {
      VecFloat sum = sums[0][r];
      for (int c = 1; c < C; ++c) {
        sum += sums[c][r];
      }
      const int64_t at = panel * w.groups + g;
      if (w.scales != nullptr) {
        sum *= scales.load(at, r);
      }
      if (w.offsets != nullptr) {
        sum += offsets.load(at, r) * VecFloat(group_sums[g]);
      }
      totals[r] += sum;
    }
  }
}

/// Inputs [begin, end) of a panel as numbers, `row` apart; whole lines.
template <int Bits>
void panel_numbers(const PackedView& w, int64_t panel, int64_t begin, int64_t end, float* to, int64_t row) {
  constexpr int S = kLineInputs<Bits>;
  const uint8_t* line = w.lines + panel * w.panel_bytes() + begin / S * kLineBytes;
  const GroupFactors scales{w.scales, w.wide_scales}, offsets{w.offsets, w.wide_scales};
  for (int64_t k = begin; k < end;) {
    const int64_t g = k / w.group, group_end = std::min(end, (g + 1) * w.group);
    VecFloat scale[kRegisters], offset[kRegisters];
    for (int r = 0; r < kRegisters; ++r) {
      scale[r] = w.scales != nullptr ? scales.load(panel * w.groups + g, r) : VecFloat(1.0f);
      offset[r] = w.offsets != nullptr ? offsets.load(panel * w.groups + g, r) : VecFloat(0.0f);
    }
    for (; k < group_end; k += S, line += kLineBytes, to += S * row) {
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

void packed_row_product(const PackedView& w, const float* x, int64_t begin, int64_t end, const PackedResult& out) {
  using namespace packed_float;
  gemm_detail::Scratch scratch(w.groups * int64_t(sizeof(float)));
  float* group_sums = scratch.as<float>();
  if (w.offsets != nullptr) {
    for (int64_t g = 0; g < w.groups; ++g) {
      const int64_t first = g * w.group, last = std::min(w.padded_inputs(), first + w.group);
      VecFloat sum(0.0f);
      int64_t k = first;
      for (; k + kLanes <= last; k += kLanes) {
        sum += VecFloat::load(x + k);
      }
      sum += VecFloat::load(x + k, int(last - k));
      group_sums[g] = vec::reduce_add(sum);
    }
  }
  with_bits(w.bits, [&]<int Bits>(std::integral_constant<int, Bits>) {
    for (int64_t panel = begin; panel < end; ++panel) {
      VecFloat totals[kRegisters];
      panel_row<Bits>(w, panel, x, group_sums, totals);
      store_outputs(w, panel, totals, out, 0);
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
