// Products with quantized weights that are plain tensors.
#include <aten/core/Tensor.h>
#include <aten/core/TensorSpec.h>
#include <aten/shape/functions.h>
#include <c10/util/Exception.h>

namespace at::shape {
namespace {

bool is_float_or_half(ScalarType dtype) {
  return dtype == kFloat || dtype == kBFloat16 || dtype == kHalf;
}

void check_quantized_activations(const char* op, const TensorBase& self) {
  TORCH_CHECK(
      is_float_or_half(self.scalar_type()), op, " : expect A to be either 32-bit or 16-bit float tensor. Got ",
      self.scalar_type());
  TORCH_CHECK(self.dim() == 2, op, " : expect A to be 2D tensor. Got sizes ", self.sizes());
}

bool is_group_size(int64_t size) {
  return size == 32 || size == 64 || size == 128 || size == 256;
}

/// The elements that _dyn_quant_pack_4bit_weight joins, without a bias; checks block_size.
int64_t packed_elements(const char* op, int64_t block_size, int64_t in_features, int64_t out_features) {
  constexpr int64_t kMost = int64_t(1) << 31;
  TORCH_CHECK(
      in_features > 0 && out_features > 0 && in_features % 2 == 0 && in_features < kMost && out_features < kMost, op,
      ": expect in_features to be even and both to be positive and below 2^31, got ", in_features, " and ",
      out_features);
  TORCH_CHECK(
      block_size == in_features || (block_size > 0 && block_size % 32 == 0 && in_features % block_size == 0), op,
      ": Group size should be multiple of 32, in_features [", in_features, "]. Provided ", block_size);
  return out_features * (in_features / 2 + in_features / block_size);
}

} // namespace

TensorSpec weight_int8pack_mm(const char*, const TensorBase& self, const TensorBase& mat2, const TensorBase& scales) {
  constexpr const char* kOp = "_weight_int8pack_mm_cpu";
  check_quantized_activations(kOp, self);
  TORCH_CHECK(mat2.scalar_type() == kChar, kOp, " : expect B to be int8 tensor. Got ", mat2.scalar_type());
  TORCH_CHECK(
      mat2.dim() == 2 && mat2.size(1) == self.size(1), kOp, " : expect B.size(1) == ", self.size(1), ", got sizes ",
      mat2.sizes());
  TORCH_CHECK(
      scales.dim() == 1 && scales.size(0) == mat2.size(0), kOp, " : expect scales to be 1d tensor with size ",
      mat2.size(0), ", got sizes ", scales.sizes());
  TORCH_CHECK(
      scales.scalar_type() == self.scalar_type(), "expected scalar type ", self.scalar_type(), " but found ",
      scales.scalar_type(), ": ", kOp, " takes scales of the dtype of A");
  return TensorSpec::like(self, {self.size(0), mat2.size(0)});
}

TensorSpec convert_weight_to_int4pack_for_cpu(const char*, const TensorBase& self, int64_t) {
  constexpr const char* kOp = "_convert_weight_to_int4pack_cpu";
  TORCH_CHECK(self.dim() == 2, kOp, " : expect weight to be 2D tensor. Got sizes ", self.sizes());
  TORCH_CHECK(self.scalar_type() == kInt, kOp, " : expect weight to be kInt. Got ", self.scalar_type());
  TORCH_CHECK(self.size(0) % 16 == 0, kOp, " : expect N to be dividable by 16, got ", self.size(0));
  TORCH_CHECK(self.size(1) % 2 == 0, "_convert_weight_to_int4pack: expect K to be dividable by 2, got ", self.size(1));
  return TensorSpec::like(self, {self.size(0), self.size(1) / 2}, kByte);
}

TensorSpec weight_int4pack_mm_for_cpu(
    const char*, const TensorBase& self, const TensorBase& mat2, int64_t group_size, const TensorBase& factors) {
  constexpr const char* kOp = "_weight_int4pack_mm_cpu";
  check_quantized_activations(kOp, self);
  TORCH_CHECK(mat2.scalar_type() == kByte, kOp, " : expect B to be uint8 tensor. Got ", mat2.scalar_type());
  TORCH_CHECK(
      mat2.dim() == 2 && mat2.size(1) * 2 == self.size(1) && mat2.size(0) % 16 == 0, kOp,
      " : expect B to be 2D tensor with sizes [N, ", self.size(1) / 2, "], N dividable by 16, got ", mat2.sizes());
  TORCH_CHECK(is_group_size(group_size), kOp, ": expect qGroupSize to be 32, 64, 128 or 256, got ", group_size);
  TORCH_CHECK(
      factors.dim() == 3 && factors.size(1) == mat2.size(0) && factors.size(2) == 2, kOp,
      ": expect qScaleAndZeros to be 3d tensor with sizes [:, ", mat2.size(0), ", 2], got ", factors.sizes());
  TORCH_CHECK(
      factors.scalar_type() == self.scalar_type(), "expected scalar type ", self.scalar_type(), " but found ",
      factors.scalar_type(), ": ", kOp, " takes qScaleAndZeros of the dtype of A");
  TORCH_CHECK(
      self.size(1) == factors.size(0) * group_size, kOp, ": expect K = ", self.size(1),
      " to be qGroupSize = ", group_size, " times qScaleAndZeros.size(0) = ", factors.size(0));
  return TensorSpec::like(self, {self.size(0), mat2.size(0)});
}

TensorSpec dyn_quant_pack_4bit_weight(
    const char*,
    const TensorBase& weights,
    const TensorBase& scales,
    const std::optional<Tensor>& bias,
    int64_t block_size,
    int64_t in_features,
    int64_t out_features) {
  constexpr const char* kOp = "_dyn_quant_pack_4bit_weight_cpu";
  TORCH_CHECK(weights.scalar_type() == kByte, kOp, " : expect weight to be kByte. Got ", weights.scalar_type());
  const int64_t elements = packed_elements(kOp, block_size, in_features, out_features);
  TORCH_CHECK(
      weights.numel() == out_features * in_features / 2, kOp, " : expect weight to have ",
      out_features * in_features / 2, " elements, got sizes ", weights.sizes());
  TORCH_CHECK(
      isFloatingType(scales.scalar_type()) && scales.numel() == elements - weights.numel(), kOp,
      " : expect floating scales of ", elements - weights.numel(), " elements, got ", scales.scalar_type(), " ",
      scales.sizes());
  const bool has_bias = bias.has_value() && bias->defined();
  TORCH_CHECK(
      !has_bias || bias->numel() == out_features, kOp, " : expect bias to have ", out_features, " elements, got sizes ",
      has_bias ? bias->sizes() : IntArrayRef());
  return TensorSpec::like(weights, {elements + (has_bias ? out_features : 0)}, kFloat);
}

TensorSpec dyn_quant_matmul_4bit(
    const char*,
    const TensorBase& inp,
    const TensorBase& packed_weights,
    int64_t block_size,
    int64_t in_features,
    int64_t out_features) {
  constexpr const char* kOp = "_dyn_quant_matmul_4bit_cpu";
  TORCH_CHECK(
      inp.scalar_type() == kFloat || inp.scalar_type() == kBFloat16, kOp,
      " : expect input to be float32 or bfloat16 tensor. Got ", inp.scalar_type());
  TORCH_CHECK(
      inp.dim() == 2 && inp.size(1) == in_features, kOp, " : expect input to be [M, ", in_features, "], got ",
      inp.sizes());
  const int64_t elements = packed_elements(kOp, block_size, in_features, out_features);
  TORCH_CHECK(
      packed_weights.scalar_type() == kFloat && packed_weights.dim() == 1 &&
          (packed_weights.numel() == elements || packed_weights.numel() == elements + out_features),
      kOp, " : expect packed_weights to be a float vector of ", elements, " elements, or of ", elements + out_features,
      " with a bias, as _dyn_quant_pack_4bit_weight makes it, got ", packed_weights.scalar_type(), " ",
      packed_weights.sizes());
  return TensorSpec::like(inp, {inp.size(0), out_features});
}

} // namespace at::shape
