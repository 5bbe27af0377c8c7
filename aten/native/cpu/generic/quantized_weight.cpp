// Products with weights of 4-bit codes that come as plain tensors. They run as packed weights (Note [Packed weights]):
// what _convert_weight_to_int4pack_for_cpu makes are the lines of one.
#include <aten/Functions.h>
#include <aten/core/TensorOperators.h>
#include <aten/parallel/Parallel.h>
#include <aten/quantized/packed_product.h>
#include <aten/quantized/packed_weight.h>

#include <cstring>

namespace at::native {
namespace {

/// A weight of 4-bit codes over lines that lie elsewhere.
PackedView int4_view(const uint8_t* lines, int64_t outputs, int64_t inputs, int64_t group, int64_t groups) {
  PackedView view{};
  view.outputs = outputs;
  view.inputs = inputs;
  view.bits = 4;
  view.group = group;
  view.groups = groups;
  view.lines = lines;
  view.wide_scales = true;
  return view;
}

/// [groups, outputs] as [panels][groups][16] of float; outputs are a multiple of 16.
Tensor factors_by_panels(const Tensor& factors) {
  const int64_t groups = factors.size(0);
  return factors.to(kFloat).reshape({groups, -1, kPanelOutputs}).transpose(0, 1).contiguous();
}

/// Rows rounded to 8-bit codes whose scale and zero point make the most of the range from the smallest to the largest
/// element, and 0 exact; as the numbers that the codes stand for.
Tensor rounded_rows(const Tensor& rows) {
  const Tensor low = rows.amin(1, true).clamp_max(0), high = rows.amax(1, true).clamp_min(0);
  const Tensor range = high - low;
  const Tensor steps = at::where(range == 0, at::ones_like(range), 255.0 / range);
  const Tensor from_low = low * steps, from_high = high * steps;
  const Tensor zero_point =
      at::where((from_low - 128) + (from_high + 127) > 0, -128 - from_low, 127 - from_high).clamp(-128, 127).round();
  const Tensor codes = ((rows * steps).round() + zero_point).clamp(-128, 127);
  return (codes - zero_point) * steps.reciprocal();
}

} // namespace

void convert_weight_to_int4pack_kernel(const TensorBase& self, int64_t, const TensorBase& out) {
  const Tensor codes = Tensor(self).contiguous();
  const int32_t* from = codes.const_data_ptr<int32_t>();
  uint8_t* to = out.mutable_data_ptr<uint8_t>();
  const int64_t outputs = self.size(0), inputs = self.size(1);
  if (inputs % kInputStep != 0) {
    // Too narrow for any group of scales: no product reads it.
    for (int64_t i = 0; i < out.numel(); ++i) {
      to[i] = static_cast<uint8_t>((from[2 * i] & 15) | (from[2 * i + 1] & 15) << 4);
    }
    return;
  }
  const PackedView view = int4_view(to, outputs, inputs, inputs, 1);
  at::parallel_for(0, outputs, 1 + (1 << 14) / (inputs + 1), [&](int64_t begin, int64_t end) {
    for (int64_t n = begin; n < end; ++n) {
      uint8_t* lines = to + n / kPanelOutputs * view.panel_bytes() + n % kPanelOutputs * 4;
      const int32_t* row = from + n * inputs;
      for (int64_t k = 0; k < inputs; k += 8, lines += kLineBytes) {
        for (int64_t j = 0; j < 4; ++j) {
          lines[j] = static_cast<uint8_t>((row[k + j] & 15) | (row[k + 4 + j] & 15) << 4);
        }
      }
    }
  });
}

void weight_int4pack_mm_kernel(
    const TensorBase& self,
    const TensorBase& mat2,
    int64_t group_size,
    const TensorBase& factors,
    const TensorBase& out) {
  if (out.numel() == 0 || self.size(1) == 0) {
    Tensor(out).zero_();
    return;
  }
  const Tensor lines = Tensor(mat2).contiguous(), both = Tensor(factors);
  const Tensor scales = factors_by_panels(both.select(2, 0)), offsets = factors_by_panels(both.select(2, 1));
  PackedView view = int4_view(lines.const_data_ptr<uint8_t>(), mat2.size(0), self.size(1), group_size, factors.size(0));
  view.scales = scales.const_data_ptr();
  view.offsets = offsets.const_data_ptr();
  Tensor(out).copy_(packed_product(view, Tensor(self), Tensor(), /*int8_activations=*/false));
}

void dyn_quant_pack_4bit_weight_kernel(
    const TensorBase& weights,
    const TensorBase& scales,
    const std::optional<Tensor>& bias,
    int64_t,
    int64_t,
    int64_t,
    const TensorBase& out) {
  const Tensor to(out);
  const int64_t codes = weights.numel(), factors = scales.numel();
  to.narrow(0, 0, codes).copy_(Tensor(weights).reshape({-1}));
  to.narrow(0, codes, factors).copy_(Tensor(scales).reshape({-1}));
  if (bias.has_value() && bias->defined()) {
    to.narrow(0, codes + factors, bias->numel()).copy_(bias->reshape({-1}));
  }
}

void dyn_quant_matmul_4bit_kernel(
    const TensorBase& inp,
    const TensorBase& packed_weights,
    int64_t block_size,
    int64_t in_features,
    int64_t out_features,
    const TensorBase& out) {
  if (out.numel() == 0) {
    return;
  }
  const Tensor packed(packed_weights);
  const int64_t bytes = out_features * in_features / 2, groups = in_features / block_size;
  const Tensor pairs = packed.narrow(0, 0, bytes).to(kByte);
  const Tensor codes =
      at::stack({pairs.bitwise_and(15), pairs.bitwise_right_shift(4)}, 1).view({out_features, in_features}).to(kChar) -
      8;
  const Tensor scales = packed.narrow(0, bytes, out_features * groups).view({out_features, groups});
  const int64_t rest = packed.numel() - bytes - out_features * groups;
  const Tensor bias = rest > 0 ? packed.narrow(0, packed.numel() - rest, rest).contiguous() : Tensor();
  const auto weight = quantized::PackedWeight::from_codes(
      codes, scales, std::nullopt, 4, block_size % kInputStep == 0 ? block_size : 0);
  const Tensor rows = rounded_rows(Tensor(inp).to(kFloat));
  Tensor(out).copy_(packed_product(weight.view(), rows, bias, /*int8_activations=*/false));
}

} // namespace at::native
