// Printing tensors as libtorch does.
#pragma once

#include <aten/core/Tensor.h>

#include <cstdint>
#include <iosfwd>

namespace at {

class DeprecatedTypeProperties;

/// The values of a tensor and a last line with its type and sizes. The stream's format is left as it was.
TORCH_API std::ostream& operator<<(std::ostream& out, const Tensor& t);
/// "CPUFloatType".
TORCH_API std::ostream& operator<<(std::ostream& out, const DeprecatedTypeProperties& type);

/// The same with lines of at most `linesize` characters; wide matrices are printed in groups of columns.
TORCH_API std::ostream& print(std::ostream& stream, const Tensor& tensor, int64_t linesize);
TORCH_API void print(const Tensor& t, int64_t linesize = 80);

/// Whether numbers of very different sizes are printed as 1.0000e+10 (the default) or as 10000000000.0000, for the
/// process.
TORCH_API void set_printoption_sci_mode(bool enabled);

} // namespace at
