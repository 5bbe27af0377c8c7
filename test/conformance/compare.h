// Compares what an operator gave with what was recorded. Every function returns an empty string when
// they agree, else the first difference in words.
#pragma once

#include <ATen/core/ivalue.h>

#include <string>
#include <vector>

#include "tensors.h"
#include "test/support/compare.h"

namespace conformance {

using test::close;
using test::Tolerance;

/// Reads `[rtol, atol]`.
Tolerance tolerance_of(const Json& pair);

/// Shape and dtype against `{d, s}`.
std::string compare_shape(const at::Tensor& got, const Json& want);

/// Strides against `st`; those of dimensions of size 1 are of no consequence.
std::string compare_strides(const at::Tensor& got, const Json& want);

/// Values against row-major `want` of the same shape and dtype.
std::string compare_values(const at::Tensor& got, Bytes want, Tolerance tolerance);

/// The same, where several elements of `source` may have been written to one place: what differs from `want` is one of
/// them.
std::string compare_any_write(const at::Tensor& got, Bytes want, const at::Tensor& source, Tolerance tolerance);

/// Shape, dtype and values against `{d, s, b}`; or undefined against null.
std::string compare_dense(const at::Tensor& got, const Json& want, const SafeTensors& data, Tolerance tolerance);

/// `got` and `want` index `source` along `dim`, and may differ where they point at equal values.
std::string compare_tied_indices(const at::Tensor& got, Bytes want, const at::Tensor& source, int64_t dim);

/// A returned number, string or list against its tagged value.
std::string compare_plain(const c10::IValue& got, const Json& tagged, Tolerance tolerance);

} // namespace conformance
