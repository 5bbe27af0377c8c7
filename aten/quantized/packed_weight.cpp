#include <aten/quantized/packed_weight.h>

#include <aten/Functions.h>
#include <aten/core/LegacyTypeDispatch.h>
#include <aten/native/support/cpu_isa.h>
#include <aten/parallel/Parallel.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace at::native {
namespace v2 {
void packed_numbers(const PackedView&, int64_t, float*);
}
namespace v3 {
void packed_numbers(const PackedView&, int64_t, float*);
}
namespace v4 {
void packed_numbers(const PackedView&, int64_t, float*);
}
} // namespace at::native

namespace at::quantized {
namespace {

using native::kInputStep;
using native::kLineBytes;
using native::kPanelOutputs;
using native::PackedView;

/// Inputs of a group at most: sums of 8-bit products stay within 32 bits.
constexpr int64_t kMostGroup = int64_t(1) << 16;

void check_weight(const char* op, const Tensor& weight) {
  TORCH_CHECK(
      weight.defined() && weight.dim() == 2 && weight.device().is_cpu() && weight.layout() == kStrided, op,
      ": the weight must be a matrix [outputs, inputs] on the CPU, got ",
      weight.defined() ? c10::str(weight.sizes(), " on ", weight.device()) : std::string("an undefined tensor"));
}

void check_group(const char* op, int64_t bits, int64_t group_size) {
  TORCH_CHECK(bits == 8 || bits == 4, op, ": codes have 8 or 4 bits, got ", bits);
  TORCH_CHECK(
      group_size >= 0 && group_size % kInputStep == 0, op, ": group_size must be 0, for all inputs, or a multiple of ",
      kInputStep, ", got ", group_size);
}

/// Where the lines of a panel begin.
uint8_t* panel_lines(const PackedView& view, int64_t panel) {
  return const_cast<uint8_t*>(view.lines) + panel * view.panel_bytes();
}

/// Stores codes of output `r` of a panel for inputs [begin, begin + n); begin is a multiple of kInputStep.
void put_codes(uint8_t* lines, int bits, int64_t r, int64_t begin, const int8_t* codes, int64_t n) {
  if (bits == 8) {
    for (int64_t i = 0; i < n; ++i) {
      const int64_t k = begin + i;
      lines[k / 4 * kLineBytes + r * 4 + k % 4] = static_cast<uint8_t>(codes[i] + 128);
    }
    return;
  }
  for (int64_t i = 0; i < n; ++i) {
    const int64_t k = begin + i, byte = k / 8 * kLineBytes + r * 4 + k % 4;
    const int shift = k % 8 < 4 ? 0 : 4;
    lines[byte] = static_cast<uint8_t>((lines[byte] & ~(0x0f << shift)) | ((codes[i] + 8) << shift));
  }
}

float to_bfloat16(float x) {
  return static_cast<float>(c10::BFloat16(x));
}

struct Factors {
  float scale, offset;
};

/// How a group is quantized: the scale of the largest magnitude, or what reaches from the smallest to the largest.
Factors factors_of(const float* x, int64_t n, int bits, bool symmetric) {
  float low = 0, high = 0;
  for (int64_t i = 0; i < n; ++i) {
    low = std::min(low, x[i]);
    high = std::max(high, x[i]);
  }
  if (symmetric) {
    if (bits == 8) {
      return {std::max(-low, high) / 127.0f, 0.0f};
    }
    // The code furthest from 0 is -8.
    return {to_bfloat16((-low > high ? low : high) / -8.0f), 0.0f};
  }
  const int codes = 1 << bits;
  float scale = (high - low) / static_cast<float>(codes - 1);
  if (bits == 4) {
    scale = to_bfloat16(scale);
  }
  return {scale, low + scale * static_cast<float>(codes / 2)};
}

void quantize_group(const float* x, int64_t n, int bits, const Factors& f, int8_t* codes) {
  const float low = -static_cast<float>(1 << (bits - 1)), high = -low - 1.0f;
  const float factor = f.scale != 0.0f ? 1.0f / f.scale : 0.0f;
  for (int64_t i = 0; i < n; ++i) {
    const float code = std::nearbyint((x[i] - f.offset) * factor);
    codes[i] = static_cast<int8_t>(std::min(std::max(code, low), high));
  }
}

/// Whether bfloat16 holds every element.
bool fits_bfloat16(const Tensor& t) {
  const float* x = t.const_data_ptr<float>();
  return std::all_of(x, x + t.numel(), [](float v) { return to_bfloat16(v) == v; });
}

/// [outputs, groups] as [panels][groups][16] of float; missing outputs have 0.
Tensor by_panels(const Tensor& factors, const PackedView& view) {
  Tensor result = at::zeros({view.panels(), view.groups, kPanelOutputs}, kFloat);
  const Tensor rows = factors.to(kFloat).contiguous();
  const float* from = rows.const_data_ptr<float>();
  float* to = result.mutable_data_ptr<float>();
  for (int64_t n = 0; n < view.outputs; ++n) {
    for (int64_t g = 0; g < view.groups; ++g) {
      to[(n / kPanelOutputs * view.groups + g) * kPanelOutputs + n % kPanelOutputs] = from[n * view.groups + g];
    }
  }
  return result;
}

} // namespace

void PackedWeight::set_up(int64_t outputs, int64_t inputs, int bits, int64_t group_size) {
  view_ = PackedView{};
  view_.outputs = outputs;
  view_.inputs = inputs;
  view_.bits = bits;
  const int64_t all = std::max(kInputStep, view_.padded_inputs());
  view_.group = bits == 16 ? all : std::min({all, group_size == 0 ? all : group_size, kMostGroup});
  view_.groups = divup(view_.padded_inputs(), view_.group);
  lines_ = at::empty({view_.panels(), view_.panel_bytes()}, kByte);
  view_.lines = lines_.const_data_ptr<uint8_t>();
  // Code 0 for what is padded.
  lines_.fill_(bits == 16 ? 0 : bits == 8 ? 0x80 : 0x88);
}

/// Takes factors by panels, in bfloat16 where that holds them.
void PackedWeight::set_factors(const Tensor& scales, const Tensor& offsets) {
  view_.wide_scales = !fits_bfloat16(scales) || (offsets.defined() && !fits_bfloat16(offsets));
  const ScalarType dtype = view_.wide_scales ? kFloat : kBFloat16;
  scales_ = scales.to(dtype);
  view_.scales = scales_.const_data_ptr();
  if (offsets.defined()) {
    offsets_ = offsets.to(dtype);
    view_.offsets = offsets_.const_data_ptr();
  }
}

PackedWeight PackedWeight::bfloat16(const Tensor& weight) {
  check_weight("PackedWeight::bfloat16", weight);
  TORCH_CHECK(
      isFloatingType(weight.scalar_type()), "PackedWeight::bfloat16: the weight must be floating, got ",
      weight.scalar_type());
  const AutoDispatchBelowAutograd not_recorded;
  PackedWeight result;
  result.set_up(weight.size(0), weight.size(1), 16, 0);
  const PackedView view = result.view_;
  const Tensor rows = weight.to(kBFloat16).contiguous();
  const c10::BFloat16* from = rows.const_data_ptr<c10::BFloat16>();
  at::parallel_for(0, view.panels(), 1 + (1 << 15) / (view.inputs + 1), [&](int64_t begin, int64_t end) {
    for (int64_t n = begin * kPanelOutputs; n < std::min(view.outputs, end * kPanelOutputs); ++n) {
      uint8_t* lines = panel_lines(view, n / kPanelOutputs) + n % kPanelOutputs * 4;
      for (int64_t k = 0; k < view.inputs; ++k) {
        std::memcpy(lines + k / 2 * kLineBytes + k % 2 * 2, from + n * view.inputs + k, 2);
      }
    }
  });
  return result;
}

PackedWeight PackedWeight::quantized(const Tensor& weight, int64_t bits, int64_t group_size, bool symmetric) {
  check_weight("PackedWeight::quantized", weight);
  check_group("PackedWeight::quantized", bits, group_size);
  TORCH_CHECK(
      isFloatingType(weight.scalar_type()), "PackedWeight::quantized: the weight must be floating, got ",
      weight.scalar_type());
  const AutoDispatchBelowAutograd not_recorded;
  PackedWeight result;
  result.set_up(weight.size(0), weight.size(1), static_cast<int>(bits), group_size);
  const PackedView view = result.view_;
  const Tensor scales = at::zeros({view.panels(), view.groups, kPanelOutputs}, kFloat);
  const Tensor offsets = symmetric ? Tensor() : at::zeros_like(scales);
  float* const scale_data = scales.mutable_data_ptr<float>();
  float* const offset_data = symmetric ? nullptr : offsets.mutable_data_ptr<float>();
  // Some panels at a time, so that no second copy of a large weight is made.
  const int64_t chunk = std::max<int64_t>(1, (int64_t(1) << 22) / (kPanelOutputs * (view.inputs + 1)));
  for (int64_t p0 = 0; p0 < view.panels(); p0 += chunk) {
    const int64_t p1 = std::min(view.panels(), p0 + chunk), first = p0 * kPanelOutputs;
    const Tensor rows =
        weight.narrow(0, first, std::min(view.outputs, p1 * kPanelOutputs) - first).to(kFloat).contiguous();
    const float* from = rows.const_data_ptr<float>();
    at::parallel_for(0, rows.size(0), 1 + (1 << 14) / (view.inputs + 1), [&](int64_t begin, int64_t end) {
      std::vector<int8_t> codes(static_cast<size_t>(view.group));
      for (int64_t n = first + begin; n < first + end; ++n) {
        const int64_t panel = n / kPanelOutputs, r = n % kPanelOutputs;
        for (int64_t g = 0, k = 0; k < view.inputs; ++g, k += view.group) {
          const int64_t count = std::min(view.group, view.inputs - k);
          const float* x = from + (n - first) * view.inputs + k;
          const Factors f = factors_of(x, count, view.bits, symmetric);
          const int64_t at = (panel * view.groups + g) * kPanelOutputs + r;
          scale_data[at] = f.scale;
          if (offset_data != nullptr) {
            offset_data[at] = f.offset;
          }
          quantize_group(x, count, view.bits, f, codes.data());
          put_codes(panel_lines(view, panel), view.bits, r, k, codes.data(), count);
        }
      }
    });
  }
  result.set_factors(scales, offsets);
  return result;
}

PackedWeight PackedWeight::from_codes(
    const Tensor& codes, const Tensor& scales, const std::optional<Tensor>& offsets, int64_t bits, int64_t group_size) {
  constexpr const char* kOp = "PackedWeight::from_codes";
  check_weight(kOp, codes);
  check_group(kOp, bits, group_size);
  TORCH_CHECK(codes.scalar_type() == kChar, kOp, ": codes must be int8, got ", codes.scalar_type());
  const AutoDispatchBelowAutograd not_recorded;
  PackedWeight result;
  const int64_t outputs = codes.size(0), inputs = codes.size(1);
  result.set_up(outputs, inputs, static_cast<int>(bits), group_size);
  const PackedView view = result.view_;
  const int64_t groups = group_size == 0 ? 1 : divup(inputs, group_size);
  const auto factors = [&](const char* name, const Tensor& t) {
    TORCH_CHECK(
        t.device().is_cpu() && isFloatingType(t.scalar_type()), kOp, ": ", name, " must be floating, on the CPU, got ",
        t.scalar_type(), " on ", t.device());
    TORCH_CHECK(
        t.sizes() == IntArrayRef({outputs, groups}) || (groups == 1 && t.sizes() == IntArrayRef({outputs})), kOp, ": ",
        name, " must be [", outputs, ", ", groups, "], or [", outputs, "] for one group, got ", t.sizes());
    // One group that is longer than sums allow is kept as several of the same factors.
    const Tensor rows = t.reshape({outputs, groups});
    return by_panels(groups == view.groups ? rows : rows.expand({outputs, view.groups}), view);
  };
  TORCH_CHECK(
      groups == view.groups || groups == 1 || inputs == 0, kOp, ": group_size must be at most ", kMostGroup, ", got ",
      group_size);
  const Tensor rows = codes.contiguous();
  const int8_t* from = rows.const_data_ptr<int8_t>();
  if (bits == 4) {
    TORCH_CHECK(
        std::all_of(from, from + rows.numel(), [](int8_t c) { return c >= -8 && c <= 7; }), kOp,
        ": codes of 4 bits must be from -8 to 7");
  }
  at::parallel_for(0, view.panels(), 1 + (1 << 11) / (inputs + 1), [&](int64_t begin, int64_t end) {
    for (int64_t n = begin * kPanelOutputs; n < std::min(outputs, end * kPanelOutputs); ++n) {
      put_codes(panel_lines(view, n / kPanelOutputs), view.bits, n % kPanelOutputs, 0, from + n * inputs, inputs);
    }
  });
  result.set_factors(
      factors("scales", scales), offsets.has_value() && offsets->defined() ? factors("offsets", *offsets) : Tensor());
  return result;
}

int64_t PackedWeight::bytes() const {
  int64_t sum = 0;
  for (const Tensor* t : {&lines_, &scales_, &offsets_}) {
    sum += t->defined() ? static_cast<int64_t>(t->nbytes()) : 0;
  }
  return sum;
}

Tensor PackedWeight::dequantize() const {
  TORCH_CHECK(defined(), "PackedWeight::dequantize: the weight is undefined");
  static constexpr decltype(&native::v2::packed_numbers) kNumbers[] = {
      native::v2::packed_numbers, native::v3::packed_numbers, native::v4::packed_numbers};
  const AutoDispatchBelowAutograd not_recorded;
  const Tensor numbers = at::empty({view_.panels(), view_.padded_inputs(), kPanelOutputs}, kFloat);
  float* const to = numbers.mutable_data_ptr<float>();
  at::parallel_for(0, view_.panels(), 1 + (1 << 11) / (view_.inputs + 1), [&](int64_t begin, int64_t end) {
    for (int64_t panel = begin; panel < end; ++panel) {
      kNumbers[native::cpu_isa_level()](view_, panel, to + panel * view_.padded_inputs() * kPanelOutputs);
    }
  });
  return numbers.transpose(1, 2)
      .reshape({view_.panels() * kPanelOutputs, view_.padded_inputs()})
      .narrow(0, 0, view_.outputs)
      .narrow(1, 0, view_.inputs)
      .contiguous();
}

} // namespace at::quantized
