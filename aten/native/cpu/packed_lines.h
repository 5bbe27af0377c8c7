#pragma once
// Lines of packed weights as numbers, see Note [Packed weights].

#include <aten/native/vec/Vec.h>
#include <aten/quantized/packed_view.h>

#include <algorithm>
#include <type_traits>
#include <utility>

namespace at::native {
inline namespace CPU_CAPABILITY {
namespace packed {

using vec::VecFloat;
using Words = vec::Vec<uint32_t, VecFloat::size()>;

inline constexpr int kLanes = VecFloat::size();
/// Registers that hold a number for each output of a panel.
inline constexpr int kRegisters = int(kPanelOutputs) / kLanes;

/// Calls f for the constants 0 to N - 1. Arrays that are indexed by these alone become registers, which loops that are
/// unrolled later do not achieve.
template <int N, class F>
VEC_INLINE void unrolled(const F& f) {
  [&]<int... I>(std::integer_sequence<int, I...>) __attribute__((always_inline)) {
    (f(std::integral_constant<int, I>()), ...);
  }
  (std::make_integer_sequence<int, N>());
}

template <int Bits>
inline constexpr int kLineInputs = 32 / Bits;

/// Words of the outputs of register `r`, with signed codes.
template <int Bits>
VEC_INLINE Words load_words(const uint8_t* line, int r) {
  Words words;
  std::memcpy(&words.v, line + r * kLanes * 4, sizeof(words.v));
  if constexpr (Bits == 8) {
    return words ^ Words(0x80808080u);
  } else if constexpr (Bits == 4 && kLanes < 16) {
    return words ^ Words(0x88888888u);
  } else {
    return words;
  }
}

/// Codes of input `j` of the line.
template <int Bits>
VEC_INLINE VecFloat code_of(Words words, int j) {
  using Signed = vec::Vec<int32_t, kLanes>;
  if constexpr (Bits == 16) {
    return vec::bit_cast<float>(j == 0 ? words << 16 : words & Words(0xffff0000u));
  } else if constexpr (Bits == 8) {
    return vec::convert<float>(vec::bit_cast<int32_t>(words << (24 - 8 * j)) >> 24);
  } else {
    const int at = j < 4 ? 8 * j : 8 * (j - 4) + 4;
#if defined(__AVX512F__)
    // A table of all codes is one register.
    const __m512 table = _mm512_setr_ps(-8, -7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7);
    return VecFloat((VecFloat::raw)_mm512_permutexvar_ps((__m512i)(words >> at).v, table));
#endif
    return vec::convert<float>(Signed(vec::bit_cast<int32_t>(words << (28 - at)) >> 28));
  }
}

/// Scales or offsets of a panel's outputs in one group.
struct GroupFactors {
  const void* data;
  bool wide;

  VEC_INLINE VecFloat load(int64_t panel_group, int r) const {
    const int64_t at = panel_group * kPanelOutputs + r * kLanes;
    return wide ? vec::load_float(static_cast<const float*>(data) + at)
                : vec::load_float(static_cast<const c10::BFloat16*>(data) + at);
  }
};

/// Stores the results of a panel's outputs in one row, plus the bias.
VEC_INLINE void store_outputs(
    const PackedView& w, int64_t panel, const VecFloat* sums, const PackedResult& out, int64_t row) {
  const int64_t first = panel * kPanelOutputs;
  float* to = out.data + row * out.row_stride + first;
  for (int r = 0; r < kRegisters; ++r) {
    const int64_t left = w.outputs - first - r * kLanes;
    if (left <= 0) {
      return;
    }
    const int count = int(std::min<int64_t>(left, kLanes));
    VecFloat sum = sums[r];
    if (out.bias != nullptr) {
      sum += VecFloat::load(out.bias + first + r * kLanes, count);
    }
    sum.store(to + r * kLanes, count);
  }
}

} // namespace packed
} // namespace CPU_CAPABILITY
} // namespace at::native
