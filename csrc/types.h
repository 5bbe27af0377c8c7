// namespace torch: everything of namespace at, under the names that programs use.
#pragma once

#include <aten/Functions.h>
#include <aten/core/Context.h>
#include <aten/core/DeprecatedTypeProperties.h>
#include <aten/core/DeviceGuard.h>
#include <aten/core/Formatting.h>
#include <aten/core/Generator.h>
#include <aten/core/ScalarOps.h>
#include <aten/core/Tensor.h>
#include <aten/core/TensorGeometry.h>
#include <aten/core/TensorIndexing.h>
#include <aten/core/TensorOperators.h>
#include <aten/core/Version.h>
#include <aten/core/optional_tensor.h>
#include <aten/core/tensor_literal.h>
#include <aten/core/tensor_properties.h>
#include <autograd/variable.h>
#include <autograd/variable_factories.h>
#include <c10/core/InferenceMode.h>
#include <c10/core/TensorOptions.h>
#include <c10/util/Optional.h>
#include <c10/util/string_view.h>

#include <optional>

namespace torch {

// Every operator and type of at:: is one of torch:: too. What both declare (factories, InferenceMode) is torch's own.
using namespace at;

using std::nullopt;
using std::optional;

using Dtype = at::ScalarType;

// Only these: a name that both namespaces declare is ambiguous after `using namespace torch;`.
constexpr auto kUInt8 = at::kByte;
constexpr auto kInt8 = at::kChar;
constexpr auto kInt16 = at::kShort;
constexpr auto kInt32 = at::kInt;
constexpr auto kInt64 = at::kLong;
constexpr auto kUInt16 = at::kUInt16;
constexpr auto kUInt32 = at::kUInt32;
constexpr auto kUInt64 = at::kUInt64;
constexpr auto kFloat16 = at::kHalf;
constexpr auto kFloat32 = at::kFloat;
constexpr auto kFloat64 = at::kDouble;

constexpr auto kU8 = kUInt8;
constexpr auto kU16 = kUInt16;
constexpr auto kU32 = kUInt32;
constexpr auto kU64 = kUInt64;
constexpr auto kI8 = kInt8;
constexpr auto kI16 = kInt16;
constexpr auto kI32 = kInt32;
constexpr auto kI64 = kInt64;
constexpr auto kF16 = kFloat16;
constexpr auto kF32 = kFloat32;
constexpr auto kF64 = kFloat64;

} // namespace torch
