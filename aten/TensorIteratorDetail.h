// Shared by the sources of TensorIterator.
#pragma once

#include <aten/TensorIterator.h>

namespace at {

/// What a config fixes instead of taking it from the operands.
struct TensorIteratorBase::Statics {
  const std::optional<DimVector>& shape;
  const std::optional<c10::ScalarType>& dtype;
  const std::optional<c10::Device>& device;
};

namespace detail {

/// Writes the value of a Scalar in its own dtype, which is returned.
c10::ScalarType store_scalar(const c10::Scalar& number, void* value);

} // namespace detail
} // namespace at
