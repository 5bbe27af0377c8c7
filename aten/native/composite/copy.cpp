// Filling, casts and questions about tensors, written with other operators.
#include <aten/Functions.h>
#include <aten/native/composite/list_out.h>
#include <c10/util/DimVector.h>

#include <algorithm>
#include <numeric>

namespace at::native {

Tensor zero(const Tensor& self) {
  return at::zeros_like(self);
}

Tensor chalf(const Tensor& self, std::optional<MemoryFormat> memory_format) {
  return self.to(kComplexHalf, /*non_blocking=*/false, /*copy=*/false, memory_format);
}

Tensor lift(const Tensor& self) {
  return self;
}

Tensor resize(const Tensor& self, IntArrayRef size, std::optional<MemoryFormat> memory_format) {
  return self.clone().resize_(size, memory_format);
}

Tensor resize_as(const Tensor& self, const Tensor& the_template, std::optional<MemoryFormat> memory_format) {
  return self.clone().resize_as_(the_template, memory_format);
}

Tensor& fill_diagonal_(Tensor& self, const Scalar& fill_value, bool wrap) {
  const int64_t ndim = self.dim();
  TORCH_CHECK(ndim >= 2, "dimensions must larger than 1; fill_diagonal_ got ", ndim);
  const IntArrayRef sizes = self.sizes();
  const IntArrayRef strides = self.strides();
  TORCH_CHECK(
      ndim == 2 || std::all_of(sizes.begin(), sizes.end(), [&](int64_t size) { return size == sizes[0]; }),
      "all dimensions of input must be of equal length; fill_diagonal_ got ", sizes);
  const int64_t length = std::min(sizes[0], sizes[1]);
  const int64_t step = std::accumulate(strides.begin(), strides.end(), int64_t{0});
  self.as_strided({length}, {step}).fill_(fill_value);
  // In a tall matrix the diagonal comes back after a row left free.
  const int64_t width = sizes[1];
  if (!wrap || ndim != 2 || sizes[0] <= width + 1) {
    return self;
  }
  if (strides[0] != width * strides[1]) {
    // Rows do not follow each other in memory: one stretch of the diagonal after the other.
    for (int64_t row = width + 1; row < sizes[0]; row += width + 1) {
      const int64_t stretch = std::min(width, sizes[0] - row);
      self.as_strided({stretch}, {step}, self.storage_offset() + strides[0] * row).fill_(fill_value);
    }
  } else {
    const int64_t rest = (self.numel() + width) / (width + 1) - length;
    self.as_strided({rest}, {step}, self.storage_offset() + strides[0] * (width + 1)).fill_(fill_value);
  }
  return self;
}

bool is_signed(const Tensor& self) {
  return self.is_signed();
}

bool is_zerotensor(const Tensor& self) {
  return self._is_zerotensor();
}

bool is_inference(const Tensor& self) {
  return self.is_inference();
}

bool is_set_to(const Tensor& self, const Tensor& tensor) {
  return self.storage().is_alias_of(tensor.storage()) && self.storage_offset() == tensor.storage_offset() &&
      self.sizes() == tensor.sizes() && self.strides() == tensor.strides();
}

Tensor& _to_copy_out(const Tensor& self, bool non_blocking, std::optional<MemoryFormat> memory_format, Tensor& out) {
  TORCH_CHECK(out.defined(), "_to_copy: the output tensor is undefined");
  check_out_without_grad("_to_copy", out);
  TORCH_CHECK(
      out.is_meta() == self.is_meta(), "Attempting to copy from device ", self.device(), " to device ", out.device(),
      ", but cross-device copies are not allowed! (in _to_copy)");
  const Tensor result =
      at::_to_copy(self, out.scalar_type(), out.layout(), out.device(), std::nullopt, non_blocking, memory_format);
  copy_into_out("_to_copy", out, result);
  return out;
}

namespace {

bool autocast_enabled_for(const Tensor& self, bool cuda_enabled, bool cpu_enabled) {
  return (self.is_cuda() && cuda_enabled) || (self.is_cpu() && cpu_enabled);
}

} // namespace

Tensor _autocast_to_reduced_precision(
    const Tensor& self, bool cuda_enabled, bool cpu_enabled, ScalarType cuda_dtype, ScalarType cpu_dtype) {
  if (self.scalar_type() != kFloat || !autocast_enabled_for(self, cuda_enabled, cpu_enabled)) {
    return self;
  }
  return self.to(self.is_cuda() ? cuda_dtype : cpu_dtype);
}

Tensor _autocast_to_full_precision(const Tensor& self, bool cuda_enabled, bool cpu_enabled) {
  const bool reduced = self.scalar_type() == kHalf || self.scalar_type() == kBFloat16;
  return reduced && autocast_enabled_for(self, cuda_enabled, cpu_enabled) ? self.to(kFloat) : self;
}

Tensor _saturate_weight_to_fp16(const Tensor& weight) {
  TORCH_CHECK(weight.scalar_type() == kFloat, "expected scalar type Float but found ", weight.scalar_type());
  constexpr double kLargest = 65504;
  if (weight.is_contiguous()) {
    weight.data().clamp_(-kLargest, kLargest);
  }
  return weight;
}

Tensor dequantize_quantized(const Tensor& self); // aten/native/explicit/quantize.cpp

Tensor dequantize(const Tensor& self) {
  return self.is_quantized() ? dequantize_quantized(self) : self.to(kFloat);
}
std::vector<Tensor> dequantize_list(TensorList tensors) {
  std::vector<Tensor> result;
  result.reserve(tensors.size());
  for (const Tensor& t : tensors) {
    result.push_back(native::dequantize(t));
  }
  return result;
}
void dequantize_list_out(TensorList tensors, TensorList out) {
  write_list_out("dequantize", out, at::dequantize(tensors));
}

Tensor _cast_Byte(const Tensor& self, bool non_blocking) {
  return self.to(kByte, non_blocking);
}
Tensor _cast_Char(const Tensor& self, bool non_blocking) {
  return self.to(kChar, non_blocking);
}
Tensor _cast_Double(const Tensor& self, bool non_blocking) {
  return self.to(kDouble, non_blocking);
}
Tensor _cast_Float(const Tensor& self, bool non_blocking) {
  return self.to(kFloat, non_blocking);
}
Tensor _cast_Int(const Tensor& self, bool non_blocking) {
  return self.to(kInt, non_blocking);
}
Tensor _cast_Long(const Tensor& self, bool non_blocking) {
  return self.to(kLong, non_blocking);
}
Tensor _cast_Short(const Tensor& self, bool non_blocking) {
  return self.to(kShort, non_blocking);
}
Tensor _cast_Half(const Tensor& self, bool non_blocking) {
  return self.to(kHalf, non_blocking);
}

} // namespace at::native
