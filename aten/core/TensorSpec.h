// What a shape function says of an output: everything needed to allocate it.
#pragma once

#include <c10/core/Device.h>
#include <c10/core/MemoryFormat.h>
#include <c10/core/ScalarType.h>
#include <c10/util/DimVector.h>

#include <aten/core/TensorBase.h>

#include <optional>

namespace at {

/// Sizes, dtype and place of an output that does not exist yet.
/// `strides`, when given, wins over `memory_format`.
struct TORCH_API TensorSpec {
  c10::DimVector sizes;
  c10::ScalarType dtype;
  c10::Device device;
  std::optional<c10::DimVector> strides = std::nullopt;
  c10::MemoryFormat memory_format = c10::MemoryFormat::Contiguous;

  /// Contiguous, on the device of `t`, with its dtype unless another is given.
  static TensorSpec like(const TensorBase& t, c10::IntArrayRef sizes);
  static TensorSpec like(const TensorBase& t, c10::IntArrayRef sizes, c10::ScalarType dtype);
};

/// Allocates an uninitialised tensor from the device's registered allocator, without the dispatcher.
/// Throws when sizes are negative or overflow, or when the device has no allocator.
TORCH_API Tensor empty_spec(const TensorSpec& spec);

/// `empty_spec` for a contiguous tensor, from borrowed sizes. The hottest allocation path.
TORCH_API Tensor empty_contiguous(c10::IntArrayRef sizes, c10::ScalarType dtype, c10::Device device);

} // namespace at
