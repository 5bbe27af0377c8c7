#include <csrc/llm/weight_codes.h>

#include <aten/Functions.h>

namespace torch::llm {

at::quantized::PackedWeight WeightCodes::pack() const {
  const bool is_one_group = scales.size(-1) == 1;
  return at::quantized::PackedWeight::from_codes(
      codes, scales, offsets.defined() ? std::optional<at::Tensor>(offsets) : std::nullopt, bits,
      is_one_group ? 0 : group_size);
}

at::Tensor WeightCodes::dequantize() const {
  const at::Tensor groups = at::arange(codes.size(-1), at::TensorOptions(at::kLong)).floor_divide(group_size);
  const auto of_inputs = [&](const at::Tensor& factors) { return factors.index_select(-1, groups); };
  at::Tensor numbers = codes.to(at::kFloat).mul_(of_inputs(scales));
  return offsets.defined() ? numbers.add_(of_inputs(offsets)) : numbers;
}

} // namespace torch::llm
